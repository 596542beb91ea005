"""The slow log of each server: what was sent is told, whatever stands around it, and what is no statement is counted by name."""

import datetime

import pytest

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.sources import all_sources
from myisam_advisor.workload.sources.base import NESTED, Reading
from myisam_advisor.workload.sources.slow_log import SOURCE

STARTED = b"/usr/sbin/mysqld, Version: %s. started with:\nTcp port: 3306  Unix socket: /run/mysqld.sock\nTime                 Id Command    Argument\n"
MYSQL = b"# Time: 2026-11-22T20:00:00.%06dZ\n# User@Host: a[a] @ localhost []  Id:     8\n# Query_time: 0.000123  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 3\nSET timestamp=1795377600;\n%b;\n"
MARIADB = b"# User@Host: a[a] @ localhost []\n# Thread_id: 8  Schema: shop  QC_hit: No\n# Query_time: 0.000123  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 3\n# Rows_affected: 4  Bytes_sent: 60\nSET timestamp=1795377600;\n%b;\n"
AT = 1795377600_000_000


def parsed(log: bytes, step: int = 1 << 20) -> tuple[list[Event], Reading]:
    reading = Reading()
    return list(SOURCE.events((log[at : at + step] for at in range(0, len(log), step)), reading)), reading


def statements(log: bytes) -> list[bytes]:
    return [event.statement for event in parsed(log)[0]]


def test_it_is_found() -> None:
    assert "slow_log" in [source.name for source in all_sources()]


def test_mysql_writes_moments_to_the_microsecond() -> None:
    events, reading = parsed(STARTED % b"8.4.2 (MySQL Community Server - GPL)" + MYSQL % (500_000, b"SELECT 1"))
    assert events == [Event(8, AT + 500_000 - 123, 123, None, b"SELECT 1", 1, 3)]
    assert (reading.server_version, reading.flavour, reading.resolution_microseconds, reading.left_out) == ("8.4.2", "mysql", 1, {})


def test_mariadb_writes_whole_seconds_which_are_spread() -> None:
    events, reading = parsed(STARTED % b"10.11.6-MariaDB-log (MariaDB Server)" + b"# Time: 261122 20:00:00\n" + (MARIADB % b"SELECT 1") * 4)
    assert events[0] == Event(8, AT + 125_000 - 123, 123, b"shop", b"SELECT 1", 1, 3, 4)
    assert [event.start_microseconds - AT + 123 for event in events] == [125_000, 375_000, 625_000, 875_000]
    assert (reading.flavour, reading.resolution_microseconds) == ("mariadb", 1_000_000)


def test_a_connections_statements_do_not_overlap() -> None:
    long = MARIADB.replace(b"0.000123", b"0.700000")
    events, _ = parsed((long % b"SELECT 1") * 2)
    assert events[0].start_microseconds + 500_000 <= events[1].start_microseconds + 250_000


def test_the_extra_attributes_of_mysql_and_percona_are_read() -> None:
    extra = (
        b"# Time: 2026-11-22T21:00:00.500000+01:00\n# User@Host: a[a] @ localhost []  Id:     8\n# Schema: my shop  Last_errno: 1062  Killed: 0\n"
        b"# Query_time: 0.000123  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 3  Rows_affected: 7\n# Bytes_sent: 56\nSET timestamp=1795377600;\nSELECT 1;\n"
    )
    assert parsed(extra)[0] == [Event(8, AT + 500_000 - 123, 123, b"my shop", b"SELECT 1", 1, 3, 7, 1062)]
    mysql = MYSQL.replace(b"Rows_examined: 3", b"Rows_examined: 3 Thread_id: 8 Errno: 1146 Killed: 0 Start: 2026-11-22T20:00:00.100000Z End: 2026-11-22T20:00:00.100123Z")
    assert parsed(mysql % (500_000, b"SELECT 1"))[0] == [Event(8, AT + 100_000, 123, None, b"SELECT 1", 1, 3, None, 1146)]


def test_the_database_is_the_last_that_was_used_until_the_server_starts_again() -> None:
    used = MYSQL.replace(b"SET timestamp", b"use shop;\nSET timestamp")
    log = MYSQL % (1, b"SELECT 1") + used % (2, b"SELECT 2") + MYSQL % (3, b"SELECT 3") + STARTED % b"8.4.2 (x)" + MYSQL % (4, b"SELECT 4")
    assert [event.database for event in parsed(log)[0]] == [None, b"shop", b"shop", None]


@pytest.mark.parametrize(
    "statement",
    [
        b"SELECT 1", b"SELECT\n1\n\n;\n-- more", b"# a comment\nSELECT 1", b"use shop", b"SET timestamp=5", b"SELECT ';\n'", b"SELECT '\xff\x00\x1b'", b"\r\nSELECT 1",
        b"SELECT '# Time: 261122 20:00:00'", b"SELECT 'it''s \\' so;\n# User@Host: x[x] @ y []\n'", b"SELECT '\n# Time: 261122 20:00:00\n# User@Host: x[x] @ y []\n', 5",
        b"SELECT '" + MYSQL % (7, b"DROP TABLE t") + b"'", b"SELECT \"" + MARIADB % b"DROP TABLE t" + b"\"", b"SELECT '" + (MYSQL % (7, b"DROP TABLE t")) * 5 + b"'",
        b"SELECT 'x' -- started with:\n", b"INSERT INTO t VALUES (0x00)" + b",(1)" * 600_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [MYSQL.replace(b"%06d", b"000005"), MARIADB], ids=["mysql", "mariadb"])
def test_a_statement_is_told_byte_by_byte(form: bytes, statement: bytes) -> None:
    assert statements(form % b"SELECT 0" + form % statement + form % b"SELECT 9") == [b"SELECT 0", statement, b"SELECT 9"]


def test_a_statement_with_an_open_string_takes_no_other_with_it() -> None:
    assert statements(MYSQL % (1, b"SELECT 'abc") + MYSQL % (2, b"SELECT 'x'") + MYSQL % (3, b"SELECT 5")) == [b"SELECT 'x'", b"SELECT 5"]


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_parts_of_any_size_give_the_same(step: int) -> None:
    log = b"# Time: 261122 20:00:00\n" + MARIADB % b"SELECT 1" + b"# Time: 261122 20:00:01\n" + MARIADB % b"SELECT 'a\n# Time: b'" + MYSQL % (5, b"SELECT 2")
    assert parsed(log, step)[0] == parsed(log)[0]
    assert len(parsed(log)[0]) == 3


def test_connections_of_a_server_that_starts_anew_are_others() -> None:
    log = MYSQL % (1, b"SELECT 1") + STARTED % b"8.4.2 (x)" + MYSQL % (2, b"SELECT 2") + (MYSQL % (3, b"SELECT 3")).replace(b"Id:     8", b"Id:     9") + STARTED % b"8.4.2 (x)" + MYSQL % (4, b"SELECT 4")
    assert [event.connection for event in parsed(STARTED % b"8.4.2 (x)" + log)[0]] == [8, 16, 17, 25]
    assert [event.connection for event in parsed(log.replace(b"  Id:     8", b"").replace(b"  Id:     9", b""))[0]] == [0] * 4
    reading = Reading(is_one_life=True)
    assert [event.connection for event in SOURCE.events(iter([log]), reading)] == [8, 8, 9, 8]


def test_what_a_procedure_runs_is_left_out_where_its_call_is_there() -> None:
    inner = MARIADB.replace(b"SET timestamp", b"# Stored_routine: shop.p\nSET timestamp")
    events, reading = parsed(inner % b"UPDATE t SET a = NAME_CONST('v',5)" + MARIADB % b"CALL p(5)" + MARIADB % b"SELECT 1")
    assert ([event.statement for event in events], reading.left_out) == ([b"CALL p(5)", b"SELECT 1"], {NESTED: 1})


# Percona Server's log has them in the place of their CALL.
def test_what_a_procedure_runs_is_kept_where_its_call_is_not_there() -> None:
    inner = MYSQL.replace(b"# Query_time", b"# Schema: shop  Last_errno: 0  Killed: 0\n# Query_time").replace(b"SET timestamp", b"# Bytes_sent: 8\n# Stored_routine: shop.p\nSET timestamp")
    assert statements(inner % (1, b"UPDATE t SET a = 5") + MYSQL % (2, b"SELECT 1")) == [b"UPDATE t SET a = 5", b"SELECT 1"]


def test_a_server_that_wrote_one_in_several_is_noticed() -> None:
    sampled = MYSQL.replace(b"SET timestamp", b"# Bytes_sent: 8\n# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nSET timestamp")
    assert parsed(sampled % (1, b"SELECT 1") + MYSQL % (2, b"SELECT 2"))[1].sampled == 10
    reading = parsed(MYSQL % (1, b"SELECT 1") + MYSQL.replace(b"0.000123", b"0.000023") % (2, b"SELECT 2"))[1]
    assert (reading.sampled, reading.timed, reading.shortest_microseconds) == (1, 2, 23)


def test_what_is_no_statement_is_counted() -> None:
    ping = MYSQL.replace(b"%b;\n", b"# administrator command: Ping;\n") % 1
    old = ping.replace(b"SET timestamp=1795377600;\n", b"")
    events, reading = parsed(b"rest of a statement;\n" + ping + old + MYSQL % (1, b"SELECT 1") + (MYSQL % (2, b"SELECT 2"))[:-7])
    assert [event.statement for event in events] == [b"SELECT 1"]
    assert reading.left_out == {"cut off": 2, "administrator command": 2}


def test_holes_are_passed_over() -> None:
    log = b"\0" * 5000 + MYSQL % (1, b"SELECT 1") + b"\0" * 3_000_000 + MYSQL % (2, b"SELECT 2") + b"\0" * 10
    events, reading = parsed(log, 4096)
    assert [event.statement for event in events] == [b"SELECT 1", b"SELECT 2"]
    assert (reading.holes, reading.left_out) == (3, {})


@pytest.mark.parametrize("form", [STARTED, STARTED.replace(b"Time                 Id Command    Argument", b"Time\t\t    Id Command\tArgument")], ids=["mysql", "mariadb"])
def test_a_server_that_starts_amid_the_log_ends_no_statement(form: bytes) -> None:
    again = form % b"10.11.7-MariaDB-log (MariaDB Server)"
    events, reading = parsed(again + MYSQL % (1, b"SELECT 1") + again + again + MYSQL % (2, b"SELECT 2") + again)
    assert [event.statement for event in events] == [b"SELECT 1", b"SELECT 2"]
    assert (reading.server_version, reading.left_out) == ("10.11.7-MariaDB-log", {})


def test_lines_that_end_as_on_windows() -> None:
    assert statements((MYSQL % (1, b"SELECT 1") + MYSQL % (2, b"SELECT 2")).replace(b"\n", b"\r\n")) == [b"SELECT 1", b"SELECT 2"]


def test_times_that_are_none_do_no_harm() -> None:
    wild = MYSQL.replace(b"0.000123", b"18446744073708.796870.000036").replace(b"2026-11-22T20:00:00", b"2026-19-99T77:00:00")
    events, _ = parsed(wild % (1, b"SELECT 1"))
    assert [(event.statement, event.duration_microseconds) for event in events] == [(b"SELECT 1", None)]


@pytest.mark.parametrize("repeated", [b"'", b"x\n", b"# Time: ", b"\0", b"; started with:\n", b"# User@Host: ", b"\n# User@Host: x[x] @ y []\n'", b"/*", b"*/", b"/*!", b"\n# User@Host: x[x] @ y []\n/*"])
def test_hostile_logs_take_bounded_time(repeated: bytes) -> None:
    parsed(MYSQL % (1, b"SELECT ") + repeated * 100_000 + MYSQL % (2, b"SELECT 2"))


def test_moments_without_a_zone_are_this_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    log = b"# Time: 261122  9:00:00\n" + (MARIADB % b"SELECT 1").replace(b"SET timestamp=1795377600;\n", b"")
    expected = datetime.datetime(2026, 11, 22, 9).timestamp()
    assert parsed(log)[0][0].start_microseconds == int(expected) * 1_000_000 + 500_000 - 123
