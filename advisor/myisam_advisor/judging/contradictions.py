"""Facts that cannot all be true: they are set aside and reported, and no rule reasons from them.

What the server itself can show for a moment is not among them: dirty blocks that are flushed count as writes without a request, and a
file is longer than its header says while a statement runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import le

from myisam_advisor.judging.findings import Suspicion
from myisam_advisor.texts.templates import count, object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import numbers_in
from myisam_exporter.look.fact_set import FactRows, FactSet

# Two counters are not read in the same instant.
SLACK_RATIO = 0.05
SLACK = 1.0
MAXIMUM_SHOWN = 20


@dataclass(frozen=True, slots=True)
class AtMost:
    """In one row, one fact can be no larger than another times a number. `derived` are columns that follow from the two.

    `up_to` is a column and the most that it may be in such a row; where it is unknown, it is no more.
    """

    table: str
    smaller: str
    larger: str
    derived: tuple[str, ...] = ()
    per_unit: str | None = None
    up_to: tuple[str, int] | None = None

    def why(self, small: float, large: float) -> str:
        """The contradiction in words."""
        return f"{self.smaller} is {count(small)}, above {self.larger} ({count(large)})"


@dataclass(frozen=True, slots=True)
class Between:
    """A fact is never below 0, and where it has a maximum, never above that."""

    table: str
    column: str
    maximum: float | None = None


# What is written into a part of a block reads the rest of it, without a request, and so does LOAD INDEX (mf_keycache.c: key_cache_write,
# key_cache_insert): a page is 1 KiB at least, so blocks of so much are never written in part.
WHOLE_BLOCKS = ("block_size_bytes", 1024)
PAIRS_OF_COLUMNS = (
    AtMost("key_cache", "reads", "read_requests", ("miss_ratio",), up_to=WHOLE_BLOCKS),
    AtMost("key_cache", "reads_per_second", "read_requests_per_second", ("miss_ratio",), up_to=WHOLE_BLOCKS),
    AtMost("key_cache", "usable_bytes", "size_bytes"),
    AtMost("key_cache", "blocks_used", "size_bytes", per_unit="block_size_bytes"),
    AtMost("key_cache", "blocks_unused", "size_bytes", per_unit="block_size_bytes"),
    # FLUSH STATUS sets the number of dirty blocks to 0 while there are some, and it wraps below 0 later (mf_keycache.c).
    AtMost("key_cache", "blocks_dirty", "size_bytes", per_unit="block_size_bytes"),
    AtMost("tables", "free_bytes", "data_bytes"),
    # The server refuses the row or the index block that would pass what the pointers can address.
    AtMost("tables", "data_bytes", "max_data_bytes"),
    AtMost("tables", "index_bytes", "max_index_bytes"),
    AtMost("totals", "compressed_tables", "myisam_tables"),
    AtMost("totals", "compressed_data_bytes", "myisam_data_bytes"),
    AtMost("host", "memory_available_bytes", "memory_bytes"),
    AtMost("host", "page_cache_bytes", "memory_bytes"),
    AtMost("host", "swap_used_bytes", "swap_total_bytes"),
    AtMost("mysqld", "open_files", "open_files_limit"),
)
BOUNDS = (
    *(Between("host", f"cpu_{kind}_ratio", maximum=1.0) for kind in ("user", "system", "idle", "iowait", "steal")),
    Between("host", "disk_busy_ratio", maximum=1.0),
    Between("host", "io_pressure_some_ratio", maximum=1.0),
    Between("host", "io_pressure_full_ratio", maximum=1.0),
    Between("host", "memory_pressure_some_ratio", maximum=1.0),
    Between("mysqld", "page_cache_hit_ratio", maximum=1.0),
    Between("server", "uptime_seconds"),
    Between("tables", "data_bytes"),
    Between("tables", "index_bytes"),
    Between("tables", "rows"),
    Between("tables", "fullest_partition_used_ratio", maximum=1.0),
    Between("key_cache", "size_bytes"),
    *(Between("key_cache", f"{name}_per_second") for name in ("read_requests", "reads", "write_requests", "writes")),
    # A counter that FLUSH STATUS or a restart set back in between; a look of ours says so itself.
    Between("status", "per_second"),
    Between("host", "memory_bytes"),
    Between("host", "data_directory_free_bytes"),
    Between("host", "temporary_directory_free_bytes"),
    Between("schema_disk", "free_bytes"),
    Between("totals", "myisam_tables"),
    Between("totals", "crashed_tables"),
)
STATUS_PAIRS = (
    ("Created_tmp_disk_tables", "Created_tmp_tables"),
    ("Slow_queries", "Queries"),
)
# What there is at this moment: servers count these up and down without a sign, so that one too few is shown as 4294967295 or 18446744073709551615.
# FLUSH STATUS sets Key_blocks_not_flushed to 0 while blocks wait (mf_keycache.c: reset_key_cache_counters), and each that is written then counts down.
STATUS_STATES = (
    "Open_files", "Open_tables", "Open_table_definitions", "Threads_connected", "Threads_running", "Key_blocks_not_flushed",
)  # fmt: skip
MOST_AT_ONCE = (1 << 31) - 1
# No counter comes so far: one below zero is shown as 18446744073709551615. Of what is no counter that says "none" (Ssl_ctx_verify_depth, wsrep_last_committed).
MOST_COUNTED = (1 << 63) - 1
COUNTERS = (
    "Aborted_", "Bytes_", "Com_", "Connections", "Created_", "Handler_", "Innodb_rows_", "Key_", "Opened_", "Qcache_",
    "Queries", "Questions", "Select_", "Slow_", "Sort_", "Table_",
)  # fmt: skip


def set_aside_contradictions(facts: FactSet) -> tuple[FactSet, list[Suspicion]]:
    """The facts without those that contradict each other, and what was set aside."""
    found: list[Suspicion] = []
    tables = dict(facts.tables)
    unknown = dict(facts.unknown)
    doubtful: dict[str, list[tuple[int, str]]] = {}
    for table, cells, suspicion in (*_of_tables(facts), *_status(facts), *_below_zero(facts), *_uptime(facts)):
        found.append(suspicion)
        doubtful.setdefault(table, []).extend(cells)
    for table, cells in doubtful.items():
        tables[table] = _without(tables[table], cells)
        for _, column in cells:
            if not tables[table].has(column):
                unknown[f"{table}.{column}"] = Unknown("the facts contradict each other", "check where they come from")
    if not found:
        return facts, []
    return replace(facts, tables=tables, unknown=unknown), found[:MAXIMUM_SHOWN]


Doubt = tuple[str, list[tuple[int, str]], Suspicion]


def _of_tables(facts: FactSet) -> Iterator[Doubt]:
    checks: tuple[AtMost | Between, ...] = (*PAIRS_OF_COLUMNS, *BOUNDS)
    for check in checks:
        yield from facts.tables[check.table].found_by_row(check, partial(_doubts, check))


def _doubts(check: AtMost | Between, rows: FactRows) -> list[Doubt]:
    return list(_impossible_pair(check, rows) if isinstance(check, AtMost) else _out_of_bound(check, rows))


def _impossible_pair(check: AtMost, rows: FactRows) -> Iterator[Doubt]:
    if not rows.has(check.smaller) or not rows.has(check.larger):
        return
    smaller, larger = rows.values(check.smaller), rows.values(check.larger)
    if check.per_unit is None and _are_in_order(smaller, larger):
        return
    units: Iterable[Value] = rows.values(check.per_unit) if check.per_unit else [1] * len(rows.rows)
    for place, (small, large, unit) in enumerate(zip(smaller, larger, units, strict=True)):
        if unit == 1 and isinstance(small, int) and isinstance(large, int) and small <= large:
            continue  # as nearly all are, of a hundred thousand
        if check.up_to and _is_beyond(rows.values(check.up_to[0])[place], check.up_to[1]):
            continue
        scaled = _product(small, unit)
        if scaled is None or not isinstance(large, int | float) or scaled <= large * (1 + SLACK_RATIO) + SLACK:
            continue
        # Where a count of blocks cannot be, the size stays known.
        about = (check.smaller, *(() if check.per_unit else (check.larger,)), *check.derived)
        names = (f"{check.table}.{check.smaller}", f"{check.table}.{check.larger}")
        suspicion = Suspicion(names, _object(rows, place), check.why(scaled, float(large)))
        yield check.table, [(place, column) for column in about], suspicion


def _is_beyond(value: Value, most: int) -> bool:
    return isinstance(value, int | float) and value > most


def _are_in_order(smaller: Sequence[Value], larger: Sequence[Value]) -> bool:
    """Whether all are known, and none of the smaller is beyond its larger: asked of whole columns, that takes a fifth of the time."""
    try:
        return all(map(le, smaller, larger))  # type: ignore[arg-type]  # it is caught
    except TypeError:  # something is unknown, or text
        return False


def _out_of_bound(bound: Between, rows: FactRows) -> Iterator[Doubt]:
    values = rows.values(bound.column)
    numbers = numbers_in(values)
    if not numbers or (min(numbers) >= 0 and (bound.maximum is None or max(numbers) <= bound.maximum)):
        return
    for place, value in enumerate(values):
        if not isinstance(value, int | float):
            continue
        high = bound.maximum is not None and value > bound.maximum * (1 + SLACK_RATIO)
        if value < 0 or high:
            limit = f"above {count(bound.maximum)}" if high else "below 0"
            name = f"{bound.table}.{bound.column}"
            why = f"{bound.column} is {count(value)}, {limit}"
            yield bound.table, [(place, bound.column)], Suspicion((name,), _object(rows, place), why)


def _status(facts: FactSet) -> Iterator[Doubt]:
    rows = facts.tables["status"]
    places = {name: place for place, name in enumerate(rows.values("name"))}
    for smaller, larger in STATUS_PAIRS:
        if smaller not in places or larger not in places:
            continue
        for column in ("value", "per_second"):
            values = rows.values(column)
            small, large = values[places[smaller]], values[places[larger]]
            if not isinstance(small, int | float) or not isinstance(large, int | float):
                continue
            if small > large * (1 + SLACK_RATIO) + SLACK:
                rate = " per second" if column == "per_second" else ""
                names = (f"status.{smaller}", f"status.{larger}")
                suspicion = Suspicion(names, "", f"{smaller}{rate} is {count(small)}, above {larger} ({count(large)})")
                yield "status", [(places[smaller], column), (places[larger], column)], suspicion


def _below_zero(facts: FactSet) -> Iterator[Doubt]:
    rows = facts.tables["status"]
    places = {name: place for place, name in enumerate(rows.values("name"))}
    values = rows.values("value")
    for name, place in places.items():
        value = values[place]
        if not isinstance(value, int | float):
            continue
        is_state = name in STATUS_STATES
        is_below = not 0 <= value <= MOST_AT_ONCE if is_state else value > MOST_COUNTED
        if is_below and (is_state or str(name).startswith(COUNTERS)):
            suspicion = Suspicion((f"status.{name}",), "", f"{name} is {count(value)}: a count that went below zero")
            yield "status", [(place, "value")], suspicion


def _uptime(facts: FactSet) -> Iterator[Doubt]:
    """A server that has not run for the interval has no rates of it: where there are some, nobody knows since when it runs."""
    seconds, uptime = facts.interval_seconds, facts.single("server").get("uptime_seconds")
    if not seconds or not isinstance(uptime, int | float) or not facts.tables["status"].has("per_second"):
        return
    if 0 <= uptime * (1 + SLACK_RATIO) + SLACK < seconds:
        why = f"uptime_seconds is {count(uptime)}, and rates are over {count(seconds)} seconds"
        yield "server", [(0, "uptime_seconds")], Suspicion(("server.uptime_seconds",), "", why)


def _product(value: Value, unit: Value) -> float | None:
    return float(value) * unit if isinstance(value, int | float) and isinstance(unit, int | float) else None


def _object(rows: FactRows, place: int) -> str:
    row = rows.row(place)
    parts = [str(row[name]) for name in ("schema_name", "table_name", "name") if row.get(name) is not None]
    return object_name(*parts)


def _without(rows: FactRows, cells: Iterable[tuple[int, str]]) -> FactRows:
    changed = [list(row) for row in rows.rows]
    for place, column in cells:
        changed[place][rows.columns.index(column)] = None
    return FactRows(rows.columns, changed)
