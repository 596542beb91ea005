"""The status variables that matter for MyISAM; each metric's help names its variable."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.metrics.base import Group, Kind, Metric, Scene, Value

# metric, type, status variable, what it is
STATUS_METRICS: tuple[tuple[str, Kind, str, str], ...] = (
    ("opened_tables_total", "counter", "Opened_tables", "Tables opened because the table cache did not hold them"),
    ("open_tables", "gauge", "Open_tables", "Tables open now"),
    ("table_cache_hits_total", "counter", "Table_open_cache_hits", "Lookups that the table cache served"),
    ("table_cache_misses_total", "counter", "Table_open_cache_misses", "Lookups that it did not serve"),
    ("table_cache_overflows_total", "counter", "Table_open_cache_overflows", "Tables closed because it was full"),
    ("flush_commands_total", "counter", "Com_flush", "FLUSH statements: FLUSH TABLES empties caches of closed tables"),
    ("open_files", "gauge", "Open_files", "Files open through the server's own file layer"),
    ("slow_queries_total", "counter", "Slow_queries", "Statements that took longer than long_query_time"),
    ("questions_total", "counter", "Questions", "Statements sent by clients"),
    ("connections_total", "counter", "Connections", "Attempts to connect, successful or not"),
    ("threads_connected", "gauge", "Threads_connected", "Connections now"),
    ("threads_created_total", "counter", "Threads_created", "Threads made because the thread cache was empty"),
    ("table_locks_immediate_total", "counter", "Table_locks_immediate", "Table locks granted at once"),
    ("table_locks_waited_total", "counter", "Table_locks_waited", "Table locks that had to be waited for"),
    ("full_scan_rows_total", "counter", "Handler_read_rnd_next", "Rows read by scanning data files, all engines"),
    ("select_scans_total", "counter", "Select_scan", "Joins that scanned their first table in full"),
    ("select_full_joins_total", "counter", "Select_full_join", "Joins without an index on a table but the first"),
    ("temporary_tables_total", "counter", "Created_tmp_tables", "Temporary tables that statements made, on disk or not"),
    ("temporary_disk_tables_total", "counter", "Created_tmp_disk_tables", "Those of them that went to disk"),
    ("query_cache_hits_total", "counter", "Qcache_hits", "Statements answered by the query cache"),
    ("query_cache_inserts_total", "counter", "Qcache_inserts", "Results put into the query cache"),
    ("query_cache_prunes_total", "counter", "Qcache_lowmem_prunes", "Results dropped from it for want of memory"),
)  # fmt: skip


class StatusMetrics(Group[Status]):
    """A choice of SHOW GLOBAL STATUS."""

    samples = (STATUS,)
    reads = {STATUS.name: frozenset(variable for _, _, variable, _ in STATUS_METRICS)}
    metrics = (
        *(Metric(name, kind, f"{text}: {variable}.") for name, kind, variable, text in STATUS_METRICS),
        Metric("threads_running", "gauge", "Connections at work, without the exporter's own: Threads_running - 1."),
    )

    def values(self, pair: Pair[Status], scene: Scene) -> Iterable[Value]:
        """Those that this server has."""
        for name, _, variable, _ in STATUS_METRICS:
            yield Value(name, pair.after.number(variable))
        yield Value("threads_running", pair.after.threads_running)


GROUP = StatusMetrics()
