"""What a server sets for everybody's sessions, and what of it would reach ours."""

import os

import MySQLdb
import pymysql
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import on_every_server, schema, target
from .test_trial_upgrade import LESS_SHOWN


def shown(server: PrivateServer, name: str) -> list[tuple[str | None, ...]]:
    with Session(target(server)) as session:
        return session.rows(f"SHOW CREATE TABLE {name}.`or der`")


@on_every_server
def test_a_definition_is_shown_to_us_as_ever(server: PrivateServer) -> None:
    modes = "ANSI_QUOTES" if server.binaries.family == "mysql" else LESS_SHOWN
    ((before,),) = server.execute("SELECT @@global.sql_mode")
    with schema(server, "shown") as name:
        server.execute(f"CREATE TABLE {name}.`or der` (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        plain = shown(server, name)
        server.execute(f"SET GLOBAL sql_mode = '{modes}'", "SET GLOBAL sql_quote_show_create = 0")
        try:
            assert shown(server, name) == plain
        finally:
            server.execute(f"SET GLOBAL sql_mode = '{before}'", "SET GLOBAL sql_quote_show_create = 1")


@on_every_server
def test_names_come_in_our_character_set_whatever_the_server_prefers(server: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian 12's PyMySQL asks for its character set in the login alone, behind which an init_connect may set another."""
    monkeypatch.setattr(pymysql.connections.Connection, "set_character_set", lambda *_: None)
    with schema(server, "表ä") as name:
        server.execute("CREATE USER namer@localhost", f"GRANT SELECT ON `{name}`.* TO namer@localhost", "SET GLOBAL init_connect = 'SET NAMES latin1'")
        try:
            with Session(target(server, "namer")) as session:
                assert (name,) in session.rows("SHOW DATABASES")
        finally:
            server.execute("SET GLOBAL init_connect = ''", "DROP USER namer@localhost")


def test_a_socket_without_a_file_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"@odd-settings-{os.getpid()}"
    with CopiedServer(binaries_of("mariadb-10.11")) as server:
        server.stop()
        # It is waited for until there is a file, and it answers.
        server.socket = server.error_log
        monkeypatch.setattr(server, "connect", lambda *_: MySQLdb.connect(user="root", unix_socket=address))
        server.start([f"--socket={address}"])
        done = run("doctor", "--socket", address, "--user", "root")
        assert f"at {address}" in done.stdout
