"""The reader of .frm files against what the servers say of the same tables; lists of MERGE tables as they write them."""

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.facts.columns import Row
from myisam_exporter.files.frm_definition import UTF8MB3, TableDefinition
from myisam_exporter.files.frm_structure import parse_structure
from myisam_exporter.files.structure import Structure
from tests.support.frm import MYSQL_5_5, parsed, pieces, with_old_types
from tests.support.program import run
from tests.support.servers import keeps_dictionary

from .conftest import look, on_every_server, schema

# What the look reads of a definition, where it reads one: MySQL before 8.0. Before 5.6.4 each TIME and TIMESTAMP column is of the old kind.
READ_FROM_FRM = {"mysql-5.5": (50534, 2, 0, 2), "mysql-5.6": (50624, 0, 0, 2)}
# MariaDB tells a collation once for each character set since 10.10.
COLLATIONS_OF_SETS = (10, 10)
COLUMNS = "(a INT, t TIME, s TIMESTAMP NULL, y YEAR, v VARCHAR(20) CHARACTER SET utf8, x TEXT CHARACTER SET utf8 COLLATE utf8_bin, w CHAR(9) CHARACTER SET utf8mb4, KEY (a))"


def row_of(server: PrivateServer, table: str) -> Row:
    (row,) = [row for row in look(server).tables["tables"].dictionaries() if row["table_name"] == table]
    return row


@on_every_server
def test_a_definition_is_what_the_server_says(server: PrivateServer) -> None:
    with schema(server, "defined") as name:
        server.execute(f"CREATE TABLE t {COLUMNS} ENGINE=MyISAM DEFAULT CHARSET=utf8", database=name)
        row = row_of(server, "t")
        told = tuple(row[column] for column in ("created_version", "old_temporal_columns", "obsolete_columns", "utf8mb3_columns"))
        assert told == READ_FROM_FRM.get(server.binaries.name, (None, None, None, None))
        if keeps_dictionary(server):
            return
        collation = server.execute("SELECT TABLE_COLLATION FROM information_schema.TABLES WHERE TABLE_NAME = 't' AND TABLE_SCHEMA = 'defined'")[0][0]
        found = definition_of(server, "t")
        major, minor, patch = version_of(server)
        assert found.created_version == major * 10_000 + minor * 100 + patch
        assert (found.old_temporal_columns, found.obsolete_columns, found.utf8mb3_columns) == READ_FROM_FRM.get(server.binaries.name, (0, 0, 0, 2))[1:]
        assert structure_of(server, "t").collation == collations(server)[str(collation)][0]


def definition_of(server: PrivateServer, table: str) -> TableDefinition:
    return parsed((server.data_directory / "defined" / f"{table}.frm").read_bytes())


def structure_of(server: PrivateServer, table: str) -> Structure:
    return parse_structure(pieces((server.data_directory / "defined" / f"{table}.frm").read_bytes()))


def version_of(server: PrivateServer) -> tuple[int, ...]:
    return tuple(map(int, str(server.execute("SELECT VERSION()")[0][0]).partition("-")[0].split(".")))


def collations(server: PrivateServer) -> dict[str, tuple[int, str]]:
    """Number and character set by name; MariaDB's newer ones are for several character sets."""
    by_set = "mariadb" in server.binaries.name and version_of(server) >= COLLATIONS_OF_SETS
    source, name = ("COLLATION_CHARACTER_SET_APPLICABILITY", "FULL_COLLATION_NAME") if by_set else ("COLLATIONS", "COLLATION_NAME")
    rows = server.execute(f"SELECT {name}, ID, CHARACTER_SET_NAME FROM information_schema.{source} WHERE ID IS NOT NULL")
    return {str(row[0]): (int(str(row[1])), str(row[2])) for row in rows}


def test_utf8mb3_is_known_by_the_numbers_of_its_collations(server: PrivateServer) -> None:
    known = collations(server).values()
    theirs = {number for number, charset in known if charset in ("utf8", "utf8mb3")}
    others = {number for number, charset in known} - theirs
    assert len(theirs) > 20
    assert theirs <= UTF8MB3
    assert not others & UTF8MB3


def test_partitioned_and_merge_tables(server: PrivateServer) -> None:
    with schema(server, "defined") as name, schema(server, "de-fined"):
        server.execute("CREATE TABLE one (a INT) ENGINE=MyISAM", "CREATE TABLE alone (a INT) ENGINE=MyISAM", database=name)
        server.execute("CREATE TABLE `tw o` (a INT) ENGINE=MyISAM", database="de-fined")
        server.execute("CREATE TABLE both_of (a INT) ENGINE=MERGE UNION=(defined.one, `de-fined`.`tw o`) INSERT_METHOD=LAST", database=name)
        assert {table: row_of(server, table)["merge_tables"] for table in ("one", "tw o", "alone")} == {"one": "defined.both_of", "tw o": "defined.both_of", "alone": None}
        server.execute("ALTER TABLE both_of UNION=(one)", database=name)
        assert row_of(server, "tw o")["merge_tables"] is None
        if keeps_dictionary(server):
            return
        assert structure_of(server, "both_of").engine == "MRG_MyISAM"
        server.execute("CREATE TABLE parted (a INT, t TIMESTAMP NULL) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 3", database=name)
        structure = structure_of(server, "parted")
        assert (structure.engine, structure.partitioned) == ("MyISAM", True)
        row = row_of(server, "parted")
        assert (row["created_version"], row["partitions"]) == (definition_of(server, "parted").created_version if server.binaries.name in READ_FROM_FRM else None, 3)


@pytest.mark.parametrize("table", ["plain", "wide"])
def test_a_column_of_before_5_6_4_is_one_to_the_server_too(running: object, table: str) -> None:
    server = running("mysql-5.6")  # type: ignore[operator]
    more = ", ".join(f"c{number} INT COMMENT '{'x' * 50}'" for number in range(500 if table == "wide" else 1))
    with schema(server, "defined") as name:
        server.execute(f"CREATE TABLE {table} (t TIME, s TIMESTAMP NULL, {more}) ENGINE=MyISAM", "FLUSH TABLES", database=name)
        assert row_of(server, table)["old_temporal_columns"] == 0
        server.execute("FLUSH TABLES")
        with_old_types(server.data_directory / "defined" / f"{table}.frm")
        shown = "SET SESSION show_old_temporals = ON", f"SHOW CREATE TABLE {table}"
        assert str(server.execute(*shown, database=name)[0][1]).count("/* 5.5 binary format */") == 2
        row = row_of(server, table)
        assert (row["old_temporal_columns"], row["created_version"]) == (2, MYSQL_5_5)
        # MySQL 5.6 itself has nothing against them: its CHECK says nothing, its ALTER and its REPAIR write the newer format.
        assert [str(row[3]) for row in server.execute(f"CHECK TABLE {table} FOR UPGRADE", database=name)] == ["OK"]
        server.execute(f"ALTER TABLE {table} FORCE", database=name)
        row = row_of(server, table)
        assert (row["old_temporal_columns"], row["created_version"]) == (0, 50624)
        assert "5.5 binary format" not in str(server.execute(*shown, database=name)[0][1])


def test_a_year_of_two_digits_is_one_to_the_server_too(running: object) -> None:
    server = running("mysql-5.6")  # type: ignore[operator]
    with schema(server, "defined") as name:
        server.execute("CREATE TABLE years (y YEAR, a INT) ENGINE=MyISAM", "FLUSH TABLES", database=name)
        assert row_of(server, "years")["obsolete_columns"] == 0
        server.execute("FLUSH TABLES")
        with_old_types(server.data_directory / "defined" / "years.frm")
        assert "year(2)" in str(server.execute("SHOW CREATE TABLE years", database=name)[0][1])
        assert "Table upgrade required" in str(server.execute("CHECK TABLE years FOR UPGRADE", database=name)[0][3])
        assert row_of(server, "years")["obsolete_columns"] == 1
        server.execute("ALTER TABLE years FORCE", database=name)
        assert row_of(server, "years")["obsolete_columns"] == 0


def test_damaged_definitions_are_told_of_beside_what_is_known(running: object) -> None:
    server = running("mysql-5.6")  # type: ignore[operator]
    with schema(server, "defined") as name:
        parted = "CREATE TABLE parted (a INT) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 2"
        server.execute(parted, "CREATE TABLE lost (a INT) ENGINE=MyISAM", "FLUSH TABLES", database=name)
        path = server.data_directory / "defined" / "lost.frm"
        whole = path.read_bytes()
        path.write_bytes(b"\xff" * len(whole))
        try:
            assert [note.reason for note in look(server).notes if ".frm" in note.reason] == ["the definitions (.frm) of 1 table cannot be read: defined.lost"]
            told = " ".join(run("check", "upgrade-blockers", "--interval", "0", "--socket", server.socket, "--user", "root").stdout.split())
            assert "1 MyISAM table is partitioned (defined.parted)" in told
            assert "What the definition of 1 table (defined.lost) would add is unknown" in told
            assert "defined.lost" in run("doctor", "--socket", server.socket, "--user", "root").stdout
        finally:
            path.write_bytes(whole)
