"""Accounts that may see little: the anonymous one, which is nobody's to grant to, and one from which the server hides its tables."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.daemon import serving, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import as_other_user, look, on_one_server, schema, target


@contextmanager
def account(server: PrivateServer, user: str) -> Iterator[None]:
    """Such an account while this lasts; one that a server was set up with stays."""
    known = server.execute(f"SELECT Host FROM mysql.user WHERE User = '{user}' AND Host = 'localhost'")
    if not known:
        server.execute(f"CREATE USER '{user}'@'localhost' IDENTIFIED BY ''")
    try:
        yield
    finally:
        if not known:
            server.execute(f"DROP USER '{user}'@'localhost'")


@pytest.mark.parametrize("words", [("check", "--interval", "1s", "-v"), ("doctor",), ("rights", "--service", "no-such-one")], ids=lambda words: words[0])
def test_nothing_is_granted_to_the_anonymous_account(flavour: PrivateServer, words: tuple[str, ...]) -> None:
    with schema(flavour, "anyones"), account(flavour, ""):
        # Of a server without MyISAM tables `check` misses nothing.
        flavour.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", database="anyones")
        done = run(*words, "--socket", flavour.socket, "--user", "no-such-user")
        said = " ".join(done.stdout.split())
        assert "you are logged in as the anonymous account ''@'localhost'" in said
        assert "log in as an account with a name that has PROCESS ON *.* (`myisam-advisor grants` prints what makes one)" in said
        assert "GRANT " not in said
        if words[0] == "rights":
            assert done.returncode == 1
            assert "not seen PROCESS" in said


@pytest.mark.parametrize("user", ["weak", ""])
@on_one_server
def test_tables_that_the_server_hides_are_said_to_be_hidden(server: PrivateServer, user: str) -> None:
    with schema(server, "hides"), account(server, user):
        server.execute("FLUSH TABLES", "CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", "SELECT * FROM t", database="hides")
        with Session(target(server, user=user or "no-such-user")) as session:
            assert ("hides", "t") not in [row[:2] for row in session.rows("SHOW OPEN TABLES")]
        look(server)  # everything is imported before we become somebody else
        server.data_directory.chmod(0o700)
        try:
            with as_other_user():
                sees_all = look(server)
                sees_little = look(server, user=user or "no-such-user")
        finally:
            server.data_directory.chmod(0o755)
    (all_of_them,) = (note for note in sees_all.notes if "a sample by SQL" in note.reason)
    assert "SELECT" not in all_of_them.reason + all_of_them.remedy
    (some,) = (note for note in sees_little.notes if "a sample by SQL" in note.reason)
    assert some.reason.endswith("no MyISAM table is open now, among those this account may SELECT from: the server hides the others")
    assert "SELECT ON DATABASE.*" in some.remedy
    assert ("GRANT SELECT ON DATABASE.* TO 'weak'@'localhost'" in some.remedy) == (user == "weak")


def test_performance_schema_that_is_off_is_not_called_seen(flavour: PrivateServer) -> None:
    with Session(target(flavour)) as session:
        off = session.row("SELECT @@performance_schema", 1) == ["0"]
    done = run("rights", "--socket", flavour.socket, "--user", "root", "--service", "no-such-one")
    doctor = run("doctor", "--socket", flavour.socket, "--user", "root").stdout
    assert ("performance_schema  off" in doctor) == off
    assert ("off        performance_schema" in done.stdout) == off
    assert ("seen       performance_schema" in done.stdout) != off
    assert ("Everything that exists here can be seen." in done.stdout) <= (not off)


def test_a_grant_is_no_work_and_what_is_hidden_is_no_zero() -> None:
    """userstat shows an account the tables that it may SELECT from: a GRANT showed a table with all that was read of it since the server's start, as if now."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--userstat=1"]) as own:
        own.execute("CREATE DATABASE shop", *(f"CREATE TABLE shop.{name} (a INT) ENGINE=MyISAM" for name in ("hidden", "seen")))
        own.execute("INSERT INTO shop.hidden SELECT seq FROM shop.seq_1_to_20000", "INSERT INTO shop.seen VALUES (1)")
        own.execute(*["SELECT SUM(a) FROM shop.hidden"] * 10)
        own.execute("CREATE USER weak@localhost", "GRANT PROCESS ON *.* TO weak@localhost", "GRANT SELECT ON shop.seen TO weak@localhost", "SELECT * FROM shop.seen")
        with serving("--socket", own.socket, "--user", "weak") as daemon:

            def read(table: str) -> float | None:
                return daemon.get().value("table_rows_read_total", schema="shop", table=table)

            assert wait_for(lambda: read("seen") == 0)
            assert read("hidden") is None
            assert daemon.get().value("table_rows", schema="shop", table="hidden") == 20_000, "its files are in sight"
            own.execute("GRANT SELECT ON shop.* TO weak@localhost")
            assert wait_for(lambda: read("hidden") is not None)
            assert read("hidden") == 0
            own.execute("SELECT SUM(a) FROM shop.hidden")
            assert wait_for(lambda: (read("hidden") or 0) >= 20_000)
            assert read("hidden") == 20_000
