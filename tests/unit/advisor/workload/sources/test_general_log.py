"""The general log of each server: statements as they were sent, the database of each connection, what is no statement counted."""

import pytest

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.prepared import AS_WHAT_IT_RAN
from myisam_advisor.workload.sources import all_sources
from myisam_advisor.workload.sources.base import Reading
from myisam_advisor.workload.sources.general_log import INNER, SOURCE

MYSQL = b"2026-11-22T20:00:00.%06dZ\t    8 %b\t%b\n"
OLD = b"\t\t    8 %b\t%b\n"
AT = 1795377600_000_000


def parsed(log: bytes, step: int = 1 << 20) -> tuple[list[Event], Reading]:
    reading = Reading()
    return list(SOURCE.events((log[at : at + step] for at in range(0, len(log), step)), reading)), reading


def test_it_is_found() -> None:
    assert "general_log" in [source.name for source in all_sources()]


def test_mysql_writes_moments_to_the_microsecond() -> None:
    log = MYSQL % (1, b"Connect", b"root@localhost on shop using Socket") + MYSQL % (2, b"Query", b"SELECT 1") + MYSQL % (3, b"Quit", b"")
    events, reading = parsed(log)
    assert events == [Event(8, AT + 2, None, b"shop", b"SELECT 1")]
    assert (reading.resolution_microseconds, reading.left_out) == (1, {"administrator command": 2})


def test_mariadb_writes_whole_seconds_which_are_spread() -> None:
    log = b"261122 20:00:00\t    8 Query\tSELECT 1\n" + OLD % (b"Query", b"SELECT 2")
    events, reading = parsed(log)
    assert [event.start_microseconds % 1_000_000 for event in events] == [250_000, 750_000]
    assert (events[0].database, reading.resolution_microseconds) == (None, 1_000_000)


def test_the_database_of_a_connection_is_followed() -> None:
    log = b"".join(
        MYSQL % (number, command, argument)
        for number, (command, argument) in enumerate(
            [
                (b"Connect", b"root@localhost on  using Socket"), (b"Query", b"SELECT 1"), (b"Init DB", b"a"), (b"Query", b"SELECT 2"), (b"Query", b"USE `b``c`"),
                (b"Query", b"SELECT 3"), (b"Change user", b"root@localhost on d using TCP/IP"), (b"Query", b"SELECT 4"), (b"Quit", b""), (b"Query", b"SELECT 5"),
            ]
        )
    )  # fmt: skip
    assert [event.database for event in parsed(log)[0]] == [None, b"a", b"a", b"b`c", b"d", None]


@pytest.mark.parametrize(
    ("statement", "database"),
    [
        (b"/* app */ USE other", b"other"), (b"USE shop -- x", b"shop"), (b"# c\nuse `a``b` ;", b"a`b"), (b"USE 2024_db", b"2024_db"), (b"SELECT 1; USE x; SELECT 2", b"x"), (b"USE x; USE y", b"y"),
        (b"SELECT 'USE x'", b"d"), (b"/* use x */ SELECT 1", b"d"), (b"SELECT 1 /* ; USE x */", b"d"), (b"INSERT INTO t VALUES ('; USE x')", b"d"), (b"use", b"d"), (b"SELECT a FROM users", b"d"),
    ],
)  # fmt: skip
def test_a_database_is_chosen_whatever_stands_around_it(statement: bytes, database: bytes) -> None:
    log = MYSQL % (1, b"Init DB", b"d") + MYSQL % (2, b"Query", statement) + MYSQL % (3, b"Query", b"SELECT 1")
    assert [event.database for event in parsed(log)[0]] == [b"d", database]


def test_connections_of_a_server_that_starts_anew_are_others() -> None:
    started = b"/usr/sbin/mysqld, Version: 9.7.0 (MySQL Community Server). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n"
    log = MYSQL % (1, b"Init DB", b"d") + MYSQL % (1, b"Query", b"PREPARE s FROM 'SELECT 1'") + MYSQL % (2, b"Query", b"EXECUTE s") + started + MYSQL % (3, b"Connect", b"a@b on ") + MYSQL % (4, b"Execute", b"SELECT 1")
    events, reading = parsed(started + log)
    assert [(event.connection, event.database, event.statement) for event in events[1:]] == [(8, b"d", b"EXECUTE s"), (16, None, b"SELECT 1")]
    assert INNER not in reading.left_out
    flushed = MYSQL % (1, b"Init DB", b"d") + started + MYSQL % (2, b"Query", b"SELECT 1") + (MYSQL % (3, b"Connect", b"a@b on c")).replace(b"    8 ", b"    9 ")
    events, _ = parsed(started + flushed + MYSQL % (4, b"Query", b"SELECT 2"))
    assert [(event.connection, event.database) for event in events] == [(8, b"d"), (8, b"d")]  # FLUSH LOGS writes the same header
    again = list(SOURCE.events(iter([log.replace(b"EXECUTE s", b"SELECT 0")]), Reading(is_one_life=True)))
    assert [(event.connection, event.database) for event in again[1:]] == [(8, b"d"), (8, None)]


def test_calls_are_counted() -> None:
    log = b"".join(MYSQL % (1, b"Query", statement) for statement in (b"CALL p()", b"/* c */ call p()", b"SELECT 'call'"))
    assert parsed(log)[1].calls == 2


def test_a_prepared_statement_is_told_with_its_values_once() -> None:
    log = MYSQL % (1, b"Prepare", b"SELECT ?") + MYSQL % (2, b"Execute", b"SELECT 5") + MYSQL % (3, b"Query", b"EXECUTE s") + MYSQL % (4, b"Execute", b"SELECT 6")
    events, reading = parsed(MYSQL % (0, b"Query", b"PREPARE s FROM 'SELECT ?'") + log + MYSQL % (5, b"Execute", b"SELECT 7"))
    assert [(event.statement, event.prepared) for event in events[1:]] == [(b"SELECT 5", True), (b"EXECUTE s", False), (b"SELECT 7", True)]
    assert reading.left_out == {"administrator command": 1, INNER: 1}
    behind_comment = parsed(MYSQL % (0, b"Query", b"PREPARE s FROM 'SELECT ?'") + log.replace(b"EXECUTE s", b"/* application */ EXECUTE s"))
    assert [event.statement for event in behind_comment[0][2:]] == [b"/* application */ EXECUTE s"]


@pytest.mark.parametrize(
    "statement",
    [b"SELECT 1", b"SELECT\n\n1\n", b"SELECT '\xff\x00\x1b'", b"SELECT '\n" + OLD % (b"Query", b"DROP TABLE t") + b"'", b"SELECT '\n" + MYSQL % (5, b"Quit", b"") + b"'", b""],
)  # fmt: skip
@pytest.mark.parametrize("form", [MYSQL.replace(b"%06d", b"000005"), OLD], ids=["mysql", "old"])
def test_a_statement_is_told_byte_by_byte(form: bytes, statement: bytes) -> None:
    log = b"".join(form % (b"Query", text) for text in (b"SELECT 0", statement, b"SELECT 9"))
    assert [event.statement for event in parsed(log)[0]] == [b"SELECT 0", statement, b"SELECT 9"]
    assert parsed(log, 7)[0] == parsed(log)[0]


def test_holes_and_servers_that_start_are_passed_over() -> None:
    started = b"/usr/sbin/mysqld, Version: 9.7.0 (MySQL Community Server). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n"
    log = b"\0" * 100 + started + MYSQL % (1, b"Query", b"SELECT 1") + started + MYSQL % (2, b"Query", b"SELECT 2") + b"\0" * 100 + MYSQL % (3, b"Query", b"SELECT 3")
    events, reading = parsed(log)
    assert [event.statement for event in events] == [b"SELECT 1", b"SELECT 2", b"SELECT 3"]
    assert (reading.server_version, reading.left_out, reading.holes) == ("9.7.0", {}, 1)


def test_what_comes_before_the_first_entry_is_counted() -> None:
    assert parsed(b"FROM t\n" + MYSQL % (1, b"Query", b"SELECT 1"))[1].left_out == {"cut off": 1}


@pytest.mark.parametrize("prepare", [MYSQL % (0, b"Query", b"PREPARE s FROM..."), b""])
def test_of_a_text_that_is_not_known_what_ran_is_kept(prepare: bytes) -> None:
    log = prepare + MYSQL % (1, b"Query", b"EXECUTE s USING @a") + MYSQL % (2, b"Execute", b"SELECT 6") + MYSQL % (3, b"Query", b"EXECUTE s") + MYSQL % (4, b"Query", b"SELECT 7")
    events, reading = parsed(log)
    assert [(event.statement, event.prepared) for event in events[bool(prepare) :]] == [(b"SELECT 6", False), (b"SELECT 7", False)]
    assert reading.left_out == {AS_WHAT_IT_RAN: 2}
