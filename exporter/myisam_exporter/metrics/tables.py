"""MyISAM tables: the most active and the largest with series of their own, the others as sums, so that nothing is lost.

Counters per table are kept here from the growth that two looks at a table show: a table that is dropped, or that moves between the
two lists, then makes no spike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic

from myisam_exporter.collectors import performance_schema, user_statistics
from myisam_exporter.collectors.base import Pair, Sample, SampleKey
from myisam_exporter.collectors.myi import MYI, write_statements
from myisam_exporter.collectors.performance_schema import PERFORMANCE_SCHEMA
from myisam_exporter.collectors.sql_tables import OPEN_TABLES
from myisam_exporter.collectors.user_statistics import USER_STATISTICS
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.table_choice import Choice
from myisam_exporter.metrics.base import (
    BACKGROUND,
    TABLE_LABELS,
    Group,
    Metric,
    Running,
    Scene,
    Value,
    per_table,
    table_labels,
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


@dataclass(frozen=True, slots=True)
class Source(Generic[Sample]):
    """Whose samples tell how much a table's counter grew, and how it is read off them.

    Some know tables of other engines, too. Some hide tables from accounts that may not read them: of one that is not told of, nothing is known then.
    """

    key: SampleKey[Sample]
    growth: Callable[[Pair[Sample]], Mapping[TableName, float | None] | None]
    knows_others: bool = True
    hides_tables: bool = False

    def told(self, scene: Scene) -> Mapping[TableName, float | None] | None:
        """The growth by table; None where this source has no interval."""
        pair = scene.pair(self.key)
        return None if isinstance(pair, Unknown) or pair.before is None else self.growth(pair)


# metric, column, the sources that it may come from (of two the later one is right), what it is
GROWTH: tuple[tuple[str, str, tuple[Source[Any], ...], str], ...] = (
    (
        "write_statements_total",
        "write_statements_per_second",
        (Source(MYI, write_statements, knows_others=False),),
        "Finished write statements, at least: update_count in the header, which each open handle of the table counts for itself",
    ),
    (
        "rows_read_total",
        "rows_read_per_second",
        (
            Source(PERFORMANCE_SCHEMA, performance_schema.rows_read),
            Source(USER_STATISTICS, user_statistics.rows_read, hides_tables=True),
        ),
        "Rows read, from performance_schema or userstat where these are on",
    ),
    (
        "lock_wait_seconds_total",
        "lock_wait_seconds_per_second",
        (Source(PERFORMANCE_SCHEMA, performance_schema.lock_wait_seconds),),
        "Time spent in waiting for the table's lock, from performance_schema where it is on",
    ),
)
TOTALS = (
    ("tables", "myisam_tables", "MyISAM tables outside the system schemas"),
    (
        "tables_crashed",
        "crashed_tables",
        "Tables marked crashed, or whose header cannot be read, those of the server's own database with them",
    ),
    ("tables_compressed", "compressed_tables", "Tables packed by myisampack"),
    ("other_engines_data_bytes", "other_engine_data_bytes", "Bytes in the files of other storage engines"),
)


class TableMetrics(Group[object]):
    """The .MYI headers; without file access, the sample by SQL."""

    samples = (MYI, OPEN_TABLES)
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
            yield Value(name, number_of(totals.get(column)))
        choice = scene.choice
        # A sample by SQL knows nothing of the tables that are not in it.
        whole = totals.get("myisam_tables") is not None
        if whole:
            yield Value("tables_omitted", choice.omitted_count)
        for name, column, _ in (*SIZES, *STATES):
            yield from per_table(f"table_{name}", choice.shown, column)
        for name, column, _ in SIZES:
            yield Value(f"omitted_tables_{name}", choice.omitted_total(column) if whole else None)
        for name, column, sources, _ in GROWTH:
            growth = _growth(scene, sources)
            # A source that is off has no counters; one that could not tell this time keeps those it has.
            if growth is not None and f"tables.{column}" not in scene.facts.unknown:
                strangers = any(source.knows_others for source in sources)
                omitted = choice.omitted_among(growth.by_table, strangers=strangers) if whole else None
                yield from _grown(name, column, choice, growth, scene.running, omitted)
        scene.running.forget_tables_but(table_labels(choice.shown))


@dataclass(frozen=True, slots=True)
class Growth:
    """How much counters grew, by table; where `is_whole`, that of a table which is not among these did not."""

    by_table: Mapping[TableName, float]
    is_whole: bool


def _growth(scene: Scene, sources: Iterable[Source[Any]]) -> Growth | None:
    """How much each table's counter grew; None where no source has an interval."""
    told = [(source, growth) for source in sources if (growth := source.told(scene)) is not None]
    if not told:
        return None
    by_table = {name: value for _, growth in told for name, value in growth.items() if value is not None}
    return Growth(by_table, not all(source.hides_tables for source, _ in told))


def _grown(
    name: str,
    column: str,
    choice: Choice,
    growth: Growth,
    running: Running,
    omitted: Iterable[TableName] | None,
) -> Iterable[Value]:
    known = growth.by_table
    for labels in table_labels(choice.shown):
        schema, table = labels
        if growth.is_whole or (schema, table) in known or (column, *labels) in running.totals:
            yield Value(f"table_{name}", running.grow(known.get((schema, table)), column, *labels), labels)
    if omitted is not None:
        rest = math.fsum(known[table] for table in omitted)
        yield Value(f"omitted_tables_{name}", running.grow(rest, column))


GROUP = TableMetrics()
