"""Lock waits and rows by table, from what the server's summaries said at both ends of the interval."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.performance_schema import (
    COLLECTOR,
    KEY_CACHE_LOCK_OFF,
    TABLE_CHANGES,
    TABLE_READS,
    WAITS,
    Waits,
    loses_counts,
)
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from tests.support.recorded import RecordedLook

KEY_CACHE_LOCK = "wait/synch/mutex/mysys/KEY_CACHE::cache_lock"


def test_the_key_cache_lock_is_timed(look: RecordedLook) -> None:
    before, after = ({row[0]: row[1:] for row in look.told(WAITS, part)}[KEY_CACHE_LOCK] for part in (0, 1))
    (row,) = look.rows("performance_schema", "mutex_wait")
    assert row["name"] == "key_cache_lock"
    assert row["count_per_second"] * look.seconds == pytest.approx(int(after[0] or 0) - int(before[0] or 0))
    assert row["wait_seconds_per_second"] * look.seconds == pytest.approx((int(after[1] or 0) - int(before[1] or 0)) / 1e12)


@pytest.mark.parametrize(("statement", "column", "tables"), [
    (TABLE_READS, "rows_read_per_second", {"posts", "items", "counters"}),
    (TABLE_CHANGES, "rows_changed_per_second", {"orders", "counters"}),
])  # fmt: skip
def test_rows_by_table_are_those_of_the_load(look: RecordedLook, statement: str, column: str, tables: set[str]) -> None:
    grown = {row[1]: int(row[2] or 0) for row in look.told(statement, 1)}
    before = {row[1]: int(row[2] or 0) for row in look.told(statement, 0)}
    rates = {row["table_name"]: row[column] for row in look.rows("performance_schema", "tables") if column in row}
    assert set(rates) == tables
    for table in tables:
        assert rates[table] * look.seconds == pytest.approx(grown[table] - before[table])
        assert rates[table] > 0


def test_what_is_off_is_unknown_with_the_statement_that_switches_it_on(look: RecordedLook) -> None:
    off = look.collected("performance_schema", variables=Variables({"performance_schema": "OFF"}))
    assert isinstance(off, Unknown)
    assert off.off
    unread = Unknown("the instrument is off", off=True)
    nothing = Waits(frozenset(), {}, unread, unread, unread)
    unknown = COLLECTOR.unknown_columns(nothing)
    assert unknown["mutex_wait"] is KEY_CACHE_LOCK_OFF
    assert "UPDATE performance_schema.setup_instruments" in unknown["mutex_wait"].remedy
    assert unknown["tables.rows_read_per_second"] is unread
    assert list(COLLECTOR.notes(nothing)) == [KEY_CACHE_LOCK_OFF]
    assert list(COLLECTOR.notes(look.sample("performance_schema"))) == []


def test_without_an_interval_nothing_is_said(look: RecordedLook) -> None:
    assert list(COLLECTOR.facts(Pair(look.sample("performance_schema")))) == []


@pytest.mark.parametrize("is_partial", [False, True])
def test_of_tables_that_are_not_counted_whole_no_zero_is_told(on_mysql: RecordedLook, is_partial: bool) -> None:
    """Tried on MySQL 5.6 with more open tables than handles: a table that is read all the time had 0 rows read a second."""
    waits = on_mysql.sample("performance_schema")
    pair = Pair(replace(waits, is_partial=is_partial), waits, 10.0, {MYI.name: MYI.of(on_mysql.second.samples)})
    found: dict[str, set[object]] = {}
    for block in COLLECTOR.facts(pair):
        for row in block.rows:
            for name, value in zip(block.columns, row, strict=True):
                found.setdefault(name, set()).add(value)
    rates = [found[name] for name in ("rows_read_per_second", "rows_changed_per_second", "lock_wait_seconds_per_second")]
    assert rates == [{None}, {None}, {0.0}] if is_partial else [{0.0}] * 3


@pytest.mark.parametrize(("lost", "is_partial"), [({}, False), ({"table_handles": 0}, False), ({"table_handles": 3}, True), ({"table_instances": 1}, True), ({"index_stat": 1}, True)])
def test_it_has_room_for_all_or_not(lost: dict[str, int], is_partial: bool) -> None:
    assert loses_counts(Status({f"Performance_schema_{what}_lost": count for what, count in lost.items()}), Variables({})) is is_partial


@pytest.mark.parametrize(("room", "since_flush", "is_partial"), [("40", 900, True), ("2000", 900, False), ("-1", 900, False), ("0", 900, True), ("40", 998, False), ("40", 1000, False), ("", 900, False)])
def test_after_a_flush_of_what_tells_so_its_room_is_asked(room: str, since_flush: int, is_partial: bool) -> None:
    status = Status({"Performance_schema_table_handles_lost": 0, "Uptime": 1000, "Uptime_since_flush_status": since_flush})
    variables = Variables({"performance_schema_max_table_handles": room, "table_open_cache": "2000"})
    assert loses_counts(status, variables) is is_partial
