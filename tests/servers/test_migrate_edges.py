"""Tables that few have, converted on four real servers: what the ALTER says was told, and what the script writes does what was told of it."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Prediction, left_alone, predict
from myisam_advisor.migrate.script import alter, runs
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.program import run

from .clients import client
from .conftest import schema, target
from .test_migrate_schemas import FOUR, kind_of

IN_DATE, OF_DATE = "NO_ZERO_IN_DATE", "NO_ZERO_DATE"
STRICT = "STRICT_TRANS_TABLES"
MODES = ("", f"{IN_DATE},{OF_DATE}", f"{STRICT},{OF_DATE}", f"{STRICT},{IN_DATE}", f"{STRICT},{IN_DATE},{OF_DATE}")
DEFAULTS = {
    "2010-00-00": "DATE NOT NULL DEFAULT '2010-00-00'",
    "2010-05-00, nullable": "DATETIME DEFAULT '2010-05-00 10:00:00'",
    "0000-00-00, nullable": "DATETIME DEFAULT '0000-00-00'",
    "0000-00-00 10:00": "DATETIME NOT NULL DEFAULT '0000-00-00 10:00:00'",
    "0000-01-01": "DATE DEFAULT '0000-01-01'",
    "NULL": "DATE DEFAULT NULL",
    "a number of bits before it": "DATE NULL DEFAULT '2010-00-00', b BIT(3), c DATE NULL DEFAULT '2010-10-10'",
}


@dataclass(frozen=True)
class Edge:
    """A table `t`, and its way to another engine; `may` where rows decide, and which change names them."""

    columns: str
    to: str = "InnoDB"
    options: str = ""
    sql_mode: str = ""
    filled: tuple[str, ...] = ()
    mariadb: bool = False
    may: str = ""


LONG_ROW, LONG_COLUMNS = 8000, ", ".join(f"c{n} BINARY(250) NOT NULL" for n in range(32))
EDGES = {
    "history kept by the server": Edge("a INT", options="WITH SYSTEM VERSIONING", mariadb=True),
    "history kept by the server, to Aria": Edge("a INT", "Aria", "WITH SYSTEM VERSIONING", mariadb=True),
    "a period of the application's": Edge("a INT, s DATE, e DATE, PERIOD FOR p (s, e)", mariadb=True),
    "a row that a CHECK refuses": Edge("a INT, CHECK (a > 0)", filled=("SET SESSION check_constraint_checks = 0", "INSERT INTO t VALUES (-1)"), mariadb=True, may="check-refused"),
    "a row that a column's CHECK refuses, to Aria": Edge("a INT CHECK (a > 0)", "Aria", filled=("SET SESSION check_constraint_checks = 0", "INSERT INTO t VALUES (-1)"), mariadb=True, may="check-refused"),
    "UNIQUE over TEXT": Edge("a TEXT, UNIQUE (a)", mariadb=True),
    "UNIQUE over TEXT, to Aria": Edge("a TEXT, UNIQUE (a)", "Aria", mariadb=True),
    "UNIQUE over BLOB and INT, to Aria": Edge("a BLOB, b INT, UNIQUE (a, b)", "Aria", mariadb=True),
    "UNIQUE over 2,300 bytes, to Aria": Edge("a VARCHAR(2300), UNIQUE (a)", "Aria", "CHARSET=latin1", mariadb=True),
    "UNIQUE over 2,301 bytes, to Aria": Edge("a VARCHAR(2301), UNIQUE (a)", "Aria", "CHARSET=latin1", mariadb=True),
    "UNIQUE over a short column by its hash, to Aria": Edge("a VARCHAR(100), UNIQUE (a) USING HASH", "Aria", mariadb=True),
    "UNIQUE over 1,028 bytes": Edge("id BIGINT NOT NULL PRIMARY KEY, u VARCHAR(255), i INT INVISIBLE, UNIQUE (id, u)", options="CHARSET=utf8mb4", mariadb=True),
    "UNIQUE by hash, as many columns as there may be": Edge(", ".join(f"c{n} TINYINT" for n in range(1016)) + ", x INT, UNIQUE (x) USING HASH", mariadb=True),
    "UNIQUE by hash in InnoDB, too, a column too many": Edge(", ".join(f"c{n} TINYINT" for n in range(1016)) + ", x TEXT, UNIQUE (x)", mariadb=True),
    **{f"{LONG_ROW + more} bytes and a hash": Edge(f"{LONG_COLUMNS}, r BINARY({more}) NOT NULL, x TEXT NOT NULL, UNIQUE (x)", options="CHARSET=latin1", mariadb=True) for more in (70, 78, 86)},
    **{f"{LONG_ROW + more} bytes and words": Edge(f"{LONG_COLUMNS}, r BINARY({more}) NOT NULL, x VARCHAR(4) NOT NULL, FULLTEXT (x)", options="CHARSET=latin1") for more in (88, 89, 95, 97)},
    "an index over a virtual column": Edge("a INT, b INT AS (a + 1) VIRTUAL, KEY (a, b)", mariadb=True),
    "an index over a virtual column, to Aria": Edge("a INT, b INT AS (a + 1) VIRTUAL, KEY (a, b)", "Aria", mariadb=True),
    "an index over a stored column, to Aria": Edge("a INT, b INT AS (a + 1) STORED, KEY (b)", "Aria", mariadb=True),
    "COMPACT": Edge("a INT", options="ROW_FORMAT=COMPACT"),
    "a row's number beside a key, FIXED": Edge("DB_ROW_ID INT, a INT PRIMARY KEY", options="ROW_FORMAT=FIXED"),
    "a row's number, an index of InnoDB's name that is the key": Edge("DB_ROW_ID INT, a INT NOT NULL, UNIQUE GEN_CLUST_INDEX (a)"),
    "a transaction's number beside a key, FIXED": Edge("DB_TRX_ID INT, a INT PRIMARY KEY", options="ROW_FORMAT=FIXED"),
    "a document's number without words": Edge("FTS_DOC_ID INT"),
    "a document's number without words, FIXED": Edge("FTS_DOC_ID INT", options="ROW_FORMAT=FIXED"),
    "a document's number without words, an index of InnoDB's name": Edge("FTS_DOC_ID INT, KEY GEN_CLUST_INDEX (FTS_DOC_ID)"),
    "a document's number without words, a wide row": Edge("FTS_DOC_ID INT, " + ", ".join(f"c{n} CHAR(100)" for n in range(90)), options="CHARSET=latin1"),
    "a long prefix in COMPACT": Edge("a VARCHAR(1000), KEY (a(800))", options="CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "twelve of TEXT in COMPACT": Edge(", ".join(f"c{n} TEXT NOT NULL" for n in range(12)), options="CHARSET=latin1 ROW_FORMAT=COMPACT"),
    "FIXED, pages of 4 kB": Edge("a INT", options="ROW_FORMAT=FIXED KEY_BLOCK_SIZE=4"),
    "COMPRESSED columns": Edge("a INT, x TEXT COMPRESSED, y MEDIUMBLOB COMPRESSED, v VARCHAR(2000) COMPRESSED", options="CHARSET=latin1", mariadb=True),
    "COMPRESSED columns, more than a page holds": Edge(", ".join(f"c{n} VARCHAR(250) COMPRESSED NOT NULL" for n in range(40)), options="CHARSET=latin1", mariadb=True),
    "UUID and INET6 in an index": Edge("a INT, u UUID NOT NULL, i INET6, UNIQUE (u), KEY (i, u)", mariadb=True),
    **{f"default {name} [{mode}]": Edge(f"a INT, d {column}", sql_mode=mode) for name, column in DEFAULTS.items() for mode in MODES},
    **{f"row {row} [{mode}]": Edge("d DATE", sql_mode=mode, filled=(f"INSERT INTO t VALUES ('{row}')",), may="zero-dates") for row in ("2010-00-00", "0000-00-00") for mode in MODES[2:]},
}  # fmt: skip


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    return running(request.param)


def happened(server: PrivateServer, sql_mode: str, statement: str) -> int:
    """The number of the error, 0 of none."""
    try:
        server.execute(f"SET SESSION sql_mode = '{sql_mode}'", statement, database="edges")
    except Error as error:
        return int(error.args[0])
    return 0


@pytest.mark.parametrize("edge", EDGES.values(), ids=EDGES)
def test_an_edge_is_told(four: PrivateServer, edge: Edge) -> None:
    if edge.mariadb and "mariadb" not in four.binaries.name:
        pytest.skip("MySQL has no such table")
    with schema(four, "edges"):
        made = f"CREATE TABLE t ({edge.columns}) ENGINE=MyISAM {edge.options}"
        four.execute("SET SESSION sql_mode = ''", made, *edge.filled, database="edges")
        kind = kind_of(four, edge.sql_mode)
        found = find_tables(four.data_directory, None, ["edges.t"])
        (told,) = predict(found.tables, edge.to, kind, None, Machine())
        code = happened(four, edge.sql_mode, f"ALTER TABLE t ENGINE={edge.to}")
        if edge.may:
            assert told.errors == ()
            assert not code or edge.may in [change.id for change in told.changes]
            return
        assert (told.errors[0].code if told.errors else 0) == code, told.errors
        _the_script_does_as_told(four, edge, told)


def _the_script_does_as_told(server: PrivateServer, edge: Edge, told: Prediction) -> None:
    server.execute("SET SESSION sql_mode = ''", "ALTER TABLE t ENGINE=MyISAM", database="edges")
    assert runs(told) == (happened(server, edge.sql_mode, str(alter(told))) == 0)
    if runs(told):
        assert [happened(server, edge.sql_mode, str(one)) for one in back(told)] == [0] * len(back(told))


LONG_PREFIXES = {
    "longer": Edge("a TINYTEXT, KEY (a(300))", options="CHARSET=latin1"),
    "as long": Edge("a TINYTEXT, KEY (a(255))", options="CHARSET=latin1"),
    "of fewer characters than there are bytes": Edge("a TINYTEXT, KEY (a(255))", options="CHARSET=utf8"),
    "behind a long part": Edge("a TINYTEXT, v VARCHAR(1000), UNIQUE (v(800)), KEY (a(300))", options="CHARSET=latin1"),
    "before a counter within": Edge("a TINYTEXT, b INT, c INT AUTO_INCREMENT, KEY (b, c), KEY (a(300))", options="CHARSET=latin1"),
}  # fmt: skip


@pytest.mark.parametrize("edge", LONG_PREFIXES.values(), ids=LONG_PREFIXES)
def test_a_prefix_longer_than_its_tinytext_is_told(four: PrivateServer, edge: Edge) -> None:
    """MySQL 5.6 takes such a table in no ALTER, to MyISAM neither, until its index is another."""
    with schema(four, "edges"):
        four.execute("SET SESSION sql_mode = ''", f"CREATE TABLE t ({edge.columns}) ENGINE=MyISAM {edge.options}", database="edges")
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        code = happened(four, "", "ALTER TABLE t ENGINE=InnoDB")
        assert (told.errors[0].code if told.errors else 0) == code, told.errors
        if code == 1170:
            drop, again = told.errors[0].mend.split(";")
            assert again == " And make it again over `a`(255)."
            assert happened(four, "", drop) == happened(four, "", "ALTER TABLE t ADD KEY (a(255))") == 0
            assert happened(four, "", "ALTER TABLE t ENGINE=MyISAM") == 0


@pytest.mark.parametrize("key", ["KEY", "UNIQUE", "PRIMARY KEY"])
@pytest.mark.parametrize("characters", [254, 255])
@pytest.mark.parametrize("sql_mode", ["", STRICT])
@pytest.mark.parametrize("charset", ["ucs2", "gbk", "latin1"])
def test_an_index_over_a_whole_tinytext_of_two_bytes_a_character_is_told(four: PrivateServer, key: str, characters: int, sql_mode: str, charset: str) -> None:
    """MySQL 5.6 takes 254 characters of it in an ALTER, to MyISAM too: it ends with an error, or shortens the index for good."""
    columns = f"a TINYTEXT NOT NULL, {key} (a({characters}))"
    with schema(four, "edges"):
        if happened(four, "", f"CREATE TABLE t ({columns}) ENGINE=MyISAM CHARSET={charset}"):
            pytest.skip("the server makes no such table")
        before = four.execute("SHOW INDEX FROM t", database="edges")
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, sql_mode), None, Machine())
        code = happened(four, sql_mode, "ALTER TABLE t ENGINE=InnoDB")
        assert (told.errors[0].code if told.errors else 0) == code, told.errors
        if not code:
            shortened = [change.what for change in told.changes if change.id == "prefix-shortened"]
            assert [happened(four, "", str(one)) for one in back(told)] == [0]
            after = four.execute("SHOW INDEX FROM t", database="edges")
            assert bool(shortened) is (after[0][7] != before[0][7])
            assert all("to 254 characters of a, " in what for what in shortened)
            assert happened(four, "", f"ALTER TABLE t DROP INDEX a, ADD KEY (a({characters}))") == 0 or key == "PRIMARY KEY"
            assert four.execute("SHOW INDEX FROM t", database="edges")[0][7] == after[0][7]
        elif key != "PRIMARY KEY":
            drop, again = told.errors[0].mend.split(";")
            assert again == " And make it again over `a`(254)."
            assert happened(four, "", drop) == happened(four, "", f"ALTER TABLE t ADD {key} (a(254))") == 0
            assert happened(four, sql_mode, "ALTER TABLE t ENGINE=InnoDB") == 0


@pytest.mark.parametrize(("kind", "last"), [("TINYINT", 127), ("TINYINT UNSIGNED", 255), ("SMALLINT UNSIGNED", 65_535), ("MEDIUMINT", 8_388_607), ("INT", 0)])
def test_how_far_a_counter_within_groups_comes_behind_its_mend_is_told(four: PrivateServer, kind: str, last: int) -> None:
    """Behind it MariaDB refuses each row of each group (167), and MySQL gives the last number again and again, and so refuses a second one of a group (1062)."""
    with schema(four, "edges"):
        four.execute(f"CREATE TABLE t (a INT, n {kind} AUTO_INCREMENT, PRIMARY KEY (a, n)) ENGINE=MyISAM", database="edges")
        (told,) = predict(find_tables(four.data_directory, None, ["edges.t"]).tables, "InnoDB", kind_of(four, ""), None, Machine())
        mend = told.errors[0].mend
        assert (f"then, no further than {last:,}: " in mend) is bool(last)
        assert ("no further" in mend) is bool(last)
        if last:
            four.execute(mend.split(";")[0], "ALTER TABLE t ENGINE=InnoDB", f"INSERT INTO t VALUES (1, {last - 1})", "INSERT INTO t (a) VALUES (1)", database="edges")
            assert four.execute("SELECT MAX(n) FROM t", database="edges") == [(last,)]
            assert happened(four, "", "INSERT INTO t (a) VALUES (1)") == (167 if "mariadb" in four.binaries.name else 1062)


HASHED = {
    "too long for a key": "id BIGINT NOT NULL PRIMARY KEY, u VARCHAR(255), i INT INVISIBLE, UNIQUE (id, u)",
    "asked for": "x INT, UNIQUE (x) USING HASH",
    "beside a column of that name": "DB_ROW_HASH_1 INT, u VARCHAR(255), t TEXT, UNIQUE (u), UNIQUE (DB_ROW_HASH_1, t)",
}


@pytest.mark.parametrize("columns", HASHED.values(), ids=HASHED)
@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
def test_a_client_reads_the_script_of_a_table_with_a_unique_index_by_hash_to_its_end(four: PrivateServer, columns: str, to: str) -> None:
    if "mariadb" not in four.binaries.name:
        pytest.skip("MySQL has no such index")
    with schema(four, "edges"):
        four.execute(f"CREATE TABLE t ({columns}) ENGINE=MyISAM CHARSET=utf8mb4", "SET SESSION sql_mode = ''", "INSERT INTO t VALUES ()", database="edges")
        script = run("migrate", "--socket", four.socket, "--user", "root", "--to", to.lower(), "edges.t", "--format", "sql").stdout
        done = subprocess.run([*client("mariadb"), f"--socket={four.socket}", "--user=root"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), script
        # Aria has no index over all of a TEXT.
        engine = "MyISAM" if to == "Aria" and "TEXT" in columns else to
        assert four.execute("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'edges'") == [(engine,)]


def test_names_that_are_nobodys_are_told_and_the_rest_goes_on(four: PrivateServer) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE orders (a INT) ENGINE=MyISAM", database="edges")
        for names in (["edges.order"], ["nosuch"], ["nosuch", "nosuch.table"]):
            done = run("migrate", "--socket", four.socket, "--user", "root", *names)
            assert (done.returncode, done.stdout) == (2, ""), done
            assert all(f"{name}: there is no " in done.stderr for name in names)
            assert "facts tables" in done.stderr
        done = run("migrate", "--socket", four.socket, "--user", "root", "nosuch.table", "edges.orders")
        assert done.returncode == 0
        assert done.stdout.startswith("1 table to InnoDB")
        assert done.stderr.startswith("myisam-advisor: nosuch.table: there is no such database or table.")
        script = run("migrate", "--socket", four.socket, "--user", "root", "edges.orders", "--format", "sql").stdout
        assert "Batch 1 of 1: 1 table, " in script


def test_whether_anything_ever_sorted_the_indexes_is_known(four: PrivateServer) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE t (x VARCHAR(50), FULLTEXT KEY (x)) ENGINE=MyISAM", *(f"INSERT INTO t VALUES ('word{number}')" for number in range(3)), "FLUSH TABLES", database="edges")
        for never in (True, False):
            (found,) = find_tables(four.data_directory, None, ["edges.t"]).tables
            assert found.contents is not None
            assert found.contents.never_sorted is never
            four.execute("OPTIMIZE TABLE t", "FLUSH TABLES", database="edges")


@pytest.mark.parametrize("word", ["edges.m", "edges"])
def test_a_merge_table_without_its_member_is_given_a_view_of_those_that_are_left(four: PrivateServer, word: str) -> None:
    """It opens no more. Of its members that are another engine's by now the view has the rows."""
    with schema(four, "edges"):
        made = [f"CREATE TABLE {name} (i INT) ENGINE=MyISAM" for name in "abc"]
        four.execute(*made, "CREATE TABLE m (i INT) ENGINE=MERGE UNION=(a, b, c)", "INSERT INTO a VALUES (1)", "INSERT INTO c VALUES (3)", database="edges")
        four.execute("DROP TABLE b", "ALTER TABLE c ENGINE=InnoDB", database="edges")
        assert happened(four, "", "ALTER TABLE m ENGINE=InnoDB") == happened(four, "", "ALTER TABLE m UNION=(a)") == 1168
        assert happened(four, "", "CREATE VIEW v AS SELECT * FROM a UNION ALL SELECT * FROM b") == 1146
        found = find_tables(four.data_directory, None, [word]).tables
        if word == "edges":
            told = {one.name[1]: one.errors for one in predict(found, "InnoDB", kind_of(four, ""), None, Machine())}
            ((code, why, mend),) = [(one.code, one.why, one.mend) for one in told["m"]]
            assert code == 1168
        else:
            ((_, told_of_it),) = left_alone(found)
            why, _, mend = told_of_it.partition(". ")
        assert why.endswith(("opens no more: there is no file of its member edges.b", "opens no more (error 1168): there is no file of its member edges.b"))
        four.execute(*filter(None, mend.partition("reading: ")[2].split(";")))
        assert four.execute("SELECT i FROM m ORDER BY i", database="edges") == [(1,), (3,)]
        four.execute("DROP VIEW m", *(f"DROP TABLE {name}" for name in "ac"), database="edges")


def test_a_member_in_a_tablespace_that_tables_share_is_not_gone(four: PrivateServer) -> None:
    """MySQL 8.0 and later keep no file of its own of such a table."""
    with schema(four, "edges"):
        ((own_files,),) = four.execute("SELECT @@global.innodb_file_per_table")
        made = [f"CREATE TABLE {name} (i INT) ENGINE=MyISAM" for name in ("a", "b", "é", "d")]
        four.execute("SET NAMES utf8", *made, "CREATE TABLE m (i INT) ENGINE=MERGE UNION=(a, b, é, d)", "INSERT INTO a VALUES (1)", "INSERT INTO é VALUES (3)", database="edges")
        try:
            four.execute("SET NAMES utf8", "SET GLOBAL innodb_file_per_table = 0", "DROP TABLE b", "DROP TABLE d", "ALTER TABLE é ENGINE=InnoDB", "FLUSH TABLES", database="edges")
        finally:
            four.execute(f"SET GLOBAL innodb_file_per_table = {own_files}")
        assert not list((four.data_directory / "edges").glob("@*.ibd"))
        with Session(target(four), 10) as session:
            ((_, why),) = looked_at(session, ["edges.m"], "InnoDB", None, Path("/proc")).left_out
        assert "there is no file of its members edges.b, edges.d. A view" in why
        assert four.execute("SHOW OPEN TABLES FROM edges") == []
        four.execute("SET NAMES utf8", *filter(None, why.partition("reading: ")[2].split(";")))
        assert four.execute("SELECT i FROM m ORDER BY i", database="edges") == [(1,), (3,)]
        four.execute("SET NAMES utf8", "DROP VIEW m", "DROP TABLE a", "DROP TABLE é", database="edges")


def test_a_merge_table_without_any_member_is_to_be_dropped(four: PrivateServer) -> None:
    with schema(four, "edges"):
        four.execute("CREATE TABLE a (i INT) ENGINE=MyISAM", "CREATE TABLE m (i INT) ENGINE=MERGE UNION=(a)", "DROP TABLE a", database="edges")
        ((_, why),) = left_alone(find_tables(four.data_directory, None, ["edges.m"]).tables)
        assert why.endswith("None of its members is left: DROP TABLE `edges`.`m`")


def test_a_merge_table_becomes_a_copy_and_the_view_that_is_given_does_not(four: PrivateServer) -> None:
    with schema(four, "edges"):
        made = ("CREATE TABLE a (i INT) ENGINE=MyISAM", "CREATE TABLE b (i INT) ENGINE=MyISAM", "CREATE TABLE m (i INT) ENGINE=MERGE UNION=(a, b) INSERT_METHOD=LAST", "INSERT INTO a VALUES (1)")
        four.execute(*made, database="edges")
        ((name, why),) = left_alone(find_tables(four.data_directory, None, ["edges.m"]).tables)
        assert name == "edges.m"
        four.execute("ALTER TABLE m ENGINE=InnoDB", "INSERT INTO a VALUES (2)", database="edges")
        assert four.execute("SELECT COUNT(*) FROM m", database="edges") == [(1,)]
        four.execute(*filter(None, why.partition("reading: ")[2].split(";")))
        assert four.execute("SELECT COUNT(*) FROM m", database="edges") == [(2,)]
        four.execute("INSERT INTO a VALUES (3)", database="edges")
        assert four.execute("SELECT COUNT(*) FROM m", database="edges") == [(3,)]
