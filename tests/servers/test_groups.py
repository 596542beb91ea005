"""Two members of a group (MySQL 9.7): what is advised on the secondary and on one that left, done to the end, and what becomes of the group."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import free_port, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .clients import client
from .test_replicas import NARROW, OPTIMIZE, TO_INNODB, WAIT_SECONDS, admitted, own_transactions, state, texts

OF_GROUP = ("--log-bin=binlog", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--plugin-load-add=group_replication.so", "--report-host=127.0.0.1")
Group = tuple[PrivateServer, PrivateServer]


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    """The primary, which alone has the rows of d.t, and a secondary."""
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with ExitStack() as running:
        members = []
        for number, address in enumerate(addresses, 1):
            settings = {"group_name": "c0ffee00-0000-4000-8000-000000000001", "local_address": address, "group_seeds": ",".join(addresses), "ip_allowlist": "127.0.0.1", "start_on_boot": "OFF", "recovery_get_public_key": "ON"}
            options = [*OF_GROUP, f"--server-id={number}", *(f"--loose-group_replication_{name}={value}" for name, value in settings.items())]
            member = running.enter_context(CopiedServer(binaries_of("mysql-9.7"), options, port=free_port()))
            member.execute("SET sql_log_bin = 0", "CREATE USER r IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM ON *.* TO r", "SET sql_log_bin = 1", "CHANGE REPLICATION SOURCE TO SOURCE_USER='r', SOURCE_PASSWORD='x' FOR CHANNEL 'group_replication_recovery'")
            member.execute(f"SET GLOBAL group_replication_bootstrap_group = {number == 1}", "START GROUP_REPLICATION", "SET GLOBAL group_replication_bootstrap_group = OFF")
            members.append(member)
        first, second = members
        assert wait_for(lambda: states(first) == ["ONLINE", "ONLINE"], WAIT_SECONDS)
        first.execute("CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY, b INT) ENGINE=MyISAM", "SET sql_log_bin = 0", "INSERT INTO d.t VALUES (1, 1), (2, 2)")
        yield first, second


def states(server: PrivateServer) -> list[str]:
    return sorted(str(one) for (one,) in server.execute("SELECT MEMBER_STATE FROM performance_schema.replication_group_members"))


def checksum(server: PrivateServer, table: str) -> object:
    return server.execute(f"CHECKSUM TABLE {table}")[0][1]


def script(server: PrivateServer) -> str:
    done = run("migrate", "d.t", "--format", "sql", "--socket", server.socket, "--user", "root")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_secondary_does_not_send_the_alter_of_the_engine_to_the_primary(group: Group) -> None:
    """Run there it left the secondary an empty table, and the next UPDATE stood it in ERROR (tried)."""
    for member in group:
        passed = admitted(member, TO_INNODB)
        assert passed.remedy.commands == ()
        assert "expels the member" in " ".join(passed.instead)
        assert "Run it on the primary" not in " ".join(passed.instead)
    assert "Run it on the primary" in " ".join(admitted(group[1], NARROW).instead)
    told = script(group[1])
    assert "Instead, on the primary" in told
    assert "Run it on the source" not in told
    assert "no node sends those of Aria" not in told


def test_the_way_of_the_script_leaves_all_members_alike(group: Group) -> None:
    first, second = group
    lines = [line.removeprefix("-- ") for line in script(first).splitlines()]
    begin = next(number for number, line in enumerate(lines) if line.startswith("Instead, on the primary, with"))
    create, engine, load, rename = lines[begin + 1 : begin + 5]
    assert "load" in load.lower()
    fed = f"{create}\n{engine}\nINSERT INTO d.t_innodb VALUES (1, 1), (2, 2);\n{rename}\nUPDATE d.t SET b = 3 WHERE a = 1;\n"
    done = subprocess.run([*client("mysql-client"), "--socket", str(first.socket), "--user", "root"], input=fed, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert wait_for(lambda: own_transactions(first) == own_transactions(second), WAIT_SECONDS)
    assert checksum(first, "d.t") == checksum(second, "d.t")
    assert states(first) == ["ONLINE", "ONLINE"]
    # For the tests behind this one.
    first.execute("DROP TABLE d.t", "RENAME TABLE d.t_myisam TO d.t")


def test_what_left_the_group_gets_no_transaction_of_its_own(group: Group) -> None:
    _, second = group
    assert not state(second).is_out_of_its_group
    second.execute("STOP GROUP_REPLICATION", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
    assert state(second).is_out_of_its_group
    before = own_transactions(second)
    passed = admitted(second, NARROW, OPTIMIZE)
    assert texts(passed) == ("OPTIMIZE NO_WRITE_TO_BINLOG TABLE `d`.`t`;",)
    assert "not in it now" in " ".join(passed.instead)
    assert "every member runs it too" not in " ".join(passed.cost)
    told = run("check", "--interval", "0", "--full", "--socket", second.socket, "--user", "root").stdout
    assert "not in it now" in " ".join(told.split())
    second.execute(*texts(passed))
    assert own_transactions(second) == before
    second.execute("START GROUP_REPLICATION")
    assert wait_for(lambda: states(second) == ["ONLINE", "ONLINE"], WAIT_SECONDS)


def test_a_channel_that_is_named_like_those_of_a_group_is_none_of_them() -> None:
    with CopiedServer(binaries_of("mysql-9.7"), ["--server-id=9"]) as server:
        server.execute("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1 FOR CHANNEL 'group_replication_mine'", "CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        assert state(server).is_replica is True
        assert "This server is a replica" in script(server)
