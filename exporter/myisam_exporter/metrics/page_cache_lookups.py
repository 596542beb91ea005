"""Page-cache lookups and insertions per table, where they are traced."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.page_cache_lookups import FILES, LOOKUPS, Lookups
from myisam_exporter.look.table_choice import names_of
from myisam_exporter.metrics.base import BACKGROUND, TABLE_LABELS, Group, Metric, Scene, Value

LABELS = (*TABLE_LABELS, "file")
WINDOWS = "in the windows in which the tracepoints are on"


class PageCacheLookupMetrics(Group[Lookups]):
    """Two tracepoints, by table and file. Hit ratio: 1 - insertions / lookups."""

    samples = (LOOKUPS,)
    metrics = (
        Metric("table_page_cache_lookups_total", "counter", f"Pages asked of the page cache by read calls, {WINDOWS}: mm_filemap_get_pages. {BACKGROUND}", LABELS),
        Metric("table_page_cache_insertions_total", "counter", f"Pages put into the page cache, by readahead too, {WINDOWS}: mm_filemap_add_to_page_cache. {BACKGROUND}", LABELS),
        Metric("omitted_tables_page_cache_lookups_total", "counter", f"Pages asked for, over the tables that have no series, {WINDOWS}. {BACKGROUND}", ("file",)),
        Metric("omitted_tables_page_cache_insertions_total", "counter", f"Pages put into the page cache, over the tables that have no series, {WINDOWS}. {BACKGROUND}", ("file",)),
        Metric("exporter_tracing_seconds_total", "counter", f"Length of these windows. {BACKGROUND}"),
        Metric("exporter_tracing_cpu_seconds_total", "counter", f"CPU time that counting took: at most 1 % of a core. {BACKGROUND}"),
        Metric("exporter_tracing_lost_events_total", "counter", f"Events that the kernel could not hand over. {BACKGROUND}"),
    )  # fmt: skip

    def values(self, pair: Pair[Lookups], scene: Scene) -> Iterable[Value]:
        """From the counts; a table that leaves the list takes nothing away from the sum of the others."""
        if scene.choice is None:
            return
        shown = set(names_of(scene.choice.shown))
        for what, now, before in (
            ("lookups", pair.after.lookups, pair.before.lookups if pair.before else {}),
            ("insertions", pair.after.insertions, pair.before.insertions if pair.before else {}),
        ):
            for (schema, table, file), count in now.items():
                if (schema, table) in shown:
                    yield Value(f"table_page_cache_{what}_total", count, (schema, table, file))
                else:
                    scene.running.grow(count - before.get((schema, table, file), 0), what, file)
            for file in FILES:
                yield Value(f"omitted_tables_page_cache_{what}_total", scene.running.grow(None, what, file), (file,))
        yield Value("exporter_tracing_seconds_total", pair.after.observed_seconds)
        yield Value("exporter_tracing_cpu_seconds_total", pair.after.cpu_seconds)
        yield Value("exporter_tracing_lost_events_total", pair.after.lost)


GROUP = PageCacheLookupMetrics()
