"""What .frm and .sdi files tell of columns and indexes, against what the servers say of the same tables."""


import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.frm_structure import parse_structure
from myisam_exporter.files.sdi_structure import parse_sdi
from myisam_exporter.files.structure import Structure
from tests.support.applications import all_tables, needs_applications, statement_of
from tests.support.frm import pieces
from tests.support.servers import keeps_dictionary

from .conftest import on_every_server, schema

COLUMNS = """SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, CHARACTER_OCTET_LENGTH, CHARACTER_SET_NAME, EXTRA, COLUMN_DEFAULT
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = '{}' ORDER BY ORDINAL_POSITION"""
INDEXES = """SELECT INDEX_NAME, NON_UNIQUE, INDEX_TYPE, COLUMN_NAME, SUB_PART
    FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = '{}' ORDER BY INDEX_NAME, SEQ_IN_INDEX"""
EVERYTHING = """(
    i INT UNSIGNED NOT NULL AUTO_INCREMENT, t TINYINT, b1 BIT(9), d DECIMAL(20,7), du DECIMAL(5,0) UNSIGNED, f FLOAT, dd DOUBLE, y YEAR,
    da DATE NOT NULL DEFAULT '0000-00-00', dt DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', dn DATETIME NULL, ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    c CHAR(10) CHARACTER SET utf8mb4, v VARCHAR(300) CHARACTER SET latin1 NOT NULL, vb VARBINARY(20), bi BINARY(7), x TEXT, lb LONGBLOB, tb TINYBLOB,
    e ENUM('a','b'), s SET('a','b','c','d','e','f','g','h','i'), g GEOMETRY NOT NULL,
    PRIMARY KEY (i), KEY k (v(10), c, x(5)), UNIQUE KEY u (vb), FULLTEXT KEY ft (x), SPATIAL KEY sp (g)
    ) ENGINE=MyISAM DEFAULT CHARSET=latin1 PACK_KEYS=1 MAX_ROWS=1000 AVG_ROW_LENGTH=90 CHECKSUM=1 DELAY_KEY_WRITE=1 ROW_FORMAT=DYNAMIC"""
FIXED_BYTES = {
    "tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "float": 4, "double": 8, "year": 1, "date": 3, "time": 3, "timestamp": 4,
}  # fmt: skip


def structure_of(server: PrivateServer, database: str, table: str) -> Structure:
    """As the file of the table tells it."""
    folder = server.data_directory / database
    if keeps_dictionary(server):
        found = [told for path in folder.glob(f"{table[:16]}*.sdi") if (told := parse_sdi(path.read_text("utf-8")))[1] == table]
        assert [told[:2] for told in found] == [(database, table)]
        return found[0][2]
    return parse_structure(pieces((folder / f"{table}.frm").read_bytes()))


def compare(server: PrivateServer, database: str, table: str, found: Structure) -> list[str]:
    """What the file tells otherwise than the server."""
    wrong = []
    told = server.execute(COLUMNS.format(database, table))
    if [column.name for column in found.columns] != [row[0] for row in told]:
        return [f"{table}: columns {[column.name for column in found.columns]} of {[row[0] for row in told]}"]
    for column, (name, kind, whole, nullable, octets, charset, extra, default) in zip(found.columns, told, strict=True):
        size = FIXED_BYTES.get(str(kind), octets if kind not in ("enum", "set") else None)
        here = (column.maximum_bytes if size is not None else None, column.nullable, column.auto_increment, column.unsigned if str(kind).endswith("int") else None)
        there = (None if size is None else int(str(size)), nullable == "YES", "auto_increment" in str(extra), "unsigned" in str(whole) if str(kind).endswith("int") else None)
        if here != there:
            wrong.append(f"{table}.{name} {whole}: {here}, and the server says {there}")
        expected = str(charset).replace("utf8mb3", "utf8").replace("utf8", "utf8mb3", 1) if charset and "mb4" not in str(charset) else charset
        if charset and character_set(column.collation)[0] not in ("", expected):
            wrong.append(f"{table}.{name}: {character_set(column.collation)}, and the server says {charset}")
        if column.zero_default != (str(default or "").strip("'").startswith("0000-00-00")):
            wrong.append(f"{table}.{name}: zero {column.zero_default}, and the server says {default}")
    indexes = []
    for index in sorted(found.indexes, key=lambda one: one.name.upper()):
        kind = {"fulltext": "FULLTEXT", "spatial": "SPATIAL"}.get(index.kind, "BTREE")
        for part in index.parts if kind != "SPATIAL" else index.parts[:1]:
            column = found.columns[part.column]
            prefix = part.length // character_set(column.collation)[2] if part.prefix else None
            indexes.append((index.name, not index.unique, kind, column.name, None if kind == "SPATIAL" else prefix))
    rows = sorted(((str(row[0]), bool(row[1]), str(row[2]), str(row[3]), None if row[2] == "SPATIAL" or row[4] is None else int(str(row[4]))) for row in server.execute(INDEXES.format(database, table))), key=lambda row: row[0].upper())
    if sorted(map(repr, indexes)) != sorted(map(repr, rows)):
        wrong.append(f"{table}: indexes {indexes}, and the server says {rows}")
    return wrong


@on_every_server
def test_columns_and_indexes_are_what_the_server_says(server: PrivateServer) -> None:
    with schema(server, "structured") as name:
        server.execute("SET SESSION sql_mode = ''", f"CREATE TABLE everything {EVERYTHING}", database=name)
        found = structure_of(server, name, "everything")
        assert compare(server, name, "everything", found) == []
        sizes = {column.name: column.maximum_bytes for column in found.columns}
        assert (sizes["b1"], sizes["d"], sizes["du"], sizes["e"], sizes["s"]) == (2, 10, 3, 1, 2)
        options = {"PACK_KEYS": 1, "MAX_ROWS": 1000, "AVG_ROW_LENGTH": 90, "CHECKSUM": 1, "DELAY_KEY_WRITE": 1}
        assert (found.engine, found.row_format, {name: min(value, 1000) for name, value in found.options}, found.partitioned) == ("MyISAM", "DYNAMIC", options, False)


def test_partitions_merge_tables_and_computed_columns(server: PrivateServer) -> None:
    with schema(server, "structured") as name:
        server.execute("CREATE TABLE one (a INT) ENGINE=MyISAM", "CREATE TABLE m (a INT) ENGINE=MERGE UNION=(one)", database=name)
        assert structure_of(server, name, "m").engine == "MRG_MyISAM"
        if not keeps_dictionary(server):
            server.execute("CREATE TABLE p (a INT) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 2", database=name)
            assert (structure_of(server, name, "p").engine, structure_of(server, name, "p").partitioned) == ("MyISAM", True)
        if server.binaries.name in ("mysql-5.5", "mysql-5.6"):
            return
        server.execute("CREATE TABLE g (a INT, v INT AS (a + 1) VIRTUAL, s INT AS (a + 2) STORED) ENGINE=MyISAM", database=name)
        assert [column.generated for column in structure_of(server, name, "g").columns] == ["", types.VIRTUAL, types.STORED]
        server.execute("CREATE TABLE d (a TEXT DEFAULT ('x'), b TEXT) ENGINE=MyISAM", database=name)
        assert [column.text_default for column in structure_of(server, name, "d").columns] == [True, False]


def test_types_that_have_a_name_and_columns_that_are_compressed(server: PrivateServer) -> None:
    if "mariadb" not in server.binaries.name:
        pytest.skip("MySQL has no such types")
    uuid = "u UUID NOT NULL, f INET4, UNIQUE KEY (u), " if server.binaries.name != "mariadb-10.5" else ""
    columns = f"{uuid}i INET6, x TEXT COMPRESSED, t TINYTEXT COMPRESSED, m MEDIUMBLOB COMPRESSED, l LONGTEXT COMPRESSED, v VARCHAR(300) COMPRESSED, KEY (i)"
    with schema(server, "structured") as name:
        server.execute(f"CREATE TABLE n ({columns}) ENGINE=MyISAM CHARSET=latin1", database=name)
        found = structure_of(server, name, "n")
        assert not [part for index in found.indexes for part in index.parts if part.prefix]
        sizes = {column.name: (column.type, column.maximum_bytes) for column in found.columns}
        named = {"u": (types.FIXED_BINARY, 16), "f": (types.FIXED_BINARY, 4), "i": (types.FIXED_BINARY, 16)}
        texts = {"x": (types.BLOB, 65_535), "t": (types.TINY_BLOB, 255), "m": (types.MEDIUM_BLOB, 16_777_215), "l": (types.LONG_BLOB, 4_294_967_295)}
        # A byte more than it was declared with says how it is compressed.
        assert sizes == {column: size for column, size in {**named, **texts, "v": (types.VARCHAR, 301)}.items() if column in sizes}


@needs_applications()
@pytest.mark.parametrize("application", ["oscar", "vicidial", "opencaching", "torrentpier"])
def test_tables_of_applications_are_what_the_server_says(server: PrivateServer, application: str) -> None:
    with schema(server, "structured") as name:
        tables = [table for which, table in all_tables() if which == application and table["engine"] == "MyISAM"]
        utf8mb3 = not server.binaries.name.startswith("mysql-5.")
        made = [statement_of(table, utf8mb3=utf8mb3) for table in tables]
        server.execute("SET SESSION sql_mode = ''", *made, database=name)
        wrong = [line for table in tables for line in compare(server, name, str(table["name"]), structure_of(server, name, str(table["name"])))]
        assert wrong == []
