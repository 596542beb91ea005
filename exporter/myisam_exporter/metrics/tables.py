"""MyISAM tables: the most active and the largest with series of their own, the others as sums, so that nothing is lost.

Counters per table are kept here from the growth that two looks at a table show: a table that is dropped, or that moves between the
two lists, then makes no spike.
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.look.table_choice import Choice, names_of
from myisam_exporter.metrics.base import (
    BACKGROUND,
    TABLE_LABELS,
    Group,
    Metric,
    Running,
    Scene,
    Value,
    as_number,
    per_table,
    total,
)

# metric, column, what it is
SIZES = (
    ("rows", "rows", "Rows as of the last finished write statement"),
    ("data_bytes", "data_bytes", "Bytes in the data file"),
    ("index_bytes", "index_bytes", "Bytes in the index file"),
    ("free_bytes", "free_bytes", "Bytes of holes in the data file"),
)
STATES = (
    ("data_limit_bytes", "max_data_bytes", "What the row pointer can address"),
    ("index_limit_bytes", "max_index_bytes", "What the index pointer can address"),
    ("crashed", "crashed", "1 when the table is marked crashed or its header cannot be read, else 0"),
)
# metric, column, collectors that it may come from, what it is
GROWTH = (
    (
        "write_statements_total",
        "write_statements_per_second",
        ("myi",),
        "Finished write statements, at least: update_count in the header, which each open handle of the table counts for itself",
    ),
    (
        "rows_read_total",
        "rows_read_per_second",
        ("performance_schema", "user_statistics"),
        "Rows read, from performance_schema or userstat where these are on",
    ),
    (
        "lock_wait_seconds_total",
        "lock_wait_seconds_per_second",
        ("performance_schema",),
        "Time spent in waiting for the table's lock, from performance_schema where it is on",
    ),
)
TOTALS = (
    ("tables", "myisam_tables", "MyISAM tables outside the system schemas"),
    ("tables_crashed", "crashed_tables", "Tables marked crashed, or whose header cannot be read"),
    ("tables_compressed", "compressed_tables", "Tables packed by myisampack"),
    ("other_engines_data_bytes", "other_engine_data_bytes", "Bytes in the files of other storage engines"),
)


class TableMetrics(Group):
    """The .MYI headers; without file access, the sample by SQL."""

    collectors = ("myi", "sql_tables")
    metrics = (
        *(Metric(name, "gauge", f"{text}. {BACKGROUND}") for name, _, text in TOTALS),
        Metric("tables_omitted", "gauge", f"Tables without series of their own: see omitted_tables. {BACKGROUND}"),
        *(
            Metric(f"table_{name}", "gauge", f"{text}. {BACKGROUND}", TABLE_LABELS)
            for name, _, text in (*SIZES, *STATES)
        ),
        *(Metric(f"table_{name}", "counter", f"{text}. {BACKGROUND}", TABLE_LABELS) for name, _, _, text in GROWTH),
        *(
            Metric(f"omitted_tables_{name}", "gauge", f"{text}, over the tables that have no series. {BACKGROUND}")
            for name, _, text in SIZES
        ),
        *(
            Metric(f"omitted_tables_{name}", "counter", f"{text}, over the tables that have no series. {BACKGROUND}")
            for name, _, _, text in GROWTH
        ),
    )

    def values(self, pair: Pair[object], scene: Scene) -> Iterable[Value]:
        """From the facts of the last look."""
        if scene.facts is None or scene.choice is None:
            return
        totals = scene.facts.single("totals")
        for name, column, _ in TOTALS:
            yield Value(name, as_number(totals.get(column)))
        shown, omitted = scene.choice.shown, scene.choice.omitted
        # A sample by SQL knows nothing of the tables that are not in it.
        whole = totals.get("myisam_tables") is not None
        if whole:
            yield Value("tables_omitted", len(omitted.rows))
        for name, column, _ in (*SIZES, *STATES):
            yield from per_table(f"table_{name}", shown, column)
        for name, column, _ in SIZES:
            yield Value(f"omitted_tables_{name}", total(omitted, column) if whole else None)
        for name, column, sources, _ in GROWTH:
            seconds = _seconds(scene, sources)
            # A source that is off has no counters; one that could not tell this time keeps those it has.
            if seconds is not None and f"tables.{column}" not in scene.facts.unknown:
                yield from _growth(name, column, scene.choice, seconds, scene.running, whole)


def _seconds(scene: Scene, sources: Iterable[str]) -> float | None:
    """The interval of the first of these collectors that has one."""
    intervals = (scene.pairs[source].seconds for source in sources)
    return next((seconds for seconds in intervals if seconds is not None), None)


def _growth(name: str, column: str, choice: Choice, seconds: float, running: Running, whole: bool) -> Iterable[Value]:
    for table, value in zip(names_of(choice.shown), choice.shown.values(column), strict=True):
        rate = as_number(value)
        growth = None if rate is None else rate * seconds
        yield Value(f"table_{name}", running.grow(growth, column, *table), table)
    if not whole:
        return
    rest, _ = choice.omitted.sum_of(column)
    yield Value(f"omitted_tables_{name}", running.grow(rest * seconds, column))


GROUP = TableMetrics()
