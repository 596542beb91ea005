"""Real servers, and how tests look at them."""

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache

import pytest
from MySQLdb import Error

from myisam_advisor.catalogue.rules import Parameter, Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.trial.private.driver import Connection
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.target import Target
from tests.support.servers import SERVERS, CopiedServer, binaries_of
from tests.support.thoroughness import THOROUGH
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS

FLAVOURS = ("mariadb-10.11", "mysql-9.7")
OTHER_UID = 54321
# For what must hold on each version that can be had, also where not everything is asked of each.
on_every_server = pytest.mark.parametrize("server", [*FETCHED_SERVERS, *FURTHER_SERVERS], indirect=True, scope="session")
# For what versions change, in a module of which the rest is asked on one.
on_four_servers = pytest.mark.parametrize("server", SERVERS, indirect=True, scope="session")
# For what no version can change, and is to be seen on a real one: a page's form, a command's words, our own processes. Which one it is comes from
# the test's name (as a mark of a module: from the module's), so that all four are used; in `script/test thorough` each is.
on_one_server = pytest.mark.on_one_server


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What `on_one_server` asks for, of tests that have no list of their own. As a mark: pytest passes over the fixture's own list for one."""
    test = metafunc.definition
    listed = any("server" in mark.args[0] for mark in test.iter_markers("parametrize"))
    if THOROUGH or listed or "server" not in metafunc.fixturenames or not test.get_closest_marker("on_one_server"):
        return
    by_itself = any(mark.name == "on_one_server" for mark in test.own_markers)
    name = test.nodeid.partition("[" if by_itself else "::")[0]
    kind = SERVERS[zlib.crc32(name.encode()) % len(SERVERS)]
    test.add_marker(pytest.mark.parametrize("server", [kind], indirect=True, scope="session"))


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[str], PrivateServer]]:
    """Servers by kind, each started when it is first asked for and kept: tests of another module find the same again."""
    with ExitStack() as stack:
        # Which is skipped, where it was not fetched, is not remembered.
        yield lru_cache(lambda kind: stack.enter_context(CopiedServer(binaries_of(kind), ["--key-buffer-size=256M"])))


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    """A running server of each kind, for what its version may change, shared by the tests that leave it as they found it."""
    return running(request.param)


@pytest.fixture(scope="session", params=FLAVOURS)
def flavour(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    """One of MariaDB and one of MySQL, for what differs between the two (logins, privileges, their words), but not with their versions."""
    return running(request.param)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[PrivateServer]:
    """MariaDB 10.11 alone, for what does not depend on the server: files, processes, the network, our own programs."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64M"]) as running:
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


def error_of(server: PrivateServer, statement: str, database: str = "") -> int:
    """The number of the error that a statement ends with, 0 of none."""
    try:
        server.execute(statement, database=database)
    except Error as error:
        return int(error.args[0])
    return 0


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
            connection.close()


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
