"""Private servers and the machine: nobody else gets in, what their statements say reaches no file but their own and runs nothing behind it, and what others took leaves them able to start."""

import ctypes
import os
import platform
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.trial.private.asynchronous_io import KERNEL_LIMITS, words_where_requests_are_few
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.definitions import FUNCTION, PROCEDURE, TRIGGER, VIEW, Definition, without_definer
from myisam_advisor.trial.statements.made_definitions import make_definitions
from tests.support.servers import CopiedServer, binaries_of

from .conftest import as_other_user, schema

NOT_ALLOWED_WITH_THIS_OPTION, PARSE_ERROR = 1290, 1064
# What a server that lies may answer to SHOW CREATE; and an honest one, where the second half stands in a comment for a newer release than it.
BEHIND = "; CREATE DATABASE ran_behind"
SHOWN = {
    VIEW: f"CREATE ALGORITHM=UNDEFINED DEFINER=`a`@`b` SQL SECURITY DEFINER VIEW `v` AS SELECT 1 AS one{BEHIND}",
    TRIGGER: f"CREATE DEFINER=`a`@`b` TRIGGER `g` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1{BEHIND}",
    PROCEDURE: f"CREATE DEFINER=`a`@`b` PROCEDURE `p`() SELECT 1 /*!50000 {BEHIND} */",
    FUNCTION: f"CREATE DEFINER=`a`@`b` FUNCTION `f`() RETURNS INT DETERMINISTIC RETURN 1{BEHIND}",
}


# By architecture, the numbers of io_setup and io_destroy: syscalls(2), unistd.h.
IO_CALLS = {"x86_64": (206, 207), "aarch64": (0, 1)}
FEW_REQUESTS = 100  # the first of InnoDB's calls succeeds, as it does for one request, and its next one does not


@contextmanager
def requests_taken(left: int) -> Iterator[None]:
    """All of the machine's asynchronous requests but a few, as many servers take them; given back at the end."""
    if platform.machine() not in IO_CALLS:
        pytest.skip(f"the numbers of io_setup and io_destroy on {platform.machine()} are not known here")
    setup, destroy = IO_CALLS[platform.machine()]
    library = ctypes.CDLL(None, use_errno=True)
    contexts: list[ctypes.c_ulong] = []
    try:
        while (free := int((KERNEL_LIMITS / "aio-max-nr").read_text()) - int((KERNEL_LIMITS / "aio-nr").read_text()) - left) > 0:
            context = ctypes.c_ulong(0)
            assert library.syscall(setup, min(free, 4096), ctypes.byref(context)) == 0, os.strerror(ctypes.get_errno())
            contexts.append(context)
        yield
    finally:
        for context in contexts:
            library.syscall(destroy, context)


def number_of(server: PrivateServer, statement: str) -> int:
    """The error that a statement ends with."""
    with pytest.raises(driver().error) as found:
        server.execute(statement)
    return int(found.value.args[0])


def test_nobody_else_gets_to_the_socket_whose_root_has_no_password() -> None:
    with PrivateServer(binaries_of("mariadb-10.11")) as server:
        assert server.directory.stat().st_mode & 0o777 == 0o700
        assert server.execute("SELECT CURRENT_USER()") == [("root@localhost",)]
        with as_other_user(), socket.socket(socket.AF_UNIX) as knocking, pytest.raises(PermissionError):
            knocking.connect(str(server.socket))


def test_statements_reach_files_of_the_servers_own_directory_alone(server: PrivateServer) -> None:
    elsewhere = Path("/tmp", f"{server.directory.name}-outfile")
    assert number_of(server, f"SELECT 1 INTO OUTFILE '{elsewhere}'") == NOT_ALLOWED_WITH_THIS_OPTION
    assert not elsewhere.exists()
    readable = Path("/etc/passwd")
    assert readable.stat().st_mode & 0o004
    assert server.execute(f"SELECT LOAD_FILE('{readable}')") == [(None,)]
    with schema(server, "reach"):
        server.execute("CREATE TABLE reach.t (line TEXT) ENGINE=MyISAM")
        assert number_of(server, f"LOAD DATA INFILE '{readable}' INTO TABLE reach.t") == NOT_ALLOWED_WITH_THIS_OPTION
        own = server.directory / "lines"
        server.execute(f"SELECT 'one' INTO OUTFILE '{own}'", f"LOAD DATA INFILE '{own}' INTO TABLE reach.t")
        own.unlink()
        assert server.execute("SELECT * FROM reach.t") == [("one",)]


class OfATrial(CopiedServer):
    """As trials begin one."""

    may_link = False


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-5.6", "mysql-9.7"])
@pytest.mark.parametrize("kind", ["TABLE", "TEMPORARY TABLE"])
def test_tables_lie_in_the_servers_own_directory_alone(name: str, kind: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place, OfATrial(binaries_of(name)) as server, schema(server, "here"):
        elsewhere = Path(place)
        elsewhere.chmod(0o777)
        with server.session("here") as connection, closing(connection.cursor()) as cursor:
            cursor.execute(f"CREATE {kind} t (id INT, KEY (id)) ENGINE=MyISAM DATA DIRECTORY='{elsewhere}' INDEX DIRECTORY='{elsewhere}'")
            cursor.execute("INSERT INTO t VALUES (1), (2)")
            assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("kind", SHOWN)
def test_nothing_runs_behind_a_definition_of_the_watched_servers(server: PrivateServer, kind: str) -> None:
    shown = without_definer(SHOWN[kind])
    assert shown.endswith((BEHIND, f"{BEHIND} */"))
    with schema(server, "shop"):
        server.execute("CREATE TABLE shop.t (a INT) ENGINE=MyISAM", "CREATE USER replay@localhost")
        try:
            effects = make_definitions(server, [Definition(kind, "shop", SHOWN[kind].split("`")[5], shown, table="t" if kind == TRIGGER else "")], {("shop", "t")})
        finally:
            server.execute("DROP USER replay@localhost")
        assert server.execute("SHOW DATABASES LIKE 'ran_behind'") == []
        problems = [*effects.refused.values(), *effects.refused_writes.values(), *effects.refused_calls.values()]
        assert [str(PARSE_ERROR) in problem for problem in problems] == [True], problems


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-5.6"])
def test_a_server_that_takes_its_time_gets_all_of_its_system_tables(kind: str) -> None:
    """A slow disk, say: what it had not read within the first second it never got, and failed two minutes later."""
    binaries = binaries_of(kind)
    with tempfile.TemporaryDirectory() as directory:
        slow = Path(directory) / "mysqld"
        slow.write_text(f'#!/bin/sh\ncase "$*" in *--bootstrap*) sleep 1.5 ;; esac\nexec {binaries.mysqld} "$@"\n')
        for readable in (slow, slow.parent):
            readable.chmod(0o755)
        with PrivateServer(replace(binaries, mysqld=slow)) as server:
            # The last that is made.
            assert server.execute("SELECT User FROM mysql.proxies_priv WHERE Host = 'localhost'") == [("root",)]


@pytest.mark.alone  # what it takes, the servers of other tests lack at their start
@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-5.6", "mysql-9.7"])
def test_servers_start_where_others_took_the_machines_asynchronous_requests(kind: str) -> None:
    with requests_taken(FEW_REQUESTS), PrivateServer(binaries_of(kind)) as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (a INT) ENGINE=InnoDB", "INSERT INTO shop.t VALUES (1)")
        assert server.execute("SELECT a FROM shop.t") == [(1,)]


def test_a_server_asks_the_kernel_where_requests_are_left() -> None:
    if words_where_requests_are_few():
        pytest.skip("other servers took this machine's asynchronous requests")
    with CopiedServer(binaries_of("mysql-9.7")) as server:
        assert server.execute("SELECT @@innodb_use_native_aio") == [(1,)]
