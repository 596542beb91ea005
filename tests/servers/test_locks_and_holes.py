"""What rules say of who holds a table, of writers that give way, and of a full table's holes: seen on the servers themselves."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from MySQLdb import Error

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.values import real_of
from tests.support.daemon import free_port
from tests.support.servers import CopiedServer, binaries_of, working

from .conftest import look, on_one_server, schema
from .test_expert_rules import galera

# Added to the seconds that the later statements take to begin: the first that waits has then waited for five, from which on a holder is looked for.
HELD_SECONDS = 3
# What one server says of it was seen on all four, and no version changes it.
pytestmark = on_one_server


@contextmanager
def begun(server: PrivateServer, *statements: str) -> Iterator[list[float]]:
    """Each statement on a connection of its own, one after another; the seconds that those which have ended took. What is left is killed."""
    numbers: list[int] = []
    took: list[float] = []

    def send(statement: str) -> None:
        with suppress(Error), server.session("d") as connection:
            numbers.append(connection.thread_id())
            cursor, begin = connection.cursor(), time.monotonic()
            cursor.execute(statement)
            cursor.fetchall()
            took.append(time.monotonic() - begin)

    threads = [threading.Thread(target=send, args=(statement,)) for statement in statements]
    try:
        for thread in threads:
            thread.start()
            time.sleep(1.1)
        yield took
    finally:
        for number in numbers:
            with suppress(Error):
                server.execute(f"KILL {number}")
        for thread in threads:
            thread.join()


def test_who_waits_for_get_lock_is_not_said_to_hold_a_table(server: PrivateServer) -> None:
    with schema(server, "d"), server.session("d") as owner:
        server.execute("CREATE TABLE d.m (a INT) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1), (2)")
        cursor = owner.cursor()
        cursor.execute("SELECT GET_LOCK('session', 1)")
        cursor.fetchall()
        with begun(server, "SELECT GET_LOCK('session', 60)", "SELECT SLEEP(60) FROM m", *["UPDATE m SET a = 2"] * 3):
            time.sleep(HELD_SECONDS)
            facts = look(server)
            judgement = judge(prepared(facts, Site(shipped_rules())))
    longest = {row["state"]: real_of(row["longest_seconds"]) or 0.0 for row in facts.tables["processlist"].dictionaries() if row["command"] == "Query"}
    (found,) = [one for one in judgement.findings if one.rule == "table-lock-contention"]
    told = {shown.fact: shown.value for shown in found.evidence if shown.label == "the longest statement that does not wait"}
    assert longest["User lock"] > longest["User sleep"]
    assert told == {"processlist.longest_seconds": longest["User sleep"]}


@pytest.mark.parametrize("low_priority", [True, False])
def test_a_change_of_low_priority_waits_as_long_as_readers_overlap(server: PrivateServer, low_priority: bool) -> None:
    with schema(server, "d"):
        server.execute("CREATE TABLE d.m (a INT) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1), (2)", f"SET GLOBAL low_priority_updates = {int(low_priority)}")
        try:
            with working(server, "d", [f"SELECT SLEEP({seconds}) FROM m" for seconds in (0.19, 0.23, 0.29, 0.31)]), begun(server, "UPDATE m SET a = 2") as took:
                waited = not took
        finally:
            server.execute("SET GLOBAL low_priority_updates = 0")
    assert waited == low_priority


@pytest.mark.parametrize("row", ["a INT NOT NULL, b CHAR(50) NOT NULL", "a INT NOT NULL, b VARCHAR(60) NOT NULL"])
def test_a_full_table_takes_as_many_rows_as_its_holes_hold(server: PrivateServer, row: str) -> None:
    with schema(server, "d"), server.session("d") as connection:
        server.execute(f"CREATE TABLE d.m ({row}) ENGINE=MyISAM MAX_ROWS=200 AVG_ROW_LENGTH=60")
        cursor, rows = connection.cursor(), 0
        with pytest.raises(Error, match="is full"):
            while True:
                cursor.execute(f"INSERT INTO m VALUES ({rows}, REPEAT('a', 50))")
                rows += 1
        cursor.execute("DELETE FROM m WHERE a % 2 = 0")
        more = 0
        with pytest.raises(Error, match="is full"):
            while True:
                cursor.execute(f"INSERT INTO m VALUES ({more}, REPEAT('b', 50))")
                more += 1
    assert more == pytest.approx(rows / 2, rel=0.02)


@pytest.mark.parametrize("schema_is_on", ["ON", "OFF"])
def test_a_clusters_own_threads_are_no_idle_clients(schema_is_on: str) -> None:
    provider = [f"--wsrep-provider={galera()}", "--wsrep-cluster-address=gcomm://", f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{free_port()}"]
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wsrep-on=ON", "--binlog-format=ROW", f"--performance-schema={schema_is_on}", *provider]) as node:
        own = node.execute("SELECT COMMAND FROM information_schema.PROCESSLIST WHERE USER = 'system user'")
        seen = look(node).tables["processlist"].dictionaries()
    assert ("Sleep",) in {tuple(row) for row in own}
    assert [row for row in seen if row["command"] == "Sleep"] == []
