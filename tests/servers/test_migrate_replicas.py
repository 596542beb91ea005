"""What `migrate` says on a source and on a replica of it, and what its script does there."""

import subprocess

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import free_port, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .clients import client
from .test_replicas import TO_INNODB, WAIT_SECONDS, admitted, channel, own_transactions, source_and_replica, start

KINDS = {"mysql-5.6": "mariadb", "mysql-9.7": "mysql-client", "mariadb-10.11": "mariadb"}
MIXED_ENGINES = 1785
OF_LOG, OF_REPLICA = "each replica runs every ALTER too", "This server is a replica: run the script on its source"


def told(server: PrivateServer, form: str) -> str:
    done = run("migrate", "d", "--format", form, "--socket", server.socket, "--user", "root")
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split()) if form == "text" else done.stdout


def fed(server: PrivateServer, script: str) -> subprocess.CompletedProcess[str]:
    words = [*client(KINDS[server.binaries.name]), "--socket", str(server.socket), "--user", "root"]
    return subprocess.run(words, input=script, capture_output=True, text=True, timeout=60, check=False)


def engine(server: PrivateServer) -> str:
    rows = server.execute("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't'")
    return str(rows[0][0]) if rows else ""


@pytest.mark.parametrize("name", KINDS)
def test_what_belongs_on_the_source_is_said_so(name: str) -> None:
    gtids = {"mysql-9.7": ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]}
    with source_and_replica(name, *gtids.get(name, [])) as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: engine(second) == "MyISAM", WAIT_SECONDS)
        second.execute("FLUSH TABLES")
        for form in ("text", "sql"):
            assert OF_LOG in told(first, form)
            assert OF_REPLICA not in told(first, form)
            assert OF_REPLICA in told(second, form)
        # To those who may write on a read-only server, the script would do so.
        second.execute("SET GLOBAL read_only = ON")
        script = told(second, "sql")
        assert fed(second, script).returncode == 0
        assert engine(second) == "MyISAM"
        assert "Run it on the source" in told(second, "text")
        second.execute("SET GLOBAL read_only = OFF")
        before = own_transactions(second) if gtids.get(name) else ""
        assert fed(second, "SET SESSION sql_log_bin = 0;\n" + told(second, "sql")).returncode == 0
        assert engine(second) == "InnoDB"
        assert not before or own_transactions(second) == before
        assert fed(first, told(first, "sql")).returncode == 0
        assert engine(first) == "InnoDB"


def test_where_nothing_is_replicated_nothing_is_said_of_it(mariadb: PrivateServer) -> None:
    mariadb.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
    try:
        for form in ("text", "sql"):
            assert "replica runs" not in told(mariadb, form)
            assert "is a replica" not in told(mariadb, form)
    finally:
        mariadb.execute("DROP DATABASE d")


def test_a_replica_that_was_converted_by_halves_is_stopped_by_its_source_as_is_said() -> None:
    with source_and_replica("mysql-9.7", "--gtid-mode=ON", "--enforce-gtid-consistency=ON") as (first, second):
        start("mysql-9.7", first, second)
        first.execute("CREATE DATABASE d", *(f"CREATE TABLE d.{name} (a INT NOT NULL PRIMARY KEY, b INT) ENGINE=MyISAM" for name in "tu"), "INSERT INTO d.t VALUES (1, 1)", "INSERT INTO d.u VALUES (1, 1)")
        assert wait_for(lambda: own_transactions(first) == own_transactions(second), WAIT_SECONDS)
        for form in ("text", "sql"):
            assert "until all tables are converted which one statement changes together" in " ".join(told(second, form).replace("\n-- ", " ").split())
            assert "stops replication with error 1785" not in told(first, form)
        assert "stops replication with error 1785" in " ".join(admitted(second, TO_INNODB).cost)
        unlogged = "SET SESSION sql_log_bin = 0"
        second.execute(unlogged, "ALTER TABLE d.t ENGINE=InnoDB")
        first.execute("UPDATE d.t, d.u SET t.b = 2, u.b = 2 WHERE t.a = u.a")
        assert wait_for(lambda: channel(second)["error"] == MIXED_ENGINES, WAIT_SECONDS)
        judged = run("check", "gtid-mixed-engines", "--interval", "0", "--socket", second.socket, "--user", "root").stdout
        assert "Replication has stopped with error 1785" in " ".join(judged.split())
        # As is said there.
        second.execute(unlogged, "ALTER TABLE d.u ENGINE=InnoDB", "START REPLICA")
        assert wait_for(lambda: own_transactions(first) == own_transactions(second), WAIT_SECONDS)
        assert first.execute("CHECKSUM TABLE d.t, d.u") == second.execute("CHECKSUM TABLE d.t, d.u")


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8", "mysql-9.7"])
def test_filters_by_database_let_the_script_through(name: str) -> None:
    """MariaDB logs, and applies, no ALTER of a client that uses no database where only some are replicated."""
    with source_and_replica(name, "--binlog-do-db=d", "--replicate-do-db=d") as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d")
        first.execute("CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", database="d")
        assert wait_for(lambda: engine(second) == "MyISAM", WAIT_SECONDS)
        script = told(first, "sql")
        assert "\nUSE `d`;" in script
        words = [*client("mysql-client" if name == "mysql-9.7" else "mariadb"), "--socket", str(first.socket), "--user", "root"]
        done = subprocess.run(words, input=script, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert wait_for(lambda: engine(second) == "InnoDB", WAIT_SECONDS)


def test_in_a_circle_the_script_is_run_on_one_of_both_and_reaches_the_other() -> None:
    options = ["--log-bin=binlog", "--bind-address=127.0.0.1", "--log-slave-updates"]
    with CopiedServer(binaries_of("mariadb-10.11"), [*options, "--server-id=1"], port=free_port()) as one, CopiedServer(binaries_of("mariadb-10.11"), [*options, "--server-id=2"], port=free_port()) as other:
        for server in (one, other):
            server.execute("SET sql_log_bin = 0", "CREATE USER 'r'@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO 'r'@'127.0.0.1'")
        start("mariadb-10.11", one, other)
        start("mariadb-10.11", other, one)
        one.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: engine(other) == "MyISAM", WAIT_SECONDS)
        for server in (one, other):
            assert "(a circle), both are sources: run it on one of them, once" in told(server, "sql").replace("\n-- ", " ")
            assert "(a circle), run it on one of them, once" in " ".join(admitted(server, TO_INNODB).cost)
        assert fed(other, told(other, "sql")).returncode == 0
        assert wait_for(lambda: engine(one) == "InnoDB", WAIT_SECONDS)
        assert [channel(server)["error"] for server in (one, other)] == [0, 0]
