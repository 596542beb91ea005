"""A log becomes a workload; a log that holds nothing is named, with its remedy, and nothing is written."""

import gzip
import os
from pathlib import Path

import pytest

from myisam_advisor.workload import summary
from myisam_advisor.workload.document import as_document, as_text
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.recording import OUR_OWN, SAMPLED, Told, record_log, source_named
from myisam_advisor.workload.several_statements import SEVERAL
from myisam_advisor.workload.summary import MAXIMUM_KINDS, OTHERS, summed_up
from myisam_exporter.errors import UserError

ENTRY = b"# Time: 2026-11-22T20:00:0%d.000000Z\n# User@Host: a[a] @ localhost []  Id: %d\n# Query_time: 0.000100  Lock_time: 0.000002 Rows_sent: 2  Rows_examined: 3\nSET timestamp=1795377600;\n%b;\n"
LOG = ENTRY % (1, 8, b"SELECT 'secret'") + ENTRY % (2, 9, b"LOAD DATA INFILE 'x' INTO TABLE t") + ENTRY % (3, 9, b"SELECT 'other'")
GENERAL = b"2026-11-22T20:00:00.000001Z\t    8 Query\tSELECT 1\n"


def log_of(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "log"
    path.write_bytes(content)
    return path


def test_a_log_becomes_a_workload(tmp_path: Path) -> None:
    recorded = record_log(source_named("slow_log"), log_of(tmp_path, LOG), tmp_path / "w")
    assert (recorded.totals.statements, recorded.totals.left_out) == (2, {"LOAD DATA": 1})
    with read_workload(tmp_path / "w") as workload:
        assert [event.statement for event in workload.events()] == [b"SELECT 'secret'", b"SELECT 'other'"]
    assert workload.header == recorded.header
    assert workload.totals.ended_at_microseconds == 1795377603_000_000


@pytest.mark.parametrize("parts", [1, 3])
def test_a_packed_log_is_unpacked(tmp_path: Path, parts: int) -> None:
    packed = b"".join(gzip.compress(LOG) for _ in range(parts))
    assert record_log(source_named("slow_log"), log_of(tmp_path, packed), tmp_path / "w").totals.statements == 2 * parts


def test_a_server_that_we_watched_all_the_time_was_not_restarted(tmp_path: Path) -> None:
    begin = b"/usr/sbin/mysqld, Version: 8.4.2 (MySQL). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n"
    path = log_of(tmp_path, begin + LOG + begin + LOG)
    source = source_named("slow_log")
    read = record_log(source, path, tmp_path / "read")
    watched = record_log(source, path, tmp_path / "watched", descriptor=os.open(path, os.O_RDONLY))
    assert read.totals.note["starts"] == "the log was opened 2 times: the server was restarted, or its logs were flushed"
    assert watched.totals.note["starts"] == "the log was opened 2 times: its logs were flushed"


def test_our_own_statements_are_left_out(tmp_path: Path) -> None:
    recorded = record_log(source_named("slow_log"), log_of(tmp_path, LOG), tmp_path / "w", Told("live", "8.4.2", "mysql", ignored_connections=frozenset({9})))
    assert (recorded.totals.statements, recorded.totals.left_out) == (1, {OUR_OWN: 2})
    assert (recorded.header.source, recorded.header.server_version) == ("live", "8.4.2")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty: nothing was logged"), (b"\0" * 5000, "holds zero bytes alone"), (GENERAL, "looks like a general log. Give it as --general-log"),
        (b"LOG:  statement: SELECT 1\n" * 9, "is not a slow log of MySQL or MariaDB"), (b"\x7fELF" + bytes(range(256)) * 9, "is not a slow log of MySQL or MariaDB"),
        (ENTRY % (1, 8, b"# administrator command: Ping"), "holds no statement: of its 1 entries were left out: 1 \\(administrator command\\)"),
        (ENTRY % (1, 8, b"LOAD DATA INFILE 'x' INTO TABLE t"), "holds no statement: of its 1 entries were left out: 1 \\(LOAD DATA\\)"),
        (gzip.compress(LOG)[:20] + b"\xff" * 90, "packed by gzip, and damaged"),
    ],
)  # fmt: skip
def test_a_log_that_holds_nothing_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(UserError, match=says):
        record_log(source_named("slow_log"), log_of(tmp_path, content), tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_slow_log_is_no_general_log(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="looks like a slow log"):
        record_log(source_named("general_log"), log_of(tmp_path, LOG), tmp_path / "w")


@pytest.mark.parametrize(("name", "says"), [("missing", "No such file"), (".", "it is a directory"), ("/dev/null", "it is not a file"), ("\0", "null (byte|character)")])
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(UserError, match=rf"cannot read the slow log .*{says}.* Give the path"):
        record_log(source_named("slow_log"), tmp_path / name, tmp_path / "w")


def test_what_a_general_log_has_before_its_first_time_is_left_out_by_name(tmp_path: Path) -> None:
    log = log_of(tmp_path, b"\t\t    8 Query\tSELECT 0\n261122 20:00:00\t    8 Query\tSELECT 1\n")
    recorded = record_log(source_named("general_log"), log, tmp_path / "w")
    assert (recorded.totals.statements, recorded.totals.left_out, recorded.header.began_at_microseconds) == (1, {"of no known time": 1}, None)
    with read_workload(tmp_path / "w") as workload:
        assert [event.statement for event in workload.events()] == [b"SELECT 1"]


def test_what_is_odd_is_told(tmp_path: Path) -> None:
    without = LOG.replace(b"  Id: 8", b"").replace(b"  Id: 9", b"")
    totals = record_log(source_named("slow_log"), log_of(tmp_path, b"\0" * 100 + without), tmp_path / "w").totals
    assert totals.note.keys() == {"senders", "holes"}


def test_several_statements_at_once_are_recorded_one_by_one(tmp_path: Path) -> None:
    sent = [b"SELECT 'a;b'; USE shop; INSERT INTO t VALUES ('it\\'s;'); GRANT ALL ON *.* TO x", b"SELECT 1; SELECT 'C:\\'; SELECT 2", b"SELECT 3;"]
    log = b"".join(GENERAL.replace(b"SELECT 1", statement) for statement in sent)
    totals = record_log(source_named("general_log"), log_of(tmp_path, log), tmp_path / "w").totals
    assert totals.left_out == {"GRANT": 1, SEVERAL: 1}
    with read_workload(tmp_path / "w") as workload:
        recorded = [(event.database, event.statement) for event in workload.events()]
    assert recorded == [(None, b"SELECT 'a;b'"), (None, b"USE shop"), (b"shop", b"INSERT INTO t VALUES ('it\\'s;')"), (b"shop", b"SELECT 3;")]


def test_a_log_that_lacks_statements_says_so(tmp_path: Path) -> None:
    sampled = LOG.replace(b"SET timestamp", b"# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nSET timestamp")
    assert "one in 10" in record_log(source_named("slow_log"), log_of(tmp_path, sampled), tmp_path / "a").totals.note[SAMPLED]
    slow = (ENTRY % (1, 8, b"SELECT 1")).replace(b"0.000100", b"0.001500") * 1000
    assert "took 1.5 ms: long_query_time was probably not 0" in record_log(source_named("slow_log"), log_of(tmp_path, slow), tmp_path / "b").totals.note["threshold"]
    assert not record_log(source_named("slow_log"), log_of(tmp_path, slow + ENTRY % (1, 8, b"SELECT 1")), tmp_path / "c").totals.note


@pytest.mark.parametrize(("version", "is_told"), [(b"8.0.33", False), (b"10.11.2-MariaDB", True), (None, True)])
def test_calls_in_a_general_log_may_have_their_statements_beside_them(tmp_path: Path, version: bytes | None, is_told: bool) -> None:
    started = b"" if version is None else b"mysqld, Version: %b (x). started with:\nTcp port: 3306  Unix socket: /s\nTime                 Id Command    Argument\n" % version
    totals = record_log(source_named("general_log"), log_of(tmp_path, started + GENERAL.replace(b"SELECT 1", b"CALL p()")), tmp_path / "w").totals
    assert ("calls" in totals.note) is is_told


def test_a_summary_has_kinds_and_no_values(tmp_path: Path) -> None:
    record_log(source_named("slow_log"), log_of(tmp_path, LOG), tmp_path / "w")
    with read_workload(tmp_path / "w") as workload:
        whole = summed_up(workload)
    [kind] = whole.kinds
    assert (kind.fingerprint, kind.count, kind.seconds, kind.share, kind.rows_sent, kind.example) == ("select ?", 2, 0.0002, 1.0, 4, None)
    assert whole.connections == 2
    told = as_text(whole, "w", None) + str(as_document(whole))
    assert "select ?" in told
    assert "secret" not in told
    assert "LOAD DATA" in told
    assert not [line for line in as_text(whole, "w", None).splitlines() if line.endswith(" ")], "a pipe has no use for padding"


def test_values_are_told_where_that_was_asked_for(tmp_path: Path) -> None:
    record_log(source_named("slow_log"), log_of(tmp_path, LOG.replace(b"secret", b"\x1b]secret")), tmp_path / "w")
    with read_workload(tmp_path / "w") as workload:
        told = as_text(summed_up(workload, literals=True), "w", None)
    assert "secret" in told
    assert "\x1b" not in told


def test_connections_without_end_take_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MAXIMUM_CONNECTIONS", 3)
    for connections, told in ((3, "3 connections, 1 kind of statements"), (5, "more than 3 connections, 1 kind of statements")):
        (tmp_path / "log").write_bytes(b"".join(ENTRY % (1, number, b"SELECT 1") for number in range(1, connections + 1)))
        record_log(source_named("slow_log"), tmp_path / "log", tmp_path / str(connections))
        with read_workload(tmp_path / str(connections)) as workload:
            whole = summed_up(workload)
        assert (whole.connections, whole.has_more_connections) == (3, connections > 3)
        assert told in as_text(whole, "w", None)
        assert as_document(whole)["has_more_connections"] == (connections > 3)


def test_kinds_without_end_take_bounded_memory(tmp_path: Path) -> None:
    log = b"".join(ENTRY % (1, 8, b"SELECT a%d" % number) for number in range(MAXIMUM_KINDS + 5))
    record_log(source_named("slow_log"), log_of(tmp_path, log), tmp_path / "w")
    with read_workload(tmp_path / "w") as workload:
        kinds = summed_up(workload).kinds
    assert [kind.count for kind in kinds if kind.fingerprint == OTHERS] == [5]


def at(seconds: int, connection: int, statement: bytes, took: float = 0.0001) -> bytes:
    """An entry that ended so many seconds after 20:00."""
    time = b"# Time: 2026-11-22T%02d:%02d:%02d.000000Z" % (20 + seconds // 3600, seconds // 60 % 60, seconds % 60)
    return ENTRY.replace(b"# Time: 2026-11-22T20:00:0%d.000000Z", time).replace(b"0.000100", b"%.6f" % took) % (connection, statement)


def test_a_clock_that_was_set_back_is_told_and_order_and_length_are_kept(tmp_path: Path) -> None:
    log = b"".join((at(3600, 1, b"SELECT 1"), at(3660, 2, b"SELECT 2"), at(63, 1, b"SELECT 3"), at(123, 2, b"SELECT 4")))
    recorded = record_log(source_named("slow_log"), log_of(tmp_path, log), tmp_path / "w")
    assert recorded.totals.note["clock"].startswith("the log's times went back 1 time, by up to 60 min ")
    with read_workload(tmp_path / "w") as workload:
        began = [event.start_microseconds for event in workload.events()]
    assert [one - began[0] for one in began] == [0, 60_000_000, 60_000_000, 120_000_000]
    assert recorded.totals.ended_at_microseconds is not None
    assert recorded.totals.ended_at_microseconds - began[0] == 120_000_100


def test_what_took_long_or_ended_at_nearly_the_same_time_is_no_clock_that_was_set_back(tmp_path: Path) -> None:
    log = b"".join((at(50, 1, b"SELECT 1"), at(51, 2, b"SELECT SLEEP(40)", took=40), at(50, 3, b"SELECT 2"), at(52, 1, b"SELECT 3")))
    recorded = record_log(source_named("slow_log"), log_of(tmp_path, log), tmp_path / "w")
    assert "clock" not in recorded.totals.note
    with read_workload(tmp_path / "w") as workload:
        assert [event.start_microseconds // 1_000_000 - 1_795_377_600 for event in workload.events()] == [49, 11, 49, 51]
