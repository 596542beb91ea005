"""Rows read by index: names and numbers from the order of an answer, and what makes neither of them known."""

from dataclasses import replace

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.index_reads import COLLECTOR, MAXIMUM_INDEXES, QUERY, TOO_MANY, IndexReads
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.definition_reader import MergeTable
from tests.support.recorded import RecordedLook


def test_each_index_has_its_name_and_its_rate(on_mysql: RecordedLook) -> None:
    rows = on_mysql.rows("index_reads", "indexes")
    before, after = ({(schema, table, index): int(reads or 0) for schema, table, index, reads in on_mysql.told(QUERY, part)} for part in (0, 1))
    assert {(row["schema_name"], row["table_name"], row["index_name"]) for row in rows} <= after.keys()
    assert {row["index_number"] for row in rows if row["index_name"] == "PRIMARY"} == {1}
    for row in rows:
        name = row["schema_name"], row["table_name"], row["index_name"]
        if row["rows_read_since_start"] is None:
            continue  # of a fulltext index: see below
        assert row["rows_read_since_start"] == after[name]
        assert row["rows_read_per_second"] * on_mysql.seconds == pytest.approx(after[name] - before.get(name, 0))
    assert any((row["rows_read_per_second"] or 0) > 0 for row in rows)


def test_the_rows_are_those_of_the_headers_with_nothing_lost(on_mysql: RecordedLook) -> None:
    whole = on_mysql.facts.tables["indexes"].dictionaries()
    own = {(row["schema_name"], row["table_name"], row["index_number"]): row for row in on_mysql.rows("index_reads", "indexes")}
    assert own
    for row in whole:
        assert row["key_parts"] is not None
        found = own.pop((row["schema_name"], row["table_name"], row["index_number"]), None)
        assert row["rows_read_since_start"] == (found and found["rows_read_since_start"])
    assert own == {}


def test_without_the_source_its_reason_is_told_and_nothing_else(on_mariadb: RecordedLook) -> None:
    off = Unknown("performance_schema is off", off=True)
    assert on_mariadb.collected("index_reads", performance_schema=off) == off
    unseen = Unknown("the server is elsewhere")
    assert on_mariadb.collected("index_reads", myi=unseen) == unseen
    waits = on_mariadb.sample("performance_schema")
    assert on_mariadb.collected("index_reads", performance_schema=replace(waits, table_reads=off)) == off


def scan_of(look: RecordedLook) -> DataDirectoryScan:
    scan = MYI.of(look.second.samples)
    assert isinstance(scan, DataDirectoryScan)
    return scan


def rows_of(look: RecordedLook, after: IndexReads, before: IndexReads | None = None) -> list[tuple[object, ...]]:
    pair = Pair(after, before, 10.0 if before else None, {MYI.name: scan_of(look)})
    return [tuple(row)[2:] for block in COLLECTOR.facts(pair) for row in block.rows]


def test_what_is_not_as_the_header_has_it_is_told_of_no_index(on_mysql: RecordedLook) -> None:
    file = next(file for file in scan_of(on_mysql).files if file.header and len(file.header.definition.keys or ()) == 1)
    name = (file.schema_name, file.table_name)
    assert rows_of(on_mysql, IndexReads({name: {"PRIMARY": 7}})) == [(1, "PRIMARY", None, 7)]
    assert rows_of(on_mysql, IndexReads({name: {"PRIMARY": 7, "new": 0}})) == []
    assert rows_of(on_mysql, IndexReads({("no", "table"): {"PRIMARY": 7}})) == []
    # Counters that were set back have no rate, a table opened since counts from zero, what is no number is unknown.
    assert rows_of(on_mysql, IndexReads({name: {"PRIMARY": 7}}), IndexReads({name: {"PRIMARY": 9}})) == [(1, "PRIMARY", None, 7)]
    assert rows_of(on_mysql, IndexReads({name: {"PRIMARY": 7}}), IndexReads({})) == [(1, "PRIMARY", 0.7, 7)]
    assert rows_of(on_mysql, IndexReads({name: {"PRIMARY": None}}), IndexReads({})) == [(1, "PRIMARY", None, None)]


def test_reads_of_a_fulltext_index_are_counted_nowhere(look: RecordedLook) -> None:
    """The server says 0 of one that statements search by: that is not known."""
    (words,) = [row for row in look.facts.tables["indexes"].dictionaries() if row["algorithm"] == "fulltext"]
    (told,) = [reads for schema, table, index, reads in look.told(QUERY) if (schema, table, index) == (words["schema_name"], words["table_name"], words["index_name"])]
    assert told == "0"
    assert (words["rows_read_since_start"], words["rows_read_per_second"]) == (None, None)


def test_what_is_read_through_a_merge_table_is_not_counted_for_its_members(on_mysql: RecordedLook) -> None:
    scan = scan_of(on_mysql)
    file = next(file for file in scan.files if file.header and len(file.header.definition.keys or ()) == 1)
    name = (file.schema_name, file.table_name)
    merged = replace(scan, merge_tables=(MergeTable("any", "whole", (name,)),))
    for reads, known in ((0, None), (7, 7)):
        pair = Pair(IndexReads({name: {"PRIMARY": reads}}), None, None, {MYI.name: merged})
        assert [tuple(row)[2:] for block in COLLECTOR.facts(pair) for row in block.rows] == [(1, "PRIMARY", None, known)]


@pytest.mark.parametrize(("is_partial", "known"), [(False, 0), (True, None)])
def test_where_performance_schema_had_no_room_for_all_no_zero_is_told(on_mysql: RecordedLook, is_partial: bool, known: int | None) -> None:
    sample = on_mysql.collected("index_reads", performance_schema=replace(on_mysql.sample("performance_schema"), is_partial=is_partial))
    assert isinstance(sample, IndexReads)
    file = next(file for file in scan_of(on_mysql).files if file.header and len(file.header.definition.keys or ()) == 1)
    name = (file.schema_name, file.table_name)
    assert rows_of(on_mysql, replace(sample, tables={name: {"PRIMARY": 0}})) == [(1, "PRIMARY", None, known)]
    assert rows_of(on_mysql, replace(sample, tables={name: {"PRIMARY": 7}})) == [(1, "PRIMARY", None, 7)]


def test_more_indexes_than_a_look_can_bear_are_not_asked_for(on_mysql: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    def many(*_: object) -> list[tuple[str, ...]]:
        return [("d", f"t{number}", "PRIMARY", "1") for number in range(MAXIMUM_INDEXES + 1)]

    monkeypatch.setattr("myisam_exporter.server.session.Session.rows_or_unknown", lambda *_, **__: many())
    assert on_mysql.collected("index_reads", performance_schema=on_mysql.sample("performance_schema")) == TOO_MANY
