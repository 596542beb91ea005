"""Real servers. One that was not fetched is skipped by name, and is a failure in CI: there all four must run."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from MySQLdb.connections import Connection

from myisam_advisor.catalogue.rules import Parameter, Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.target import Target
from tools.fetched_servers import FETCHED_SERVERS, find_server

PROGRAM = Path(sys.executable).with_name("myisam-advisor")
OTHER_UID = 54321


def mariadb_path() -> str:
    """What `trial --server` is given: the program of the first server."""
    found = find_server("mariadb-10.11")
    return str(found.mysqld) if found else "mariadb-10.11 was not fetched"


MARIADB = mariadb_path()


def binaries_of(name: str) -> ServerBinaries:
    found = find_server(name)
    if found is None:
        message = f"{name} is not in the cache: run script/servers {name}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session", params=FETCHED_SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A running server of each kind, shared by the tests that leave it as they found it."""
    with PrivateServer(binaries_of(request.param), ["--key-buffer-size=256M"]) as running:
        yield running


@pytest.fixture(scope="session")
def mariadb() -> Iterator[PrivateServer]:
    """MariaDB 10.11 alone, for what does not depend on the server."""
    with PrivateServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64M"]) as running:
        yield running


@contextmanager
def schema(server: PrivateServer, name: str) -> Iterator[str]:
    """A database that is dropped at the end."""
    quoted = "`" + name.replace("`", "``") + "`"
    server.execute(f"DROP DATABASE IF EXISTS {quoted}", f"CREATE DATABASE {quoted}")
    try:
        yield name
    finally:
        server.execute(f"DROP DATABASE {quoted}")


def target(server: PrivateServer, user: str = "root", password: str = "") -> Target:
    return Target(user, password, socket=server.socket)


def look(server: PrivateServer, seconds: float = 0.0, user: str = "root") -> FactSet:
    return collect_facts(target(server, user), seconds, 10)


def run(*words: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """The program as a user runs it, without any option file of this machine."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=timeout, env=environment, check=False)


@contextmanager
def connections_taken(server: PrivateServer) -> Iterator[list[Connection]]:
    """All connections that the server has, the administrator's too; those still in the list are closed at the end."""
    server.execute("SET GLOBAL max_connections = 10")
    connections: list[Connection] = []
    try:
        with pytest.raises(Exception, match="Too many connections"):
            while True:
                connections.append(server.connect())
        yield connections
    finally:
        for connection in connections:
            connection.close()  # type: ignore[no-untyped-call]


@contextmanager
def as_other_user(uid: int = OTHER_UID) -> Iterator[None]:
    """Run as somebody who owns nothing here. Only root can do that."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def with_thresholds(rule: str, **values: float) -> Site:
    """The shipped rules, one of them with thresholds that a small test server reaches."""

    def changed(one: Rule) -> Rule:
        parameters = {name: Parameter(values.get(name, known.default), known.unit, known.why) for name, known in one.parameters.items()}
        return replace(one, parameters=parameters) if one.id == rule else one

    return Site([changed(one) for one in shipped_rules()])


@contextmanager
def working(server: PrivateServer, database: str, statements: list[str]) -> Iterator[None]:
    """One connection for each statement, which it repeats until the end."""
    stop = threading.Event()

    def repeat(statement: str) -> None:
        with server.session(database) as connection, closing(connection.cursor()) as cursor:
            while not stop.is_set():
                cursor.execute(statement)
                cursor.fetchall()

    threads = [threading.Thread(target=repeat, args=(statement,)) for statement in statements]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
