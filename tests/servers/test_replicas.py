"""A replica and a member of a group are known as such, and what is said of them is so."""

import itertools
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import pytest
from MySQLdb import Error, connect

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import open_database
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.columns import Row
from myisam_exporter.look.live import collect_facts
from myisam_exporter.server.sql import Sql, quote_table, statement
from myisam_exporter.server.target import Target
from tests.support.daemon import free_port, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, meanwhile, status_number

from .conftest import look

REFUSED_BY_THE_GROUP = 3098
TABLE = quote_table("d", "t")
NARROW, TO_INNODB, OPTIMIZE = (
    statement("ALTER TABLE {} PACK_KEYS=0;", TABLE),
    statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", TABLE),
    statement("OPTIMIZE TABLE {};", TABLE),
)
NO_SUCH_ROW, DUPLICATE_KEY = 1032, 1062
WAIT_SECONDS = 30.0
HANGING_SECONDS = 5.0


def state(server: PrivateServer) -> ServerState:
    return ServerState(PlanFacts(complete(look(server))))


def channels(server: PrivateServer) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in ("channel", "io_running", "sql_running")) for row in look(server).tables["replica"].dictionaries()]


def channel(server: PrivateServer) -> Row:
    (row,) = look(server).tables["replica"].dictionaries()
    return row


def admitted(server: PrivateServer, *commands: Sql) -> Admitted:
    return RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy(tuple(map(parsed, commands))))


def texts(passed: Admitted) -> tuple[str, ...]:
    return tuple(map(text_of, passed.remedy.commands))


def own_transactions(server: PrivateServer) -> str:
    (number,) = server.execute("SELECT @@GLOBAL.gtid_executed")[0]
    return str(number)


@contextmanager
def source_and_replica(name: str, *further: str) -> Iterator[tuple[PrivateServer, PrivateServer]]:
    """Two servers; the second is no replica yet."""
    options = ["--log-bin=binlog", "--bind-address=127.0.0.1", "--binlog-format=ROW", *further]
    with CopiedServer(binaries_of(name), [*options, "--server-id=1"], port=free_port()) as first, CopiedServer(binaries_of(name), [*options, "--server-id=2"]) as second:
        first.execute("CREATE USER 'r'@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO 'r'@'127.0.0.1'")
        yield first, second


def word_of(name: str) -> str:
    return "REPLICA" if name == "mysql-9.7" else "SLAVE"


def start(name: str, first: PrivateServer, second: PrivateServer) -> None:
    """The second takes the first one's changes."""
    mysql = name == "mysql-9.7"
    source, change = ("SOURCE", "CHANGE REPLICATION SOURCE TO") if mysql else ("MASTER", "CHANGE MASTER TO")
    key = ", GET_SOURCE_PUBLIC_KEY=1" if mysql else ""
    second.execute(f"{change} {source}_HOST='127.0.0.1', {source}_PORT={first.port}, {source}_USER='r', {source}_PASSWORD='x'{key}", f"START {word_of(name)}")
    assert wait_for(lambda: channels(second) == [("", 1, 1)], WAIT_SECONDS)


# MySQL 5.6 by counters, MySQL 9.7 by performance_schema, MariaDB by what it shows to an account that may ask.
@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-11.8"])
def test_a_replica_is_known_while_it_runs_and_where_it_is_listed_while_it_is_stopped(name: str) -> None:
    word = word_of(name)
    with source_and_replica(name) as (first, second):
        assert channels(second) == []
        assert state(second).is_replica is None
        start(name, first, second)
        assert state(second).is_replica is True
        passed = admitted(second, NARROW)
        assert texts(passed) == (NARROW,)
        assert "sql_log_bin = 0" in " ".join(passed.cost)
        second.execute(f"STOP {word}")
        # Counters say nothing of what stands still, and the heartbeat's period would call a server a replica that is none any more.
        assert channels(second) == ([] if name == "mysql-5.6" else [("", 0, 0)])
        second.execute(f"RESET {word} ALL")
        assert channels(second) == []
        assert channels(first) == []


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_lag_and_error_are_known_by_a_right_that_is_an_option(name: str) -> None:
    with source_and_replica(name) as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: channel(second)["seconds_behind"] == 0, WAIT_SECONDS)
        assert channel(second)["error"] == 0
        granted = run("grants", "--socket", second.socket, "--user", "root", "--account", "looks", "--password", "--replication").stdout.splitlines()
        *lines, option, again = [line.partition(";  --")[0].replace("<password>", "'x'") for line in granted]
        assert (lines[0], again) == ("SET SESSION sql_log_bin = 0", "SET SESSION sql_log_bin = 1")
        second.execute(*lines)
        less = collect_facts(Target("looks", "x", socket=second.socket), 0, 10)
        (row,) = less.tables["replica"].dictionaries()
        # Without it MariaDB counts, MySQL lists as ever; lag is unknown, and what would make it known is said.
        assert (row["channel"], row["io_running"], row["sql_running"]) == ("", 1, 1)
        assert row["seconds_behind"] is None
        assert row["error"] is None
        assert f"{less.unknown['replica.seconds_behind'].remedy}" == f"{option};"
        assert less.unknown["replica.seconds_behind"] == less.unknown["replica.error"]
        second.execute(lines[0], option)
        # Beside other work a replica lags for a second now and then.
        assert wait_for(lambda: channel(second)["seconds_behind"] == 0, WAIT_SECONDS)
        more = collect_facts(Target("looks", "x", socket=second.socket), 0, 10)
        assert dict(next(iter(more.tables["replica"].dictionaries()))) == {"channel": "", "io_running": 1, "sql_running": 1, "seconds_behind": 0, "error": 0}
        assert not {"replica.seconds_behind", "replica.error"} & more.unknown.keys()


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_a_look_does_not_wait_for_a_stop_that_waits(name: str) -> None:
    """STOP SLAVE waits for the statement that is being applied, that one for a table's lock: on MySQL 5.6 SHOW SLAVE STATUS would wait with them."""
    with source_and_replica(name) as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT) ENGINE=MyISAM")
        assert wait_for(lambda: bool(second.execute("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'")), WAIT_SECONDS)
        with second.session("d") as holder:
            holder.cursor().execute("LOCK TABLES t WRITE")
            first.execute("INSERT INTO d.t VALUES (1)")
            assert wait_for(lambda: "metadata lock" in str(second.execute("SHOW PROCESSLIST")), WAIT_SECONDS)
            stopping = threading.Thread(target=second.execute, args=(f"STOP {word_of(name)}",))
            stopping.start()
            time.sleep(0.5)
            started = time.monotonic()
            looked = collect_facts(Target("root", socket=second.socket), 0, 10)
            took = time.monotonic() - started
            assert stopping.is_alive()
            holder.cursor().execute("UNLOCK TABLES")
            stopping.join()
        assert took < HANGING_SECONDS
        assert looked.tables["replica"].dictionaries()
        if name == "mysql-5.6":
            assert "STOP SLAVE" in looked.unknown["replica.seconds_behind"].reason


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-11.8"])
def test_rows_that_a_crash_left_before_their_position_stop_a_replica_as_is_said(name: str) -> None:
    """A machine that dies may have the rows on disk and the position of before them: it is set back to there. With GTIDs MySQL would skip them."""
    with source_and_replica(name, *(["--gtid-mode=OFF", "--enforce-gtid-consistency=OFF"] if name == "mysql-9.7" else [])) as (first, second):
        assert found(second) == []
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        file, position, *_ = first.execute("SHOW BINARY LOG STATUS" if name == "mysql-9.7" else "SHOW MASTER STATUS")[0]
        first.execute("INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: rows_of(second) == 1, WAIT_SECONDS)
        (finding,) = found(second)
        assert "d.t" in finding.message
        assert finding.severity == ("info" if "mariadb" in name else "warning")  # whose tables recover by default
        assert found(first) == []
        second.stop(signal.SIGKILL)
        second.start(["--skip-slave-start"])
        source, change = ("SOURCE", "CHANGE REPLICATION SOURCE TO") if name == "mysql-9.7" else ("MASTER", "CHANGE MASTER TO")
        if name == "mysql-9.7":  # which applies by several threads, and wants what they left undone to be done first
            second.execute("START REPLICA UNTIL SQL_AFTER_MTS_GAPS")
            assert wait_for(lambda: channel(second)["sql_running"] == 0, WAIT_SECONDS)
            second.execute("STOP REPLICA")
        second.execute(f"{change} {source}_LOG_FILE='{file}', {source}_LOG_POS={position}", f"START {word_of(name)}")
        if name == "mysql-5.6":  # where we do not ask: a STOP that waits would hold us up
            assert wait_for(lambda: str(DUPLICATE_KEY) in str(second.execute("SHOW SLAVE STATUS")), WAIT_SECONDS)
            return
        assert wait_for(lambda: channel(second)["error"] == DUPLICATE_KEY, WAIT_SECONDS)
        assert (channel(second)["sql_running"], channel(second)["seconds_behind"]) == (0, None)
        (finding,) = found(second)
        assert "has stopped with error 1062 (a row exists already)" in finding.message


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8"])
def test_rows_that_are_replaced_late_beside_deletes_stop_a_replica_as_is_said(name: str) -> None:
    with source_and_replica(name) as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")

        def write(number: int, stopped: threading.Event) -> None:
            with first.session("d") as session:
                cursor = session.cursor()
                for turn in itertools.count():
                    cursor.execute("DELETE FROM t WHERE a = %s" if turn % 5 == 4 else "REPLACE DELAYED INTO t VALUES (%s)", ((turn * 7 + number) % 20,))
                    if stopped.is_set():
                        return

        with meanwhile(*(partial(write, number) for number in range(4))):
            assert wait_for(lambda: channel(second)["sql_running"] == 0, WAIT_SECONDS)
        assert channel(second)["error"] in (NO_SUCH_ROW, DUPLICATE_KEY)
        (finding,) = found(second)
        assert "so does REPLACE DELAYED beside DELETE" in finding.message


@pytest.mark.parametrize(("name", "error"), [("mysql-9.7", 3001), ("mariadb-10.11", 1317)])
def test_a_statement_that_was_killed_on_the_source_stops_a_replica_as_is_said(name: str, error: int) -> None:
    update = "UPDATE d.t SET b = 1 + SLEEP(0.02)"

    def write(_: threading.Event) -> None:
        with suppress(Error):
            first.execute(update)

    with source_and_replica(name, "--binlog-format=STATEMENT") as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL DEFAULT 0) ENGINE=MyISAM", f"INSERT INTO d.t (a) VALUES {', '.join(f'({number})' for number in range(500))}")
        assert wait_for(lambda: rows_of(second) == 500, WAIT_SECONDS)
        with meanwhile(write):
            assert wait_for(lambda: bool(first.execute(f"SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO = '{update}' AND TIME >= 1")), WAIT_SECONDS)
            ((number,),) = first.execute(f"SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = '{update}'")
            first.execute(f"KILL QUERY {number}")
        assert wait_for(lambda: channel(second)["error"] == error, WAIT_SECONDS)
        assert [server.execute("SELECT COUNT(*) > 0 FROM d.t WHERE b > 0") for server in (first, second)] == [[(1,)], [(0,)]]
        (finding,) = found(second)
        assert f"has stopped with error {error}" in finding.message
        assert "here it changed none" in finding.message


def rows_of(server: PrivateServer) -> int | None:
    """Of d.t, once it is there."""
    if not server.execute("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't'"):
        return None
    return int(str(server.execute("SELECT COUNT(*) FROM d.t")[0][0]))


def found(server: PrivateServer) -> list[Finding]:
    return [one for one in judge(prepared(look(server), Site(shipped_rules()))).findings if one.rule == "replica-not-crash-safe"]


@pytest.fixture(scope="module")
def member() -> Iterator[PrivateServer]:
    """The primary, and only member, of a group."""
    binaries = binaries_of("mysql-9.7")
    address = f"127.0.0.1:{free_port()}"
    options = ["--server-id=1", "--log-bin=binlog", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"]
    with CopiedServer(binaries, options) as server:
        server.execute("CREATE DATABASE d", f"CREATE TABLE {TABLE} (a INT NOT NULL PRIMARY KEY, b VARCHAR(9)) ENGINE=MyISAM", f"INSERT INTO {TABLE} VALUES (1, 'x')")
        server.execute("INSTALL PLUGIN group_replication SONAME 'group_replication.so'")
        assert state(server).is_group_member is False
        settings = {"group_name": "c0ffee00-0000-4000-8000-000000000001", "local_address": address, "ip_allowlist": "127.0.0.1", "bootstrap_group": 1}
        server.execute(*(f"SET GLOBAL group_replication_{setting} = '{value}'" if isinstance(value, str) else f"SET GLOBAL group_replication_{setting} = {value}" for setting, value in settings.items()))
        server.execute("START GROUP_REPLICATION")
        deadline = time.monotonic() + WAIT_SECONDS
        while server.execute("SELECT @@GLOBAL.super_read_only") != [(0,)] and time.monotonic() < deadline:
            time.sleep(0.2)
        yield server


def test_a_member_of_a_group_is_known_and_is_no_replica(member: PrivateServer) -> None:
    assert state(member).is_group_member is True
    assert state(member).is_replica is None
    assert ("group_replication_applier", 1, 1) in channels(member)


def test_the_group_refuses_what_is_said_and_replicates_what_is_said(member: PrivateServer) -> None:
    with pytest.raises(Error) as refused:
        member.execute(f"INSERT INTO {TABLE} VALUES (2, 'y')")
    assert refused.value.args[0] == REFUSED_BY_THE_GROUP
    passed = admitted(member, NARROW, OPTIMIZE, TO_INNODB)
    assert texts(passed) == (NARROW, "OPTIMIZE NO_WRITE_TO_BINLOG TABLE `d`.`t`;")
    assert "every member runs it too" in " ".join(passed.cost)
    assert "expels the member" in " ".join(passed.instead)
    before = own_transactions(member)
    member.execute(texts(passed)[1])
    assert own_transactions(member) == before
    member.execute(texts(passed)[0])
    assert own_transactions(member) != before
    # The way that is offered instead is one that the group takes; what reads a MyISAM table to write another is not.
    member.execute("CREATE TABLE d.other (a INT NOT NULL PRIMARY KEY, b VARCHAR(9)) ENGINE=InnoDB")
    with pytest.raises(Error) as refused:
        member.execute(f"INSERT INTO d.other SELECT * FROM {TABLE}")
    assert refused.value.args[0] == REFUSED_BY_THE_GROUP
    new, old = "d.new", "d.t"
    member.execute(f"CREATE TABLE {new} LIKE {old}", f"ALTER TABLE {new} ENGINE=InnoDB, ROW_FORMAT=DEFAULT", *(f"INSERT INTO {new} VALUES ({number}, '{text}')" for number, text in member.execute(f"SELECT * FROM {old}")), f"RENAME TABLE {old} TO d.kept, {new} TO {old}")
    member.execute(f"INSERT INTO {old} VALUES (2, 'y')")
    assert member.execute(f"SELECT COUNT(*) FROM {old}") == [(2,)]
    member.execute(f"RENAME TABLE {old} TO {new}, d.kept TO {old}", f"DROP TABLE {new}")


def test_a_member_outside_its_group_is_read_only_and_is_sent_to_the_primary(member: PrivateServer) -> None:
    member.execute("STOP GROUP_REPLICATION")
    passed = admitted(member, NARROW, OPTIMIZE)
    assert passed.remedy.commands == ()
    assert "Run it on the primary" in " ".join(passed.instead)
    for command in (NARROW, "OPTIMIZE NO_WRITE_TO_BINLOG TABLE d.t"):
        with pytest.raises(Error, match="read-only"):
            member.execute(command)
    assert "After STOP GROUP_REPLICATION and SET GLOBAL super_read_only = OFF" in " ".join(passed.instead)
    member.execute("SET GLOBAL super_read_only = OFF")
    assert member.execute(f"OPTIMIZE NO_WRITE_TO_BINLOG TABLE {TABLE}")[-1][3] in ("OK", "Table is already up to date")


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-10.11"])
def test_who_may_optimize_a_read_only_server_is_as_said(name: str) -> None:
    with CopiedServer(binaries_of(name), ["--server-id=1", "--log-bin=binlog"]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT) ENGINE=MyISAM", "CREATE USER 'o'@'localhost' IDENTIFIED BY 'x'", "GRANT ALL ON d.* TO 'o'@'localhost'", "SET GLOBAL read_only = ON")
        passed = admitted(server, OPTIMIZE)
        assert "OPTIMIZE NO_WRITE_TO_BINLOG TABLE by an administrator (ordinary accounts are refused) works here" in " ".join(passed.instead)
        unlogged = "OPTIMIZE NO_WRITE_TO_BINLOG TABLE d.t"
        with connect(user="o", password="x", unix_socket=str(server.socket)) as ordinary, pytest.raises(Error, match="read-only"):
            ordinary.cursor().execute(unlogged)
        assert "already up to date" in str(server.execute(unlogged)) or "OK" in str(server.execute(unlogged))
        if name == "mysql-9.7":
            server.execute("SET GLOBAL super_read_only = ON")
            assert "after SET GLOBAL super_read_only = OFF, OPTIMIZE NO_WRITE_TO_BINLOG" in " ".join(admitted(server, OPTIMIZE).instead)
            with pytest.raises(Error, match="read-only"):
                server.execute(unlogged)
        server.execute("SET GLOBAL read_only = OFF")


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_an_applier_is_seen_at_work_and_is_no_client(name: str) -> None:
    """Each server has another place and another name for it: what it holds a table for would else be laid at the door of a connection that sleeps."""
    with source_and_replica(name, "--binlog-format=STATEMENT") as (first, second):
        start(name, first, second)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1)")
        assert wait_for(lambda: bool(second.execute("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'")), WAIT_SECONDS)
        assert wait_for(lambda: not any(command in APPLIERS for command, _ in at_work(second)), WAIT_SECONDS)
        first.execute("UPDATE d.t SET a = 2 WHERE SLEEP(3) = 0")
        assert wait_for(lambda: bool(at_work(second) & {(command, "User sleep") for command in APPLIERS}), WAIT_SECONDS)


APPLIERS = ("Connect", "Slave_SQL")


def at_work(server: PrivateServer) -> set[tuple[object, object]]:
    with open_database(complete(look(server))) as guarded:
        return {(command, state) for command, state in guarded.query("SELECT command, state FROM connections WHERE runs").rows}


@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-11.8"])
def test_rows_that_a_replica_applies_are_counted_as_statements(name: str) -> None:
    with source_and_replica(name) as (first, second):
        start(name, first, second)

        def counted() -> list[int]:
            return [status_number(second, f"Com_{word}") for word in ("insert", "update", "delete")]

        before = counted()
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.t VALUES (1), (2), (3)", "INSERT INTO d.t VALUES (4)", "UPDATE d.t SET a = a + 10", "DELETE FROM d.t WHERE a < 13")
        assert wait_for(lambda: [now - then for now, then in zip(counted(), before, strict=True)] == [2, 1, 1], WAIT_SECONDS)
