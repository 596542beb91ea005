"""Rules of the catalogue against real servers: what they find there, and that what they say to run does run."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.faults import OUR_FAULT
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactSet
from tests.rules.test_cases import CASES, judged
from tests.servers.conftest import look, on_every_server, schema, with_thresholds
from tests.support.servers import working


def found(server: PrivateServer, rule: str, site: Site | None = None, seconds: float = 0.0) -> list[Finding]:
    facts = complete(look(server, seconds))
    return [finding for finding in judge(prepared(facts, site or Site(shipped_rules()))).findings if finding.rule == rule]


@pytest.fixture
def database(server: PrivateServer) -> Iterator[str]:
    with schema(server, "catalogue") as name:
        yield name


@on_every_server
def test_every_shipped_rule_is_judged_or_says_what_it_needs(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b CHAR(20), KEY (b)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x')", database=database)
    judgement = judge(prepared(look(server, 1.0), Site(shipped_rules())))
    spoken = {finding.rule for finding in judgement.findings} | {outcome.rule for outcome in judgement.not_evaluated} | set(judgement.quiet)
    spoken |= {outcome.rule for outcome in judgement.not_applicable} | {dropped.rule for dropped in judgement.dropped}
    assert spoken == {rule.id for rule in shipped_rules()}
    assert not [outcome for outcome in judgement.not_evaluated if outcome.how == OUR_FAULT or "that works" in outcome.needs]
    assert judgement.suspicious == []
    # An idle server with one tiny table: nothing to change, but what MySQL leaves off by default.
    defaults = set() if server.binaries.name.startswith("mariadb") else {"recovery-disabled"}
    assert {finding.rule for finding in judgement.findings} == defaults


def test_disabled_indexes_are_found_and_the_command_enables_them(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE `od``d` (a INT NOT NULL PRIMARY KEY, b CHAR(20), KEY (b)) ENGINE=MyISAM", database=database)
    numbers = " UNION ALL ".join(f"SELECT {number}" for number in range(40))
    server.execute(f"INSERT INTO `od``d` SELECT x.n * 40 + y.n, 'z' FROM (SELECT 0 AS n UNION ALL {numbers}) AS x, ({numbers.replace('SELECT 0', 'SELECT 0 AS n', 1)}) AS y GROUP BY 1", database=database)
    assert found(server, "full-scan-no-index") == []
    server.execute("ALTER TABLE `od``d` DISABLE KEYS", database=database)
    # It was filled a moment ago: somebody may be loading it.
    assert found(server, "full-scan-no-index") == []
    (finding,) = found(server, "full-scan-no-index", with_thresholds("full-scan-no-index", recent_change_seconds=0))
    assert finding.object == "catalogue.`od``d`"
    server.execute(*(command.rstrip(";") for command in finding.commands))
    assert found(server, "full-scan-no-index") == []


def test_a_load_with_disabled_indexes_is_left_alone(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE loaded (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b CHAR(20), KEY (b)) ENGINE=MyISAM", database=database)
    rows = ", ".join(["('x')"] * 2000)
    server.execute(f"INSERT INTO loaded (b) VALUES {rows}", "ALTER TABLE loaded DISABLE KEYS", database=database)
    with working(server, database, [f"INSERT INTO loaded (b) VALUES {rows}"]):
        for seconds in (0.0, 1.0):
            judgement = judge(prepared(look(server, seconds), Site(shipped_rules())))
            assert not any("ENABLE KEYS" in command for finding in judgement.findings for command in finding.commands)
            (why,) = (one.why for one in judgement.dropped if one.rule == "full-scan-no-index" and one.object == "catalogue.loaded")
            assert "is being loaded" in why or "may be under way" in why


def test_scattered_rows_are_found_and_optimize_mends_them(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b VARCHAR(2000)) ENGINE=MyISAM CHARSET=latin1", database=database)
    with server.session(database) as connection, contextlib.closing(connection.cursor()) as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s, 'short')", [(number,) for number in range(2000)])
        cursor.execute("UPDATE t SET b = REPEAT('long', 200)")
    site = with_thresholds("fragmented-table", minimum_data_bytes=100_000)
    (finding,) = found(server, "fragmented-table", site)
    assert "pieces on average" in finding.message
    server.execute(*(command.rstrip(";") for command in finding.commands))
    assert found(server, "fragmented-table", site) == []


def test_fixed_format_is_offered_only_where_the_columns_allow_it(server: PrivateServer, database: str) -> None:
    server.execute(
        "CREATE TABLE short (a INT NOT NULL, b VARCHAR(20)) ENGINE=MyISAM CHARSET=latin1",
        "CREATE TABLE wide (a INT NOT NULL, b VARCHAR(900)) ENGINE=MyISAM CHARSET=latin1",
        "CREATE TABLE texts (a INT NOT NULL, b TEXT) ENGINE=MyISAM CHARSET=latin1",
        *(f"INSERT INTO {table} VALUES (1, 'nineteen letters ..'), (2, 'nineteen letters ..')" for table in ("short", "wide", "texts")),
        database=database,
    )
    rows = {row["table_name"]: row for row in look(server).tables["tables"].dictionaries()}
    assert [rows[name]["fixed_row_bytes"] is None for name in ("short", "wide", "texts")] == [False, False, True]
    assert [rows[name]["blob_columns"] for name in ("short", "wide", "texts")] == [0, 0, 1]
    before = rows["short"]["fixed_row_bytes"]
    server.execute("ALTER TABLE short ROW_FORMAT=FIXED", database=database)
    after = next(row for row in look(server).tables["tables"].dictionaries() if row["table_name"] == "short")
    assert (after["row_format"], after["data_bytes"]) == ("fixed", 2 * int(str(before)))


def test_a_sort_that_would_not_be_allowed_is_foreseen(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE t (a INT NOT NULL, b VARCHAR(100), KEY (a), KEY (b)) ENGINE=MyISAM CHARSET=latin1", database=database)
    server.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')", database=database)
    limit = server.execute("SELECT @@GLOBAL.myisam_max_sort_file_size")[0][0]
    site = with_thresholds("repair-with-keycache", minimum_sort_bytes=1, maximum_entry_bytes=10**9)
    assert found(server, "repair-with-keycache", site) == []
    try:
        server.execute("SET GLOBAL myisam_max_sort_file_size = 0")
        (finding,) = found(server, "repair-with-keycache", site)
        assert finding.object == "catalogue.t"
    finally:
        server.execute(f"SET GLOBAL myisam_max_sort_file_size = {limit}")


@on_every_server
def test_a_repair_through_the_key_cache_is_seen(server: PrivateServer, database: str) -> None:
    """Its state is the engine's own word, which performance_schema does not know; on MySQL 5.6 it is asked for only where the work has lasted."""
    server.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b VARCHAR(100), KEY (b)) ENGINE=MyISAM CHARSET=latin1", "INSERT INTO t VALUES (1, 'x')", database=database)
    for power in range(15):
        server.execute(f"INSERT INTO t SELECT a + {2**power}, LEFT(SHA2(a + {2**power}, 256), 40) FROM t", database=database)
    limit = server.execute("SELECT @@GLOBAL.myisam_max_sort_file_size")[0][0]
    try:
        server.execute("SET GLOBAL myisam_max_sort_file_size = 0")
        with working(server, database, ["REPAIR TABLE t"]):
            seen = [found(server, "repair-with-keycache") for _ in range(6)]
    finally:
        server.execute(f"SET GLOBAL myisam_max_sort_file_size = {limit}")
    assert any(seen) == (server.binaries.name != "mysql-5.6")
    assert {finding.severity for findings in seen for finding in findings} <= {"warning"}


def test_what_stands_in_the_way_of_innodb_does(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE grouped (g INT NOT NULL, n INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (g, n)) ENGINE=MyISAM", "CREATE TABLE plain (n INT NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", database=database)
    within = {row["table_name"]: row["auto_increment_within_index"] for row in look(server).tables["tables"].dictionaries()}
    assert within == {"grouped": 1, "plain": 0}
    with pytest.raises(Error, match=r"auto column|auto_increment|Incorrect table definition"):
        server.execute("ALTER TABLE grouped ENGINE=InnoDB", database=database)
    server.execute("ALTER TABLE plain ENGINE=InnoDB", database=database)


def test_a_layout_that_a_restart_lost_is_found(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", database=database)
    plan = Path(str(server.execute("SELECT @@datadir")[0][0])) / "caches.sql"
    plan.write_text("CACHE INDEX `catalogue`.`t` IN hot_2;\n")
    server.give_away(plan)
    site = with_thresholds("key-cache-layout-lost", minimum_uptime_seconds=0, minimum_requests=0)
    try:
        # The cache was made by SET GLOBAL only: after the restart the init_file's statement fails, and nothing says so but the log.
        server.restart([f"--init-file={plan}"])
        (finding,) = found(server, "key-cache-layout-lost", site)
        assert "(hot_2)" in finding.message
        server.execute("SET GLOBAL hot_2.key_buffer_size = 8388608", "CACHE INDEX catalogue.t IN hot_2", "SELECT * FROM catalogue.t WHERE a = 1")
        caches = {row["name"]: row for row in look(server).tables["key_cache"].dictionaries()}
        assert caches["hot_2"]["size_bytes"] == 8388608
    finally:
        plan.unlink()
        server.restart()


SETTING = re.compile(r"SET GLOBAL ((?:\w+\.)?(\w+)) = (\S+);")
LARGEST_BUFFER_BYTES = 64 << 20


@pytest.fixture(scope="session")
def settings() -> list[tuple[str | None, str, str, str]]:
    """What the findings of all cases set: the flavour that the case is about, the variable as it is written, its name, the value."""
    return [
        (case["facts"].get("server", {}).get("flavour"), *match.groups())
        for _, case in CASES
        for finding in judged(case).findings
        for command in (*finding.commands, *finding.undo_commands)
        if (match := SETTING.fullmatch(command))
    ]


def affordable(name: str, value: str) -> str:
    """The value, but for key buffers larger than this machine: of these what is left beyond whole ones, as odd as they are."""
    return str(int(value) % LARGEST_BUFFER_BYTES or LARGEST_BUFFER_BYTES) if name == "key_buffer_size" and int(value) > LARGEST_BUFFER_BYTES else value


def test_every_setting_that_a_rule_recommends_is_accepted(server: PrivateServer, settings: list[tuple[str | None, str, str, str]]) -> None:
    """SET GLOBAL out of all cases, on the servers that have the variable and that the case is about."""
    variables = {str(name): str(value) for name, value in server.execute("SHOW GLOBAL VARIABLES")}
    if variables.get("query_cache_type") == "OFF":
        del variables["query_cache_type"]  # MySQL 5.6 refuses even OFF where the server was started so (error 1651)
    family = "mariadb" if server.binaries.name.startswith("mariadb") else "mysql"
    wanted = sorted({(written, name, affordable(name, value)) for flavour, written, name, value in settings if flavour in (None, family) and name in variables})
    assert len(wanted) > 10
    for written, _, value in wanted:
        server.execute(f"SET GLOBAL {written} = {value}")
    for written, name in sorted({(written, name) for written, name, _ in wanted}):
        former = "0" if "." in written else variables[name]
        server.execute(f"SET GLOBAL {written} = {former if former.lstrip('-').isdigit() else repr(former)}")


@on_every_server
def test_facts_of_a_real_server_contradict_nothing(server: PrivateServer, database: str) -> None:
    server.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b CHAR(20), KEY (b)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x')", "DELETE FROM t", database=database)
    facts: FactSet = complete(look(server, 0.5))
    assert judge(prepared(facts, Site(()))).suspicious == []
    host = facts.single("host")
    assert all(isinstance(host[name], int) and host[name] for name in ("data_directory_free_bytes", "temporary_directory_free_bytes"))


def test_a_counter_on_the_read_path_is_named_and_its_migration_weighed(server: PrivateServer, database: str) -> None:
    if server.binaries.name == "mysql-5.5":
        pytest.skip("MySQL 5.5 does not count what is done to a table")
    server.execute("CREATE TABLE views (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, pad CHAR(50) CHARACTER SET latin1) ENGINE=MyISAM", database=database)
    with server.session(database) as connection, contextlib.closing(connection.cursor()) as cursor:
        # On fast processors a scan of a third of them takes less than the millisecond below which waits are moments.
        cursor.executemany("INSERT INTO views VALUES (%s, 0, 'x')", [(number,) for number in range(60000)])
    if server.binaries.name.startswith("mariadb"):
        server.execute("SET GLOBAL userstat = ON")
    try:
        # One writes: of several each lets the next in before the readers, and on a busy machine most statements are updates that wait for moments.
        with working(server, database, ["UPDATE views SET n = n + 1 WHERE id = 7"] + ["SELECT COUNT(*) FROM views WHERE pad = 'y'"] * 3):
            facts = complete(look(server, 2.0))
        row = next(row for row in facts.tables["tables"].dictionaries() if row["table_name"] == "views")
        assert float(str(row["rows_changed_per_second"])) > 0  # one writer among readers: 4 a second where other tests have the processors
        assert row["rows_added_per_second"] == 0
        said = {finding.rule: finding for finding in judge(prepared(facts, Site(shipped_rules()))).findings}
        assert "as with a counter on the read path: catalogue.views." in said["table-lock-contention"].message
        migration = said["migrate-engine"]
        assert migration.object == "catalogue.views"
        server.execute(*(command.rstrip(";") for command in migration.commands))
        predicted = next(shown.value for shown in migration.evidence if shown.source == "estimated size in InnoDB")
        actual = (server.data_directory / "catalogue" / "views.ibd").stat().st_size
        # Rows of 58 bytes; a tablespace of so little data grows in steps of an extent (1 MiB) and holds some pages of its own.
        assert 0.5 * int(str(predicted)) <= actual <= 2 * int(str(predicted)) + (8 << 20)
    finally:
        if server.binaries.name.startswith("mariadb"):
            server.execute("SET GLOBAL userstat = OFF")
