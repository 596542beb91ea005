"""What rules say of who holds a table, of writers that give way, and of a full table's holes: seen on the servers themselves."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from MySQLdb import Error

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.values import real_of
from myisam_exporter.metrics.processlist import TABLE_LOCK_STATES, is_repair
from tests.support.daemon import free_port
from tests.support.servers import CopiedServer, binaries_of, keeps_dictionary, working

from .conftest import look, on_four_servers, on_one_server, schema
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


@on_four_servers
def test_which_inserts_wait_for_readers_though_there_are_no_holes(server: PrivateServer) -> None:
    """fragmented-table and table-lock-contention: no OPTIMIZE helps these, and where INSERTs give way low_priority_updates are no advice.

    LOAD DATA asks for the table before its file, so that none is needed. Of a routine either the call is shown or what it sends.
    """
    version = tuple(int(part) for part in str(server.execute("SELECT VERSION()")[0][0]).split("-")[0].split(".")[:2])
    gives_way, point = version >= (5, 7) and server.binaries.flavour == "mysql", "GeomFromText" if version < (5, 6) else "ST_GeomFromText"

    def waiting(*statements: str) -> set[str]:
        with begun(server, *statements):
            rows = server.execute("SELECT INFO FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%level lock'")
        return {str(text) for (text,) in rows}

    plain, replace, spatial = "INSERT INTO m VALUES (3)", "REPLACE INTO m VALUES (4)", f"INSERT INTO s VALUES ({point}('POINT(1 3)'))"
    beside, load, reader = "LOAD DATA CONCURRENT INFILE 'no file' INTO TABLE m", "LOAD DATA INFILE 'no file' INTO TABLE m", "SELECT a FROM u"
    routines_append = version >= (8, 0) and server.binaries.flavour == "mysql"
    with schema(server, "d"):
        server.execute("CREATE TABLE d.m (a INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1), (2)", "CREATE TABLE d.s (g GEOMETRY NOT NULL, SPATIAL KEY (g)) ENGINE=MyISAM",
                       f"INSERT INTO d.s VALUES ({point}('POINT(1 1)')), ({point}('POINT(1 2)'))")
        server.execute("CREATE TABLE d.r (a INT) ENGINE=MyISAM", "INSERT INTO d.r VALUES (1), (2)", "CREATE TABLE d.u LIKE d.r", "INSERT INTO d.u VALUES (1), (2)",
                       "CREATE PROCEDURE d.p() INSERT INTO r VALUES (7)")
        ordinary = waiting("SELECT SLEEP(60) FROM m", "SELECT SLEEP(60) FROM s", plain, beside, replace, load, spatial)
        others = waiting("SELECT SLEEP(60) FROM r", "SELECT SLEEP(60) FROM u FOR UPDATE", "CALL p()", reader)
        server.execute("SET GLOBAL low_priority_updates = 1")
        try:
            low = waiting("SELECT SLEEP(60) FROM m", plain.replace("3", "5"))
        finally:
            server.execute("SET GLOBAL low_priority_updates = 0")
    assert ordinary == {replace, load, spatial}
    assert reader in others
    assert len(others) == 2 - routines_append
    assert bool(low) == gives_way


@pytest.mark.parametrize("server", ["mysql-5.6", "mysql-9.7"], indirect=True, scope="session")
def test_a_statement_in_the_state_system_lock_waits_for_no_table(server: PrivateServer) -> None:
    """A CHECKSUM TABLE beside which nobody else uses the table: no metric counts it among those that wait."""
    with schema(server, "d"), server.session("d") as observer:
        server.execute("CREATE TABLE d.m (a CHAR(250)) ENGINE=MyISAM", f"INSERT INTO d.m VALUES {', '.join(['(1)'] * 9000)}", *["INSERT INTO d.m SELECT * FROM d.m"] * 4)
        looking = observer.cursor()
        states: set[str] = set()
        with working(server, "d", ["CHECKSUM TABLE m"]):
            end = time.monotonic() + 2
            while time.monotonic() < end:
                looking.execute("SELECT STATE FROM information_schema.PROCESSLIST WHERE COMMAND = 'Query' AND ID <> CONNECTION_ID()")
                states.update(str(state) for (state,) in looking.fetchall())
    assert "System lock" in states
    assert not states & TABLE_LOCK_STATES


@on_four_servers
@pytest.mark.parametrize("threads", [1, 4])
def test_each_phase_of_an_optimize_is_known_for_a_rebuild(server: PrivateServer, threads: int) -> None:
    """Whoever is told to KILL what others wait for is not told to kill it: in each of these phases that leaves the table crashed."""
    if threads > 1 and keeps_dictionary(server):
        pytest.skip("myisam_repair_threads is gone")
    with schema(server, "d"), server.session("d") as owner, server.session("d") as observer:
        keys = ", ".join(f"k{number} CHAR(60) NOT NULL, KEY (k{number})" for number in range(6))
        cursor, looking = owner.cursor(), observer.cursor()
        cursor.execute(f"CREATE TABLE m (a INT NOT NULL PRIMARY KEY, {keys}) ENGINE=MyISAM")
        rows = ", ".join("({}, {})".format(row, ", ".join(f"'{row * 7919 * (number + 1) % 10000019}'" for number in range(6))) for row in range(20000))
        cursor.execute(f"INSERT INTO m VALUES {rows}")
        cursor.execute("DELETE FROM m WHERE a % 7 = 0")
        if threads > 1:
            cursor.execute(f"SET SESSION myisam_repair_threads = {threads}")
        states: set[str] = set()
        own = owner.thread_id()
        optimizing = threading.Thread(target=lambda: (cursor.execute("OPTIMIZE TABLE m"), cursor.fetchall()))
        optimizing.start()
        while optimizing.is_alive():
            looking.execute(f"SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {own} AND COMMAND = 'Query'")
            states.update(str(state) for (state,) in looking.fetchall())
        optimizing.join()
    phases = {state for state in states if is_repair(state)}
    told = {"Repair by sorting"} if threads == 1 else {state for state in phases if state == "Parallel repair" or state.endswith(" threads")}
    assert told
    assert told <= phases
    found = [{"command": "Query", "state": state, "threads": 1, "longest_seconds": 9} for state in sorted(phases)]
    with open_database(facts_from_document({"schema": 1, "processlist": found})) as guarded:
        assert guarded.query("SELECT threads FROM rebuilds").rows == [(len(phases),)]


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
