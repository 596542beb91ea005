"""Several statements that were sent at once are told apart, or it is said that they cannot be."""

import pytest

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.several_statements import apart, parts, used_database


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (b"SELECT 1; SELECT 2", [b"SELECT 1", b"SELECT 2"]), (b"SELECT 1;;\n-- c\n; /* c */ SELECT 2; # c", [b"SELECT 1", b"/* c */ SELECT 2"]), (b"BEGIN; SELECT 1; COMMIT", [b"BEGIN", b"SELECT 1", b"COMMIT"]),
        (b"SELECT ';', \";\", `;` /* ; */ -- ;\n; DO 1", [b"SELECT ';', \";\", `;` /* ; */ -- ;", b"DO 1"]), (b"SELECT 'it\\'s;'; DO 1", [b"SELECT 'it\\'s;'", b"DO 1"]),
        (b"SELECT '\xff;'; DO 1", [b"SELECT '\xff;'", b"DO 1"]), (b"CREATE TABLE t (a INT); DROP TABLE t", [b"CREATE TABLE t (a INT)", b"DROP TABLE t"]),
    ],
)  # fmt: skip
def test_statements_are_split(statement: bytes, expected: list[bytes]) -> None:
    assert parts(statement) == expected


@pytest.mark.parametrize(
    "statement",
    [
        b"SELECT 1", b"SELECT 1;", b"SELECT 1; \n", b"SELECT 1; -- c", b"SELECT ';x'", b"INSERT INTO t VALUES ('it\\'s; now')", b"", b";", b"-- c;\n",
        b"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", b"CREATE OR REPLACE DEFINER=`a`@`b` TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET @a=1; END", b"ALTER EVENT e DO BEGIN SELECT 1; END",
        b"BEGIN NOT ATOMIC SELECT 1; SELECT 2; END", b"IF 1 THEN SELECT 1; END IF", b"FOR i IN 1..2 DO SELECT i; END FOR", b"a: LOOP LEAVE a; END LOOP", b"SET STATEMENT x=1 FOR BEGIN NOT ATOMIC DO 1; END",
        b"CREATE /*!50017 DEFINER=`a`@`b` */ TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET @a=1; END",
    ],
)  # fmt: skip
def test_one_statement_stays_as_it_is(statement: bytes) -> None:
    assert parts(statement) == (statement,)


@pytest.mark.parametrize(
    "statement",
    [b"SELECT 1; CREATE PROCEDURE p() BEGIN SELECT 1; END", b"SELECT 1; BEGIN NOT ATOMIC DO 1; END", b"DO 1; SELECT 'C:\\'; DO 2", b"SELECT 1; SELECT 'open", b"/*!40000 DO 1; */ DO 2", b"SELECT `\xff`; DO 1"],
)  # fmt: skip
def test_what_cannot_be_told_is_not_guessed(statement: bytes) -> None:
    assert parts(statement) is None
    assert apart(Event(8, 5, 7, b"d", statement)) is None


def test_more_than_any_client_sends_are_left_out_and_a_long_body_is_not() -> None:
    assert len(parts(b"DO 1;" * 9_000) or ()) == 9_000
    assert parts(b"DO 1;" * 20_000) is None
    body = b"CREATE PROCEDURE p() BEGIN " + b"DO 1;" * 20_000 + b"END"
    assert parts(body) == (body,)


def test_what_is_told_of_all_together_is_told_of_none() -> None:
    whole = Event(8, 5, 7, b"d", b"SELECT 1; USE x; SELECT 2", 2, 3, 4, 0)
    assert apart(whole) == [Event(8, 5, None, b"d", b"SELECT 1"), Event(8, 5, None, b"d", b"USE x"), Event(8, 5, None, b"x", b"SELECT 2")]
    one = whole._replace(statement=b"SELECT ';x'")
    assert apart(one) == (one,)


def test_where_one_failed_it_is_not_known_which() -> None:
    assert apart(Event(8, 5, 7, b"d", b"SELECT 1; SELECT 2", error=1064)) is None


def test_a_prepared_statement_is_one() -> None:
    event = Event(8, 5, 7, b"d", b"SELECT 1; x", prepared=True)
    assert apart(event) == (event,)


@pytest.mark.parametrize(("statement", "database"), [(b"USE a", b"a"), (b"USE a; SELECT 1", b"a"), (b"USE 'a'", None), (b"USE a b", None), (b"SELECT 1", None), (b"USE", None)])
def test_the_database_that_is_chosen(statement: bytes, database: bytes | None) -> None:
    assert used_database(statement) == database


@pytest.mark.parametrize("repeated", [b";", b"';'", b"; use ", b"/*;", b"*/;", b"`", b"begin;", b"\\';"])
def test_hostile_statements_take_bounded_time(repeated: bytes) -> None:
    for statement in (b"SELECT 1;" + repeated * 20_000, repeated * 20_000 + b"; DO 1"):
        parts(statement)
        used_database(statement)


LICENCE = b"/*" + b"x" * 5000 + b"*/ "


@pytest.mark.parametrize(
    "statement",
    [
        LICENCE + b"CREATE PROCEDURE p() BEGIN SELECT 1; DELETE FROM t; END", b"CREATE DEFINER=a@b TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a=1; END",
        b"# a licence\n-- of two lines\nCREATE OR REPLACE AGGREGATE FUNCTION f() RETURNS INT BEGIN SELECT 1; RETURN 1; END",
    ],
)  # fmt: skip
def test_a_body_is_whole_whatever_stands_before_it(statement: bytes) -> None:
    assert parts(statement) == (statement,)


@pytest.mark.parametrize("first", [b"ALTER TABLE event ADD x INT", b"CREATE TABLE t (event int)", b"CREATE TEMPORARY TABLE x (function int)"])
def test_a_table_named_as_a_program_is_a_table(first: bytes) -> None:
    assert parts(first + b"; KILL 5") == [first, b"KILL 5"]


def test_blanks_hide_no_second_statement() -> None:
    found = apart(Event(1, 0, None, b"d", b"SELECT 1;" + b" " * 5000 + b"KILL 5"))
    assert found is not None
    assert [one.statement for one in found] == [b"SELECT 1", b"KILL 5"]
