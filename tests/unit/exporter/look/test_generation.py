"""Generations: the same number, the same contents; and nothing is worked out twice of one."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args

from myisam_advisor.factbase.database import FactDatabase
from myisam_exporter.collectors.base import Pair, all_collectors
from myisam_exporter.collectors.myi import COLLECTOR as MYI
from myisam_exporter.collectors.page_cache import COLLECTOR as PAGE_CACHE
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.columns import TABLES, Block
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.files.pages_by_table import PagesByTable
from myisam_exporter.files.sweeper import PageCacheSweep
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.kernel.residency import FilePages
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.look.merging import Remembered
from myisam_exporter.look.table_choice import TableChooser
from tests.support.myi import header

from .test_interval import snapshot, status

MANY = 50


def scan_of(count: int, rows: int = 3) -> DataDirectoryScan:
    one = parse_header(header(rows=rows))
    return DataDirectoryScan(tuple(TableFile(Database("db", "/"), NamedFile(f"t{number}", f"t{number}", None), one, None, 1.0) for number in range(count)), 0, (), 5.0)


def sweep_of(scan: DataDirectoryScan, resident: int = 1) -> PageCacheSweep:
    pages = FilePages(resident, 0, 0, 0, 0)
    return PageCacheSweep(PagesByTable(scan.groups().places, [(pages, pages)] * len(scan.files)), 0, (), 0.1)


def same_again(scan: DataDirectoryScan) -> DataDirectoryScan:
    """Another object of the same generation, as if a scanner had copied it."""
    copy = scan.again(scan.now, scan.other_engine_data_bytes, scan.unreadable, scan.left_out)
    object.__setattr__(copy, "generation", scan.generation)
    return copy


def merged(remembered: Remembered, scan: DataDirectoryScan, sweep: PageCacheSweep, before: DataDirectoryScan | None = None) -> dict[str, FactRows]:
    others = {"status": status(100)}
    pairs: list[tuple[Any, Pair[Any]]] = [(MYI, Pair(scan, before, 10.0 if before else None, others)), (PAGE_CACHE, Pair(sweep))]
    return remembered.merged([remembered.contribution(collector, pair) for collector, pair in pairs])


def test_a_copy_with_other_contents_has_a_number_of_its_own() -> None:
    scan, rows = scan_of(1), FactRows(("name",), [("a",)])
    sweep = sweep_of(scan)
    assert len({scan.generation, sweep.generation, rows.generation, new_generation()}) == 4
    assert replace(rows, rows=[("b",)]).generation != rows.generation
    assert replace(scan, now=6.0).generation != scan.generation
    assert replace(scan, files=()).files_generation != scan.files_generation
    assert scan.again(6.0, 0, (), ()).files_generation == scan.files_generation
    assert replace(sweep, seconds=1.0).generation != sweep.generation
    assert FactRows(("name",), [("a",)]) == rows  # contents are compared without it


def test_a_copy_knows_nothing_of_what_was_worked_out_of_the_other() -> None:
    rows = FactRows(("name", "bytes"), [("a", 1), ("b", None)])
    assert rows.sum_of("bytes") == (1, 1)
    assert rows.has("bytes")
    assert rows.once("count", lambda table: len(table.rows)) == 2
    other = replace(rows, rows=[("c", None)])
    assert other.sum_of("bytes") == (0, 0)
    assert not other.has("bytes")
    assert other.once("count", lambda table: len(table.rows)) == 1
    assert rows.once("count", lambda table: -1) == 2


def test_every_steady_collectors_sample_has_a_generation() -> None:
    steady = {collector.name: get_args(type(collector).__orig_bases__[0])[0] for collector in all_collectors() if collector.steady}  # type: ignore[attr-defined]
    assert steady == {"myi": DataDirectoryScan, "page_cache": PageCacheSweep, "variables": Variables}
    assert all("generation" in sample.__dataclass_fields__ for sample in steady.values())


def test_of_the_same_generations_nothing_is_merged_again_whatever_objects_they_are() -> None:
    remembered, scan = Remembered(), scan_of(MANY)
    sweep = sweep_of(scan)
    merged(remembered, scan, sweep, scan)
    first = merged(remembered, scan, sweep, scan)
    again = merged(remembered, same_again(scan), sweep, same_again(scan))
    for table in ("tables", "indexes"):
        assert again[table].generation == first[table].generation
    later = merged(remembered, scan, sweep_of(scan, 2), scan)
    assert later["tables"].generation != first["tables"].generation
    assert later["indexes"].generation == first["indexes"].generation
    assert {row["data_resident_bytes"] for row in later["tables"].dictionaries()} == {8192}


def test_written_tables_are_merged_anew_and_indexes_are_handed_on() -> None:
    remembered, scan = Remembered(), scan_of(MANY)
    before = merged(remembered, scan, sweep_of(scan))
    after = scan_of(MANY, rows=9)
    later = merged(remembered, after, sweep_of(after), scan)
    assert {row["rows"] for row in later["tables"].dictionaries()} == {9}
    assert later["indexes"].generation == before["indexes"].generation
    assert after.memo.indexes is not None
    assert scan.memo.indexes is not None
    assert after.memo.indexes.generation == scan.memo.indexes.generation
    fewer = scan_of(MANY - 1)
    assert merged(remembered, fewer, sweep_of(fewer), after)["indexes"].generation != before["indexes"].generation


def test_blocks_are_compared_by_what_they_say() -> None:
    assert Block("t", ("a",), [(1,)], generation=1) == Block("t", ("a",), [(1,)], generation=2)


COLUMNS = ("schema_name", "table_name", "data_bytes", "index_bytes", "crashed", "write_statements_per_second", "rows_read_per_second")


def test_the_choice_is_made_again_for_another_generation_only() -> None:
    chooser = TableChooser(1)
    idle = FactRows(COLUMNS, [("db", "a", 1, 1, 0, 0.0, 0.0), ("db", "b", 2, 2, 0, 0.0, 0.0)])
    first = chooser.choose(idle)
    assert chooser.choose(idle).shown.generation == first.shown.generation
    assert chooser.choose(replace(idle, rows=list(idle.rows))).shown.generation != first.shown.generation


def test_what_was_active_fades_while_the_tables_are_the_same_and_all_are_not_looked_through_again() -> None:
    chooser, other = TableChooser(2), TableChooser(2)
    busy = FactRows(COLUMNS, [("db", "a", 1, 1, 0, 4.0, 0.0), *(("db", name, 2, 2, 0, 0.0, 0.0) for name in "bcd")])
    idle = busy.with_rows({0: ("db", "a", 1, 1, 0, 0.0, 0.0)})
    for tables in (busy, busy, idle):
        chooser.choose(tables)
        other.choose(tables)
    gathered = chooser._candidates
    looks = 0
    while chooser.activity:
        other._candidates = None
        assert list(chooser.choose(idle).shown.rows) == list(other.choose(idle).shown.rows)
        assert chooser.activity == other.activity
        assert chooser._candidates is gathered
        looks += 1
    assert looks > 100
    assert [row[1] for row in chooser.choose(idle).shown.rows] == ["b", "c"]


def test_activity_fades_once_a_look_where_the_largest_are_looked_for_anew() -> None:
    def row(number: int, size: int, writes: float) -> tuple[str | float, ...]:
        return "db", f"t{number:03}", size, 0, 0, writes, 0.0

    followed, anew = TableChooser(2), TableChooser(2)
    tables = FactRows(COLUMNS, [row(number, 1000 - number, 1.0 if number == 38 else 0.0) for number in range(40)])
    for chooser in (followed, anew):
        chooser.choose(tables)
    anew._candidates = None
    tables = tables.with_rows({38: row(38, 962, 0.0), 39: row(39, 961, 0.9), **{number: row(number, 0, 0.0) for number in range(16)}})
    assert [shown[1] for shown in followed.choose(tables).shown.rows] == ["t016", "t038"]
    assert [shown[1] for shown in anew.choose(tables).shown.rows] == ["t016", "t038"]
    assert followed.activity == anew.activity


def filled(database: FactDatabase) -> Iterable[str]:
    return sorted(name for name, times in database.changes.fillings.items() if times > 1)


def test_only_tables_of_another_generation_are_filled_again() -> None:
    from myisam_exporter.look.interval import Interval

    remembered, scan, database = Remembered(), scan_of(MANY), FactDatabase()
    sweep = sweep_of(scan)
    for moment in (10.0, 20.0):
        facts = Interval(snapshot(moment, status=status(100), myi=scan, page_cache=sweep)).facts(remembered)
        database.holding(facts)
    assert {"tables", "indexes"}.isdisjoint(filled(database))
    assert "status" in filled(database)
    written = scan_of(MANY, rows=4)
    facts = Interval(snapshot(30.0, status=status(100), myi=written, page_cache=sweep)).facts(remembered)
    assert database.holding(facts).query("SELECT DISTINCT rows FROM tables").rows == [(4,)]
    assert "tables" in filled(database)
    assert set(filled(database)) <= {table.name for table in TABLES}
    database.close()
