"""Lock waits and rows by table, from what the server's summaries said at both ends of the interval."""

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.performance_schema import (
    COLLECTOR,
    KEY_CACHE_LOCK_OFF,
    TABLE_CHANGES,
    TABLE_READS,
    WAITS,
    Waits,
)
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
