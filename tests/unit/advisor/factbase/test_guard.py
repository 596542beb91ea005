import sqlite3
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from myisam_advisor.factbase.database import FactDatabase, open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.filling import Filling
from myisam_advisor.factbase.guarded_query import (
    MAXIMUM_RESULT_BYTES,
    MAXIMUM_STRING_BYTES,
    GuardedDatabase,
    QueryError,
)
from myisam_advisor.factbase.sqlite_limits import LENGTH, _set_limit_by_handle

FACTS = {"schema": 1, "server": {"flavour": "mysql"}, "tables": [{"schema_name": "a", "table_name": "b", "rows": 3}, {"schema_name": "a", "table_name": "c"}]}


needs_recursion = pytest.mark.skipif(sys.version_info < (3, 11), reason="long texts are made by recursion")


@pytest.fixture
def guarded() -> Iterator[GuardedDatabase]:
    with open_database(facts_from_document(FACTS)) as database:
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


# 100,000 rows beside a text of 48,000 times a, and one of 16,000 times b with an a behind: a row may have 64 KiB too.
LONG = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000), d(k, x, y) AS (SELECT 1, 'a', 'b' UNION ALL SELECT k + 1, x || x, y || y FROM d WHERE k < 15), "
    "s AS (SELECT substr(x || x || x, 1, 48000) AS x, substr(y, 1, 16000) || 'a' AS y FROM d WHERE k = 15) "
)


@needs_recursion
@pytest.mark.parametrize(
    "expression",
    [
        "sum(instr(x, substr(x, 1, length(x) / 2) || 'b'))",
        "sum(" + " + ".join(f"instr(x, substr(x, {start}, length(x) / 2) || 'b')" for start in range(1, 200)) + ")",
        "sum(length(trim(x, y)))",
        "sum(length(ltrim(x, y)))",
        "sum(length(rtrim(x, y)))",
        f"sum(x LIKE '{'%aaab' * 50}%b')",
        "sum(length(lower(upper(x))))",
    ],
)
def test_functions_of_long_texts_stop_in_time(guarded: GuardedDatabase, expression: str) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError, match=r"longer than 0.5 s") as caught:
        guarded.query(f"{LONG} SELECT {expression} FROM s, n", seconds=0.5)
    assert caught.value.stopped
    assert time.monotonic() - started < 2


@needs_recursion
@pytest.mark.parametrize("select", ["x || x FROM s", "group_concat(x) FROM s, (SELECT 1 UNION SELECT 2)", "x LIKE substr(x, 1, 300) FROM s"])
def test_texts_and_patterns_are_short(guarded: GuardedDatabase, select: str) -> None:
    with pytest.raises(QueryError, match=r"too much memory|longer than 256 bytes"):
        guarded.query(f"{LONG} SELECT {select}")


@needs_recursion
def test_rows_that_are_fetched_take_bounded_memory(guarded: GuardedDatabase) -> None:
    tracemalloc.start()
    with pytest.raises(QueryError, match="too much memory") as caught:
        guarded.query(f"{LONG} SELECT x || 'i' FROM s, n", seconds=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.stopped
    assert peak < MAXIMUM_RESULT_BYTES + (16 << 20)


def test_the_limits_can_be_set_by_the_handle_where_python_has_no_function_for_it() -> None:
    """Python 3.10's way, tried on every version."""
    with sqlite3.connect(":memory:") as database:
        assert _set_limit_by_handle(database, LENGTH, 1000)
        with pytest.raises(sqlite3.Error, match="too big"):
            database.execute("SELECT length(zeroblob(1001) || '')").fetchone()
    database.close()


@pytest.mark.parametrize(
    ("call", "answer"),
    [("instr('abc', 'c')", 3), ("instr('abc', 'x')", 0), ("instr(NULL, 'x')", None), ("instr(1234, 3)", 3), ("trim('xaxbx', 'x')", "axb"), ("ltrim('xax', 'x')", "ax"), ("rtrim('xax', 'x')", "xa"), ("trim('  a ')", "a"), ("rtrim('a', NULL)", None), ("trim(x'616261', 'a')", "b")],
)
def test_functions_of_two_texts_answer_as_sqlites_own(guarded: GuardedDatabase, call: str, answer: object) -> None:
    assert guarded.query(f"SELECT {call}").rows == [(answer,)]
    with closing(sqlite3.connect(":memory:")) as own:
        assert own.execute(f"SELECT {call}").fetchall() == [(answer,)]


@pytest.mark.parametrize(
    ("call", "answer"),
    [("object_name('shop', 'orders')", "shop.orders"), ("object_name('shop', 'a`b c')", "shop.`a``b c`"), ("object_name('a.b')", "`a.b`"), ("object_name('shop', NULL)", None), ("object_name(NULL)", None), ("object_name(x'61', 7)", "a.7")],
)
def test_a_name_is_quoted_where_sql_wants_it_quoted(guarded: GuardedDatabase, call: str, answer: object) -> None:
    assert guarded.query(f"SELECT {call}").rows == [(answer,)]


def test_queries_within_a_time_share_it(guarded: GuardedDatabase) -> None:
    slow = "SELECT count(*) FROM tables a, tables b, tables c, tables d, tables e, tables f, tables g, tables h, tables i, tables j, tables k, tables l, tables m, tables n, tables o, tables p, tables q, tables r, tables s, tables t, tables u"
    started = time.monotonic()
    with guarded.within(0.3):
        for _ in range(5):
            with pytest.raises(QueryError, match="was stopped"):
                guarded.query(slow + ", tables v, tables w, tables x, tables y, tables z")
    assert time.monotonic() - started < 1.5


def test_division_by_zero_is_null_and_rows_are_bounded(guarded: GuardedDatabase) -> None:
    assert guarded.query("SELECT 1 / 0").rows == [(None,)]
    result = guarded.query("SELECT a.rows FROM tables a, tables b", maximum_rows=3)
    assert (len(result.rows), result.truncated) == (3, True)


def test_no_query_writes_by_the_text_of_a_statement_that_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps prepared statements by their text, and SQLite asks what is allowed when it prepares one."""
    texts: list[str] = []
    expected = Filling._expected

    def noted(self: Filling, statement: str) -> str:
        texts.append(statement)
        return expected(self, statement)

    monkeypatch.setattr(Filling, "_expected", noted)
    kept = FactDatabase()
    for number in range(3):
        guarded = kept.holding(facts_from_document(FACTS | {"status": {"Questions": number}}))
    writes = [text for text in dict.fromkeys(texts) if not text.startswith("SELECT")]
    assert {"INSERT", "DELETE", "BEGIN", "COMMIT"} <= {text.split()[0] for text in writes}
    count = guarded.query("SELECT count(*) FROM tables").rows
    for text in writes:
        with pytest.raises(QueryError, match="may only read"):
            guarded.query(text)
    assert guarded.query("SELECT count(*) FROM tables").rows == count == [(2,)]
    kept.close()


@pytest.mark.parametrize("statement", ["ALTER TABLE tables ADD COLUMN x", " INSERT INTO tables (rows) VALUES (1)", "WITH x AS (SELECT 1) DELETE FROM tables", "PRAGMA query_only = 1"])
def test_who_fills_may_use_no_text_that_a_query_may_have(guarded: GuardedDatabase, statement: str) -> None:
    with guarded.filling() as filling, pytest.raises(ValueError, match="begins no statement that fills"):
        filling.execute(statement)


def test_the_guard_is_back_when_filling_failed(guarded: GuardedDatabase) -> None:
    with pytest.raises(sqlite3.OperationalError), guarded.filling() as filling:
        filling.execute("DELETE FROM nothing")
    with pytest.raises(QueryError, match="may only read"):
        guarded.query("UPDATE tables SET rows = 1")
    with pytest.raises(QueryError, match="not among those allowed"):
        guarded.query("SELECT hex(1)")
    with pytest.raises(QueryError):
        guarded.query(f"SELECT length('{'x' * (MAXIMUM_STRING_BYTES + 1)}')")


def test_what_was_asked_before_is_not_prepared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    allowed = GuardedDatabase._authorize

    def counting(self: GuardedDatabase, *what: Any) -> int:
        asked.append(1)
        return allowed(self, *what)

    monkeypatch.setattr(GuardedDatabase, "_authorize", counting)
    kept, counted = FactDatabase(), []
    for number in range(4):
        asked.clear()
        guarded = kept.holding(facts_from_document(FACTS | {"status": {"Questions": number}}))
        assert guarded.query("SELECT value FROM status").rows == [(number,)]
        counted.append(len(asked))
    assert counted[0] > 0
    assert counted[2:] == [0, 0]
    kept.close()


def test_the_guard_does_not_depend_on_the_pragma() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE tables (a)")
    with GuardedDatabase(database) as guarded, pytest.raises(QueryError):
        guarded.query("INSERT INTO tables VALUES (1)")
