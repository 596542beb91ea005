"""Recording a running server, and the logs that it wrote: byte by byte what was sent, everything given back, whatever the end."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

import psutil
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import Workload, read_workload
from tests.servers.conftest import on_every_server, schema
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of, meanwhile

HOSTILE = [
    b"SELECT 1", b"SELECT 'two\nlines;\n# User@Host: x[x] @ y []\n'", "SELECT 'é ☃'".encode(), b"SELECT '\\0 \\' \x1b'", b"/* c */ SELECT 5 -- end", b"SELECT \"# Time: 261122 20:00:00\n\"",
    b"SELECT '" + b"x" * 200_000 + b"'", b"INSERT INTO t VALUES (1), (2)", b"UPDATE t SET a = a + 1", b"SELECT a FROM t", b"CREATE TEMPORARY TABLE u (a INT)", b"SET @a = 5", b"BEGIN", b"COMMIT",
]  # fmt: skip
LOGGING = ("slow_query_log", "slow_query_log_file", "long_query_time", "log_output", "min_examined_row_limit", "log_slow%", "log_throttle%", "log_queries%", "general_log%")


def settings(server: PrivateServer) -> dict[str, str]:
    names = " OR ".join(f"variable_name LIKE '{name}'" for name in LOGGING)
    return {str(name): str(value) for name, value in server.execute(f"SHOW GLOBAL VARIABLES WHERE {names}")}


def command(server: PrivateServer, *words: str) -> list[str]:
    return [str(PROGRAM), "record", "--socket", str(server.socket), "--user", "root", *words]


def recorded(path: Path) -> tuple[Workload, list[Event]]:
    workload = read_workload(path)
    return workload, list(workload.events())


def sending(server: PrivateServer, database: str, statements: Sequence[bytes] = HOSTILE) -> AbstractContextManager[None]:
    """The statements again and again, each round over a connection of its own."""

    def rounds(ended: threading.Event) -> None:
        while not ended.is_set():
            with server.session(database) as connection, closing(connection.cursor()) as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    if cursor.description:
                        cursor.fetchall()
            time.sleep(0.05)

    return meanwhile(rounds)


def leftovers(server: PrivateServer) -> list[str]:
    return [path.name for path in Path(str(server.execute("SELECT @@datadir")[0][0])).glob("myisam-advisor-*")]


@on_every_server
def test_a_running_server_is_recorded_and_is_as_it_was(server: PrivateServer, tmp_path: Path) -> None:
    before = settings(server)
    with schema(server, "recorded") as database:
        server.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        with sending(server, database):
            done = subprocess.run(command(server, "--output", str(tmp_path / "w"), "--seconds", "4", "--yes"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert settings(server) == before
    assert leftovers(server) == []
    workload, events = recorded(tmp_path / "w")
    assert {event.statement for event in events} >= set(HOSTILE)
    told = [event for event in events if event.statement == b"INSERT INTO t VALUES (1), (2)"]
    assert {event.database for event in told} == {database.encode()}
    assert all(event.duration_microseconds is not None for event in told)
    # MySQL 5.5 does not write who sent a statement.
    assert all(event.connection for event in told) or "the log does not show which connection" in workload.totals.note["senders"]
    assert (workload.header.source, workload.totals.truncated) == ("live", False)
    assert "moved" not in workload.totals.note
    assert "meanwhile" in workload.totals.note["load"]
    # The test's own one, or another that was just ending.
    assert "there before" in workload.header.note["connections"]


@pytest.mark.parametrize("whole_group", [False, True], ids=["the recorder", "its group"])
def test_everything_is_given_back_when_the_recorder_is_killed(server: PrivateServer, tmp_path: Path, whole_group: bool) -> None:
    server.execute("SET GLOBAL long_query_time = 7.5", "SET GLOBAL log_output = 'TABLE,FILE'")
    before = settings(server)
    recorder = subprocess.Popen(command(server, "--output", str(tmp_path / "w"), "--seconds", "60", "--yes"), start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: float(settings(server)["long_query_time"]) == 0 and bool(leftovers(server)), 60)
        (os.killpg if whole_group else os.kill)(recorder.pid, signal.SIGKILL)
        recorder.wait()
        assert wait_for(lambda: settings(server) == before and not leftovers(server), 60)
    finally:
        recorder.kill()
        server.execute("SET GLOBAL long_query_time = 10", "SET GLOBAL log_output = 'FILE'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recorder_that_is_interrupted_gives_everything_back_and_says_so(mariadb: PrivateServer, tmp_path: Path, number: signal.Signals) -> None:
    before = settings(mariadb)
    recorder = subprocess.Popen(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "60", "--yes"), start_new_session=True, stderr=subprocess.PIPE)
    assert wait_for(lambda: bool(leftovers(mariadb)), 60)
    os.killpg(recorder.pid, number)
    _, said = recorder.communicate()
    assert recorder.returncode == 130, said
    assert said.endswith(b"interrupted: the server's settings were given back, its log was removed, and no file was written.\n")
    assert recorder.returncode == 130
    assert settings(mariadb) == before
    assert leftovers(mariadb) == []


def test_everything_is_given_back_when_the_guardian_is_killed(mariadb: PrivateServer, tmp_path: Path) -> None:
    before = settings(mariadb)
    with schema(mariadb, "unguarded") as database:
        mariadb.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        with sending(mariadb, database):
            recorder = subprocess.Popen(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "120", "--yes"), start_new_session=True, stderr=subprocess.DEVNULL)
            try:
                assert wait_for(lambda: bool(leftovers(mariadb)), 60)
                time.sleep(1)
                (guardian,) = (child for child in psutil.Process(recorder.pid).children() if child.pid == os.getsid(child.pid))
                guardian.kill()
                assert wait_for(lambda: settings(mariadb) == before and not leftovers(mariadb), 30)
                assert recorder.wait(60) == 0
            finally:
                recorder.kill()
    assert "was ended" in recorded(tmp_path / "w")[0].totals.note["stopped early"]


def test_no_statement_is_left_in_a_table_of_the_server(mariadb: PrivateServer, tmp_path: Path) -> None:
    mariadb.execute("SET GLOBAL log_output = 'FILE,TABLE'", "SET GLOBAL slow_query_log = ON", "TRUNCATE mysql.slow_log")
    before = settings(mariadb)
    try:
        with schema(mariadb, "tabled") as database:
            mariadb.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
            with sending(mariadb, database):
                done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "2", "--yes"), capture_output=True, text=True, check=False)
        assert (done.returncode, settings(mariadb)) == (0, before), done.stderr
        # The connection that was made last may still write its round; those of the recording's time are in its file alone.
        round_of_one = sum(b"xxxx" in statement for statement in HOSTILE)
        in_file = [event for event in recorded(tmp_path / "w")[1] if b"xxxx" in event.statement]
        in_table = int(str(mariadb.execute("SELECT COUNT(*) FROM mysql.slow_log WHERE sql_text LIKE '%xxxx%'")[0][0]))
        assert in_table <= round_of_one < len(in_file)
    finally:
        mariadb.execute("SET GLOBAL log_output = 'FILE'", "SET GLOBAL slow_query_log = OFF", "TRUNCATE mysql.slow_log")


def test_a_general_log_in_a_table_is_not_diverted_into_a_file(mariadb: PrivateServer, tmp_path: Path) -> None:
    mariadb.execute("SET GLOBAL log_output = 'TABLE'", "SET GLOBAL general_log = ON")
    before = settings(mariadb)
    try:
        done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "1", "--yes"), capture_output=True, text=True, check=False)
        assert (done.returncode, "the general log is on" in done.stderr, settings(mariadb)) == (2, True, before)
    finally:
        mariadb.execute("SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'", "TRUNCATE mysql.general_log")


def test_what_somebody_sets_meanwhile_stays_and_is_named(mariadb: PrivateServer, tmp_path: Path) -> None:
    before = settings(mariadb)
    with schema(mariadb, "changed") as database:
        mariadb.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        with sending(mariadb, database):
            recorder = subprocess.Popen(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "6", "--yes"), stderr=subprocess.DEVNULL)
            assert wait_for(lambda: bool(leftovers(mariadb)), 60)
            time.sleep(2)
            mariadb.execute("SET GLOBAL long_query_time = 3")
            status = recorder.wait(60)
    after = settings(mariadb)
    mariadb.execute("SET GLOBAL long_query_time = 10")
    assert (status, float(after["long_query_time"])) == (0, 3)
    # MariaDB has the variable by two names.
    assert {name for name in after if after[name] != before[name]} <= {"long_query_time", "log_slow_query_time"}
    assert "long_query_time" in recorded(tmp_path / "w")[0].totals.note["changed meanwhile"]


def test_a_second_recording_waits_for_the_first_to_end(mariadb: PrivateServer, tmp_path: Path) -> None:
    before = settings(mariadb)
    first = subprocess.Popen(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "60", "--yes"), start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: bool(leftovers(mariadb)), 60)
        done = subprocess.run(command(mariadb, "--output", str(tmp_path / "v"), "--seconds", "1", "--yes"), capture_output=True, text=True, check=False)
    finally:
        os.killpg(first.pid, signal.SIGINT)
        first.wait()
    assert (done.returncode, "another recording" in done.stderr) == (2, True)
    assert (settings(mariadb), leftovers(mariadb)) == (before, [])


def test_the_settings_of_a_recording_that_was_cut_off_are_not_taken_for_the_sites_own(mariadb: PrivateServer, tmp_path: Path) -> None:
    before = settings(mariadb)
    mariadb.execute("SET GLOBAL slow_query_log_file = 'myisam-advisor-0123456789abcdef.log'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = ON")
    try:
        done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "1", "--yes"), capture_output=True, text=True, check=False)
        assert (done.returncode, "was cut off" in done.stderr) == (2, True)
        by_hand = " ".join(done.stderr.split()).partition("that file: ")[2]
        mariadb.execute(*(one for one in by_hand.split("; ") if one.strip(" ;")))
        now = settings(mariadb)
        assert (now["slow_query_log"], float(now["long_query_time"])) == ("OFF", 10)
        assert "myisam-advisor-" not in now["slow_query_log_file"]
    finally:
        mariadb.execute("SET GLOBAL slow_query_log = OFF", "SET GLOBAL long_query_time = 10", f"SET GLOBAL slow_query_log_file = '{before['slow_query_log_file']}'")
        for name in leftovers(mariadb):
            (Path(str(mariadb.execute("SELECT @@datadir")[0][0])) / name).unlink()


def test_who_may_not_set_variables_is_told_the_right(flavour: PrivateServer, tmp_path: Path) -> None:
    flavour.execute("DROP USER IF EXISTS 'low'@'localhost'", "CREATE USER 'low'@'localhost'")
    try:
        done = subprocess.run([*command(flavour, "--output", str(tmp_path / "w"), "--seconds", "2", "--yes"), "--user", "low"], capture_output=True, text=True, check=False)
    finally:
        flavour.execute("DROP USER 'low'@'localhost'")
    assert (done.returncode, "GRANT " in done.stderr, list(tmp_path.iterdir())) == (2, True, [])


def test_a_server_with_too_much_to_do_is_left_alone(mariadb: PrivateServer, tmp_path: Path) -> None:
    before = settings(mariadb)
    with schema(mariadb, "busy") as database:
        mariadb.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        with sending(mariadb, database):
            done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "2", "--yes", "--maximum-rate", "1"), capture_output=True, text=True, check=False)
    assert (done.returncode, "--maximum-rate" in done.stderr) == (2, True)
    assert settings(mariadb) == before


def test_a_recording_of_nothing_names_no_log_that_is_gone(flavour: PrivateServer, tmp_path: Path) -> None:
    before = settings(flavour)
    with flavour.session() as kept, closing(kept.cursor()) as cursor:
        cursor.execute("SELECT 1")
        done = subprocess.run(command(flavour, "--output", str(tmp_path / "w"), "--seconds", "1", "--yes"), capture_output=True, text=True, check=False)
    said = " ".join(done.stderr.split())
    assert (done.returncode, "nothing was recorded in 1 s" in said, ".log holds" in said) == (2, True, False), said
    assert "1 connection is there already. It keeps its settings" in said
    assert "1 connection from before kept its settings" in said
    assert (list(tmp_path.iterdir()), leftovers(flavour), settings(flavour)) == ([], [], before)


HISTORY = ("--performance-schema=ON", *(f"--performance-schema-consumer-events-statements-{name}=ON" for name in ("current", "history", "history-long")))


@pytest.mark.parametrize("kind", ["mysql-9.7", "mariadb-10.11", "mysql-5.6"])
def test_what_performance_schema_keeps_is_recorded_and_nothing_is_changed(kind: str, tmp_path: Path) -> None:
    consumers = "SELECT * FROM performance_schema.setup_consumers ORDER BY NAME"
    with CopiedServer(binaries_of(kind), ["--key-buffer-size=16M", *HISTORY]) as server, schema(server, "kept") as database:
        server.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        before = (settings(server), server.execute(consumers))
        with server.session(database) as connection, closing(connection.cursor()) as earlier, sending(server, database):
            recorder = subprocess.Popen(command(server, "--output", str(tmp_path / "w"), "--seconds", "6", "--source", "performance-schema"), stderr=subprocess.PIPE, text=True)
            while recorder.poll() is None:
                earlier.execute("SELECT 'seen though it was there before'")
                earlier.fetchall()
                earlier.execute(b"SELECT LENGTH('bad \xff bytes') AS n")
                earlier.fetchall()
                time.sleep(0.05)
            assert recorder.returncode == 0, recorder.communicate()[1]
            recorder.communicate()
        assert (settings(server), server.execute(consumers)) == before
    workload, events = recorded(tmp_path / "w")
    whole = {statement for statement in HOSTILE if len(statement) < 1000}
    assert {event.statement for event in events} == whole | {b"SELECT 'seen though it was there before'", b"SET NAMES utf8mb4"}
    assert workload.totals.left_out["cut off"] >= 2
    assert not [reason for reason in workload.totals.left_out if "overwritten" in reason]
    assert {event.database for event in events if event.statement == b"SELECT a FROM t"} == {b"kept"}
    begin, end = workload.header.began_at_microseconds or 0, workload.totals.ended_at_microseconds or 0
    assert all(begin - 10**7 < event.start_microseconds < end for event in events)
    assert "kept one connection busy" in workload.totals.note["cost"]


def test_a_server_whose_performance_schema_is_off_is_told_how_to_switch_it_on(mariadb: PrivateServer, tmp_path: Path) -> None:
    done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "2", "--source", "performance-schema"), capture_output=True, text=True, check=False)
    assert (done.returncode, "performance_schema is off" in done.stderr, list(tmp_path.iterdir())) == (2, True, [])


def test_nobody_is_asked_without_a_terminal(mariadb: PrivateServer, tmp_path: Path) -> None:
    done = subprocess.run(command(mariadb, "--output", str(tmp_path / "w"), "--seconds", "2"), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, "add --yes" in done.stderr) == (2, True)


@on_every_server
def test_the_general_log_of_a_server_is_read_byte_by_byte(server: PrivateServer, tmp_path: Path) -> None:
    log = Path(str(server.execute("SELECT @@datadir")[0][0])) / "general-for-test.log"
    before = settings(server)
    with schema(server, "general") as database:
        server.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM", f"SET GLOBAL general_log_file = '{log}'", "SET GLOBAL general_log = 1")
        with sending(server, database):
            time.sleep(0.5)
        server.execute("SET GLOBAL general_log = 0", f"SET GLOBAL general_log_file = '{before['general_log_file']}'")
    done = subprocess.run(command(server, "--output", str(tmp_path / "w"), "--general-log", str(log)), capture_output=True, text=True, check=False)
    log.unlink()
    assert done.returncode == 0, done.stderr
    _, events = recorded(tmp_path / "w")
    assert {event.statement for event in events} >= set(HOSTILE)
    assert {event.database for event in events if event.statement == b"INSERT INTO t VALUES (1), (2)"} == {database.encode()}
