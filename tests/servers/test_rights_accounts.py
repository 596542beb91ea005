"""The service's account on servers with replicas, with an account of that name already, and without accounts."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from MySQLdb import Error

from myisam_advisor.rights.server_side import ask_server, make_account
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.account import UNLOGGED
from tests.support.daemon import wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS

from .clients import client
from .conftest import on_every_server, target
from .test_replicas import WAIT_SECONDS, rows_of, source_and_replica, start

USER = "rights-alone"
ACCOUNT = f"'{USER}'@'localhost'"
SHOW_POSITION = ("SHOW MASTER STATUS", "SHOW BINARY LOG STATUS")


@contextmanager
def removed_account(server: PrivateServer) -> Iterator[None]:
    try:
        yield
    finally:
        server.execute(f"DROP USER {ACCOUNT}")


def position(server: PrivateServer) -> tuple[object, ...]:
    """How far the binary log goes."""
    for statement in SHOW_POSITION:
        try:
            return tuple(server.execute(statement)[0][:2])
        except Error:
            continue
    raise AssertionError("no binary log")


@pytest.mark.parametrize("kind", [*FETCHED_SERVERS, *FURTHER_SERVERS])
def test_what_is_made_for_this_server_is_not_told_to_its_replicas(kind: str) -> None:
    """A replica that has the account already would end its replication, and so would one without it at a GRANT or DROP."""
    with CopiedServer(binaries_of(kind), ["--log-bin=b", "--server-id=7"]) as server:
        server.execute(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'x'")
        with removed_account(server):
            before = position(server)
            wanted = ask_server(target(server), 10, USER)
            assert [str(step.command).partition(" ")[0] for step in wanted.steps] == ["SET", "GRANT", "GRANT"]
            assert make_account(target(server), 10, wanted.steps) == ""
            assert "PROCESS" in str(server.execute(f"SHOW GRANTS FOR {ACCOUNT}"))
            assert position(server) == before


@on_every_server
def test_a_server_without_a_binary_log_is_told_nothing_of_one(server: PrivateServer) -> None:
    assert UNLOGGED not in [step.command for step in ask_server(target(server), 10, USER).steps]


@on_every_server
def test_whether_the_account_is_there_is_told(server: PrivateServer) -> None:
    assert not ask_server(target(server), 10, USER).has_account
    server.execute(f"CREATE USER '{USER}'@'%'")
    try:
        assert not ask_server(target(server), 10, USER).has_account
    finally:
        server.execute(f"DROP USER '{USER}'@'%'")
    server.execute(f"CREATE USER {ACCOUNT}")
    with removed_account(server):
        assert ask_server(target(server), 10, USER).has_account


@on_every_server
def test_an_account_that_is_everybodys_is_given_nothing(server: PrivateServer) -> None:
    server.execute(f"CREATE USER {ACCOUNT}")
    with removed_account(server):
        wanted = ask_server(target(server), 10, USER)
        assert (wanted.steps, wanted.has_account) == ((), True)
        assert f"{ACCOUNT} is in the server already, without a password: every user of this machine can be it" in wanted.problem
    server.execute(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'x'")
    with removed_account(server):
        assert ask_server(target(server), 10, USER).problem == ""


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-9.7"])
def test_a_server_that_asks_nobody_who_they_are_is_told_as_that(kind: str) -> None:
    with CopiedServer(binaries_of(kind), ["--skip-grant-tables"]) as server:
        told = run("rights", "--service", "myisam-advisor-that-is-not-here", "--socket", server.socket, "--user", "root").stdout
    assert ", connected as anybody (skip-grant-tables: " in told.splitlines()[0]
    assert "anonymous" not in told


@pytest.mark.parametrize("kind", ["mysql-9.7", "mariadb-10.11"])
def test_what_grants_prints_for_a_source_stops_no_replica(kind: str) -> None:
    """Fed to the source: a replica has no auth_socket (error 1524), or has the account already (1396)."""
    with source_and_replica(kind, *(["--gtid-mode=ON", "--enforce-gtid-consistency=ON"] if kind == "mysql-9.7" else [])) as (first, second):
        start(kind, first, second)
        if kind == "mariadb-10.11":
            second.execute("SET sql_log_bin = 0", f"CREATE USER {ACCOUNT}")
        for server in (first, second):
            before = position(server)
            printed = run("grants", "--socket", server.socket, "--user", "root", "--account", USER).stdout
            if server is second and kind == "mariadb-10.11":
                printed = "\n".join(line for line in printed.splitlines() if "CREATE" not in line)
            words = [*client("mysql-client" if kind == "mysql-9.7" else "mariadb"), "--socket", str(server.socket), "--user", "root"]
            done = subprocess.run(words, input=printed, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            assert position(server) == before
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: rows_of(second) == 1, WAIT_SECONDS)


def test_an_account_for_other_machines_is_logged_on_a_source_and_not_on_a_replica() -> None:
    with source_and_replica("mysql-9.7") as (first, second):
        start("mysql-9.7", first, second)
        for server, is_kept in ((first, False), (second, True)):
            printed = run("grants", "--socket", server.socket, "--user", "root", "--password", "--account-host", "10.0.0.%").stdout
            assert ("sql_log_bin = 0" in printed) is is_kept
