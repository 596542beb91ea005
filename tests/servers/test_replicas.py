"""A replica and a member of a group are known as such, and what is said of them is so."""

import time
from collections.abc import Iterator

import pytest
from MySQLdb import Error, connect

from myisam_advisor.factbase.derived import complete
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import Sql, quote_table, statement
from tests.support.daemon import free_port
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look

REFUSED_BY_THE_GROUP = 3098
TABLE = quote_table("d", "t")
NARROW, TO_INNODB, OPTIMIZE = (
    statement("ALTER TABLE {} PACK_KEYS=0;", TABLE),
    statement("ALTER TABLE {} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;", TABLE),
    statement("OPTIMIZE TABLE {};", TABLE),
)
WAIT_SECONDS = 30.0


def state(server: PrivateServer) -> ServerState:
    return ServerState(PlanFacts(complete(look(server))))


def channels(server: PrivateServer) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in look(server).tables["replica"].dictionaries()]


def admitted(server: PrivateServer, *commands: Sql) -> Admitted:
    return RemedyGate(PlanFacts(complete(look(server)))).admit(Remedy(tuple(map(parsed, commands))))


def texts(passed: Admitted) -> tuple[str, ...]:
    return tuple(map(text_of, passed.remedy.commands))


def own_transactions(server: PrivateServer) -> str:
    (number,) = server.execute("SELECT @@GLOBAL.gtid_executed")[0]
    return str(number)


# MySQL 5.6 and MariaDB by counters, MySQL 9.7 by performance_schema.
@pytest.mark.parametrize("name", ["mysql-5.6", "mysql-9.7", "mariadb-11.8"])
def test_a_replica_is_known_while_it_runs_and_by_mysql_while_it_is_stopped(name: str) -> None:
    mysql = name == "mysql-9.7"
    word, source = ("REPLICA", "SOURCE") if mysql else ("SLAVE", "MASTER")
    options = ["--log-bin=binlog", "--bind-address=127.0.0.1"]
    with CopiedServer(binaries_of(name), [*options, "--server-id=1"], port=free_port()) as first, CopiedServer(binaries_of(name), [*options, "--server-id=2"]) as second:
        first.execute("CREATE USER 'r'@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO 'r'@'127.0.0.1'")
        assert channels(second) == []
        assert state(second).is_replica is None
        change = "CHANGE REPLICATION SOURCE TO" if mysql else "CHANGE MASTER TO"
        key = ", GET_SOURCE_PUBLIC_KEY=1" if mysql else ""
        second.execute(f"{change} {source}_HOST='127.0.0.1', {source}_PORT={first.port}, {source}_USER='r', {source}_PASSWORD='x'{key}", f"START {word}")
        deadline = time.monotonic() + WAIT_SECONDS
        while channels(second) != [("", 1, 1)] and time.monotonic() < deadline:
            time.sleep(0.2)
        assert channels(second) == [("", 1, 1)]
        assert state(second).is_replica is True
        passed = admitted(second, NARROW)
        assert texts(passed) == (NARROW,)
        assert "sql_log_bin = 0" in " ".join(passed.cost)
        second.execute(f"STOP {word}")
        # Counters say nothing of what stands still, and the heartbeat's period would call a server a replica that is none any more.
        assert channels(second) == ([("", 0, 0)] if mysql else [])
        second.execute(f"RESET {word} ALL")
        assert channels(second) == []
        assert channels(first) == []


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
    assert "throws the member out" in " ".join(passed.instead)
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
