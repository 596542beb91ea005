"""Indexes of many tables that are alike: SQLite holds the same rows in the same order, whichever way they came there."""

import pytest

from myisam_advisor.factbase.database import FactDatabase, open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.index_tables import ENDINGS, NAMED
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import TABLES, Block, SharedRows
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.index_rows import COLUMNS as INDEX_COLUMNS
from myisam_exporter.files.index_rows import TABLES_ALIKE, IndexRows
from myisam_exporter.files.myi_definition import Definitions
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.table_groups import grouped
from myisam_exporter.look.fact_set import FactRows, FactSet, merge_table
from tests.support.myi import header

DEFINITIONS = Definitions()
INDEXES = next(table for table in TABLES if table.name == "indexes")
COLUMNS = tuple(column.name for column in declared_columns()["indexes"])


def index_rows(count: int, schema: str = "db") -> IndexRows:
    files = []
    for number in range(count):
        parts = ((3, 0, 2), (4, 0, 4))[: 1 + number % 2]
        keys = ((1, parts), (0, parts[:1]))
        one = parse_header(header(keys=keys), DEFINITIONS)._replace(enabled_keys=number % 3)
        files.append(TableFile(Database(schema, "/"), NamedFile(f"t{number}", f"t{number}", None), one, None, 1.0))
    return IndexRows(grouped(files))


def facts_of(rows: FactRows) -> FactSet:
    empty = facts_from_document({"schema": 1})
    return FactSet({**empty.tables, "indexes": rows})


@pytest.mark.parametrize("count", [1, 3 * TABLES_ALIKE, 6 * TABLES_ALIKE, 1200])
def test_the_rows_are_the_same_however_they_were_filled_in(count: int) -> None:
    rows = merge_table(INDEXES, [Block("indexes", INDEX_COLUMNS, index_rows(count))])
    database = open_database(facts_of(rows))
    assert database.query("SELECT * FROM indexes").rows == [tuple(row) for row in rows.rows]
    (tables,), (shapes,) = (database.query(f"SELECT COUNT({column}) FROM {table}").rows[0] for column, table in (("1", NAMED), ("DISTINCT shape", ENDINGS)))
    assert (tables, shapes) == (count, min(count, 6) if count >= 6 * TABLES_ALIKE else count)


def test_rows_in_any_order_come_out_as_they_went_in() -> None:
    names = [("db", "a"), ("db", "b"), ("db", "a"), ("db", "a"), ("x", "a"), ("db", None), ("db", None)]
    rows = FactRows(COLUMNS, [(*name, number % 3, *([None] * (len(COLUMNS) - 4)), number) for number, name in enumerate(names)])
    database = FactDatabase()
    for _ in range(2):
        found = database.holding(facts_of(rows)).query("SELECT * FROM indexes").rows
        assert found == [tuple(row) for row in rows.rows]
        rows = FactRows(COLUMNS, list(reversed(list(rows.rows))))
    assert database.holding(facts_of(FactRows(COLUMNS, []))).query("SELECT COUNT(*) FROM indexes").rows[0] == (0,)


def test_rows_of_which_nothing_is_known_are_rows_all_the_same() -> None:
    rows = FactRows(COLUMNS, [[None] * len(COLUMNS)] * 3)
    assert open_database(facts_of(rows)).query("SELECT * FROM indexes").rows == [tuple(row) for row in rows.rows]


def test_a_query_that_reads_them_is_told_to_read_indexes() -> None:
    guarded = open_database(facts_of(FactRows(COLUMNS, [])))
    assert guarded.columns_read("SELECT key_parts FROM indexes WHERE index_number = 1", None).keys() & {table.name for table in TABLES} == {"indexes"}
    assert guarded.columns_read("SELECT COUNT(*) FROM indexes", None).keys() & {table.name for table in TABLES} == {"indexes"}


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
    assert database.query("SELECT DISTINCT schema_name FROM indexes").rows == [("d\\udcff",)]
    assert database.query("SELECT COUNT(*) FROM indexes").rows[0] == (len(rows.rows),)


@pytest.mark.parametrize("enabled", [False, True])
def test_what_is_known_of_indexes_is_told_by_their_shapes(enabled: bool) -> None:
    rows = index_rows(3 if enabled else 0)
    for place in range(len(INDEX_COLUMNS)):
        assert rows.knows(place) == any(value is not None for value in rows.column(place))
