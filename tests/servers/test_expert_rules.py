"""What an expert would also see, provoked for real: each rule finds what a server did, and its words are the server's."""

import json
import multiprocessing
import re
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.columns import Row
from tests.support.daemon import free_port, wait_for
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, keeps_dictionary, repeating, status_number, working
from tools.fetched_servers import cache_directory

from .conftest import look, schema, with_thresholds

GTID_VIOLATION = 1785
PROVIDER = cache_directory() / "galera" / "usr" / "lib" / "galera" / "libgalera_smm.so"
SHIPPED = Site(shipped_rules())


def findings(server: PrivateServer, rule: str, seconds: float = 0.0, site: Site = SHIPPED) -> list[Finding]:
    return [found for found in judge(prepared(look(server, seconds), site)).findings if found.rule == rule]


def table_row(server: PrivateServer, table: str) -> Row:
    (row,) = [row for row in look(server).tables["tables"].dictionaries() if row["table_name"] == table]
    return row


def ran(server: PrivateServer, *statements: str) -> int:
    """0, or the number of the error that the last of them ended with, all in one session."""
    with server.session("d") as connection:
        cursor = connection.cursor()
        for place, statement in enumerate(statements, 1):
            try:
                cursor.execute(statement)
                cursor.fetchall()
            except Error as error:
                assert place == len(statements), error
                return int(error.args[0])
    return 0


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7"])
def test_a_transaction_over_both_engines_is_refused_and_found(kind: str) -> None:
    options = ["--log-bin=binlog", "--server-id=1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", *(["--log-slave-updates"] if kind == "mysql-5.6" else [])]
    with CopiedServer(binaries_of(kind), options) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM", "CREATE TABLE d.i (a INT) ENGINE=InnoDB")
        assert ran(server, "BEGIN", "INSERT INTO i VALUES (1)", "INSERT INTO m VALUES (1)") == GTID_VIOLATION
        assert ran(server, "BEGIN", "INSERT INTO m VALUES (1)", "INSERT INTO i VALUES (1)", "COMMIT") == 0
        assert ran(server, "INSERT INTO i SELECT * FROM m") == 0
        with repeating(server, "d", ["BEGIN", "INSERT INTO m VALUES (1)", "INSERT INTO i VALUES (1)", "COMMIT"]):
            (found,) = findings(server, "gtid-mixed-engines", 1.0)
        assert (found.severity, found.confidence) == ("warning", "likely")
        assert "d.m" in found.message
        with working(server, "d", ["INSERT INTO m VALUES (1)"]):
            assert findings(server, "gtid-mixed-engines", 1.0) == []


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_statements_that_wait_for_syncs_are_found_and_its_command_ends_it(kind: str) -> None:
    """The rule judges by its threshold alone here: how long a sync takes on this machine says nothing."""
    site = with_thresholds("sync-after-each-statement", low_pressure=0, minimum_syncs_per_second=10)
    with CopiedServer(binaries_of(kind), ["--flush"]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT AUTO_INCREMENT PRIMARY KEY, n INT) ENGINE=MyISAM", "INSERT INTO d.m (n) VALUES (1)")
        with working(server, "d", ["INSERT INTO m (n) VALUES (1)"]):
            (found,) = findings(server, "sync-after-each-statement", 2.0, site)
            assert (found.severity, found.confidence) == ("warning", "confirmed")
            server.execute(*(command.rstrip(";") for command in found.commands))
            assert findings(server, "sync-after-each-statement", 1.0, site) == []
        server.execute("SET GLOBAL flush = ON")
        with working(server, "d", ["UPDATE m SET n = 1 WHERE a = 1"]):
            assert findings(server, "sync-after-each-statement", 1.0, site) == []


def galera() -> Path:
    if not PROVIDER.exists():
        pytest.fail("galera is not in the cache: run script/servers galera")
    return PROVIDER


def test_rows_that_stay_on_one_node_are_found() -> None:
    provider = [f"--wsrep-provider={galera()}", "--wsrep-cluster-address=gcomm://", f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{free_port()}"]
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wsrep-on=ON", "--binlog-format=ROW", *provider]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM")
        sent = status_number(server, "wsrep_replicated")
        assert sent > 0
        server.execute("INSERT INTO d.m VALUES (1)")
        assert status_number(server, "wsrep_replicated") == sent
        (found,) = findings(server, "cluster-not-replicated")
        assert found.severity == "critical"
        assert "d.m" in found.message
        server.execute("SET GLOBAL wsrep_mode = REPLICATE_MYISAM")
        assert findings(server, "cluster-not-replicated") == []
        server.execute("INSERT INTO d.m VALUES (2)")
        assert status_number(server, "wsrep_replicated") > sent
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wsrep-on=ON"]) as alone:
        alone.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM")
        assert findings(alone, "cluster-not-replicated") == []


@contextmanager
def waiting(server: PrivateServer, statement: str, count: int) -> Iterator[None]:
    """So many connections that wait with this statement; ended by KILL."""
    numbers: list[int] = []

    def wait() -> None:
        with suppress(Error), server.session("d") as connection:
            numbers.append(connection.thread_id())
            cursor = connection.cursor()
            cursor.execute(statement)
            cursor.fetchall()

    threads = [threading.Thread(target=wait) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        wait_for(lambda: len(numbers) == count, 10)
        time.sleep(0.3)
        yield
    finally:
        for number in numbers:
            with suppress(Error):
                server.execute(f"KILL {number}")
        for thread in threads:
            thread.join()


# What holds it, who waits, and the words of the lock.
HOLDERS = {
    "sleeper": ("LOCK TABLES m WRITE", "SELECT COUNT(*) FROM m", "the metadata lock of a table"),
    "read lock": ("FLUSH TABLES WITH READ LOCK", "INSERT INTO m VALUES (2)", "the global read lock|the backup lock"),
    "transaction": ("SELECT * FROM i FOR UPDATE", "ALTER TABLE i ADD b INT", "the metadata lock of a table"),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_queue_for_one_connections_lock_is_no_contention(server: PrivateServer, holder: str) -> None:
    statement, waiter, lock = HOLDERS[holder]
    with schema(server, "d"):
        server.execute("CREATE TABLE d.m (a INT) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1)", "CREATE TABLE d.i (a INT) ENGINE=InnoDB", "INSERT INTO d.i VALUES (1)")
        with server.session("d") as connection:
            cursor = connection.cursor()
            cursor.execute("BEGIN")
            cursor.execute(statement)
            cursor.fetchall()
            with waiting(server, waiter, 4):
                judgement = judge(prepared(look(server, 1.0), SHIPPED))
                numbers = json.loads(run("munin", "--socket", server.socket, "--user", "root").stdout)["values"]
            cursor.execute("UNLOCK TABLES")
            cursor.execute("ROLLBACK")
    (found,) = [one for one in judgement.findings if one.rule == "lock-pile-up"]
    assert "4 connections wait" in found.message
    assert any(words in found.message for words in lock.split("|"))
    assert sum(threads for number, threads in numbers.items() if number.startswith("connections_waiting_for_server_lock[")) == 4
    assert numbers["connections_waiting_for_table_lock"] == 0
    assert "a connection that is idle" in found.message or "global" in lock
    assert not {one.rule for one in judgement.findings} & {"table-lock-contention", "query-cache-contention", "migrate-engine", "key-cache-contention"}


def started_with(kind: str, files: int, options: Sequence[str]) -> list[str]:
    """What is found of a server that may open so many files, by a process that may open no more either."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()

    def ask() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        with CopiedServer(binaries_of(kind), options) as server:
            server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM")
            answers.put([found.message for found in findings(server, "limits-lowered-at-start")])

    process = context.Process(target=ask)
    process.start()
    try:
        return list(answers.get(timeout=60))
    finally:
        process.join()


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7"])
def test_limits_that_the_server_lowered_are_found(kind: str) -> None:
    (message,) = started_with(kind, 1024, [])
    assert "1,024" in message
    assert started_with(kind, 1024, ["--max-connections=500"])
    # All of these fit, so that nothing is lowered.
    assert started_with(kind, 8000, ["--max-connections=100", "--table-open-cache=400"]) == []


def reads_what_was_left_open(server: PrivateServer) -> bool:
    try:
        return server.execute("SELECT a FROM d.m FORCE INDEX (PRIMARY)") == [(1,)]
    except Error as error:
        if "marked as crashed" not in str(error):
            raise
        return False


@pytest.mark.parametrize("options", [["--myisam-recover-options=OFF"], ["--myisam-recover-options=BACKUP,QUICK", "--external-locking"]], ids=["off", "shared"])
def test_what_a_crash_left_open_is_found_until_it_is_checked(flavour: PrivateServer, options: list[str]) -> None:
    settled = with_thresholds("not-closed-properly", settled_seconds=0)
    with CopiedServer(flavour.binaries, options) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1)")
        assert findings(server, "not-closed-properly", site=settled) == []
        server.stop(signal.SIGKILL)
        time.sleep(2.1)  # the server tells its start and its clock in whole seconds each
        server.start()
        time.sleep(1.1)
        (found,) = findings(server, "not-closed-properly", site=settled)
        assert (found.severity, found.object) == ("warning", "d.m")
        assert ("error 145" in found.message) == (not reads_what_was_left_open(server)) == (flavour.binaries.flavour == "mysql" and len(options) == 1)
        assert len(findings(server, "not-closed-properly", site=settled)) == 1
        answers = server.execute(*(str(command).rstrip(";") for command in found.commands))
        assert any("OK" in str(row) for row in answers)
        assert findings(server, "not-closed-properly", site=settled) == []


MAXIMA = {
    "TINYINT": 127, "TINYINT UNSIGNED": 255, "SMALLINT": 32_767, "SMALLINT UNSIGNED": 65_535, "MEDIUMINT": 8_388_607, "MEDIUMINT UNSIGNED": 16_777_215,
    "INT": 2_147_483_647, "INT UNSIGNED": 4_294_967_295, "BIGINT": 2**63 - 1,
}  # fmt: skip


def test_the_header_tells_what_a_counter_can_hold(server: PrivateServer) -> None:
    with schema(server, "d") as name:
        for kind, maximum in MAXIMA.items():
            server.execute("DROP TABLE IF EXISTS c", f"CREATE TABLE c (id {kind} NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT) ENGINE=MyISAM", f"INSERT INTO c VALUES ({maximum - 1}, 1)", database=name)
            row = table_row(server, "c")
            assert (row["auto_increment_value"], row["auto_increment_maximum"]) == (maximum - 1, maximum)
        server.execute("DROP TABLE c", "CREATE TABLE c (g INT NOT NULL, id TINYINT NOT NULL AUTO_INCREMENT, PRIMARY KEY (g, id)) ENGINE=MyISAM", "INSERT INTO c (g) VALUES (1), (1), (2)", database=name)
        row = table_row(server, "c")
        assert (row["auto_increment_value"], row["auto_increment_maximum"], row["auto_increment_within_index"]) == (None, None, 1)


def test_a_counter_that_runs_out_is_found_before_inserts_fail(server: PrivateServer) -> None:
    with schema(server, "d"):
        server.execute("CREATE TABLE d.c (id TINYINT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.c VALUES (126)")
        (found,) = findings(server, "auto-increment-nearly-full")
        assert found.severity == "critical"
        assert ran(server, "INSERT INTO c VALUES ()", "INSERT INTO c VALUES ()") in (1062, 1264, 167)


def test_a_far_number_that_one_row_took_is_left_behind(server: PrivateServer) -> None:
    with schema(server, "d"):
        server.execute("CREATE TABLE d.c (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.c VALUES (1), (2), (2147483647)")
        assert ran(server, "INSERT INTO c VALUES ()") in (1062, 167, 1264, 1467)
        (found,) = findings(server, "auto-increment-nearly-full")
        assert "AUTO_INCREMENT = 1 set the counter behind the largest number" in found.recommendation
        server.execute("UPDATE d.c SET id = 3 WHERE id = 2147483647")
        assert len(findings(server, "auto-increment-nearly-full")) == 1
        server.execute("ALTER TABLE d.c AUTO_INCREMENT = 1", "INSERT INTO d.c VALUES ()")
        assert server.execute("SELECT MAX(id) FROM d.c") == [(4,)]
        assert findings(server, "auto-increment-nearly-full") == []


def run_commands(server: PrivateServer, found: Finding) -> None:
    """What it says, without the remarks between."""
    server.execute(*(str(command).rstrip(";") for command in found.commands if not str(command).startswith("--")))


def test_statistics_are_known_to_be_missing_until_they_are_collected(server: PrivateServer) -> None:
    small = with_thresholds("statistics-never-collected", minimum_rows=1)
    with schema(server, "d"):
        server.execute("CREATE TABLE d.s (id INT NOT NULL PRIMARY KEY, a INT, KEY (a)) ENGINE=MyISAM")
        assert table_row(server, "s")["not_analyzed"] == 0
        server.execute("INSERT INTO d.s VALUES (1, 1)", "INSERT INTO d.s VALUES (2, 1)")
        cardinality = "SELECT CARDINALITY FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd' AND INDEX_NAME = 'a'"
        assert server.execute(cardinality)[0][0] is None
        (found,) = findings(server, "statistics-never-collected", site=small)
        run_commands(server, found)
        assert table_row(server, "s")["not_analyzed"] == 0
        assert findings(server, "statistics-never-collected", site=small) == []
        server.execute("INSERT INTO d.s VALUES (3, 1)")
        assert table_row(server, "s")["not_analyzed"] == 0


def test_joins_are_planned_by_what_was_collected_on_connections_that_are_open(server: PrivateServer) -> None:
    small = with_thresholds("statistics-never-collected", minimum_rows=1)
    explain = f"EXPLAIN {'FORMAT=TRADITIONAL ' if keeps_dictionary(server) else ''}SELECT * FROM o STRAIGHT_JOIN s ON s.a = o.v"
    with schema(server, "d") as name, server.session(name) as connection, closing(connection.cursor()) as cursor:
        server.execute("CREATE TABLE s (a INT NOT NULL, KEY (a)) ENGINE=MyISAM", "INSERT INTO s VALUES (0)", "INSERT INTO s VALUES " + ", ".join(f"({number // 20})" for number in range(1, 6000)), database=name)
        server.execute("CREATE TABLE o (v INT NOT NULL) ENGINE=MyISAM", "INSERT INTO o VALUES (1), (2), (3)", database=name)

        def expected_rows() -> int:
            cursor.execute(explain)
            *_, inner = cursor.fetchall()
            return int(dict(zip([column[0] for column in cursor.description], inner, strict=True))["rows"])

        assert expected_rows() != 20
        (found,) = findings(server, "statistics-never-collected", site=small)
        run_commands(server, found)
        assert expected_rows() == 20


def test_indexes_that_add_nothing_are_found_by_their_place(server: PrivateServer) -> None:
    keys = "KEY first (a), KEY pair (a, b), KEY again (a, b), UNIQUE KEY own (b), KEY plain (b), KEY other (c), KEY part (c(3)), FULLTEXT KEY words (c)"
    with schema(server, "d"):
        server.execute(f"CREATE TABLE d.k (id INT NOT NULL PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, c VARCHAR(20) NOT NULL, {keys}) ENGINE=MyISAM", "INSERT INTO d.k VALUES (1, 1, 1, 'x')")
        (found,) = findings(server, "duplicate-indexes", site=with_thresholds("duplicate-indexes", minimum_index_bytes=0))
        create = str(server.execute("SHOW CREATE TABLE d.k")[0][1])
    # As the recommendation counts them: in the order of SHOW CREATE TABLE.
    names = [line.split("`")[1] if "PRIMARY" not in line else "PRIMARY" for line in create.splitlines() if "KEY" in line and "ENGINE" not in line]
    told = re.findall(r"(\d+)(?:, (\w+))? \([^)]*\) has the (same|first) columns (?:as|of) (\d+)", found.message)
    # Where performance_schema is on it is named too.
    assert all(name in ("", names[int(one) - 1]) for one, name, _, _ in told)
    assert {(names[int(one) - 1], how, names[int(other) - 1]) for one, _, how, other in told} == {("first", "first", "pair"), ("again", "same", "pair"), ("plain", "same", "own")}


def test_late_index_writes_without_recovery_are_found(flavour: PrivateServer) -> None:
    with CopiedServer(flavour.binaries, ["--myisam-recover-options=OFF"]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO d.m VALUES (1)")
        assert findings(server, "delay-key-write") == []
        server.execute("SET GLOBAL delay_key_write = ALL")
        (found,) = findings(server, "delay-key-write")
        server.execute(*(str(command).rstrip(";") for command in found.commands))
        assert findings(server, "delay-key-write") == []
        # What ended ALL on MySQL is OFF, which ignores the tables' own option. By ALTER, MariaDB notes that in the .frm alone.
        server.execute("SET GLOBAL delay_key_write = ON", "CREATE TABLE d.late (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM DELAY_KEY_WRITE=1", "INSERT INTO d.late VALUES (1)")
        assert table_row(server, "late")["delay_key_write"] == 1
        assert [one.severity for one in findings(server, "delay-key-write")] == ["warning"]


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mariadb-11.8", "mysql-5.6"])
def test_temporary_tables_on_disk_are_found_where_they_are_many(kind: str, running: Callable[[str], PrivateServer]) -> None:
    server = running(kind)
    with schema(server, "d") as name:
        server.execute("CREATE TABLE d.b (a INT NOT NULL, c TEXT) ENGINE=MyISAM", "INSERT INTO d.b VALUES (1, 'x'), (2, 'y')")
        with working(server, name, ["SELECT SQL_NO_CACHE c, COUNT(*) FROM b GROUP BY c"]):
            (found,) = findings(server, "temporary-tables-on-disk", 1.0)
        assert ("Aria" in found.message) == kind.startswith("mariadb")


def test_free_space_is_held_against_what_a_rebuild_takes(mariadb: PrivateServer) -> None:
    with schema(mariadb, "d"):
        mariadb.execute("CREATE TABLE d.m (a INT) ENGINE=MyISAM")
        host = look(mariadb).single("host")
        free, total = host["data_directory_free_bytes"], host["data_directory_total_bytes"]
        assert isinstance(free, int)
        assert isinstance(total, int)
        assert 0 < free < total
        # Whatever this machine has left.
        assert findings(mariadb, "disk-nearly-full", site=with_thresholds("disk-nearly-full", critical_bytes=0, warning_share=0)) == []
        found = findings(mariadb, "disk-nearly-full", site=with_thresholds("disk-nearly-full", critical_bytes=free + (1 << 30)))
        assert {one.severity for one in found} == {"critical"}
