"""A source whose replica does not acknowledge: a write of a MyISAM table holds it meanwhile, and that is what the others are said to wait for."""

import threading

import pytest

from tests.support.daemon import wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

WAIT_SECONDS = 30.0
SWITCHED_ON = {
    "mysql-9.7": ("source", ["INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'"]),
    "mariadb-10.11": ("master", []),
}


@pytest.mark.parametrize("name", SWITCHED_ON)
def test_who_waits_for_a_replica_holds_the_table_and_is_named(name: str) -> None:
    side, before = SWITCHED_ON[name]
    with CopiedServer(binaries_of(name), ["--log-bin=binlog", "--server-id=1"]) as server:
        server.execute(*before, "CREATE DATABASE d", "CREATE TABLE d.t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", f"SET GLOBAL rpl_semi_sync_{side}_timeout = 60000", f"SET GLOBAL rpl_semi_sync_{side}_enabled = ON")
        writers = [threading.Thread(target=server.execute, args=(f"INSERT INTO d.t VALUES ({number})",)) for number in range(5)]
        for writer in writers:
            writer.start()

        def waits() -> bool:
            states = str(server.execute("SELECT STATE, TIME FROM information_schema.PROCESSLIST WHERE TIME > 1"))
            return "semi-sync ACK" in states and states.count("table level lock") == len(writers) - 1

        try:
            assert wait_for(waits, WAIT_SECONDS)
            told = " ".join(run("check", "table-lock-contention", "--interval", "0", "--socket", server.socket, "--user", "root").stdout.split())
            assert "1 statement waits until a replica has acknowledged" in told
            assert f"SET GLOBAL rpl_semi_sync_{side}_enabled = OFF ends the waiting" in told
            told = " ".join(run("check", "--interval", "1", "--socket", server.socket, "--user", "root", "--verbose").stdout.split())
            assert "not one statement in 1 s, while 5 are under way, the longest for" in told
            assert "SHOW FULL PROCESSLIST" in told
        finally:
            # As is said there.
            server.execute(f"SET GLOBAL rpl_semi_sync_{side}_enabled = OFF")
            for writer in writers:
                writer.join(WAIT_SECONDS)
        assert server.execute("SELECT COUNT(*) FROM d.t") == [(5,)]
        assert not any(writer.is_alive() for writer in writers)
