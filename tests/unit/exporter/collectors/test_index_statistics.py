"""Reads by index from userstat: what is 0 and what is unknown, for how long, and how much of all reads that is."""

from collections.abc import Mapping
from typing import Any

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.index_reads import MAXIMUM_INDEXES, TOO_MANY
from myisam_exporter.collectors.index_reads import QUERY as BY_PERFORMANCE_SCHEMA
from myisam_exporter.collectors.index_statistics import COLLECTOR, SEES_NONE, TOLD_ALREADY, IndexStatistics
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.user_statistics import TableStatistics
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.index_names import FoundNames, NamedIndexes
from myisam_exporter.files.table_file import TableFile
from tests.support.recorded import RecordedLook

OFF = Unknown("performance_schema is off", off=True)
DAY = 86400
NOW = 1_700_000_000.0
STATUS = {"Uptime": 100 * DAY, "Uptime_since_flush_status": 100 * DAY, "Rows_read": 1000, "Com_flush": 0, "Handler_read_key": 500, "Handler_read_next": 100}


def scan_of(look: RecordedLook) -> DataDirectoryScan:
    scan = MYI.of(look.second.samples)
    assert isinstance(scan, DataDirectoryScan)
    return scan


def table_with(look: RecordedLook, kind: str) -> TableFile:
    """A table that has an index of this kind."""
    return next(file for file in scan_of(look).files if file.header and kind in {key.kind for key in file.header.definition.keys or ()})


def names_of(file: TableFile, defined: float = NOW - 40 * DAY, is_partitioned: bool = False) -> NamedIndexes:
    assert file.header is not None
    return NamedIndexes(tuple(f"i{number}" for number, _ in enumerate(file.header.definition.keys or (), 1)), defined, is_partitioned)


def rows_of(look: RecordedLook, file: TableFile, reads: Mapping[str, int | None], names: NamedIndexes | None = None, before: Mapping[str, int | None] | None = None, ratio: float | None = 0.97) -> list[dict[str, Any]]:
    table = (file.schema_name, file.table_name)
    found = FoundNames({table: names or names_of(file)}, ())
    after = IndexStatistics({table: reads} if reads else {}, found, ratio, 100.0 * DAY, NOW)
    former = None if before is None else IndexStatistics({table: before} if before else {}, found, ratio, 100.0 * DAY, NOW)
    pair = Pair(after, former, 10.0 if former else None, {MYI.name: scan_of(look)})
    return [dict(zip(block.columns, row, strict=True)) for block in COLLECTOR.facts(pair) for row in block.rows]


def test_an_index_that_is_not_named_beside_others_was_not_read_by(on_mariadb: RecordedLook) -> None:
    file = next(file for file in scan_of(on_mariadb).files if file.header and [key.kind for key in file.header.definition.keys or ()][:2] == ["btree", "btree"])
    first, second = rows_of(on_mariadb, file, {"i1": 7}, before={"i1": 2})[:2]
    assert (first["index_number"], first["index_name"], first["rows_read_since_start"], first["rows_read_per_second"]) == (1, "i1", 7, 0.5)
    assert (second["index_number"], second["index_name"], second["rows_read_since_start"], second["rows_read_per_second"]) == (2, "i2", 0, 0.0)
    assert {row["rows_read_since_start"] for row in rows_of(on_mariadb, file, {})} == {0}  # of one that TABLE_STATISTICS names
    assert [row["rows_read_per_second"] for row in rows_of(on_mariadb, file, {"i1": 7})][:2] == [None, None]
    # Set back within the interval.
    assert rows_of(on_mariadb, file, {"i1": 1}, before={"i1": 9})[0]["rows_read_per_second"] is None
    # An index that was renamed: its reads may be under the former name.
    first, second = rows_of(on_mariadb, file, {"i1": 7, "former": 9})[:2]
    assert (first["rows_read_since_start"], second["rows_read_since_start"], second["reads_counted_ratio"]) == (7, None, None)


def test_reads_that_nobody_counts_are_unknown(on_mariadb: RecordedLook) -> None:
    words = table_with(on_mariadb, "fulltext")
    assert words.header is not None
    kinds = [key.kind for key in words.header.definition.keys or ()]
    rows = rows_of(on_mariadb, words, {})
    assert [row["rows_read_since_start"] for row in rows] == [None if kind == "fulltext" else 0 for kind in kinds]
    plain = table_with(on_mariadb, "btree")
    parted = rows_of(on_mariadb, plain, {}, names_of(plain, is_partitioned=True))
    assert {(row["rows_read_since_start"], row["reads_counted_seconds"]) for row in parted} == {(None, None)}
    assert [row["index_name"] for row in parted] == list(names_of(plain).names)


@pytest.mark.parametrize(("defined", "seconds"), [(NOW - 40.5 * DAY - 5, int(40.5 * DAY)), (NOW - 200 * DAY, 100 * DAY), (NOW + 500, 0)])
def test_reads_are_counted_no_longer_than_the_table_is_as_it_is(on_mariadb: RecordedLook, defined: float, seconds: int) -> None:
    file = table_with(on_mariadb, "btree")
    assert {(row["reads_counted_seconds"], row["reads_counted_ratio"]) for row in rows_of(on_mariadb, file, {}, names_of(file, defined))} == {(seconds, 0.97)}


def test_of_a_table_that_was_altered_meanwhile_nothing_is_told(on_mariadb: RecordedLook) -> None:
    file = table_with(on_mariadb, "btree")
    names = names_of(file)
    assert rows_of(on_mariadb, file, {"i1": 7}, NamedIndexes((*names.names, "new"), NOW, False)) == []


def collected(look: RecordedLook, monkeypatch: pytest.MonkeyPatch, answer: object, status: Mapping[str, int], tables: Mapping[tuple[str, str], tuple[int, int]]) -> Any:
    monkeypatch.setattr("myisam_exporter.server.session.Session.rows_or_unknown", lambda *_, **__: answer)
    return look.collected("index_statistics", index_reads=OFF, user_statistics=TableStatistics(tables), status=Status(dict(status)))


@pytest.mark.parametrize(
    ("status", "ratio"),
    [
        ({}, 0.84),  # 300 rows by index, and 55 of which nobody knows by what
        ({"Rows_read": 900}, 1.0),  # read a moment before the counters
        ({"Rows_read": 90_000}, 0.5),
        ({"Com_flush": 3}, 0.5),  # of the calls that read by index
        ({"Com_flush": 3, "Rows_read": 400}, 0.75),
        ({"Com_flush": 3, "Rows_read": 0}, None),
        ({"Rows_read": 0}, None),
        ({"Uptime_since_flush_status": DAY}, None),
    ],
)
def test_how_much_of_all_reads_is_counted(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch, status: Mapping[str, int], ratio: float | None) -> None:
    answer = [("d", "t", "PRIMARY", "290"), ("mysql", "db", "PRIMARY", "10"), ("d", "t", "odd", None)]
    sample = collected(on_mariadb, monkeypatch, answer, {**STATUS, **status}, {("d", "t"): (900, 0), ("mysql", "db"): (45, 0)})
    assert sample.counted_ratio == ratio
    assert sample.tables == {("d", "t"): {"PRIMARY": 290, "odd": None}, ("mysql", "db"): {"PRIMARY": 10}}


@pytest.mark.parametrize("missing", ["Uptime", "Uptime_since_flush_status", "Rows_read", "Com_flush"])
def test_without_what_it_is_held_against_the_share_is_unknown(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    status = {name: value for name, value in STATUS.items() if name != missing}
    assert collected(on_mariadb, monkeypatch, [], status, {("d", "t"): (900, 0)}).counted_ratio is None


def test_names_are_those_that_performance_schema_has_and_of_the_tables_that_the_counters_name_alone(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[tuple[str, str], list[str]] = {}
    for schema, table, index, _ in on_mariadb.told(BY_PERFORMANCE_SCHEMA):
        told.setdefault((str(schema), str(table)), []).append(str(index))
    some = dict.fromkeys(list(told)[1:], (1, 0))
    found = collected(on_mariadb, monkeypatch, [], STATUS, {**some, ("no", "table"): (1, 0)}).names
    assert found.unread == ()
    assert len(found.tables) > 3
    assert {table: list(one.names) for table, one in found.tables.items()} == {name: names for name, names in told.items() if name in some}
    monkeypatch.setattr("myisam_exporter.collectors.index_statistics.MAXIMUM_TABLES", 2)
    sizes = {(file.schema_name, file.table_name): file.header.index_bytes for file in scan_of(on_mariadb).files if file.header}
    few = collected(on_mariadb, monkeypatch, [], STATUS, some).names.tables
    assert len(few) == 2
    assert min(sizes[name] for name in few) >= max(sizes[name] for name in found.tables if name not in few)


def test_a_damaged_definition_is_told_of(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    file = table_with(on_mariadb, "fulltext")
    path, name = on_mariadb.machine.data / file.schema_name / f"{file.stem}.frm", (file.schema_name, file.table_name)
    whole = path.read_bytes()
    path.write_bytes(b"damaged")
    try:
        damaged = collected(on_mariadb, monkeypatch, [], STATUS, {name: (5, 0)})
    finally:
        path.write_bytes(whole)
    assert damaged.names == FoundNames({}, (name,))
    assert [note.reason for note in COLLECTOR.notes(damaged)] == [f"the names of indexes in the definitions (.frm) of 1 table cannot be read: {'.'.join(name)}"]


def test_where_something_else_tells_or_nothing_does_its_reason_is_given(on_mariadb: RecordedLook, on_mysql: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_mysql.sample("index_statistics") == TOLD_ALREADY
    assert on_mysql.collected("index_statistics", index_reads=OFF) == OFF  # what helps there
    userstat = Unknown("userstat is off", "SET GLOBAL userstat=ON;", off=True)
    assert on_mariadb.collected("index_statistics", index_reads=OFF, user_statistics=userstat) == userstat
    elsewhere = Unknown("the server is elsewhere")
    counts = TableStatistics({("d", "t"): (1, 0)})
    for missing in ("myi", "status", "server"):
        others: dict[str, Any] = {"index_reads": OFF, "user_statistics": counts, missing: elsewhere}
        assert on_mariadb.collected("index_statistics", **others) == elsewhere
    assert collected(on_mariadb, monkeypatch, elsewhere, STATUS, {("d", "t"): (1, 0)}) == elsewhere
    assert collected(on_mariadb, monkeypatch, [], STATUS, {}) == SEES_NONE
    many = [("d", f"t{number}", "PRIMARY", "1") for number in range(MAXIMUM_INDEXES + 1)]
    assert collected(on_mariadb, monkeypatch, many, STATUS, {("d", "t"): (1, 0)}) == TOO_MANY
