"""Statements whose quotes do not close take no other with them: none is lost unsaid, and no value of one stands in the kind of another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.fingerprints import fingerprint
from myisam_advisor.workload.joining import UNCLOSED
from myisam_advisor.workload.sources import general_log, slow_log
from myisam_advisor.workload.sources.base import LogSource, Reading

MYSQL_SLOW = b"# Time: 2026-11-22T20:00:00.000005Z\n# User@Host: a[a] @ localhost []  Id:     8\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\n%b;\n"
MARIADB_SLOW = b"# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n# Query_time: 0.000123  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 3\n# Rows_affected: 4  Bytes_sent: 60\nSET timestamp=1795377600;\n%b;\n"
MYSQL_GENERAL = b"2026-11-22T20:00:00.000005Z\t    8 Query\t%b\n"
OLD_GENERAL = b"\t\t    8 Query\t%b\n"
FORMS = [(slow_log.SOURCE, MYSQL_SLOW), (slow_log.SOURCE, MARIADB_SLOW), (general_log.SOURCE, MYSQL_GENERAL), (general_log.SOURCE, OLD_GENERAL)]
each_form = pytest.mark.parametrize(("source", "form"), FORMS, ids=["mysql-slow", "mariadb-slow", "mysql-general", "old-general"])
BROKEN = b"SELECT * FROM words WHERE name='O'Brien'"


def parsed(source: LogSource, log: bytes) -> tuple[list[Event], Reading]:
    reading = Reading()
    return list(source.events(iter([log]), reading)), reading


@each_form
@pytest.mark.parametrize("apart", [*range(1, 31)])
@pytest.mark.parametrize("good", [b"SELECT * FROM words WHERE name='cardsecret%d' AND a=1", b"SELECT %d"])
def test_two_broken_statements_take_none_between_them(source: LogSource, form: bytes, apart: int, good: bytes) -> None:
    between = [good % number for number in range(apart - 1)]
    sent = [good % 77, BROKEN, *between, BROKEN, good % 99]
    events, reading = parsed(source, b"".join(form % statement for statement in sent))
    assert [event.statement for event in events] == [statement for statement in sent if statement != BROKEN]
    assert reading.left_out == {UNCLOSED: 2}
    assert reading.entries == len(sent)
    assert not [event for event in events if b"secret" in fingerprint(event.statement).encode()]


@each_form
@pytest.mark.parametrize(
    "text", [b"a\n%b", b"a\n%b, and so on: it\\'s", b"it''s\n%b"], ids=["alone", "with an escape", "with a quote"]
)  # fmt: skip
def test_a_text_that_holds_an_entry_is_read_whole(source: LogSource, form: bytes, text: bytes) -> None:
    noted = b"INSERT INTO notes VALUES ('" + text % (form % b"SELECT 2") + b"', 5)"
    events, reading = parsed(source, form % b"SELECT 0" + form % noted + form % b"SELECT 9")
    assert [event.statement for event in events] == [b"SELECT 0", noted, b"SELECT 9"]
    assert reading.left_out == {}


@pytest.mark.parametrize("entries", [2, 5, 40])
def test_where_the_slow_log_ends_no_statement_what_follows_is_in_its_string(entries: int) -> None:
    noted = b"INSERT INTO notes VALUES ('of today:\n" + MYSQL_SLOW % b"SELECT 2" * entries + b"')"
    events, _ = parsed(slow_log.SOURCE, MYSQL_SLOW % noted + MYSQL_SLOW % b"SELECT 9")
    assert [event.statement for event in events] == [noted, b"SELECT 9"]


def test_a_backslash_that_is_a_letter_leaves_no_string_open() -> None:
    path = b"INSERT INTO files VALUES ('C:\\')"
    events, reading = parsed(slow_log.SOURCE, MYSQL_SLOW % path + MYSQL_SLOW % b"SELECT 'x'")
    assert ([event.statement for event in events], reading.left_out) == ([path, b"SELECT 'x'"], {})


def test_the_database_of_a_statement_that_is_left_out_holds_for_the_next() -> None:
    used = MYSQL_SLOW.replace(b"SET timestamp", b"use shop;\nSET timestamp")
    events, _ = parsed(slow_log.SOURCE, used % BROKEN + MYSQL_SLOW % b"SELECT 1")
    assert [(event.database, event.statement) for event in events] == [(b"shop", b"SELECT 1")]


# The server writes `use` and the time before these too, and not again before what follows.
@pytest.mark.parametrize("command", [b"# administrator command: Quit", b"# administrator command: Init DB", b"# administrator command: Ping", b"GRANT ALL ON *.* TO a"])
@pytest.mark.parametrize("lines", [b"# Query_time: 0.1  Lock_time: 0.0 Rows_sent: 0  Rows_examined: 0\n", None], ids=["another form", "usual"])
def test_the_database_of_what_is_no_statement_holds_for_the_next(command: bytes, lines: bytes | None) -> None:
    forum, shop = (MYSQL_SLOW.replace(b"SET timestamp", b"use %b;\nSET timestamp" % name) for name in (b"forum", b"shop"))
    quits = forum.replace(b"20:00:00.000005Z", b"20:00:07.000000Z")
    if lines is not None:
        quits = quits[: quits.index(b"# Query_time")] + lines + quits[quits.index(b"use ") :]
    follows = MYSQL_SLOW[MYSQL_SLOW.index(b"# User@Host") :]
    events, _ = parsed(slow_log.SOURCE, forum % b"SELECT 1" + shop % b"SELECT 2" + quits % command + follows % b"SELECT 3")
    assert events[-1].database == b"forum"
    assert events[-1].start_microseconds == 1795377607_000_000 - 123


FORGED = [b"DROP TABLE x", b"DROP TABLE x -- it's", b"DROP TABLE 'x'"]


@each_form
@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("around", [b"SELECT 1 /* \n%b*/ FROM t", b"SELECT 1 /* it's\n%b*/ FROM t", b"SELECT 1 /*!99999 \n%b*/ FROM t", b"/* a */ SELECT 'x' /*\n%b*/, /* b */ 2"])
def test_lines_in_a_comment_are_no_entry(source: LogSource, form: bytes, forged: bytes, around: bytes) -> None:
    sent = around % (form % forged)
    events, reading = parsed(source, form % b"SELECT 0" + form % sent + form % b"SELECT 9")
    assert [event.statement for event in events] == [b"SELECT 0", sent, b"SELECT 9"]
    assert reading.left_out == {}


@each_form
def test_a_comment_that_does_not_close_takes_no_other_with_it(source: LogSource, form: bytes) -> None:
    sent = [b"SELECT 1 /* open", b"SELECT 2", b"SELECT */* c */ FROM t", b"SELECT 3 /* c */"]
    events, reading = parsed(source, b"".join(form % statement for statement in sent))
    assert ([event.statement for event in events], reading.left_out) == (sent[1:], {UNCLOSED: 1})


LITERAL = st.sampled_from([b"'zsecret'", b'"zsecret"', b"'it''s zsecret'", b"'it\\'s zsecret'", b"'say \"zsecret\"'", b"'a', 'zsecret'", b"5"])
GOOD = st.builds(lambda form, value: form % value, st.sampled_from([b"SELECT * FROM t WHERE a=%b AND b=1", b"INSERT INTO t VALUES (%b)", b"UPDATE `t` SET a=%b -- it\n"]), LITERAL)
BAD = st.sampled_from(
    [
        BROKEN, b"SELECT * FROM t WHERE a='O'Brien' AND card='zsecret'", b'SELECT "O"Brien"', b"SELECT 'zsecret", b"SELECT * FROM t WHERE a='", b"SELECT `a FROM zsecret", b"SELECT 1 /* zsecret",
        b"SELECT ' zsecret ' 'zsecret", b"INSERT INTO t VALUES ('rock 'n' zsecret')", b"SELECT 'O'Brien\\'s zsecret'", b"SELECT ') AND x=(' zsecret'"
    ]
)  # fmt: skip


@settings(max_examples=400)
@given(st.sampled_from(FORMS), st.lists(GOOD | BAD, max_size=8))
def test_no_value_stands_in_the_kind_of_any(form: tuple[LogSource, bytes], sent: list[bytes]) -> None:
    events, reading = parsed(form[0], b"".join(form[1] % statement for statement in sent))
    assert not [event.statement for event in events if "zsecret" in fingerprint(event.statement)]
    assert reading.entries == len(events) + reading.left_out[UNCLOSED]
