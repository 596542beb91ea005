"""Every table of sixteen real applications, converted on real servers: was it told beforehand which ALTERs fail, and with which error."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.server_kind import ServerKind, of_variables
from myisam_advisor.migrate.unchanged import still_the_same
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.structure import Structure
from myisam_exporter.files.structure_reader import read_structures
from tests.support.applications import applications, needs_applications, quoted, statement_of, tables_of
from tests.support.servers import CopiedServer, binaries_of
from tests.support.thoroughness import THOROUGH

from .conftest import FLAVOURS, schema

# MariaDB 10.5 has variables of older ones, with empty values.
FOUR = ("mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6", *(("mariadb-10.5",) if THOROUGH else ()))
# Nothing is forced to the disk: what is asked is what the server refuses.
UNFORCED = ("--loose-innodb-flush-method=nosync", "--loose-innodb-doublewrite=0", "--loose-innodb-flush-log-at-trx-commit=0", "--loose-sync-frm=0", "--key-buffer-size=8M")
NOT_MADE = frozenset({"nzedb.releases"})  # MySQL 8 and later refuse a partitioned MyISAM table already when it is made


def kind_of(server: PrivateServer, sql_mode: str) -> ServerKind:
    rows = {str(name): str(value) for name, value in server.execute("SHOW GLOBAL VARIABLES")}
    major, minor = rows["version"].partition("-")[0].split(".")[:2]
    flavour = "mariadb" if "mariadb" in rows["version"].lower() else "mysql"
    return of_variables(flavour, (int(major), int(minor)), {**rows, "sql_mode": sql_mode})


def altered(server: PrivateServer, database: str, table: str, to: str, sql_mode: str) -> int:
    """The number of the error, 0 of none."""
    with server.session(database) as connection, closing(connection.cursor()) as cursor:
        cursor.execute(f"SET SESSION sql_mode = '{sql_mode}'")
        try:
            cursor.execute(f"ALTER TABLE {quoted(table)} ENGINE={to}")
        except Error as error:
            return int(error.args[0])
    return 0


def judged(structure: Structure, to: str, kind: ServerKind) -> int:
    """The error that is predicted; what depends on rows is none here, the tables are empty."""
    return next((one.code for one in refusals(structure, to, kind) if not one.may), 0)


def made(server: PrivateServer, path: Path) -> None:
    """The MyISAM tables of an application, without rows."""
    utf8mb3 = not server.binaries.name.startswith("mysql-5.")
    with server.session("rehearsal") as connection, closing(connection.cursor()) as cursor:
        cursor.execute("SET SESSION sql_mode = ''")
        for table in tables_of(path):
            if table["engine"] != "MyISAM":
                continue
            try:
                cursor.execute(statement_of(table, utf8mb3=utf8mb3))
            except Error:
                if f"{path.stem}.{table['name']}" not in NOT_MADE:
                    raise


@pytest.fixture(scope="module", params=FOUR)
def unforced(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    with CopiedServer(binaries_of(request.param), ["--sql-mode=", *UNFORCED]) as server:
        yield server


@needs_applications()
@pytest.mark.parametrize("sql_mode", ["", "TRADITIONAL"])
def test_what_fails_in_real_applications_was_told(unforced: PrivateServer, sql_mode: str) -> None:
    kind = kind_of(unforced, sql_mode)
    wrong, right, alarms = [], 0, 0
    for path in applications():
        with schema(unforced, "rehearsal"):
            made(unforced, path)
            for found in read_structures(str(unforced.data_directory / "rehearsal"), None, lambda _: True):
                assert found.structure is not None, found.problem
                told = judged(found.structure, "InnoDB", kind)
                # It ends with an error where the table is another one.
                unforced.execute("SET @rows_before = 0", str(still_the_same(("rehearsal", found.table_name), found.structure, kind)))
                happened = altered(unforced, "rehearsal", found.table_name, "InnoDB", sql_mode)
                right += told == happened
                alarms += told != 0 and happened == 0
                if told != happened:
                    wrong.append(f"{path.stem}.{found.table_name}: told {told}, and it was {happened}")
    print(f"{unforced.binaries.name} sql_mode={sql_mode!r}: {right} of {right + len(wrong)} right, {alarms} false alarms", *wrong, sep="\n")
    assert alarms == 0, wrong
    assert right >= 0.99 * (right + len(wrong)), wrong


CASES = {
    "row id": ("DB_ROW_ID INT", ""),
    "document number": ("FTS_DOC_ID INT, x TEXT, FULLTEXT (x)", ""),
    "document number that fits": ("FTS_DOC_ID BIGINT UNSIGNED NOT NULL, x TEXT, FULLTEXT (x)", ""),
    "document number without an index": ("FTS_DOC_ID INT", ""),
    "index of InnoDB's": ("a INT, KEY GEN_CLUST_INDEX (a)", ""),
    "pages of 4 kB": ("a INT", "KEY_BLOCK_SIZE=4"),
    "pages of 3 kB": ("a INT", "KEY_BLOCK_SIZE=3"),
    "pages of 4 kB, DYNAMIC": ("a INT", "KEY_BLOCK_SIZE=4 ROW_FORMAT=DYNAMIC"),
    "FIXED": ("a INT", "ROW_FORMAT=FIXED"),
    "COMPRESSED": ("a INT", "ROW_FORMAT=COMPRESSED"),
    "long part, COMPACT": ("a VARCHAR(1000), KEY (a(800))", "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "long unique part, COMPACT": ("a VARCHAR(1000), UNIQUE KEY (a(800))", "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "long part": ("a VARCHAR(1000), KEY (a(800))", "CHARSET=latin1"),
    "long unique part": ("a VARCHAR(1000), UNIQUE KEY (a(800))", "CHARSET=latin1"),
    "counter within": ("a INT, b INT AUTO_INCREMENT, KEY (a, b)", ""),
    "counter first elsewhere": ("a INT, b INT AUTO_INCREMENT, KEY (a, b), KEY (b)", ""),
    "spatial": ("g GEOMETRY NOT NULL, SPATIAL KEY (g)", ""),
    "options": ("a INT", "PACK_KEYS=1 MAX_ROWS=10 CHECKSUM=1 DELAY_KEY_WRITE=1"),
    "zero default": ("a DATE NOT NULL DEFAULT '0000-00-00'", ""),
    "zero and counter": ("a DATE NOT NULL DEFAULT '0000-00-00', b INT NOT NULL, c INT AUTO_INCREMENT, KEY (b, c)", ""),
    **{f"{number} of {kind}": (", ".join(f"c{n} {kind} NOT NULL" for n in range(number)), "CHARSET=latin1") for number, kind in [
        (1000, "TINYINT"), (1001, "TINYINT"), (1017, "TINYINT"), (1018, "TINYINT"), (190, "TEXT"), (200, "TEXT"), (380, "TEXT"), (390, "TEXT"), (31, "VARCHAR(255)"), (33, "VARCHAR(255)"), (80, "CHAR(100)"),
        (83, "CHAR(100)"), (190, "VARCHAR(40)"), (203, "VARCHAR(40)"), (200, "VARCHAR(41)"), (120, "VARCHAR(256)"),
    ]},
    "10 of TEXT, COMPACT": (", ".join(f"c{n} TEXT NOT NULL" for n in range(9)), "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "12 of TEXT, COMPACT": (", ".join(f"c{n} TEXT NOT NULL" for n in range(12)), "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "11 of TINYTEXT, COMPACT": (", ".join(f"c{n} TINYTEXT NOT NULL" for n in range(11)), "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "940 of DOUBLE, REDUNDANT": (", ".join(f"c{n} DOUBLE" for n in range(940)), "ROW_FORMAT=REDUNDANT"),
    "190 of TEXT, COMPRESSED": (", ".join(f"c{n} TEXT NOT NULL" for n in range(190)), "CHARSET=latin1 ROW_FORMAT=COMPRESSED"),
    "an entry too long for a compressed page": ("id INT PRIMARY KEY, a VARCHAR(440), KEY (a)", "CHARSET=latin1 KEY_BLOCK_SIZE=1"),
    **{f"{behind} bytes behind a prefix of {prefix} of {kind}": (f"a {kind} NOT NULL, v VARCHAR(255) NOT NULL, id INT PRIMARY KEY, KEY k (a({prefix}), v({behind}))", "CHARSET=latin1 KEY_BLOCK_SIZE=1")
       for kind, prefix, edges in (("TEXT", 200, (234, 235, 236)), ("TINYTEXT", 200, (234, 235, 236)), ("TINYBLOB", 255, (179, 180, 181)), ("VARCHAR(300)", 200, (234, 235, 236)), ("VARCHAR(100)", 70, (254, 255)), ("TEXT", 300, (134, 135)),
                                   ("TINYTEXT CHARACTER SET utf8", 100, (134, 135, 179, 180)), ("VARCHAR(100) CHARACTER SET utf8", 70, (224, 225, 226)), ("CHAR(100) CHARACTER SET utf8", 70, (224, 225, 226))) for behind in edges},
    "a row too long for a compressed page": ("id INT PRIMARY KEY, " + ", ".join(f"c{n} CHAR(40)" for n in range(57)), "CHARSET=latin1 KEY_BLOCK_SIZE=2"),
    "prefixes as primary key": ("a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a(500), b(400)), " + ", ".join(f"c{n} TEXT NOT NULL" for n in range(342)), "CHARSET=latin1"),
    "document number that is signed": ("FTS_DOC_ID BIGINT NOT NULL, x TEXT, FULLTEXT (x)", ""),
    "index of InnoDB's for documents": ("a INT, x TEXT, FULLTEXT (x), KEY FTS_DOC_ID_INDEX (a)", ""),
    "row id, index of InnoDB's, FIXED": ("DB_ROW_ID INT, KEY GEN_CLUST_INDEX (DB_ROW_ID)", "ROW_FORMAT=FIXED"),
    "long part and index of InnoDB's": ("a VARCHAR(900), KEY (a), KEY GEN_CLUST_INDEX (a(10))", "CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "CHAR of four bytes a character": (", ".join(f"c{n} CHAR(10) NOT NULL" for n in range(203)), "CHARSET=utf8mb4"),
}  # fmt: skip


@pytest.mark.parametrize("sql_mode", ["", "STRICT_TRANS_TABLES"])
def test_the_edges_of_what_fails(unforced: PrivateServer, sql_mode: str) -> None:
    kind, wrong = kind_of(unforced, sql_mode), []
    for name, (columns, options) in CASES.items():
        with schema(unforced, "rehearsal"):
            unforced.execute("SET SESSION sql_mode = ''", f"CREATE TABLE t ({columns}) ENGINE=MyISAM {options}", database="rehearsal")
            (found,) = read_structures(str(unforced.data_directory / "rehearsal"), None, lambda _: True)
            assert found.structure is not None, found.problem
            told, happened = judged(found.structure, "InnoDB", kind), altered(unforced, "rehearsal", "t", "InnoDB", sql_mode)
        if told != happened:
            wrong.append(f"{name}: told {told}, and it was {happened}")
    assert wrong == []


@pytest.mark.parametrize("kind_of_server", FLAVOURS)
def test_what_depends_on_rows_is_said_to_depend_on_them(kind_of_server: str, unforced: PrivateServer) -> None:
    if unforced.binaries.name != kind_of_server:
        pytest.skip("another server is asked")
    strict = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE"
    kind = kind_of(unforced, strict)
    with schema(unforced, "rehearsal"):
        unforced.execute("SET SESSION sql_mode = ''", "CREATE TABLE t (a INT, d DATETIME) ENGINE=MyISAM", "INSERT INTO t VALUES (1, '0000-00-00')", database="rehearsal")
        (found,) = read_structures(str(unforced.data_directory / "rehearsal"), None, lambda _: True)
        assert found.structure is not None
        assert [(one.code, one.may) for one in refusals(found.structure, "InnoDB", kind)] == [(1292, True)]
        assert altered(unforced, "rehearsal", "t", "InnoDB", strict) == 1292
    full = ", ".join(f"c{n} VARCHAR(255) NOT NULL DEFAULT ''" for n in range(60))
    with schema(unforced, "rehearsal"):
        unforced.execute("SET GLOBAL innodb_strict_mode = OFF", f"CREATE TABLE t (id INT PRIMARY KEY, {full}) ENGINE=MyISAM CHARSET=latin1", database="rehearsal")
        try:
            (found,) = read_structures(str(unforced.data_directory / "rehearsal"), None, lambda _: True)
            assert found.structure is not None
            assert (1118, True) in [(one.code, one.may) for one in refusals(found.structure, "InnoDB", kind_of(unforced, ""))]
            assert altered(unforced, "rehearsal", "t", "InnoDB", "") == 0
            with pytest.raises(Error, match="Row size too large"):
                unforced.execute(f"INSERT INTO t VALUES (1, {', '.join(['REPEAT(0x61, 255)'] * 60)})", database="rehearsal")
        finally:
            unforced.execute("SET GLOBAL innodb_strict_mode = ON")
