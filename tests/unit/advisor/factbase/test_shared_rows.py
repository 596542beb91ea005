"""Indexes of many tables that are alike: SQLite holds the same rows in the same order, whichever way they came there."""

import pytest

from myisam_advisor.factbase.database import ENDINGS, NAMED, open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_exporter.facts.columns import TABLES, Block, SharedRows
from myisam_exporter.files.index_rows import COLUMNS as INDEX_COLUMNS
from myisam_exporter.files.index_rows import TABLES_ALIKE, IndexRows
from myisam_exporter.files.myi_definition import Definitions
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.files.schema_reader import TableFile
from myisam_exporter.look.fact_set import FactRows, FactSet, merge_table
from tests.support.myi import header

DEFINITIONS = Definitions()
INDEXES = next(table for table in TABLES if table.name == "indexes")


def index_rows(count: int, schema: str = "db") -> IndexRows:
    tables = {}
    for number in range(count):
        parts = ((3, 0, 2), (4, 0, 4))[: 1 + number % 2]
        keys = ((1, parts), (0, parts[:1]))
        one = parse_header(header(keys=keys), DEFINITIONS)._replace(enabled_keys=number % 3)
        name = (schema, f"t{number}")
        tables[name] = [TableFile(*name, None, "/", name[1], one, None, 1.0)]
    return IndexRows(tables)


def facts_of(rows: FactRows) -> FactSet:
    empty = facts_from_document({"schema": 1})
    return FactSet({**empty.tables, "indexes": rows})


@pytest.mark.parametrize("count", [1, 3 * TABLES_ALIKE, 6 * TABLES_ALIKE, 1200])
def test_the_rows_are_the_same_however_they_were_filled_in(count: int) -> None:
    rows = merge_table(INDEXES, [Block("indexes", INDEX_COLUMNS, index_rows(count))])
    database = open_database(facts_of(rows))
    assert database.execute("SELECT * FROM indexes").fetchall() == [tuple(row) for row in rows.rows]
    assert not database.execute("SELECT name FROM sqlite_master WHERE name IN (?, ?)", (NAMED, ENDINGS)).fetchall()


def test_few_tables_that_are_alike_are_told_one_by_one_and_many_by_their_shapes() -> None:
    assert index_rows(6 * TABLES_ALIKE - 1).shared() is None
    many = index_rows(6 * TABLES_ALIKE)
    shared = many.shared()
    assert shared is not None
    assert len(shared.endings) == 6
    assert [(*names, *ending) for *names, shape in shared.names for ending in shared.endings[int(str(shape))]] == list(many)


def test_a_name_that_no_text_can_hold_is_stored_as_ever() -> None:
    rows = merge_table(INDEXES, [Block("indexes", INDEX_COLUMNS, index_rows(1200, "d\udcff"))])
    assert isinstance(index_rows(1200).shared(), SharedRows)
    database = open_database(facts_of(rows))
    assert database.execute("SELECT DISTINCT schema_name FROM indexes").fetchall() == [("d\\udcff",)]
    assert database.execute("SELECT COUNT(*) FROM indexes").fetchone() == (len(rows.rows),)
    assert not database.execute("SELECT name FROM sqlite_master WHERE name IN (?, ?)", (NAMED, ENDINGS)).fetchall()


@pytest.mark.parametrize("enabled", [False, True])
def test_what_is_known_of_indexes_is_told_by_their_shapes(enabled: bool) -> None:
    rows = index_rows(3 if enabled else 0)
    for place in range(len(INDEX_COLUMNS)):
        assert rows.knows(place) == any(value is not None for value in rows.column(place))
