"""What can go wrong with a server, its files and its accounts: a clear message and status 2, or unknown with a reason."""

import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.numeric_names import is_numeric
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.files import schema_reader
from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.left_out import LeftOut
from myisam_exporter.files.schema_reader import YOUNG_SECONDS
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.session import Session
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM, run, run_process
from tests.support.servers import CopiedServer, binaries_of, meanwhile, status_number

from .conftest import as_other_user, connections_taken, look, on_one_server, schema, target

SECRET = "correct-horse-#?&%$"


@pytest.fixture
def own(request: pytest.FixtureRequest) -> object:
    """A MariaDB that the test may break."""
    with CopiedServer(binaries_of("mariadb-10.11")) as running:
        yield running
    return None


def test_a_temporary_directory_that_takes_no_file_is_told_and_the_rest_is_judged() -> None:
    """MariaDB lists its connections by a file there, as on a disk that failed: its error has a number below 1000, and the server was called lost."""
    with tempfile.TemporaryDirectory(prefix="m-", dir="/tmp") as name:
        Path(name).chmod(0o777)
        with CopiedServer(binaries_of("mariadb-10.11"), [f"--tmpdir={name}"]) as server:
            server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (a INT) ENGINE=MyISAM")
            Path(name).chmod(0o555)
            done = run("check", "--interval", "0", "--socket", server.socket, "--user", "root")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f"lock-pile-up: the server refused: Can't create/write to file '{name}" in said
    assert "rules found nothing" in said


def during_the_interval(server: PrivateServer, action: str) -> subprocess.CompletedProcess[str]:
    """`check` with something happening to the server between its two samples."""

    def act() -> None:
        # From the moment it has connected on: how long a program takes to start says nothing.
        assert wait_for(lambda: len(server.execute("SHOW PROCESSLIST")) > 1, 30)
        time.sleep(1.0)
        if action == "kill":
            server.stop(signal.SIGKILL)
        elif action == "stop":
            os.kill(server.pid, signal.SIGSTOP)
        else:
            server.restart()

    thread = threading.Thread(target=act)
    # The server's death signal follows the thread that starts it: here that must be one that lives on.
    if action == "restart":
        process = subprocess.Popen([str(PROGRAM), "check", "--socket", str(server.socket), "--user", "root", "--interval", "4s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        act()
        output, error = process.communicate(timeout=60)
        return subprocess.CompletedProcess([], process.returncode, output, error)
    thread.start()
    done = run_process("check", "--socket", server.socket, "--user", "root", "--interval", "2s", "--timeout", "2")
    thread.join()
    return done


@pytest.mark.parametrize(("action", "message"), [("kill", "lost the server"), ("stop", "did not answer within 2 s"), ("restart", "restarted between the two samples")])
def test_a_server_lost_between_the_samples(own: PrivateServer, action: str, message: str) -> None:
    done = during_the_interval(own, action)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_stopped_server_does_not_hang_the_connection(own: PrivateServer) -> None:
    os.kill(own.pid, signal.SIGSTOP)
    started = time.monotonic()
    done = run_process("check", "--socket", own.socket, "--user", "root", "--interval", "0", "--timeout", "2")
    assert done.returncode == 2
    assert "did not answer within 2 s" in done.stderr
    assert time.monotonic() - started < 10


def test_a_wrong_password_is_told_with_its_origin_and_never_shown(flavour: PrivateServer, tmp_path: Path) -> None:
    flavour.execute("CREATE USER 'watcher'@'localhost' IDENTIFIED BY 'other'")
    try:
        path = tmp_path / "my.cnf"
        path.write_text(f'[client]\nuser=watcher\npassword="{SECRET}"\nsocket={flavour.socket}\n')
        done = run("check", "--defaults-file", path, "--interval", "0")
        assert done.returncode == 2
        assert "refused the user 'watcher'" in done.stderr
        assert f"{path}, line 3" in done.stderr
        assert "horse" not in done.stderr + done.stdout
    finally:
        flavour.execute("DROP USER 'watcher'@'localhost'")


def test_a_password_with_odd_characters_works_and_is_in_no_argument(flavour: PrivateServer, tmp_path: Path) -> None:
    flavour.execute(f"CREATE USER 'watcher'@'localhost' IDENTIFIED BY '{SECRET}'", "GRANT PROCESS ON *.* TO 'watcher'@'localhost'")
    path = tmp_path / "my.cnf"
    path.write_text(f'[client]\nuser=watcher\npassword="{SECRET}"\nsocket={flavour.socket}\n')
    try:
        process = subprocess.Popen([str(PROGRAM), "check", "--defaults-file", str(path), "--interval", "2s", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes() + Path(f"/proc/{process.pid}/environ").read_bytes()
        output, error = process.communicate()
        assert process.returncode == 0, error
        assert b"horse" not in command
        assert "horse" not in output + error
    finally:
        flavour.execute("DROP USER 'watcher'@'localhost'")


def test_without_process_the_connections_are_unknown_and_the_grant_is_named(server: PrivateServer) -> None:
    server.execute("CREATE USER 'humble'@'localhost' IDENTIFIED BY ''")
    try:
        facts = look(server, user="humble")
        reason = facts.why_unknown("processlist")
        assert "PROCESS" in reason.reason
        assert reason.remedy == "GRANT PROCESS ON *.* TO 'humble'@'localhost';"
        assert facts.tables["key_cache"].rows
        assert facts.single("server")["local"] == 1
        done = run("doctor", "--socket", server.socket, "--user", "humble")
        assert done.returncode == 0
        assert "GRANT PROCESS ON *.* TO 'humble'@'localhost';" in done.stdout
    finally:
        server.execute("DROP USER 'humble'@'localhost'")


@on_one_server
def test_an_unreadable_data_directory_gives_facts_by_sql_and_says_so(server: PrivateServer) -> None:
    with schema(server, "hidden"):
        # Tables that others left open leave no room to ask about any: collectors/sql_tables.py.
        server.execute("FLUSH TABLES", "CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2), (3)", "SELECT * FROM t", database="hidden")
        look(server)  # everything is imported before we become somebody else
        server.data_directory.chmod(0o700)
        try:
            with as_other_user():
                facts = complete(look(server))
        finally:
            server.data_directory.chmod(0o755)
        assert facts.single("server")["local"] == 0
        assert any("cannot be read" in note.reason for note in facts.notes)
        assert any("a sample by SQL" in note.reason for note in facts.notes)
        rows = {row["table_name"]: row for row in facts.tables["tables"].dictionaries()}
        assert rows["t"]["rows"] == 3
        assert "cannot be read" in facts.why_unknown("tables", "crashed").reason
        assert "cannot be read" in facts.why_unknown("mysqld", "mapped_data_files").reason
        assert "/io cannot be read" in facts.why_unknown("mysqld", "page_cache_hit_ratio").reason


@on_one_server
def test_another_servers_files_are_not_taken_for_this_ones(server: PrivateServer) -> None:
    from myisam_exporter.facts.unknown import Unknown
    from myisam_exporter.server.location import locate

    variables = {"datadir": str(server.data_directory), "pid_file": str(server.directory / "pid"), "server_uuid": "00000000-0000-0000-0000-000000000000"}
    place = locate(variables, 10_000_000, None, True, Path("/proc"))
    assert isinstance(place.pid, Unknown)
    assert isinstance(place.data_directory, Unknown)
    away = locate({"datadir": "/not/here", "pid_file": "/not/here/pid"}, 5, None, True, Path("/proc"))
    assert isinstance(away.data_directory, Unknown)
    assert "container" in away.data_directory.reason
    remote = locate({}, 5, None, False, Path("/proc"))
    assert isinstance(remote.pid, Unknown)
    assert "another host" in remote.pid.reason


@pytest.mark.parametrize(("content", "problem"), [(b"", "the file is empty"), (b"garbage" * 500, "does not begin"), (None, "within its header")])
def test_a_damaged_index_file_is_a_finding_not_a_fault(flavour: PrivateServer, content: bytes | None, problem: str) -> None:
    with schema(flavour, "damaged"):
        flavour.execute("CREATE TABLE good (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "CREATE TABLE bad (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "FLUSH TABLES", database="damaged")
        path = flavour.data_directory / "damaged" / "bad.MYI"
        whole = path.read_bytes()
        path.write_bytes(whole[:200] if content is None else content)
        time.sleep(YOUNG_SECONDS)
        try:
            done = run("check", "--socket", flavour.socket, "--user", "root", "--interval", "0", "--full")
            assert done.returncode == 1
            assert "damaged.bad is damaged" in done.stdout
            assert problem in " ".join(done.stdout.split())
            assert "damaged.good" not in done.stdout
        finally:
            path.write_bytes(whole)


def test_no_server_says_a_text_of_what_is_taken_for_a_number(server: PrivateServer) -> None:
    facts = look(server)
    for table in ("variable", "status"):
        numbers = {name: value for name, value in facts.tables[table].by_name("value").items() if is_numeric(table, name)}
        assert len(numbers) > 20
        assert {name: value for name, value in numbers.items() if not isinstance(value, int | float)} == {}


def test_headers_that_were_forged_switch_no_rule_off(flavour: PrivateServer) -> None:
    """Lengths that no pointer of theirs reaches are a damage; sums of those that one does reach are beyond SQLite's whole numbers."""
    reached = struct.pack(">QQ", 2**63 - 1, 2**63 - 1)
    with schema(flavour, "forged") as name:
        for table in ("a", "b", "c"):
            flavour.execute(f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {table} VALUES (1)", database=name)
        flavour.execute("FLUSH TABLES")
        for table in ("a", "b", "c"):
            path = flavour.data_directory / name / f"{table}.MYI"
            forged = bytearray(path.read_bytes())
            forged[60:76] = reached
            pointers = int.from_bytes(forged[12:14], "big") + 72
            if table != "c":
                forged[pointers : pointers + 2] = 8, 7
            path.write_bytes(forged)
        time.sleep(YOUNG_SECONDS)
        done = run("check", "--socket", flavour.socket, "--user", "root", "--interval", "0", "--full", "-v")
        said = " ".join(done.stdout.split())
        assert "Traceback" not in done.stderr
        assert "fault of myisam-advisor" not in said
        assert "forged.c is damaged" in said
        assert "forged.c has used" not in said
        assert "its pointers reach only" in said


def test_tables_dropped_between_listing_and_reading_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "t.MYI").write_bytes(b"")
    listed = os.listdir

    def listing(path: int | str) -> list[str]:
        return [*listed(path), "dropped.MYI"]

    monkeypatch.setattr(os, "listdir", listing)
    monkeypatch.setattr(schema_reader, "YOUNG_SECONDS", 0)
    assert [file.table_name for file in scan_data_directory(tmp_path).files] == ["t"]


def test_a_table_being_made_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "t.MYI").write_bytes(b"")
    assert scan_data_directory(tmp_path).files == ()
    time.sleep(YOUNG_SECONDS)
    assert [file.problem for file in scan_data_directory(tmp_path).files] == ["the file is empty"]


def test_a_fifo_and_a_directory_named_like_tables_do_not_hang(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    os.mkfifo(tmp_path / "db" / "pipe.MYI")
    (tmp_path / "db" / "folder.MYI").mkdir()
    time.sleep(YOUNG_SECONDS)
    found = scan_data_directory(tmp_path)
    assert found.files == ()
    assert sorted(found.left_out) == [LeftOut("db.folder", "it is not a regular file", False), LeftOut("db.pipe", "it is not a regular file", False)]


STORM = (
    "CREATE TABLE a{n} (id INT NOT NULL PRIMARY KEY, c VARCHAR(50)) ENGINE=MyISAM", "INSERT INTO a{n} VALUES (1, 'x'), (2, 'y')", "RENAME TABLE a{n} TO b{n}",
    "REPAIR TABLE b{n}", "ALTER TABLE b{n} ADD KEY (c)", "OPTIMIZE TABLE b{n}", "TRUNCATE TABLE b{n}", "DROP TABLE b{n}",
)  # fmt: skip
WAITING = "SELECT INFO FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%%' AND ID <> %s"


class Storm:
    """Somebody who makes and changes tables without end, and somebody who notes what waits for a table."""

    def __init__(self, server: PrivateServer) -> None:
        self.server = server
        self.statements = 0
        self.waiting: dict[object, list[float]] = {}

    def rage(self, stop: threading.Event) -> None:
        with self.server.session("storm") as connection:
            cursor = connection.cursor()
            while not stop.is_set():
                for statement in STORM:
                    cursor.execute(statement.format(n=self.statements // len(STORM)))
                    cursor.fetchall()
                    self.statements += 1

    def note(self, us: int, stop: threading.Event) -> None:
        with self.server.session() as connection:
            cursor = connection.cursor()
            while not stop.is_set():
                cursor.execute(WAITING, (us,))
                for (statement,) in cursor.fetchall():
                    self.waiting.setdefault(statement, []).append(time.monotonic())


@pytest.mark.parametrize("by_files", [True, False])
def test_ddl_storm_while_looking(server: PrivateServer, by_files: bool) -> None:
    """Tables made, renamed, repaired, changed and dropped by the hundred, by one who waits for nobody but us, if at all.

    By files nobody ever does. By SQL alone, as from another host, what changes a table may have to wait for the one query about it.
    """
    with schema(server, "storm"), Session(target(server)) as session:
        if not by_files:
            session.target = replace(session.target, socket=None, host="elsewhere")
        waited = status_number(server, "Table_locks_waited")
        storm, deadline = Storm(server), time.monotonic() + 60
        with meanwhile(storm.rage, partial(storm.note, int(session.row("SELECT CONNECTION_ID()", 1)[0]))):
            while storm.statements < 500 and time.monotonic() < deadline:
                facts = Interval(take_snapshot(Context(session.target, session))).facts()
                assert facts.single("server")["local"] == by_files
                assert not any(row["crashed"] for row in facts.tables["tables"].dictionaries())
        assert storm.statements >= 500
        if by_files:
            assert storm.waiting == {}
        assert all(max(moments) - min(moments) < 2 for moments in storm.waiting.values()), storm.waiting
        assert status_number(server, "Table_locks_waited") == waited


def test_no_connection_left_is_said(own: PrivateServer) -> None:
    with connections_taken(own), pytest.raises(UserError, match="no connection left"):
        Session(target(own))


def test_a_query_is_stopped_by_the_server_or_by_us(server: PrivateServer) -> None:
    with Session(target(server), timeout_seconds=1) as session:
        started = time.monotonic()
        try:
            session.rows("SELECT SLEEP(20)")
        except ServerLostError as error:
            assert "1 s" in str(error)
        except Exception as error:
            assert "max" in str(error).lower() or "interrupt" in str(error).lower()
        assert time.monotonic() - started < 5


def test_tcp_is_asked_as_well_as_the_socket() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), port=_free_port()) as running:
        running.execute("CREATE USER 'tcp'@'127.0.0.1' IDENTIFIED BY ''")
        done = run("facts", "server", "--host", "127.0.0.1", "--port", running.port, "--user", "tcp", "--format", "json")
        assert done.returncode == 0, done.stderr
        assert '"local": 1' in done.stdout  # found by the pid file and its start time


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_least_privileges_are_enough_for_every_source(server: PrivateServer) -> None:
    server.execute("CREATE USER 'least'@'localhost' IDENTIFIED BY ''", "GRANT PROCESS ON *.* TO 'least'@'localhost'", "GRANT SELECT ON performance_schema.* TO 'least'@'localhost'")
    try:
        facts = complete(look(server, 0.3, user="least"))
        refused = [reason for reason in facts.unknown.values() if "privilege" in reason.reason or "refused" in reason.reason]
        assert refused == []
        done = run("doctor", "--socket", server.socket, "--user", "least")
        assert done.returncode == 0
        assert "GRANT" not in done.stdout
        states = {line.split()[0]: line.split()[1] for line in done.stdout.splitlines() if not line.startswith(" ")}
        assert {states[name] for name in ("status", "variables", "key_caches", "processlist", "host", "myi", "page_cache", "mysqld_process")} == {"working"}
    finally:
        server.execute("DROP USER 'least'@'localhost'")
