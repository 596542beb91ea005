"""Further findings provoked for real: mapping, the table cache, packed keys, named caches."""

import time

from demo.load import InsertLoad
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.live import collect_facts
from tests.support.servers import CopiedServer, binaries_of, keeps_dictionary, repeating, working

from .conftest import look, schema, target, with_thresholds
from .test_verdicts import under_load


def findings(server: PrivateServer, rule: str, seconds: float = 1.0) -> list[Finding]:
    return [found for found in judge(prepared(look(server, seconds), Site(shipped_rules()))).findings if found.rule == rule]


def test_mapping_that_maps_nothing_is_told(server: PrivateServer) -> None:
    dead = keeps_dictionary(server)
    with schema(server, "mapped") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2)", "SELECT * FROM t", database=name)
        server.execute("SET GLOBAL myisam_use_mmap = ON")
        try:
            (found,) = findings(server, "mmap-ineffective", 0)
            assert ("never map MyISAM tables" in found.message) == dead
            # Mapping is not made to happen where no trial proved it.
            assert found.commands[:1] == (() if dead else ("SET GLOBAL myisam_use_mmap = OFF;",))
            server.execute("FLUSH TABLES", "SELECT * FROM t", database=name)
            facts = look(server)
            assert facts.single("mysqld")["mapped_data_files"] == (0 if dead else 1)
            assert bool(findings(server, "mmap-ineffective", 0)) == dead
            # Nor is one that was emptied mapped again while it stays open.
            server.execute("DELETE FROM t", "INSERT INTO t VALUES (1), (2)", database=name)
            (found,) = findings(server, "mmap-ineffective", 0)
            assert ("or have been emptied since" in found.message) != dead
        finally:
            server.execute("SET GLOBAL myisam_use_mmap = OFF", "FLUSH TABLES")


def test_one_index_that_cannot_be_sorted_keeps_the_others_from_it(server: PrivateServer) -> None:
    """What `repair-with-keycache` and the gate say of such tables (remedies/sort_space.py)."""
    columns = "a INT NOT NULL, v VARCHAR(200) NOT NULL, g GEOMETRY NOT NULL, KEY (a)"

    def key_writes() -> int:
        return int(str(server.execute("SHOW GLOBAL STATUS LIKE 'Key_write_requests'")[0][1]))

    with schema(server, "sorted") as name:
        server.execute(*(f"CREATE TABLE {table} ({columns}{further}) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4" for table, further in (("plain", ""), ("words", ", KEY (v)"), ("shapes", ", SPATIAL KEY (g)"))), database=name)
        rows = ", ".join(f"({number}, 'word{number % 7}', ST_GeomFromText('POINT({number} 1)'))" for number in range(1000))
        server.execute(*(f"INSERT INTO {table} VALUES {rows}" for table in ("plain", "words", "shapes")), database=name)

        def written_by_repair(table: str, limit: str) -> int:
            server.execute(f"SET GLOBAL myisam_max_sort_file_size = {limit}")
            before = key_writes()
            server.execute(f"REPAIR TABLE {table}", database=name)
            return key_writes() - before

        try:
            assert written_by_repair("plain", "0") == written_by_repair("words", "DEFAULT") == 0
            assert written_by_repair("words", "0") >= 2000  # each key of both
            assert written_by_repair("shapes", "DEFAULT") >= 2000
            # Nor where the buffer is too small for so many keys of 800 bytes.
            server.execute("SET GLOBAL myisam_sort_buffer_size = 4096")
            assert written_by_repair("words", "DEFAULT") >= 2000
            server.execute("SET GLOBAL myisam_sort_buffer_size = 65536")
            assert written_by_repair("words", "DEFAULT") == 0
        finally:
            server.execute("SET GLOBAL myisam_max_sort_file_size = DEFAULT", "SET GLOBAL myisam_sort_buffer_size = DEFAULT")


def test_a_table_cache_that_is_too_small_is_found() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--table-open-cache=20", "--table-open-cache-instances=1", "--open-files-limit=4096"]) as server:
        server.execute("CREATE DATABASE d", *(f"CREATE TABLE d.t{number} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for number in range(200)))
        with repeating(server, "d", [f"SELECT COUNT(*) FROM t{number}" for number in range(200)]):
            (found,) = findings(server, "table-cache-too-small")
            assert found.confidence == "confirmed"
            server.execute(*(command.rstrip(";") for command in found.commands))
            time.sleep(1)
            assert findings(server, "table-cache-too-small") == []


def test_scans_that_look_for_something_are_told_and_a_dump_is_not(server: PrivateServer) -> None:
    # Whatever else is busy on this machine, that many rows are read.
    site = with_thresholds("full-scan-no-index", minimum_rows_per_second=1000)
    with schema(server, "dumped") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, c VARCHAR(100) NOT NULL) ENGINE=MyISAM", f"INSERT INTO t (c) VALUES ('{'x' * 90}')", database=name)
        server.execute(*["INSERT INTO t (c) SELECT c FROM t"] * 14, database=name)
        told = {}
        for statement in ("SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "SELECT COUNT(*) FROM t WHERE c LIKE '%y%'"):
            with working(server, name, [statement]):
                time.sleep(0.3)
                judgement = judge(prepared(look(server, 2.0), site))
            told[statement[:12]] = {one.rule for one in judgement.findings}, {one.rule: one.why for one in judgement.dropped}
    (dumped, dropped), (sought, _) = told.values()
    assert "full-scan-no-index" in sought
    assert "full-scan-no-index" not in dumped
    assert "go to clients as they are" in dropped["full-scan-no-index"]


def test_packed_keys_are_found_and_grow_no_further_than_predicted(server: PrivateServer) -> None:
    with under_load(server, InsertLoad(rows_per_insert=10, threads=4, tables=4)):
        found = findings(server, "pack-keys")
        assert {one.object for one in found} >= {"demo.load_1", "demo.load_2"}
    load = InsertLoad(tables=1, threads=1)
    load.make_tables(server)
    try:
        running = load.start(server, 1)
        running.communicate()
        before = next(row for row in look(server).tables["tables"].dictionaries() if row["table_name"] == "load_1")
        from myisam_advisor.remedies.table_sizes import grown_index_bytes

        predicted = grown_index_bytes(before["rows"], look(server).tables["indexes"].dictionaries())
        server.execute("ALTER TABLE demo.load_1 PACK_KEYS=0")
        after = next(row for row in look(server).tables["tables"].dictionaries() if row["table_name"] == "load_1")
        assert predicted is not None
        assert int(str(before["index_bytes"])) < int(str(after["index_bytes"])) <= predicted
    finally:
        server.execute("DROP DATABASE demo")


def test_named_caches_are_seen(server: PrivateServer) -> None:
    server.execute("SET GLOBAL `warm one`.key_buffer_size = 16777216")
    try:
        facts = collect_facts(target(server), 0, 10, key_caches=("warm one", "never made"))
        caches = {row["name"]: row for row in facts.tables["key_cache"].dictionaries()}
        assert set(caches) == {"default", "warm one", "never made"}
        assert caches["never made"]["size_bytes"] == 0
        assert caches["warm one"]["size_bytes"] == 16777216
        counted = facts.single("server")["initialised_key_caches"]
        if counted is None:
            reason = "do not list" if server.binaries.family == "mysql-bootstrap" else "performance_schema is off"
            assert reason in facts.why_unknown("server", "initialised_key_caches").reason
        else:
            assert int(str(counted)) >= 2
    finally:
        server.execute("SET GLOBAL `warm one`.key_buffer_size = 0")


def test_temporary_tables_of_what_a_dump_asks_are_none_of_a_statements(server: PrivateServer) -> None:
    asked = ["SHOW FULL COLUMNS FROM t", "SHOW TRIGGERS", "SHOW EVENTS", "SHOW PLUGINS", "SHOW PROCEDURE STATUS", "SHOW FUNCTION STATUS"]
    with schema(server, "dumped") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, told TEXT) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x')", database=name)
        with working(server, name, asked):
            facts = look(server, 1.0)
        made = facts.tables["status"].by_name("per_second")["Created_tmp_disk_tables"]
        # From MySQL 8.0 on they are views, which need none.
        assert keeps_dictionary(server) or float(str(made)) > 100
        judgement = judge(prepared(facts, Site(shipped_rules())))
        assert "temporary-tables-on-disk" not in {found.rule for found in judgement.findings} | {outcome.rule for outcome in judgement.not_evaluated}


def test_temporary_tables_of_a_dump_that_asks_information_schema_are_none_of_a_statements(server: PrivateServer) -> None:
    # As mariadb-dump of 10.11 asks for each table, in one connection.
    asked = [
        "SHOW CREATE TABLE t",
        "SELECT column_name, extra, data_type FROM information_schema.columns WHERE table_schema = database() AND table_name = 't' ORDER BY ordinal_position",
        "SELECT trigger_name FROM information_schema.triggers WHERE event_object_schema = database() AND event_object_table = 't'",
    ]
    with schema(server, "dumped") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, told TEXT) ENGINE=MyISAM", database=name)
        with repeating(server, name, asked):
            facts = look(server, 1.0)
        made = facts.tables["status"].by_name("per_second")["Created_tmp_disk_tables"]
        assert keeps_dictionary(server) or float(str(made)) > 100
        judgement = judge(prepared(facts, Site(shipped_rules())))
        assert "temporary-tables-on-disk" not in {found.rule for found in judgement.findings} | {outcome.rule for outcome in judgement.not_evaluated}
