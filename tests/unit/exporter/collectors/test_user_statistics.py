"""Rows by table from userstat, where the server has it and it is on."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.user_statistics import COLLECTOR, QUERY, TableStatistics, rows_read
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.definition_reader import MergeTable
from tests.support.recorded import RecordedLook


@pytest.mark.parametrize(("table", "reads", "changes"), [("posts", True, False), ("items", True, False), ("counters", True, True), ("orders", False, True)])
def test_rows_read_and_changed_are_rates(on_mariadb: RecordedLook, table: str, reads: bool, changes: bool) -> None:
    row = next(row for row in on_mariadb.rows("user_statistics", "tables") if row["table_name"] == table)
    before, after = ({one[1]: (int(one[2] or 0), int(one[3] or 0)) for one in on_mariadb.told(QUERY, part)}[table] for part in (0, 1))
    assert row["rows_read_per_second"] * on_mariadb.seconds == pytest.approx(after[0] - before[0])
    assert row["rows_changed_per_second"] * on_mariadb.seconds == pytest.approx(after[1] - before[1])
    assert (row["rows_read_per_second"] > 0, row["rows_changed_per_second"] > 0) == (reads, changes)


def test_mysql_has_none(on_mysql: RecordedLook) -> None:
    assert on_mysql.sample("user_statistics") == Unknown("this server has no user statistics", off=True)


def test_it_is_not_switched_on_but_named(on_mariadb: RecordedLook) -> None:
    sample = on_mariadb.collected("user_statistics", variables=Variables({"userstat": "OFF"}))
    assert isinstance(sample, Unknown)
    assert sample.remedy == "SET GLOBAL userstat=ON;"


def test_a_table_that_is_new_counts_from_zero_and_flushed_ones_have_no_rate() -> None:
    before = TableStatistics({("s", "flushed"): (100, 100)})
    after = TableStatistics({("s", "flushed"): (5, 100), ("s", "new"): (20, None)})
    (block,) = COLLECTOR.facts(Pair(after, before, 10.0))
    assert list(block.rows) == [("s", "flushed", None, 0.0), ("s", "new", 2.0, None)]
    assert list(COLLECTOR.facts(Pair(after))) == []


def test_nothing_counted_of_a_member_of_a_merge_table_is_no_zero(on_mariadb: RecordedLook) -> None:
    scan = MYI.of(on_mariadb.second.samples)
    assert isinstance(scan, DataDirectoryScan)
    merged = replace(scan, merge_tables=(MergeTable("s", "whole", (("s", "member"),)),))
    before = TableStatistics({("s", "member"): (100, 100), ("s", "apart"): (100, 100)})
    after = TableStatistics({("s", "member"): (100, 120), ("s", "apart"): (100, 120)})
    (block,) = COLLECTOR.facts(Pair(after, before, 10.0, {MYI.name: merged}))
    assert list(block.rows) == [("s", "member", None, 2.0), ("s", "apart", 0.0, 2.0)]


@pytest.mark.parametrize(
    ("counted", "handled", "rate"),
    [
        (50_000, 50_100, 5_000.0),  # a table that is read for the first time
        (50_000, 20_000, None),  # a GRANT shows a table that was read for weeks
        (900, 0, 90.0),  # little is told either way
        (50_000, None, None),
    ],
)
def test_what_a_grant_shows_was_not_counted_in_this_interval(counted: int, handled: int | None, rate: float | None) -> None:
    known = ("s", "known"), (100, 0)
    before, after = TableStatistics(dict([known])), TableStatistics(dict([known, (("s", "new"), (counted, 0))]))
    statuses = [{"status": Status({} if handled is None else {"Handler_read_rnd_next": 7 + end, "Handler_write": 3})} for end in (0, handled or 0)]
    pair = Pair(after, before, 10.0, statuses[1], statuses[0])
    (block,) = COLLECTOR.facts(pair)
    assert [row[2] for row in block.rows] == [0.0, rate]
    assert rows_read(pair) == {("s", "known"): 0, ("s", "new"): None if rate is None else counted}
