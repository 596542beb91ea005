"""What no ALTER keeps of a definition is told, and the way back gives the rest of it again: by what the server shows before and afterwards."""


import pytest
from MySQLdb import Error

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.script import alter, as_script
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session

from .conftest import error_of, on_every_server, schema, target
from .test_migrate_scripts import PROC, engines, fed, looked

DATABASE = "made"


def predicted(server: PrivateServer, to: str = "InnoDB") -> Prediction:
    with Session(target(server), 10) as session:
        (one,) = looked_at(session, [f"{DATABASE}.t"], to, None, PROC).predictions
    return one


def definition(server: PrivateServer) -> str:
    """As the server shows it; without what MariaDB remarks of a table that was Aria's."""
    ((_, shown),) = server.execute("SHOW CREATE TABLE t", database=DATABASE)
    return str(shown).replace(" /* TRANSACTIONAL=1 */", "")


def there_and_back(server: PrivateServer, one: Prediction, sql_mode: str = "") -> None:
    """By the script's own statements, in one connection."""
    server.execute(f"SET SESSION sql_mode = '{sql_mode}'", str(alter(one)), *map(str, back(one)), database=DATABASE)


@on_every_server
@pytest.mark.parametrize("divided", ["", "PARTITION BY HASH (a) PARTITIONS 2"], ids=["whole", "in partitions"])
@pytest.mark.parametrize("connection", ["", "CONNECTION='mysql://somebody:secret@host/d/t'"], ids=["none", "one"])
def test_a_connection_that_an_alter_drops_is_told_and_never_shown(server: PrivateServer, divided: str, connection: str) -> None:
    with schema(server, DATABASE):
        if error_of(server, f"CREATE TABLE {DATABASE}.t (a INT, b CHAR(3) DEFAULT 'x') ENGINE=MyISAM {connection} {divided}"):
            pytest.skip("the server makes no such table")
        before = definition(server)
        assert ("CONNECTION" in before) is bool(connection)
        one, script = predicted(server), as_script(looked(server, f"{DATABASE}.t"))
        is_told = "connection-word" in [change.id for change in one.changes]
        assert ("-- Not given back by it: Its CONNECTION" in script, "secret" in script) == (is_told, False)
        there_and_back(server, one)
        assert (definition(server) != before) is is_told
        assert is_told is bool(connection and (server.binaries.name == "mysql-5.5" or (divided and "mariadb" in server.binaries.name)))


@on_every_server
@pytest.mark.parametrize("sql_mode", ["", "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "STRICT_ALL_TABLES,NO_ZERO_IN_DATE"])
@pytest.mark.parametrize("default", ["2010-05-00", "0000-00-00", "2010-05-01"])
def test_a_default_that_an_alter_makes_another_of_is_told(server: PrivateServer, default: str, sql_mode: str) -> None:
    with schema(server, DATABASE):
        server.execute("SET SESSION sql_mode = ''", f"CREATE TABLE t (a INT, d DATE DEFAULT '{default}') ENGINE=MyISAM", database=DATABASE)
        ((usual,),) = server.execute("SELECT @@global.sql_mode")
        server.execute(f"SET GLOBAL sql_mode = '{sql_mode}'")
        try:
            one = predicted(server)
        finally:
            server.execute(f"SET GLOBAL sql_mode = '{usual}'")
        before = definition(server)
        is_told = "default-lost" in [change.id for change in one.changes]
        try:
            there_and_back(server, one, sql_mode)
        except Error as error:
            assert (error.args[0], is_told) == (one.script_errors[0].code, False)
        else:
            assert one.script_errors == ()
            assert is_told is (definition(server) != before)


@on_every_server
@pytest.mark.parametrize("indexes", ["PRIMARY KEY (a) KEY_BLOCK_SIZE=4, KEY k (b)", "UNIQUE u (a, b) KEY_BLOCK_SIZE=4, UNIQUE w (b, a), KEY k (b) KEY_BLOCK_SIZE=2", "PRIMARY KEY (a, row_end) KEY_BLOCK_SIZE=4", "UNIQUE u (b) KEY_BLOCK_SIZE=4, KEY k (row_end, a)"])
@pytest.mark.parametrize("period", ["", "row_start TIMESTAMP(6) GENERATED ALWAYS AS ROW START, row_end TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (row_start, row_end),"], ids=["hidden", "own"])
def test_a_table_with_a_history_comes_back_with_its_indexes_and_its_history(server: PrivateServer, period: str, indexes: str) -> None:
    """Aria gives an index another KEY_BLOCK_SIZE; made again as it was, it would be refused with errors 4119 and 1072."""
    with schema(server, DATABASE):
        if error_of(server, f"CREATE TABLE {DATABASE}.t (a INT NOT NULL, b INT NOT NULL, {period} {indexes}) ENGINE=MyISAM WITH SYSTEM VERSIONING"):
            pytest.skip("the server makes no such table")
        server.execute("INSERT INTO t (a, b) VALUES (1, 1), (2, 2)", "UPDATE t SET b = b + 5", "DELETE FROM t WHERE a = 2", database=DATABASE)
        history = "SELECT a, b, row_start, row_end FROM t FOR SYSTEM_TIME ALL ORDER BY a, row_start, row_end"
        before, rows = definition(server), server.execute(history, database=DATABASE)
        there_and_back(server, predicted(server, "Aria"))
        assert definition(server) == before
        assert server.execute(history, database=DATABASE) == rows
        assert len(rows) == 4


@on_every_server
def test_a_sequence_goes_over_and_is_told_nothing_of_keys_and_transactions(server: PrivateServer) -> None:
    """It has one row, which NEXTVAL alone writes, in no transaction, whichever engine keeps it; and it takes no index (4086)."""
    with schema(server, DATABASE):
        if error_of(server, f"CREATE SEQUENCE {DATABASE}.s CACHE 10 ENGINE=MyISAM"):
            pytest.skip("the server has none")
        server.execute("SET SESSION sql_mode = 'IGNORE_BAD_TABLE_OPTIONS'", "CREATE TABLE plain (a INT) ENGINE=MyISAM TRANSACTIONAL=1 PAGE_CHECKSUM=1", database=DATABASE)
        assert server.execute("SELECT NEXTVAL(s)", database=DATABASE) == [(1,)]
        assert error_of(server, f"ALTER TABLE {DATABASE}.s ADD PRIMARY KEY (next_not_cached_value)") == 4086
        server.execute("FLUSH TABLES", "SET GLOBAL innodb_force_primary_key = ON")
        try:
            found = {one.name[1]: one for one in looked(server, DATABASE).predictions}
        finally:
            server.execute("SET GLOBAL innodb_force_primary_key = OFF")
        assert ([one.code for one in found["plain"].errors], found["s"].errors) == ([1173], ())
        for to in ("Aria", "InnoDB"):
            found = {one.name[1]: one for one in looked(server, DATABASE, to=to).predictions}
            assert {change.id for change in found["s"].changes} <= {"options-ignored", "table-status"}
            assert len(found["plain"].changes) > 5
            assert fed(server, as_script(looked(server, f"{DATABASE}.s", to=to))) == ""
            assert engines(server, DATABASE)["s"] == to
            with server.session(DATABASE) as connection:
                cursor = connection.cursor()
                for statement in ("BEGIN", "SELECT NEXTVAL(s)", "ROLLBACK", "SELECT LASTVAL(s), NEXTVAL(s)"):
                    cursor.execute(statement)
                ((drawn, following),) = cursor.fetchall()
            assert following == drawn + 1
            server.execute(*map(str, back(found["s"])))


@on_every_server
def test_a_check_that_an_empty_shape_fails_is_told(server: PrivateServer) -> None:
    with schema(server, DATABASE):
        server.execute("CREATE TABLE t (id INT PRIMARY KEY, g GEOMETRY NOT NULL, SPATIAL KEY (g)) ENGINE=MyISAM", database=DATABASE)
        if error_of(server, f"INSERT INTO {DATABASE}.t VALUES (1, ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')), (2, ST_GeomFromText('POINT(1 1)'))"):
            pytest.skip("the server has no such shape")
        one = predicted(server)
        if one.script_errors:
            pytest.skip("InnoDB has no such index there")
        shown = [str(change.statement) for change in one.changes if change.id == "spatial-empty"]
        server.execute(str(alter(one)))
        assert (server.execute(f"CHECK TABLE {DATABASE}.t")[-1][3] == "Corrupt") is bool(shown)
        assert all(server.execute(statement) == [(1,)] for statement in shown)
        within = "SELECT id FROM t FORCE INDEX (g) WHERE MBRIntersects(g, ST_GeomFromText('POLYGON((0 0,0 2,2 2,2 0,0 0))'))"
        assert server.execute(within, database=DATABASE) == [(2,)]
