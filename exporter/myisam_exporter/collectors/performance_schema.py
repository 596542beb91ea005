"""Waits for locks, from performance_schema, as far as the instruments are on. We never switch one on.

Names of the instruments: mysys/my_init.c, storage/myisam/mi_static.c, sql/mysqld.cc. Times are kept in picoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from operator import itemgetter

from myisam_exporter.collectors.base import MAXIMUM_TABLE_ROWS, Collector, Context, Pair, SampleKey, grown
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.status import FLUSH_TOLERANCE_SECONDS, STATUS, UPTIME_SINCE_FLUSH, Status
from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF, VARIABLES, Variables
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, ColumnType, Row, RowMaker, by_column, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.merge_members import all_members, without_zeros_of
from myisam_exporter.outside.numbers import LARGEST_COUNTER, whole_number
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA
from myisam_exporter.server.sql import quote_text, sql_list, statement

PICOSECONDS_PER_SECOND = 1_000_000_000_000
KEY_CACHE_LOCK = "wait/synch/mutex/mysys/KEY_CACHE::cache_lock"
INSTRUMENTS = {
    KEY_CACHE_LOCK: "key_cache_lock",
    "wait/synch/rwlock/myisam/MYISAM_SHARE::key_root_lock": "key_root_lock",
    "wait/synch/rwlock/myisam/MYISAM_SHARE::mmap_lock": "mmap_lock",
    "wait/synch/mutex/myisam/MYISAM_SHARE::intern_lock": "intern_lock",
    "wait/synch/mutex/sql/Query_cache::structure_guard_mutex": "query_cache_lock",
    "wait/synch/mutex/sql/LOCK_table_cache": "table_cache_lock",
    "wait/synch/mutex/sql/LOCK_open": "table_cache_lock",
}
_NAMES = sql_list(map(quote_text, INSTRUMENTS))
ENABLED = statement(
    "SELECT NAME FROM performance_schema.setup_instruments WHERE ENABLED = 'YES' AND TIMED = 'YES' "
    "AND NAME IN ({}, 'wait/io/table/sql/handler', 'wait/lock/table/sql/handler')",
    _NAMES,
)
WAITS = statement(
    "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name WHERE EVENT_NAME IN ({})",
    _NAMES,
)
TABLE_READS = "SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_table WHERE COUNT_FETCH > 0 AND OBJECT_TYPE = 'TABLE'"
TABLE_CHANGES = "SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_WRITE FROM performance_schema.table_io_waits_summary_by_table WHERE COUNT_WRITE > 0 AND OBJECT_TYPE = 'TABLE'"
TABLE_LOCKS = "SELECT OBJECT_SCHEMA, OBJECT_NAME, SUM_TIMER_WAIT FROM performance_schema.table_lock_waits_summary_by_table WHERE SUM_TIMER_WAIT > 0 AND OBJECT_TYPE = 'TABLE'"
SWITCH_ON = "UPDATE performance_schema.setup_instruments SET ENABLED='YES', TIMED='YES' WHERE NAME='wait/synch/mutex/mysys/KEY_CACHE::cache_lock';"

KEY_CACHE_LOCK_OFF = Unknown("the key-cache lock's instrument is off", SWITCH_ON, off=True)
# MySQL 5.6 keeps no account of a mutex that was made before its instrument was on (manual, "Performance Schema Instrument Configuration"): 0 is no count.
KEY_CACHE_LOCK_NOT_COUNTED = Unknown(
    "the key-cache lock's instrument is on and counted nothing: the lock was made before it was on, or nothing took it since",
    "performance_schema_instrument='wait/synch/mutex/mysys/KEY_CACHE::cache_lock=ON' in my.cnf, then restart",
)
# MySQL 5.5's setup_instruments has neither: an UPDATE of them is accepted, and changes no row.
NO_TABLES = Unknown("before MySQL 5.6 and MariaDB 10.0 performance_schema counts nothing by table", off=True)

# Counted for the members of a MERGE table, unlike what is read and changed through it.
LOCK_WAITS = "lock_wait_seconds_per_second"
# Where userstat counts rows, it fills the same columns.
ROW_COLUMNS: tuple[tuple[str, ColumnType, str], ...] = (
    (
        "rows_read_per_second",
        "real",
        "Rows read. Through a MERGE table they count for that one: of its members 0 is unknown. performance_schema has none of FULLTEXT searches.",
    ),
    (
        "rows_changed_per_second",
        "real",
        "Rows inserted, updated and deleted. Through a MERGE table they count for that one: of its members 0 is unknown.",
    ),
)
# Tables that were opened, and indexes, for which performance_schema had no room.
LOST = tuple(f"Performance_schema_{what}_lost" for what in ("table_handles", "table_instances", "index_stat"))
# Its room, where it does not grow by itself (-1), and what may need as much.
ROOM = (
    ("performance_schema_max_table_handles", "table_open_cache"),
    ("performance_schema_max_table_instances", "table_definition_cache"),
)
FIRST, SECOND = itemgetter(0), itemgetter(1)
TableCounters = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Waits:
    """Counters since the instruments went on. `is_partial`: some reads and changes were not counted."""

    enabled: frozenset[str]
    mutexes: Mapping[str, tuple[int, int]]
    table_reads: TableCounters | Unknown
    table_changes: TableCounters | Unknown
    table_lock_picoseconds: TableCounters | Unknown
    # Switched off where it would count locks alone: what it counts of tables, no switch makes known.
    is_off: bool = False
    is_partial: bool = False


PERFORMANCE_SCHEMA = SampleKey("performance_schema", Waits)


class PerformanceSchemaCollector(Collector[Waits]):
    """Lock waits and table reads that performance_schema counts."""

    name = PERFORMANCE_SCHEMA.name
    source = "performance_schema"
    after = ("variables", "status", "myi")
    expensive = True
    sections = {
        "mutex_wait": columns(
            (
                "name",
                "text",
                "key_cache_lock, key_root_lock, mmap_lock, intern_lock, query_cache_lock or table_cache_lock.",
            ),
            ("count_per_second", "real", "Acquisitions of the lock, those at once included."),
            ("wait_seconds_per_second", "real", "Time spent in acquiring it, over all threads."),
            source=source,
        ),
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            *ROW_COLUMNS,
            ("lock_wait_seconds_per_second", "real", "Time spent in waiting for the table's lock, over all threads."),
            source=source,
        ),
    }

    def collect(self, context: Context) -> Waits | Unknown:
        """Read the summaries of the instruments that are on."""
        variables = context.sample(VARIABLES)
        if isinstance(variables, Unknown):
            return variables
        session = context.session
        counts_tables = session.version.at_least(mysql=(5, 6), mariadb=(10, 0))
        if not variables.is_on("performance_schema"):
            if counts_tables:
                return PERFORMANCE_SCHEMA_OFF
            return Waits(frozenset(), {}, NO_TABLES, NO_TABLES, NO_TABLES, is_off=True)
        enabled_rows = session.rows_or_unknown(ENABLED, 1, READ_PERFORMANCE_SCHEMA)
        if isinstance(enabled_rows, Unknown):
            return enabled_rows
        enabled = frozenset(str(name) for (name,) in enabled_rows)
        mutexes = session.rows_or_unknown(WAITS, 3, READ_PERFORMANCE_SCHEMA) if enabled & INSTRUMENTS.keys() else []
        counted = {} if isinstance(mutexes, Unknown) else _mutexes(mutexes, enabled)
        if not counts_tables:
            return Waits(enabled, counted, NO_TABLES, NO_TABLES, NO_TABLES)
        return Waits(
            enabled,
            counted,
            _counters(context, TABLE_READS, "wait/io/table/sql/handler", enabled),
            _counters(context, TABLE_CHANGES, "wait/io/table/sql/handler", enabled),
            _counters(context, TABLE_LOCKS, "wait/lock/table/sql/handler", enabled),
            is_partial=loses_counts(context.sample(STATUS), variables),
        )

    def facts(self, pair: Pair[Waits]) -> Iterable[Block]:
        """Waits by lock, reads and lock waits by table; nothing without an interval."""
        if pair.before is None:
            return
        before = pair.before
        yield MUTEX_ROWS.block("mutex_wait", _mutex_rows(pair, before))
        members = all_members(pair.other(MYI))
        for column, counters, unit in TABLE_COUNTERS:
            known = both(counters(before), counters(pair.after))
            former, present = known or ({}, {})
            rates: Iterable[float | None] = map(pair.rate, map(former.get, present, repeat(0)), present.values())
            partial = present if pair.after.is_partial else members
            if partial and column != LOCK_WAITS:
                rates = without_zeros_of(partial, present, rates)
            yield by_column(
                "tables",
                {
                    "schema_name": map(FIRST, present),
                    "table_name": map(SECOND, present),
                    column: rates if unit == 1 else (None if rate is None else rate / unit for rate in rates),
                },
                extends=True,
            )

    def notes(self, sample: Waits) -> Iterable[Unknown]:
        """Instruments that are off, and the one that counts nothing."""
        if sample.is_off:
            yield PERFORMANCE_SCHEMA_OFF
        elif KEY_CACHE_LOCK not in sample.enabled:
            yield KEY_CACHE_LOCK_OFF
        elif INSTRUMENTS[KEY_CACHE_LOCK] not in sample.mutexes:
            yield KEY_CACHE_LOCK_NOT_COUNTED

    def unknown_columns(self, sample: Waits) -> Mapping[str, Unknown]:
        """mutex_wait without the instrument; table columns without theirs."""
        unknown = {}
        if not sample.mutexes:
            lock_off = PERFORMANCE_SCHEMA_OFF if sample.is_off else KEY_CACHE_LOCK_OFF
            is_on = KEY_CACHE_LOCK in sample.enabled
            unknown["mutex_wait"] = KEY_CACHE_LOCK_NOT_COUNTED if is_on else lock_off
        for column, part in (
            ("rows_read_per_second", sample.table_reads),
            ("rows_changed_per_second", sample.table_changes),
            (LOCK_WAITS, sample.table_lock_picoseconds),
        ):
            if isinstance(part, Unknown):
                unknown[f"tables.{column}"] = part
        return unknown


def loses_counts(status: Status | Unknown, variables: Variables) -> bool:
    """Whether performance_schema had no room for some tables or indexes since the server started. FLUSH STATUS sets back what tells so: after one, whether it may have had none."""
    if isinstance(status, Unknown):
        return False
    return any((status.number(name) or 0) > 0 for name in LOST) or (_was_flushed(status) and _may_lack_room(variables))


def _was_flushed(status: Status) -> bool:
    uptime, since_flush = status.uptime_seconds, status.number(UPTIME_SINCE_FLUSH)
    return uptime is not None and since_flush is not None and uptime - since_flush > FLUSH_TOLERANCE_SECONDS


def _may_lack_room(variables: Variables) -> bool:
    rooms = ((variables.number(room), variables.number(needs)) for room, needs in ROOM)
    return any(room is not None and needs is not None and 0 <= room < needs for room, needs in rooms)


def _mutexes(rows: Iterable[tuple[str | None, ...]], enabled: frozenset[str]) -> dict[str, tuple[int, int]]:
    """The locks that are counted: of one without a count nobody knows."""
    sums: dict[str, tuple[int, int]] = {}
    for event, count, picoseconds in rows:
        name = INSTRUMENTS.get(event or "") if event in enabled else None
        counted, waited = whole_number(count, LARGEST_COUNTER), whole_number(picoseconds, LARGEST_COUNTER)
        if name is not None and counted and waited is not None:
            old = sums.get(name, (0, 0))
            sums[name] = (old[0] + counted, old[1] + waited)
    return sums


def _counters(context: Context, query: str, instrument: str, enabled: frozenset[str]) -> TableCounters | Unknown:
    if instrument not in enabled:
        return Unknown(
            f"the instrument {instrument} is off",
            statement(
                "UPDATE performance_schema.setup_instruments SET ENABLED='YES', TIMED='YES' WHERE NAME={};",
                quote_text(instrument),
            ),
            off=True,
        )
    rows = context.session.rows_or_unknown(query, 3, READ_PERFORMANCE_SCHEMA, maximum_rows=MAXIMUM_TABLE_ROWS)
    if isinstance(rows, Unknown):
        return rows
    counted = ((schema or "", table or "", whole_number(value, LARGEST_COUNTER)) for schema, table, value in rows)
    return {(schema, table): value for schema, table, value in counted if value is not None}


def _mutex_rows(pair: Pair[Waits], before: Waits) -> Iterable[Row]:
    for name, (count, picoseconds) in pair.after.mutexes.items():
        old = before.mutexes.get(name)
        if old:
            yield {
                "name": name,
                "count_per_second": pair.rate(old[0], count),
                "wait_seconds_per_second": pair.per_second(grown(old[1], picoseconds), PICOSECONDS_PER_SECOND),
            }


def both(before: TableCounters | Unknown, after: TableCounters | Unknown) -> tuple[TableCounters, TableCounters] | None:
    """The counters at both ends; None where one is not known."""
    return None if isinstance(before, Unknown) or isinstance(after, Unknown) else (before, after)


def growth(
    before: TableCounters | Unknown, after: TableCounters | Unknown
) -> Mapping[tuple[str, str], int | None] | None:
    """How much each table's counter grew: None where it went backwards. None at all where an end is not known."""
    known = both(before, after)
    if known is None:
        return None
    former, present = known
    return {name: grown(former.get(name, 0), value) for name, value in present.items()}


def rows_read(pair: Pair[Waits]) -> Mapping[tuple[str, str], int | None] | None:
    """Rows read by table; None where they are not counted."""
    return None if pair.before is None else growth(pair.before.table_reads, pair.after.table_reads)


def lock_wait_seconds(pair: Pair[Waits]) -> Mapping[tuple[str, str], float | None] | None:
    """Time spent in waiting for the lock, by table; None where it is not counted."""
    if pair.before is None:
        return None
    waited = growth(pair.before.table_lock_picoseconds, pair.after.table_lock_picoseconds)
    if waited is None:
        return None
    return {name: None if count is None else count / PICOSECONDS_PER_SECOND for name, count in waited.items()}


# column, the counters that it is the growth of, their unit
TABLE_COUNTERS: tuple[tuple[str, Callable[[Waits], TableCounters | Unknown], int], ...] = (
    ("rows_read_per_second", lambda waits: waits.table_reads, 1),
    ("rows_changed_per_second", lambda waits: waits.table_changes, 1),
    (LOCK_WAITS, lambda waits: waits.table_lock_picoseconds, PICOSECONDS_PER_SECOND),
)
MUTEX_ROWS = RowMaker(column_names(PerformanceSchemaCollector.sections["mutex_wait"]))

COLLECTOR = PerformanceSchemaCollector()
