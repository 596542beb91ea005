"""The script is run when the world moved on: what became another table stops it before the ALTER, with words that say so; what did not is converted."""

import re
import subprocess
from contextlib import closing

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.unchanged import forgets
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.servers import CopiedServer, binaries_of

from .clients import client
from .conftest import on_every_server, schema, target
from .test_migrate_scripts import PROC, engines

TABLE = "(id INT NOT NULL PRIMARY KEY, t VARCHAR(20), KEY k (t)) ENGINE=MyISAM"
CHANGES = {
    "engine": ["ALTER TABLE t ENGINE=MEMORY"],
    "innodb": ["ALTER TABLE t ENGINE=InnoDB"],
    "view": ["RENAME TABLE t TO other", "CREATE VIEW t AS SELECT * FROM other"],
    "partitions": ["ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 2"],
    "column": ["ALTER TABLE t ADD x INT"],
    "type": ["ALTER TABLE t MODIFY t CHAR(20)"],
    "not null": ["ALTER TABLE t MODIFY t VARCHAR(20) NOT NULL"],
    "order": ["ALTER TABLE t MODIFY t VARCHAR(20) FIRST"],
    "index": ["ALTER TABLE t ADD UNIQUE u (t, id)"],
    "unique": ["ALTER TABLE t DROP KEY k, ADD UNIQUE k (t)"],
    "no index": ["ALTER TABLE t DROP KEY k"],
    "row format": ["ALTER TABLE t ROW_FORMAT=FIXED"],
    "size of pages": ["ALTER TABLE t KEY_BLOCK_SIZE=4"],
    "swapped": ["CREATE TABLE other (id BIGINT NOT NULL PRIMARY KEY, t VARCHAR(20), KEY k (t)) ENGINE=MyISAM", "RENAME TABLE t TO former, other TO t"],
}
SAME = {
    "rows": ["INSERT INTO t VALUES (7, 'seven')"],
    "repaired": ["REPAIR TABLE t", "OPTIMIZE TABLE t", "ANALYZE TABLE t", "FLUSH TABLES"],
    "kept options": ["ALTER TABLE t COMMENT='row_format=', MAX_ROWS=1000, CHECKSUM=1, DELAY_KEY_WRITE=1, PACK_KEYS=1, AUTO_INCREMENT=7, MIN_ROWS=2"],
    "swapped alike": ["CREATE TABLE other LIKE t", "RENAME TABLE t TO former, other TO t"],
}
# Whatever a column, an index or a name is: it is the same as it was. What a server does not know is not made.
DEFINITIONS = [
    "numbers (a TINYINT UNSIGNED ZEROFILL, b SMALLINT, c MEDIUMINT, d INT(3) UNSIGNED, e BIGINT, f FLOAT(7,2), g DOUBLE, h DECIMAL(10,3), i BIT(9), j YEAR, k BOOL)",
    "dates (a DATE, b TIME, c DATETIME, d TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, e TIMESTAMP NULL)",
    "parts_of_seconds (a TIME(6), b DATETIME(3), c TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6))",
    "texts (a CHAR(3), b CHAR(3) CHARACTER SET binary, c BINARY(5), d VARCHAR(20) CHARACTER SET ucs2, f TINYTEXT, g TEXT, h MEDIUMTEXT, i LONGTEXT, j TINYBLOB, k BLOB, l MEDIUMBLOB, m LONGBLOB, n CHAR(0))",
    "bytes (a VARBINARY(9), b INT)",
    "lists (a ENUM('x','y'), b SET('x','y') NOT NULL, c ENUM('a') CHARACTER SET binary)",
    "shapes (a GEOMETRY, b POINT NOT NULL, c POLYGON, SPATIAL KEY (b))",
    "documents (a JSON)",
    "addresses (a UUID, b INET6)",
    "vectors (a INT, v VECTOR(5) NOT NULL)",
    "near (a INT PRIMARY KEY, v VECTOR(5) NOT NULL, VECTOR INDEX (v))",
    "words (a TEXT, b VARCHAR(30), FULLTEXT ft (a, b), KEY (b(5)))",
    "indexes (a INT NOT NULL, b INT, c INT, PRIMARY KEY (b, a), UNIQUE u (c, a), KEY k (a) USING HASH, KEY d (c DESC))",
    "generated (a INT, b INT AS (a + 1) STORED, c INT AS (a + 2) VIRTUAL, KEY (b))",
    "invisible (a INT, b INT INVISIBLE DEFAULT 3, KEY (b))",
    "compressed (a TEXT COMPRESSED, b VARCHAR(300) COMPRESSED, c BLOB COMPRESSED, d MEDIUMTEXT COMPRESSED)",
    "by_hash (a TEXT, b BLOB, UNIQUE (a), UNIQUE x (b))",
    "versioned (a INT) WITH SYSTEM VERSIONING",
    "period (a INT, s DATE, e DATE, PERIOD FOR app (s, e))",
    "comment (a CHAR(4), KEY (a)) ROW_FORMAT=FIXED PACK_KEYS=1 CHECKSUM=1 DELAY_KEY_WRITE=1 KEY_BLOCK_SIZE=2 COMMENT='partitioned'",
    "odd_columns (`a b` INT, `é` INT, `x``y` INT, `q'q` INT, `z\"` INT, `日本` INT, `PRIMARY` INT, KEY `i é` (`é`), KEY `GEN` (`q'q`))",
    *(f"`{name}` (a INT)" for name in ("n,o", "naïve", "日本語", "x'y", "back\\slash", "a b", "a-b", "a.b", "a%b_c", "l" * 63 + "é")),
    "`naive` (b INT)",
    "`NAIVE` (c INT)",
]  # fmt: skip


def script_of(server: PrivateServer, *names: str) -> str:
    with Session(target(server), 10) as session:
        return as_script(looked_at(session, names, "InnoDB", None, PROC))


def said_of(server: PrivateServer, script: str, *options: str) -> str:
    """What the client says of it; "" where it ran to its end."""
    done = subprocess.run([*client("mariadb"), f"--socket={server.socket}", "--user=root", "--default-character-set=latin1", *options], input=script, capture_output=True, text=True, check=False)
    return done.stderr


@on_every_server
def test_what_became_another_table_stops_it_before_the_alter(server: PrivateServer) -> None:
    for name, change in CHANGES.items():
        with schema(server, "world"):
            server.execute(f"CREATE TABLE t {TABLE}", "INSERT INTO t VALUES (1, 'one'), (2, 'two')", database="world")
            script = script_of(server, "world")
            try:
                server.execute(*change, database="world")
            except Error as error:
                assert (name, error.args[0]) == ("partitions", 1178)
                continue
            before = engines(server, "world")
            said = said_of(server, script)
            assert "ERROR 1231" in said, name
            assert "the value of 'changed since this script was made - make it again: world.t'" in said
            assert engines(server, "world") == before


@on_every_server
def test_what_is_still_the_same_table_is_converted(server: PrivateServer) -> None:
    for name, change in SAME.items():
        with schema(server, "world"):
            server.execute(f"CREATE TABLE t {TABLE}", "INSERT INTO t VALUES (1, 'one'), (2, 'two')", database="world")
            script = script_of(server, "world.t")
            server.execute(*change, database="world")
            assert said_of(server, script) == "", name
            assert engines(server, "world")["t"] == "InnoDB"


@on_every_server
def test_a_table_that_became_a_part_of_a_merge_table_stops_it(server: PrivateServer) -> None:
    with schema(server, "world"), schema(server, "else where"):
        server.execute(f"CREATE TABLE t {TABLE}", f"CREATE TABLE u {TABLE}", f"CREATE TABLE `known, too` {TABLE.replace('MyISAM', 'MRG_MyISAM')} UNION=(u)", database="world")
        script = script_of(server, "world.t")
        server.execute(f"CREATE TABLE m {TABLE.replace('MyISAM', 'MRG_MyISAM')} UNION=(world.t)", database="else where")
        said = said_of(server, script)
        assert "ERROR 1231" in said
        assert "the value of 'a MERGE table that came since this script was made - make it again: else where.m'" in said
        assert engines(server, "world")["t"] == "MyISAM"
        server.execute("DROP TABLE m", database="else where")
        assert said_of(server, script) == ""
        assert engines(server, "world")["t"] == "InnoDB"


@on_every_server
def test_a_table_that_was_added_to_a_merge_table_stops_it_behind_its_alter_and_the_way_back_gives_the_merge_table_back(server: PrivateServer) -> None:
    """No table tells the members. What opened before the ALTER, and does not behind it, lost one."""
    merge = TABLE.replace("MyISAM", "MRG_MyISAM")
    with schema(server, "world"), schema(server, "else where"):
        server.execute(*(f"CREATE TABLE {name} {TABLE}" for name in "ptuv"), *(f"INSERT INTO {name} VALUES (1, 'one')" for name in "tuv"), database="world")
        # One that has members and no rows, one that has none, and one that opens no more.
        server.execute(f"CREATE TABLE m {merge} UNION=(world.p)", f"CREATE TABLE none {merge} UNION=()", f"CREATE TABLE gone {TABLE}", f"CREATE TABLE closed {merge} UNION=(gone)", "DROP TABLE gone", database="else where")
        script = script_of(server, "world")
        assert [line.split("`")[3] for line in script.splitlines() if line.startswith("ALTER")] == ["t", "u", "v"]
        server.execute("ALTER TABLE m UNION=(world.p, world.t)", database="else where")
        is_old = server.binaries.name == "mysql-5.5"
        for options in ([], ["--force"]):
            said = said_of(server, script, *options)
            assert "the value of 'a MERGE table got this member since the script was made and opens no more - run the statement at Back: world.t'" in said
            assert is_old or engines(server, "world") == {"p": "MyISAM", "t": "InnoDB", "u": "MyISAM", "v": "MyISAM"}
            (way_back,) = re.findall(r"^-- Back: (ALTER TABLE `world`\.`t` .*);$", script, re.MULTILINE)
            server.execute(way_back)
            assert server.execute("SELECT id, t FROM m", database="else where") == [(1, "one")]
        if not is_old:
            assert said_of(server, script_of(server, "world")) == ""
            assert engines(server, "world") == {"p": "MyISAM", "t": "MyISAM", "u": "InnoDB", "v": "InnoDB"}
            assert server.execute("SELECT id, t FROM m", database="else where") == [(1, "one")]


@on_every_server
@pytest.mark.parametrize("made", ["", "CREATE VIEW world.m AS SELECT 1 AS one;", "CREATE TABLE world.m (a INT) ENGINE=InnoDB;"], ids=["dropped", "a view", "InnoDB"])
def test_a_merge_table_that_is_dropped_meanwhile_lost_nothing(server: PrivateServer, made: str) -> None:
    """Logs rotate so: what reads the parts is dropped and made anew, while an ALTER of another table lasts."""
    with schema(server, "world"):
        server.execute(f"CREATE TABLE p {TABLE}", f"CREATE TABLE t {TABLE}", f"CREATE TABLE m {TABLE.replace('MyISAM', 'MRG_MyISAM')} UNION=(world.p)", database="world")
        script = script_of(server, "world")
        assert script.count("\nALTER TABLE ") == 1
        assert said_of(server, script.replace("\nALTER TABLE ", f"\nDROP TABLE world.m;\n{made}\nALTER TABLE ")) == ""
        assert engines(server, "world")["t"] == "InnoDB"
        server.execute(f"DROP {'VIEW' if 'VIEW' in made else 'TABLE'} IF EXISTS world.m")


@pytest.mark.parametrize(("name", "mode"), [("mysql-8.0", "HIGH_NOT_PRECEDENCE"), ("mysql-5.6", "HIGH_NOT_PRECEDENCE"), ("mariadb-10.11", "EMPTY_STRING_IS_NULL,HIGH_NOT_PRECEDENCE")])
def test_no_sql_mode_lets_pass_what_another_stops(name: str, mode: str) -> None:
    with CopiedServer(binaries_of(name), [f"--sql-mode={mode}"]) as server:
        server.execute("CREATE DATABASE world", f"CREATE TABLE world.t {TABLE}")
        script = script_of(server, "world.t")
        assert "ERROR 1242" in said_of(server, "\n".join(line for line in script.splitlines() if "same_rows_and_values;" in line)), "numbers that are not there are not alike"
        server.execute(f"CREATE TABLE world.m {TABLE.replace('MyISAM', 'MRG_MyISAM')} UNION=(world.t)")
        assert "a MERGE table that came since" in said_of(server, script)
        server.execute("DROP TABLE world.m")
        assert said_of(server, script) == ""
        assert engines(server, "world") == {"t": "InnoDB"}


@on_every_server
def test_a_client_that_goes_on_changes_nothing_either(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute(f"CREATE TABLE t {TABLE}", f"CREATE TABLE u {TABLE}", "CREATE TABLE after (a INT) ENGINE=InnoDB", database="world")
        script = script_of(server, "world")
        server.execute("ALTER TABLE t ENGINE=MEMORY", database="world")
        # MySQL 5.5 has no session that may not write.
        is_old = server.binaries.name == "mysql-5.5"
        for options in (["--force"], ["--force", "--init-command=SET autocommit=0"]):
            said = said_of(server, f"{script}INSERT INTO world.after VALUES (1);COMMIT;", *options)
            assert [error for error in ("ERROR 1231", "ERROR 1792") if error in said] == ["ERROR 1231", *([] if is_old else ["ERROR 1792"])]
            assert engines(server, "world") == {"t": "InnoDB" if is_old else "MEMORY", "u": "InnoDB", "after": "InnoDB"}
        assert server.execute("SELECT COUNT(*) FROM world.after") == [(2,)]


@on_every_server
def test_where_rows_differed_a_client_that_goes_on_converts_no_further_table(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute(*(f"CREATE TABLE {name} {TABLE}" for name in "tuv"), database="world")
        script, again = script_of(server, "world"), script_of(server, "world.u")
        # What writes to t meanwhile stands for an ALTER that changed its rows.
        alter = "ALTER TABLE `world`.`t` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;"
        assert f"\n{alter}\n" in script
        written = script.replace(alter, f"{alter}\nINSERT INTO world.t VALUES (3, 'three');", 1)
        is_old = server.binaries.name == "mysql-5.5"
        said = said_of(server, written, "--force")
        assert [error for error in ("ERROR 1242", "ERROR 1231", "ERROR 1792") if error in said] == ["ERROR 1242", "ERROR 1231", *([] if is_old else ["ERROR 1792"])]
        assert "the value of 'rows or values of a table above are not as they were" in said
        assert is_old or engines(server, "world") == {"t": "InnoDB", "u": "MyISAM", "v": "MyISAM"}
        if not is_old:
            # A script that was made again is not held by the one before it, in the same session.
            server.execute("ALTER TABLE t ENGINE=MyISAM", database="world")
            server.execute("DELETE FROM t", database="world")
            said_of(server, written + again, "--force")
            assert engines(server, "world") == {"t": "InnoDB", "u": "InnoDB", "v": "MyISAM"}


@on_every_server
def test_a_damaged_table_is_converted_by_no_client(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute(f"CREATE TABLE t {TABLE}", f"CREATE TABLE u {TABLE}", *(f"INSERT INTO t VALUES ({number}, 'a text')" for number in range(20)), "FLUSH TABLES", database="world")
        script = script_of(server, "world")
        with (server.data_directory / "world" / "t.MYD").open("r+b") as rows:
            rows.write(b"\xff" * 16)
        said = said_of(server, script, "--force")
        # By then a server that repairs tables by itself would take the ALTER, without the rows that are lost.
        is_old = server.binaries.name == "mysql-5.5"
        assert [error for error in ("ERROR 145", "ERROR 1231", "ERROR 1792") if error in said] == ["ERROR 145", "ERROR 1231", *([] if is_old else ["ERROR 1792"])]
        assert "the value of 'rows not counted - see the error above and make this script again: world.t'" in said
        assert engines(server, "world") == {"t": "MyISAM", "u": "InnoDB"}


@on_every_server
def test_a_server_that_became_a_replica_stops_it(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute(f"CREATE TABLE t {TABLE}", database="world")
        script = script_of(server, "world")
        server.execute("SET GLOBAL read_only = ON")
        try:
            said = said_of(server, script)
        finally:
            server.execute("SET GLOBAL read_only = OFF")
        assert "the value of 'the server became read-only since this script was made - run it on the source" in said
        assert engines(server, "world") == {"t": "MyISAM"}


@on_every_server
@pytest.mark.parametrize("held", [["BEGIN", "SELECT * FROM t"], ["LOCK TABLES t WRITE"]])
def test_behind_a_long_transaction_it_waits_for_no_day(server: PrivateServer, held: list[str]) -> None:
    with schema(server, "world"):
        server.execute(f"CREATE TABLE t {TABLE}", database="world")
        script = script_of(server, "world")
        assert "lock_wait_timeout = 60" in script
        with server.session("world") as connection, closing(connection.cursor()) as cursor:
            for statement in held:
                cursor.execute(statement)
            assert "ERROR 1205" in said_of(server, script.replace("lock_wait_timeout = 60", "lock_wait_timeout = 1"))
        assert engines(server, "world") == {"t": "MyISAM"}
        assert said_of(server, script) == ""


@on_every_server
def test_a_client_for_careful_people_counts_large_tables(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2), (3)", *["INSERT INTO t SELECT * FROM t"] * 8, database="world")
        assert said_of(server, script_of(server, "world"), "--safe-updates", "--max-join-size=100") == ""
        assert engines(server, "world") == {"t": "InnoDB"}


def test_an_engine_that_was_forbidden_since_stops_it() -> None:
    with CopiedServer(binaries_of("mysql-8.0"), ["--sql-mode="]) as server:
        server.execute("CREATE DATABASE world", f"CREATE TABLE world.t {TABLE}")
        script = script_of(server, "world")
        server.stop()
        server.start(["--disabled-storage-engines=InnoDB"])
        assert "ERROR 3161" in said_of(server, script)
        assert engines(server, "world") == {"t": "MyISAM"}


@on_every_server
@pytest.mark.parametrize("file", ["t.MYD", "t.MYI"])
def test_damage_that_its_first_check_finds_stops_it_before_the_alter(server: PrivateServer, file: str) -> None:
    with schema(server, "world"):
        rows = ", ".join(f"({number}, REPEAT('x', {number % 20}))" for number in range(1000))
        server.execute(f"CREATE TABLE t {TABLE}", f"INSERT INTO t VALUES {rows}", "FLUSH TABLES", database="world")
        script = script_of(server, "world")
        path = server.data_directory / "world" / file
        with path.open("r+b") as damaged:
            damaged.seek(path.stat().st_size // 2 if file == "t.MYD" else path.stat().st_size - 3000)
            damaged.write(b"\xff" * 300)
        said = said_of(server, script)
        assert "ERROR 145" in said
        assert "SELECT COUNT(*)" in said
        assert engines(server, "world") == {"t": "MyISAM"}


@on_every_server
def test_run_a_second_time_it_converts_nothing_again(server: PrivateServer) -> None:
    with schema(server, "world"):
        server.execute(f"CREATE TABLE t {TABLE}", f"CREATE TABLE u {TABLE}", database="world")
        script = script_of(server, "world")
        assert said_of(server, script) == ""
        assert "make it again: world.t'" in said_of(server, script)
        assert "\nALTER" not in script_of(server, "world")


@on_every_server
@pytest.mark.parametrize("database", ["odd", "o'd-é, d"])
def test_no_table_is_taken_for_another(server: PrivateServer, database: str) -> None:
    with schema(server, database):
        made = 0
        for definition in DEFINITIONS:
            try:
                server.execute("SET SESSION sql_mode = ''", f"CREATE TABLE {definition.replace(' COMMENT=', ' ENGINE=MyISAM COMMENT=')}{'' if 'COMMENT=' in definition else ' ENGINE=MyISAM'}", database=database)
                made += 1
            except Error:
                continue
        with Session(target(server), 10) as session:
            found = looked_at(session, [database], "InnoDB", None, PROC)
        assert len(found.predictions) == made >= 20
        for one in found.predictions:
            server.execute("SET NAMES utf8mb4", str(forgets(found.here)), "SET @rows_before = 0", str(one.unchanged))
