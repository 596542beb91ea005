import sqlite3
import time
from collections.abc import Iterator

import pytest

from myisam_advisor.facts import open_database
from myisam_advisor.facts_file import facts_from_document
from myisam_advisor.guard import GuardedDatabase, QueryError

FACTS = {"schema": 1, "server": {"flavour": "mysql"}, "tables": [{"schema_name": "a", "table_name": "b", "rows": 3}, {"schema_name": "a", "table_name": "c"}]}


@pytest.fixture
def guarded() -> Iterator[GuardedDatabase]:
    with GuardedDatabase(open_database(facts_from_document(FACTS))) as database:
        yield database


def test_reads_facts(guarded: GuardedDatabase) -> None:
    result = guarded.query("WITH t AS (SELECT * FROM tables) SELECT count(*) AS n, sum(rows) AS r FROM t JOIN server")
    assert result.dictionaries() == [{"n": 2, "r": 3}]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO tables (rows) VALUES (1)", "UPDATE server SET flavour = 'x'", "DELETE FROM tables", "DROP TABLE tables", "CREATE TABLE x (a)", "CREATE TEMP TABLE x (a)",
        "ATTACH '/tmp/x.db' AS x", "PRAGMA query_only = OFF", "PRAGMA hard_heap_limit = 0", "VACUUM INTO '/tmp/x.db'", "BEGIN", "ANALYZE",
    ],
)  # fmt: skip
def test_only_reads(guarded: GuardedDatabase, statement: str) -> None:
    with pytest.raises(QueryError, match="may only read"):
        guarded.query(statement)


@pytest.mark.parametrize("call", ["printf('%.*c', 900000000, 'x')", "randomblob(900000000)", "zeroblob(900000000)", "load_extension('x')", "replace('a', 'a', 'b')", "readfile('/etc/passwd')"])
def test_functions_are_allow_listed(guarded: GuardedDatabase, call: str) -> None:
    with pytest.raises(QueryError, match=r"not among those allowed|no such function"):
        guarded.query(f"SELECT {call}")


@pytest.mark.parametrize(
    "statement",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT count(*) FROM n a, n b, n c",
    ],
)
def test_a_query_that_runs_for_ever_is_stopped(guarded: GuardedDatabase, statement: str) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError, match=r"longer than 0.2 s|recursive"):
        guarded.query(statement, seconds=0.2)
    assert time.monotonic() - started < 5


def test_a_query_cannot_take_all_memory(guarded: GuardedDatabase) -> None:
    doubling = "SELECT length(s) FROM (SELECT 'xxxxxxxxxxxxxxxx' AS s)"
    for _ in range(30):
        doubling = doubling.replace("(SELECT", "(SELECT s || s AS s FROM (SELECT", 1).replace(" AS s)", " AS s))", 1)
    with pytest.raises(QueryError):
        guarded.query(doubling)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT no_such_fact FROM tables", "unknown fact .*facts --describe"),
        ("SELECT * FROM nowhere", "unknown fact"),
        ("SELECT * FROM sqlite_master", "own tables"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("", "empty"),
        ("SELEC 1", "syntax error"),
    ],
)
def test_says_what_is_wrong(guarded: GuardedDatabase, statement: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        guarded.query(statement)


def test_division_by_zero_is_null_and_rows_are_bounded(guarded: GuardedDatabase) -> None:
    assert guarded.query("SELECT 1 / 0").rows == [(None,)]
    result = guarded.query("SELECT a.rows FROM tables a, tables b", maximum_rows=3)
    assert (len(result.rows), result.truncated) == (3, True)


def test_the_guard_does_not_depend_on_the_pragma() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE tables (a)")
    with GuardedDatabase(database) as guarded, pytest.raises(QueryError):
        guarded.query("INSERT INTO tables VALUES (1)")
