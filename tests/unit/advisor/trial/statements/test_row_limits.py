"""Which SELECTs with LIMIT leave nothing open, and how they are asked for one row more."""

import pytest

from myisam_advisor.trial.statements.row_limits import Limited, has_limit, limited, unique_keys


@pytest.mark.parametrize(
    ("statement", "asked", "rows"),
    [
        (b"SELECT a FROM t LIMIT 5", b"SELECT a FROM t LIMIT 6", 5),
        (b"select a from t\n limit 5 , 10 ; ", b"select a from t LIMIT 16", 15),
        (b"SELECT a FROM t LIMIT 10 OFFSET 5", b"SELECT a FROM t LIMIT 16", 15),
        (b"SELECT a FROM t WHERE b = '" + b"x" * 400 + b"' LIMIT 5", b"SELECT a FROM t WHERE b = '" + b"x" * 400 + b"' LIMIT 6", 5),
        (b"SELECT 'limit 3' FROM t LIMIT 1", b"SELECT 'limit 3' FROM t LIMIT 2", 1),
        (b"SELECT a FROM t UNION SELECT b FROM u LIMIT 2", b"SELECT a FROM t UNION SELECT b FROM u LIMIT 3", 2),
    ],
)  # fmt: skip
def test_one_row_more_is_asked_for(statement: bytes, asked: bytes, rows: int) -> None:
    found = limited(statement)
    assert found is not None
    assert (found.statement, found.rows) == (asked, rows)
    assert found.is_certain(rows, [])
    assert not found.is_certain(rows + 1, [])


@pytest.mark.parametrize(
    "statement",
    [
        b"SELECT a FROM t WHERE b IN (SELECT b FROM u LIMIT 5)", b"SELECT a FROM (SELECT a FROM t LIMIT 5) d LIMIT 3", b"(SELECT a FROM t LIMIT 5)",
        b"SELECT a FROM t LIMIT @n", b"SELECT a FROM t LIMIT ?", b"SELECT a FROM t LIMIT 5 FOR UPDATE", b"SELECT a FROM t LIMIT 3 -- LIMIT 5", b"SELECT a FROM t LIMIT 3 /* x */",
        b"SELECT a FROM t LIMIT 1" + b" " * 100_000 + b"+",
        b"SELECT a FROM t WHERE b IN (" + b"1," * 200_000 + b"1) LIMIT 5",
    ],
)  # fmt: skip
def test_what_is_not_at_the_end_in_plain_numbers_is_not_certain(statement: bytes) -> None:
    assert has_limit(statement)
    assert limited(statement) is None


def test_a_limit_in_a_value_or_a_name_is_none() -> None:
    assert not has_limit(b"SELECT `limit` FROM t WHERE a = 'LIMIT 5' -- limit 3")


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        (b"SELECT * FROM t ORDER BY id LIMIT 5", "id"),
        (b"SELECT SQL_CALC_FOUND_ROWS id, name FROM d.t AS x USE INDEX (a, b) WHERE c = (SELECT MAX(c) FROM t ORDER BY e) ORDER BY `posted` DESC, x.ID ASC LIMIT 5, 5", "posted id"),
        (b"SELECT * FROM t x ORDER BY LENGTH(name), d.t.id LIMIT 5", "id"),
        (b"SELECT t.id, x.id FROM t ORDER BY id LIMIT 5", "id"),
        (b"SELECT * FROM t ORDER BY LENGTH(id) LIMIT 5", ""),
        (b"SELECT * FROM t ORDER BY 1 LIMIT 5", ""),
        (b"SELECT * FROM t ORDER BY id + 1 LIMIT 5", ""),
        (b"SELECT * FROM t ORDER BY id COLLATE utf8_bin LIMIT 5", ""),
        # Not the column, but what is called so.
        (b"SELECT name AS id FROM t ORDER BY id LIMIT 5", ""),
        (b"SELECT LENGTH(name) `ID`, name FROM t ORDER BY id, name LIMIT 5", "name"),
        (b"SELECT name 'id' FROM t ORDER BY id LIMIT 5", ""),
        # Not the rows of one table.
        (b"SELECT * FROM t, u ORDER BY id LIMIT 5", ""),
        (b"SELECT * FROM t INNER JOIN u USING (i) ORDER BY id LIMIT 5", ""),
        (b"SELECT * FROM t NATURAL JOIN u ORDER BY id LIMIT 5", ""),
        (b"SELECT * FROM (SELECT * FROM t) x ORDER BY id LIMIT 5", ""),
        (b"SELECT * FROM JSON_TABLE('[]', '$' COLUMNS(id INT PATH '$')) x ORDER BY id LIMIT 5", ""),
        (b"SELECT DISTINCT a FROM t ORDER BY id LIMIT 5", ""),
        (b"SELECT a FROM t GROUP BY a ORDER BY id LIMIT 5", ""),
        (b"SELECT id FROM t UNION ALL SELECT id FROM u ORDER BY id LIMIT 5", ""),
        (b"SELECT id FROM t WHERE a = 1 LIMIT 5", ""),
        (b"WITH c AS (SELECT 1) SELECT id FROM t ORDER BY id LIMIT 5", ""),
    ],
)  # fmt: skip
def test_columns_of_one_table_make_an_order(statement: bytes, columns: str) -> None:
    found = limited(statement)
    assert found is not None
    assert found.ordered_by == set(columns.split())


def test_an_order_is_certain_by_all_columns_of_a_unique_key() -> None:
    ordered = Limited(b"", 5, frozenset(("posted", "id")))
    assert ordered.is_certain(6, [{"name"}, {"id"}])
    assert not ordered.is_certain(6, [{"id", "part"}, {"name"}])
    assert not ordered.is_certain(6, [])


def test_a_unique_key_with_null_or_of_an_expression_makes_no_order() -> None:
    rows = [
        ("t", 0, "PRIMARY", 1, "Id", "A", 5, None, None, ""),
        ("t", 0, "two", 1, "a", "A", 5, None, None, ""), ("t", 0, "two", 2, "b", "A", 5, None, None, "YES"),
        ("t", 1, "many", 1, "c", "A", 5, None, None, ""),
        ("t", 0, "made", 1, None, "A", 5, None, None, ""),
        ("t", 0, "both", 1, "d", "A", 5, 10, None, ""), ("t", 0, "both", 2, "E", "A", 5, None, None, ""),
    ]  # fmt: skip
    assert unique_keys(rows) == [{"id"}, {"d", "e"}]
