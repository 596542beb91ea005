"""The account that `grants` prints: enough for every command, and each right of it missed when it is not there."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from MySQLdb import OperationalError

from myisam_advisor.factbase.derived import complete
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import UserError
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.account import REASONS, maximum_lengths, statements
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA, SEE_PROCESSES
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import parse_version
from tests.support.daemon import serving
from tests.support.program import run

from .conftest import as_other_user, look, on_every_server, schema

ACCOUNT = "o'brien-advisor"
QUOTED = "`o'brien-advisor`@'localhost'"
QUEUE = "mysqld.waiting_for_query_cache"  # read from the process list
PASSWORD = "correct horse 5!"
NOBODY = 65534
COMMANDS = (
    ("check", "--interval", "0.5s", "--fail-on", "never"),
    ("check", "--interval", "0", "--format", "json", "--fail-on", "never"),
    ("facts",),
    ("query", "SELECT COUNT(*) FROM tables"),
    ("snapshot", "--interval", "0"),
    ("doctor",),
    ("plan", "--interval", "0"),
    ("munin",),
    ("grants",),
)


def printed(server: PrivateServer) -> list[str]:
    """The statements as `grants` prints them, with a password in its place."""
    done = run("grants", "--socket", server.socket, "--user", "root", "--account", ACCOUNT, "--password")
    assert done.returncode == 0, done.stderr
    return [line.partition(";  --")[0].replace("<password>", f"'{PASSWORD}'") for line in done.stdout.splitlines()]


@contextmanager
def account(server: PrivateServer, without: str = "") -> Iterator[None]:
    lines = [line for line in printed(server) if not without or without not in line]
    server.execute(*lines)
    try:
        yield
    finally:
        server.execute(f"DROP USER {QUOTED}")


@pytest.fixture
def option_file(server: PrivateServer, tmp_path: Path) -> Path:
    path = tmp_path / "client.cnf"
    path.write_text(f'[client]\nuser="{ACCOUNT}"\npassword="{PASSWORD}"\nsocket={server.socket}\n')
    return path


def refused(facts: FactSet) -> set[str]:
    return {name for name, reason in facts.unknown.items() if "privilege" in reason.reason and reason.remedy.startswith("GRANT ")}


def seen(server: PrivateServer) -> FactSet:
    from myisam_exporter.look.live import collect_facts

    return complete(collect_facts(Target(ACCOUNT, PASSWORD, socket=server.socket), 0.3, 10))


@on_every_server
def test_every_command_works_with_exactly_these(server: PrivateServer, option_file: Path) -> None:
    with schema(server, "granted") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", database=name)
        with account(server):
            for command in COMMANDS:
                done = run(*command, "--defaults-file", option_file)
                assert done.returncode == 0, (command, done.stderr)
                assert "no privilege" not in done.stdout + done.stderr, command
            with serving("--defaults-file", option_file) as daemon:
                page = daemon.looked()
                assert page.value("up") == 1
                assert daemon.process.poll() is None
                failed = re.findall(r'exporter_collector_success\{collector="(\w+)"\} 0', page.text)
                assert failed == []


@pytest.mark.parametrize("without", [SEE_PROCESSES, READ_PERFORMANCE_SCHEMA])
def test_each_right_is_missed_by_name_and_nothing_else(server: PrivateServer, option_file: Path, without: str) -> None:
    with account(server):
        whole = seen(server)
    assert refused(whole) == set()
    with account(server, without):
        less = seen(server)
        lacking = refused(less)
        beyond = {name for name in less.unknown if name not in whole.unknown} - lacking
        told = run("doctor", "--defaults-file", option_file).stdout
        for command in COMMANDS:
            assert run(*command, "--defaults-file", option_file).returncode == 0, command
    assert beyond == set()
    assert {name.partition(".")[0] for name in lacking - {QUEUE}} <= {"processlist", "mutex_wait", "tables", "indexes", "server", "replica"}
    if without == SEE_PROCESSES:
        assert "processlist" in lacking
    if lacking:
        assert f"GRANT {without} TO {QUOTED};" in told
    else:
        # performance_schema is off here, or the rows are everybody's: there was nothing to miss.
        assert without == READ_PERFORMANCE_SCHEMA


def test_the_operating_systems_user_needs_no_password(server: PrivateServer) -> None:
    done = run("grants", "--socket", server.socket, "--user", "root", "--account", "nobody")
    lines = [line.partition(";  --")[0] for line in done.stdout.splitlines()]
    look(server)  # everything is imported before we become somebody else
    with as_other_user(NOBODY):
        pass  # skips where we cannot
    for line in lines:
        try:
            server.execute(line)
        except Exception as error:
            if "INSTALL" not in line:
                raise
            if "already" not in str(error).lower():
                pytest.skip(f"this build has no auth_socket: {error}")
    try:
        with as_other_user(NOBODY), Session(Target("nobody", socket=server.socket), 5) as session:
            assert str(session.rows("SELECT CURRENT_USER()")[0][0]) == "nobody@localhost"
        with pytest.raises(UserError), Session(Target("nobody", socket=server.socket), 5):
            pass  # we are root here, and not nobody
    finally:
        server.execute("DROP USER 'nobody'@'localhost'")


@pytest.mark.parametrize(("version", "expected"), [
    ("10.11.6-MariaDB", ["CREATE USER 'a'@'localhost' IDENTIFIED VIA unix_socket;"]),
    ("10.3.39-MariaDB", ["INSTALL SONAME 'auth_socket';", "CREATE USER 'a'@'localhost' IDENTIFIED VIA unix_socket;"]),
    ("5.5.62", ["INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';", "CREATE USER 'a'@'localhost' IDENTIFIED WITH auth_socket;"]),
    ("9.4.0", ["INSTALL PLUGIN auth_socket SONAME 'auth_socket.so';", "CREATE USER 'a'@'localhost' IDENTIFIED WITH auth_socket;"]),
])  # fmt: skip
def test_each_version_is_spoken_to_in_its_words(version: str, expected: list[str]) -> None:
    lines = [line.partition("  --")[0] for line in statements(parse_version(version), "a", "localhost", by_password=False)]
    assert lines[: len(expected)] == expected
    assert lines[len(expected) :] == [f"GRANT {right} TO 'a'@'localhost';" for right in REASONS]
    away = statements(parse_version(version), "a", "10.0.0.%", by_password=False)
    assert away[0].startswith("CREATE USER 'a'@'10.0.0.%' IDENTIFIED BY <password>;")


@pytest.mark.parametrize(("version", "right"), [("8.0.22", "REPLICATION CLIENT"), ("9.7.0", "REPLICATION CLIENT"), ("10.5.9-MariaDB", "SLAVE MONITOR"), ("11.8.6-MariaDB", "SLAVE MONITOR")])
def test_a_replicas_lag_is_an_option_in_the_versions_words(version: str, right: str) -> None:
    without = run("grants", "--server-version", version).stdout.splitlines()
    *same, added = run("grants", "--server-version", version, "--replication").stdout.splitlines()
    assert same == without
    assert added.startswith(f"GRANT {right} ON *.* TO 'myisam-advisor'@'localhost';  -- ")


@pytest.mark.parametrize("version", ["5.6.51", "8.0.21", "10.5.8-MariaDB", "5.5.68-MariaDB"])
def test_an_older_server_is_not_asked_for_lag_and_the_option_is_refused(version: str) -> None:
    done = run("grants", "--server-version", version, "--replication")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "leave out --replication" in done.stderr


@pytest.mark.parametrize("words", [("--account", "a\nb"), ("--account-host", "x\ty"), ("--server-version", "junk")])
def test_what_is_no_account_is_refused(words: tuple[str, ...]) -> None:
    done = run("grants", *(() if "--server-version" in words else ("--server-version", "10.11.6-MariaDB")), *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert os.linesep not in done.stderr.strip()


def test_nothing_is_asked_for_that_could_change_anything() -> None:
    rights = " ".join(REASONS)
    assert json.dumps(sorted(REASONS)) == json.dumps(sorted([SEE_PROCESSES, READ_PERFORMANCE_SCHEMA]))
    assert not re.search(r"INSERT|UPDATE|DELETE|SUPER|FILE|ALL|RELOAD|GRANT OPTION", rights)


def test_the_longest_name_is_taken_by_the_server_and_a_longer_one_by_neither(server: PrivateServer) -> None:
    version = parse_version(str(server.execute("SELECT VERSION()")[0][0]))
    longest = "ü" * maximum_lengths(version)[0]
    words = ("grants", "--socket", server.socket, "--user", "root", "--password", "--account")
    done = run(*words, longest)
    lines = [line.partition(";  --")[0].replace("<password>", f"'{PASSWORD}'") for line in done.stdout.splitlines()]
    server.execute(*lines, f"DROP USER `{longest}`@localhost")
    with pytest.raises(OperationalError, match="too long for user name"):
        server.execute(f"CREATE USER `{longest}a`@localhost")
    for name, said in (("", "is empty: write a value"), (f"{longest}a", str(len(longest)))):
        refused = run(*words, name)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr
