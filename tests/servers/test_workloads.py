"""Workloads that a rule is about, on servers that still have what it is about: found under load, and gone with the remedy."""

import contextlib
import threading
from collections.abc import Iterator

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.conftest import look, schema, with_thresholds
from tests.support.daemon import wait_for
from tests.support.servers import CopiedServer, binaries_of, meanwhile, repeating, working

# Whether a server is held back is told by idle processors.
pytestmark = pytest.mark.alone

SECONDS = 2.0


@pytest.fixture(scope="module", params=["mariadb-10.11", "mysql-5.6"])
def busy(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server of its own, which the tests may set up as they like, with a table of 20,000 rows."""
    with CopiedServer(binaries_of(request.param), ["--key-buffer-size=64M"]) as running, schema(running, "work") as name:
        running.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, long_key CHAR(200) NOT NULL, pad CHAR(60), KEY (long_key, k)) ENGINE=MyISAM CHARSET=utf8", database=name)
        with running.session(name) as connection, contextlib.closing(connection.cursor()) as cursor:
            rows = [(number, number % 7, f"{number * 7919 % 20000:08d}") for number in range(20000)]
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, 'x')", rows)
        yield running


def found(server: PrivateServer, rule: str, site: Site | None = None) -> list[Finding]:
    judgement = judge(prepared(look(server, SECONDS), site or Site(shipped_rules())))
    return [finding for finding in judgement.findings if finding.rule == rule]


def run_commands(server: PrivateServer, finding: Finding) -> None:
    server.execute(*(command.rstrip(";") for command in finding.commands))


def test_scans_are_found_and_reads_by_index_are_not(busy: PrivateServer) -> None:
    with working(busy, "work", ["SELECT COUNT(*) FROM t WHERE pad = 'y'"] * 2):
        (finding,) = found(busy, "full-scan-no-index")
    assert "in each scan" in finding.message
    with working(busy, "work", ["SELECT COUNT(*) FROM t FORCE INDEX (PRIMARY) WHERE id BETWEEN 500 AND 900"] * 2):
        assert found(busy, "full-scan-no-index") == []


def test_slow_statements_are_counted(busy: PrivateServer) -> None:
    before = busy.execute("SELECT @@GLOBAL.long_query_time")[0][0]
    busy.execute("SET GLOBAL long_query_time = 0.1")
    try:
        with working(busy, "work", ["SELECT SLEEP(0.15)"] * 3):
            (finding,) = found(busy, "slow-queries")
        assert "take longer than 0.1 s" in finding.message
    finally:
        busy.execute(f"SET GLOBAL long_query_time = {before}")


def test_connections_for_a_statement_are_churn(busy: PrivateServer) -> None:
    def connect(stop: threading.Event) -> None:
        while not stop.is_set():
            busy.execute("SELECT 1")

    busy.execute("SET GLOBAL thread_cache_size = 0")
    with meanwhile(connect):
        (finding,) = found(busy, "connection-churn")
        assert "the thread cache (0) is too small" in finding.message
        run_commands(busy, finding)
        (again,) = found(busy, "connection-churn")
        assert "too small" not in again.message


def test_long_keys_go_through_several_blocks_until_these_are_as_large(busy: PrivateServer) -> None:
    if busy.binaries.name.startswith("mariadb"):
        busy.execute("SET GLOBAL userstat = ON")
    lookups = "SELECT COUNT(*) FROM t AS a JOIN t AS b FORCE INDEX (long_key) ON b.long_key = a.long_key WHERE a.id BETWEEN 100 AND 3000"
    with working(busy, "work", [lookups] * 2):
        (finding,) = found(busy, "key-cache-block-size")
        assert "work.t" in finding.message
        run_commands(busy, finding)
        assert found(busy, "key-cache-block-size") == []
    busy.execute("SET GLOBAL key_cache_block_size = 1024")


def test_tables_that_are_closed_again_and_again_empty_the_key_cache(busy: PrivateServer) -> None:
    tables = [f"closed_{number}" for number in range(600)]
    busy.execute(*(f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for table in tables), *(f"INSERT INTO {table} VALUES (1), (2)" for table in tables), database="work")
    before = busy.execute("SELECT @@GLOBAL.table_open_cache")[0][0]
    busy.execute("SET GLOBAL table_open_cache = 64")
    site = with_thresholds("key-cache-flushed-by-table-closes", settled_seconds=0)
    with repeating(busy, "work", [f"SELECT id FROM {table} WHERE id = 1" for table in tables]):
        (finding,) = found(busy, "key-cache-flushed-by-table-closes", site)
        assert "its size is not the cause" in finding.message
        assert found(busy, "table-cache-too-small", site)
        assert found(busy, "key-buffer-too-small", site) == []
        busy.execute(f"SET GLOBAL table_open_cache = {max(int(str(before)), 2000)}")
        found(busy, "table-cache-too-small", site)  # every table is opened once more
        assert found(busy, "key-cache-flushed-by-table-closes", site) == []
    busy.execute(f"SET GLOBAL table_open_cache = {before}")


def test_rows_by_key_from_memory_are_worth_mapping_and_then_are_mapped(busy: PrivateServer) -> None:
    if busy.binaries.name.startswith("mariadb"):
        busy.execute("SET GLOBAL userstat = ON")
    by_key = ["SELECT SUM(LENGTH(pad)) FROM t FORCE INDEX (PRIMARY) WHERE id BETWEEN 10 AND 15000"] * 2
    with working(busy, "work", by_key):
        (finding,) = found(busy, "mmap-enable")
        # Without a proof the trial is offered; what it would prove worth it is then done by hand.
        assert finding.commands == ("myisam-advisor trial mmap --table work.t",)
        busy.execute("SET GLOBAL myisam_use_mmap = ON", "FLUSH TABLES work.t")
        assert wait_for(lambda: int(str(look(busy, SECONDS).single("mysqld")["mapped_data_files"])) >= 1)
        assert found(busy, "mmap-enable") == []
        assert found(busy, "mmap-ineffective") == []
    busy.execute("SET GLOBAL myisam_use_mmap = OFF", "FLUSH TABLES")
