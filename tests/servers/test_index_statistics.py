"""Reads by index where only userstat counts them: names out of .frm files, what is zero and what is unknown, and the finding that rests on it."""

import time
from collections.abc import Iterator

import pytest

from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Context
from myisam_exporter.facts.columns import Row
from myisam_exporter.files.frm_keys import named_as, parse_keys
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_identifier, quote_table
from myisam_exporter.watching.memory import LookMemory
from tests.support.frm import pieces
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, schema, target, with_thresholds

KINDS = ("mariadb-10.11", "mariadb-11.8")
NAME, ODD_NAME = "id`le/\"'é ключ", "a/b`c'd\"é"
COLUMNS = "a INT NOT NULL, b INT NOT NULL, c INT NOT NULL, z INT NOT NULL, n INT, v VARCHAR(300), w VARCHAR(20) NOT NULL, g POINT NOT NULL, t TEXT"
# Declared in none of the orders that a server may give them.
TABLES = {
    "mixed": f"({COLUMNS}, FULLTEXT KEY words (w), KEY busy (z) COMMENT 'one\\ttwo', SPATIAL KEY place (g), UNIQUE KEY nullable (n), UNIQUE KEY own (c), KEY {quote_identifier(NAME)} (b),"
    " UNIQUE KEY both_null (v(10), n), PRIMARY KEY (a))",
    "no_primary": f"({COLUMNS}, KEY k1 (n), UNIQUE KEY u2 (n, a), UNIQUE KEY u1 (b, a), KEY k0 (a, b, c))",
    "parted": "(a INT NOT NULL, b INT, c INT, KEY late (c), KEY b (b), PRIMARY KEY (a)) PARTITION BY HASH (a) PARTITIONS 3",
    "none": "(a INT)",
    "many": f"({COLUMNS}, " + ", ".join(f"KEY {'é' * 40}{number} (a, b)" for number in reversed(range(64))) + ")",
    "referring": "(a INT NOT NULL PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES other (a))",
}
MARIADB_TABLES = {
    "hashed": f"({COLUMNS}, KEY k (a), UNIQUE KEY long_one (t), UNIQUE KEY long_two (t, v), FULLTEXT KEY f (t))",
    "versioned": "(a INT NOT NULL PRIMARY KEY, b INT, KEY b (b)) WITH SYSTEM VERSIONING",
    "descending": f"({COLUMNS}, KEY up (b, c), KEY down (b DESC, c))",
    "ignored": f"({COLUMNS}, KEY second (b), KEY first (a) IGNORED)",
    "periods": "(id INT, s DATE, e DATE, PERIOD FOR p(s, e), KEY k (s), UNIQUE KEY x (id, p WITHOUT OVERLAPS))",
    "vectors": "(a INT NOT NULL PRIMARY KEY, v VECTOR(4) NOT NULL, b INT, t TEXT, VECTOR KEY vk (v), KEY zb (b), FULLTEXT KEY f (t))",
}
NOT_BEFORE_11_7 = {"vectors"}


@pytest.mark.parametrize("kind", ["mysql-5.6", *KINDS])
def test_both_files_have_the_indexes_in_one_order(running: object, kind: str) -> None:
    server: PrivateServer = running(kind)  # type: ignore[operator]
    tables = TABLES if kind == "mysql-5.6" else TABLES | MARIADB_TABLES
    with schema(server, "named") as database:
        for table, rest in tables.items():
            if table in NOT_BEFORE_11_7 and kind != "mariadb-11.8":
                continue
            columns, _, partitions = rest.partition(" PARTITION")
            server.execute(f"CREATE TABLE {table} {columns} ENGINE=MyISAM" + (f" PARTITION{partitions}" if partitions else ""), database=database)
            keys = parse_keys(pieces((server.data_directory / database / f"{table}.frm").read_bytes()))
            header = parse_header((server.data_directory / database / f"{table}{'#P#p0' if partitions else ''}.MYI").read_bytes())
            shown = list(dict.fromkeys(str(row[2]) for row in server.execute(f"SHOW INDEX FROM {table}", database=database) if row[2] != "vk"))
            assert list(named_as(keys, header.definition.keys or ()) or ()) == shown, table
            assert len(shown) == (header.definition.keys is not None and len(header.definition.keys))


@pytest.fixture(scope="module", params=KINDS)
def counting(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of(request.param), ["--userstat=1", "--performance-schema=OFF"]) as server:
        yield server


def indexes(server: PrivateServer, table: str, seconds: float = 0.0, user: str = "root") -> dict[str, Row]:
    return {str(row["index_name"]): row for row in look(server, seconds, user).tables["indexes"].dictionaries() if row["table_name"] == table}


def reads(server: PrivateServer, table: str) -> dict[str, object]:
    return {name: row["rows_read_since_start"] for name, row in indexes(server, table).items()}


def said(server: PrivateServer, site: Site) -> str:
    return " ".join(finding.message for finding in judge(prepared(complete(look(server)), site)).findings if finding.rule == "duplicate-indexes")


def fill(server: PrivateServer, database: str, table: str) -> None:
    server.execute(f"CREATE TABLE {quote_table(database, table)} {TABLES['mixed']} ENGINE=MyISAM")
    rows = ", ".join(f"({number}, {number}, {number}, {number}, {number}, 'v{number}', 'word{number}', POINT({number}, 1))" for number in range(300))
    server.execute(f"INSERT INTO {quote_table(database, table)} (a, b, c, z, n, v, w, g) VALUES {rows}")


def test_reads_are_counted_by_name_and_what_was_never_used_is_found(counting: PrivateServer) -> None:
    site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=100, minimum_index_bytes=1)
    with schema(counting, "od/d name") as database:
        fill(counting, database, ODD_NAME)
        table = quote_table(database, ODD_NAME)
        counting.execute(f"SELECT COUNT(z) FROM {table} FORCE INDEX (busy) WHERE z >= 0", f"SELECT a FROM {table} WHERE a = 7", f"SELECT a FROM {table} WHERE MATCH (w) AGAINST ('word7')")
        counting.execute(f"SELECT COUNT(*) FROM {table} FORCE INDEX (place) WHERE MBRContains(g, POINT(3, 1))")
        assert reads(counting, ODD_NAME) == {"PRIMARY": 1, "own": 0, "nullable": 0, "both_null": 0, "busy": 300, NAME: 0, "place": 1, "words": None}
        row = indexes(counting, ODD_NAME)["busy"]
        assert (row["index_number"], row["reads_counted_seconds"]) == (5, 0)
        assert 0.9 <= float(str(row["reads_counted_ratio"])) <= 1
        message = said(counting, site)
        assert f"7, {quote_identifier(NAME)} (INT NOT NULL) gave no row that was counted" in message
        assert "userstat counted 300 rows that statements read by another index of the table" in message
        # A month is what it wants, and the table is of today.
        assert said(counting, with_thresholds("duplicate-indexes", minimum_rows_read=100, minimum_index_bytes=1)) == ""


def test_what_userstat_does_not_count_is_told(counting: PrivateServer) -> None:
    """Look-ups that find nothing, and what two indexes read together: that such an index gave no row is no proof, and the advice says so."""
    site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=100, minimum_index_bytes=1)
    with schema(counting, "unseen") as database:
        rows = ", ".join(f"({number}, {number % 100}, {number % 97}, {number}, 'x')" for number in range(2000))
        counting.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b INT NOT NULL, c INT NOT NULL, z INT NOT NULL, v CHAR(90) NOT NULL, KEY b (b), KEY c (c), KEY z (z)) ENGINE=MyISAM", f"INSERT INTO t VALUES {rows}", database=database)
        together = "SELECT MAX(v) FROM t FORCE INDEX (b, c) WHERE b = 5 OR c = 5"
        assert "union(b,c)" in str(counting.execute(f"EXPLAIN {together}", database=database))
        counting.execute(together, "SELECT v FROM t FORCE INDEX (z) WHERE z = 5000", "SELECT MAX(v) FROM t FORCE INDEX (PRIMARY) WHERE a BETWEEN 1 AND 1000", database=database)
        assert reads(counting, "t") == {"PRIMARY": 1000, "b": 0, "c": 0, "z": 0}
        (found,) = [finding for finding in judge(prepared(complete(look(counting)), site)).findings if finding.rule == "duplicate-indexes"]
        assert "does not count look-ups by an index that find nothing" in found.recommendation
        assert "several indexes together (index_merge)" in found.recommendation


def test_looking_opens_no_table_and_reads_no_row(counting: PrivateServer) -> None:
    with schema(counting, "closed") as database:
        fill(counting, database, "t")
        counting.execute("SELECT a FROM t WHERE a = 7", "FLUSH TABLES", database=database)
        before = counting.execute("SHOW GLOBAL STATUS WHERE Variable_name IN ('Opened_tables', 'Opened_table_definitions', 'Open_tables', 'Rows_read')")
        assert reads(counting, "t")["PRIMARY"] == 1
        assert counting.execute("SHOW GLOBAL STATUS WHERE Variable_name IN ('Opened_tables', 'Opened_table_definitions', 'Open_tables', 'Rows_read')") == before


def test_reads_of_partitions_are_unknown_and_a_damaged_definition_is_told_of(counting: PrivateServer) -> None:
    with schema(counting, "parts") as database:
        columns, _, partitions = TABLES["parted"].partition(" PARTITION")
        counting.execute(f"CREATE TABLE p {columns} ENGINE=MyISAM PARTITION{partitions}", "INSERT INTO p VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)", "SELECT c FROM p FORCE INDEX (late) WHERE c > 0", database=database)
        assert reads(counting, "p") == {"PRIMARY": None, "late": None, "b": None}
        fill(counting, database, "t")
        counting.execute("SELECT a FROM t WHERE a = 7", database=database)
        path = counting.data_directory / database / "t.frm"
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + b"\xff" * 400 + whole[500:])
        try:
            assert list(indexes(counting, "t")) == ["None"]
            assert [note.reason for note in look(counting).notes if ".frm" in note.reason] == ["the names of indexes in the definitions (.frm) of 1 table cannot be read: parts.t"]
        finally:
            path.write_bytes(whole)
        assert reads(counting, "t")["PRIMARY"] == 1


def test_what_an_alter_and_a_rename_leave_is_not_taken_for_unused(counting: PrivateServer) -> None:
    with schema(counting, "changed") as database:
        fill(counting, database, "t")
        counting.execute("SELECT COUNT(z) FROM t FORCE INDEX (busy) WHERE z >= 0", database=database)
        counting.execute("ALTER TABLE t DROP KEY own, ADD KEY late (b, z)", database=database)
        found = reads(counting, "t")
        assert (found["busy"], found["late"], "own" in found) == (300, 0, False)
        counting.execute("ALTER TABLE t RENAME INDEX busy TO idle", database=database)
        assert reads(counting, "t")["idle"] is None


def test_the_share_tells_of_counters_that_were_set_back_or_began_late(counting: PrivateServer) -> None:
    def share(table: str) -> float:
        return float(str(indexes(counting, table)["PRIMARY"]["reads_counted_ratio"]))

    with schema(counting, "late") as database:
        fill(counting, database, "t")
        read_all = "SELECT COUNT(z) FROM t FORCE INDEX (busy) WHERE z >= 0"
        counting.execute(*[read_all] * 20, database=database)
        assert share("t") > 0.7
        counting.execute("FLUSH INDEX_STATISTICS", read_all, database=database)
        assert share("t") < 0.2
        counting.execute("SET GLOBAL userstat = OFF", *[read_all] * 20, database=database)
        facts = look(counting)
        assert not facts.tables["indexes"].has("rows_read_since_start")
        assert facts.unknown["indexes.rows_read_since_start"].remedy == "SET GLOBAL userstat=ON;"
        counting.execute("SET GLOBAL userstat = ON")
        counting.execute("SELECT a FROM t WHERE a = 7", database=database)
        assert share("t") < 0.2
        site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=100, minimum_index_bytes=1)
        assert reads(counting, "t")[NAME] == 0
        assert "no row that was counted" not in said(counting, site)


def test_an_account_sees_the_counters_of_its_own_tables_alone(counting: PrivateServer) -> None:
    with schema(counting, "sight") as database:
        fill(counting, database, "t")
        counting.execute("SELECT a FROM t WHERE a = 7", database=database)
        counting.execute("CREATE USER looker@localhost", "GRANT PROCESS ON *.* TO looker@localhost")
        try:
            facts = look(counting, user="looker")
            assert not facts.tables["indexes"].has("index_name")
            assert "the account may SELECT from none of them" in facts.unknown["indexes.rows_read_since_start"].reason
            counting.execute("GRANT SELECT ON sight.* TO looker@localhost")
            assert indexes(counting, "t", user="looker")["PRIMARY"]["rows_read_since_start"] == 1
        finally:
            counting.execute("DROP USER looker@localhost")


def test_a_rate_comes_of_an_interval(counting: PrivateServer) -> None:
    with schema(counting, "rates") as database:
        fill(counting, database, "t")
        counting.execute("SELECT a FROM t WHERE a = 7", database=database)
        found = indexes(counting, "t", 0.5)
        assert (found["PRIMARY"]["rows_read_per_second"], found["busy"]["rows_read_per_second"], found["words"]["rows_read_per_second"]) == (0, 0, None)


def test_a_look_after_the_first_reads_no_definition_again(counting: PrivateServer) -> None:
    with schema(counting, "again") as database, Session(target(counting), 10) as session:
        fill(counting, database, "t")
        counting.execute("SELECT a FROM t WHERE a = 7", database=database)
        memory, context = LookMemory(TableChooser()), Context(session.target, session)
        memory.lend(context)
        time.sleep(0.2)  # what changed within this tick of the file system's clock may change again unseen
        first = Interval(take_snapshot(context)).facts()
        read = memory.index_names.files_read
        other = Context(session.target, session)
        memory.lend(other)
        assert Interval(take_snapshot(other)).facts().tables["indexes"].values("index_name") == first.tables["indexes"].values("index_name")
        assert memory.index_names.files_read == read >= 1
        counting.execute("ALTER TABLE t ADD KEY later (c, b)", database=database)
        assert "later" in Interval(take_snapshot(other)).facts().tables["indexes"].values("index_name")
        assert memory.index_names.files_read == read + 1
