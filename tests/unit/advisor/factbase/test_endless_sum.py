import sqlite3
import sys

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.factbase.database import _empty_database
from myisam_advisor.factbase.endless_sum import EndlessSum, copy_that_sums_without_end
from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
from myisam_exporter.facts.columns import Value

LARGEST = 2**63 - 1
needs_windows = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 makes no function for windows")
VALUES: tuple[Value, ...] = (None, 1, -7, 2.5, "5", " 7 ", "12abc", "abc", ".5e1", "-3.25", 1e308, 2**62, "1e2")


def of(*values: Value) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute("CREATE TABLE numbers (place INTEGER, value)")
    database.executemany("INSERT INTO numbers VALUES (?, ?)", enumerate(values))
    return database


@pytest.mark.parametrize("query", [
    "SELECT place, typeof(SUM(value)), SUM(value) FROM numbers GROUP BY place",
    "SELECT SUM(value), typeof(SUM(value)) FROM numbers WHERE typeof(value) = 'integer'",
    "SELECT SUM(value) FROM numbers",
    "SELECT SUM(value) FROM numbers WHERE place < 0",
    "SELECT SUM(value) FILTER (WHERE place BETWEEN 1 AND 3), SUM(DISTINCT place / 2) FROM numbers",
    pytest.param(
        "SELECT SUM(place) OVER (ORDER BY place ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), SUM(place * 0.5) OVER (ORDER BY place ROWS 1 PRECEDING) FROM numbers",
        marks=needs_windows,
    ),
    "SELECT SUM(x'3132'), SUM(x'6162')",
])  # fmt: skip
def test_it_sums_as_sqlite_does(query: str) -> None:
    database = of(*VALUES)
    copy = copy_that_sums_without_end(database)
    assert repr(copy.execute(query).fetchall()) == repr(database.execute(query).fetchall())


@pytest.mark.parametrize(("values", "together"), [
    ((LARGEST, LARGEST), 2.0**64), ((-LARGEST, -LARGEST), -(2.0**64)), ((LARGEST, LARGEST, -LARGEST), LARGEST), ((LARGEST, 1.5, LARGEST), 2.0**64),
])  # fmt: skip
def test_a_query_whose_sum_is_no_whole_number_of_sqlites_is_answered(values: tuple[Value, ...], together: Value) -> None:
    with GuardedDatabase(of(*values)) as database:
        rows = database.query("SELECT SUM(value) AS s, SUM(place), SUM(value) FILTER (WHERE place = 0) FROM numbers").rows
        assert rows == [(together, sum(range(len(values))), values[0])]


@needs_windows
def test_so_is_one_over_a_window() -> None:
    with GuardedDatabase(of(LARGEST, LARGEST)) as database:
        assert database.query("SELECT SUM(value) OVER () FROM numbers", maximum_rows=1).rows == [(2.0**64,)]


@pytest.mark.parametrize("rule", shipped_rules(), ids=lambda rule: rule.id)
def test_no_rule_asks_for_one_over_a_window(rule: Rule) -> None:
    """Before Python 3.11 there is none: a sum beyond SQLite's whole numbers would leave the rule without an answer."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _empty_database().backup(connection)
    connection.create_aggregate("sum", 1, EndlessSum)  # type: ignore[arg-type]  # it takes more than the stubs say
    with GuardedDatabase(connection, sums_without_end=True) as database:
        for statement in rule.statements:
            database.query(f"EXPLAIN {statement}", {**rule.values(), "interval_seconds": None})


def test_the_copy_is_guarded_as_well() -> None:
    with GuardedDatabase(of(LARGEST, LARGEST)) as database:
        with pytest.raises(QueryError, match="took longer"):
            database.query(
                "WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) "
                "SELECT (SELECT SUM(value) FROM numbers), (SELECT MAX(n) FROM endless)", seconds=0.2,
            )  # fmt: skip
        with pytest.raises(QueryError, match="integer overflow"):
            database.query("SELECT abs(-9223372036854775807 - 1)")
