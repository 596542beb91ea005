"""The account that sends a replay's statements: rows and temporary tables are its own to change, definitions of copied tables are not."""

from contextlib import closing

import pytest

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.stages import ACCOUNT, PRIVILEGES, make_account
from myisam_advisor.workload.statements import refused

from .conftest import error_of, on_every_server, schema

DENIED = 1142
REDEFINING = ("DROP TABLE hits", "ALTER TABLE hits ADD b INT", "CREATE TABLE more (a INT)", "RENAME TABLE hits TO gone", "CREATE INDEX i ON hits (a)", "DROP VIEW seen")

# What would change the server, or reach beyond it: no word of these does it, whatever the reader of statements makes of them.
TRIED = (
    "SET GLOBAL join_buffer_size = 131072", "SET @@global.join_buffer_size = 131072", "SET PERSIST join_buffer_size = 131072", "/*!50000 SET GLOBAL join_buffer_size = 131072 */", "/*M!100100 SET GLOBAL join_buffer_size = 131072 */",
    "SET @s = 'SET GLOBAL join_buffer_size = 131072'", "PREPARE s FROM @s", "EXECUTE s", "PREPARE s FROM 'SET GLOBAL join_buffer_size = 131072'", "EXECUTE s", "EXECUTE IMMEDIATE 'SET GLOBAL join_buffer_size = 131072'",
    "BEGIN NOT ATOMIC PREPARE s FROM 'SET GLOBAL join_buffer_size = 131072'; EXECUTE s; END", "CREATE PROCEDURE sets() SET GLOBAL join_buffer_size = 131072", "CALL sets()", "SET NAMES sjis", "SELECT '\u30bd\\'; SET GLOBAL join_buffer_size = 131072", "SET NAMES utf8",
    "INSTALL PLUGIN blackhole SONAME 'ha_blackhole.so'", "INSTALL SONAME 'ha_connect'", "CREATE FUNCTION sys_exec RETURNS STRING SONAME 'lib_mysqludf_sys.so'", "SELECT * FROM hits INTO OUTFILE '{file}'", "SELECT 1 INTO DUMPFILE '{file}'",
    "LOAD DATA INFILE '/etc/passwd' INTO TABLE hits", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE hits", "CREATE SERVER far FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')", "CREATE TABLE far1 (a INT) ENGINE=FEDERATED CONNECTION='mysql://u@127.0.0.1/d/t'",
    "CREATE TABLE far2 (a INT) ENGINE=CONNECT TABLE_TYPE=MYSQL", "CREATE TABLE far3 (a INT) ENGINE='SPIDER'", "CHANGE MASTER TO MASTER_HOST='127.0.0.1'", "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1'", "START SLAVE", "RESET MASTER", "SHUTDOWN", "RESTART", "LOCK INSTANCE FOR BACKUP",
    "BACKUP STAGE START", "FLUSH TABLES WITH READ LOCK", "CREATE DATABASE more", "CREATE USER more", "GRANT ALL ON *.* TO CURRENT_USER()", "INSERT INTO mysql.func VALUES ('f', 0, 'x.so', 'function')", "ALTER INSTANCE ROTATE INNODB MASTER KEY",
)  # fmt: skip
# They are about the connection alone, make what the account may make, or are a comment to MySQL. MySQL 5.5 makes a table of another engine (a warning).
TAKEN = ("SET @s = ", "SET NAMES ", "PREPARE s ", "CREATE PROCEDURE ", "CREATE TABLE far", "/*M!")


def errors(server: PrivateServer, *statements: str) -> list[int]:
    """With which errors they end on one connection of the account's; 0 for none."""
    found = []
    with closing(server.connect(user=ACCOUNT)) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("USE replayed")
        for statement in statements:
            try:
                cursor.execute(statement)
                cursor.fetchall()
                found.append(0)
            except driver().error as error:
                found.append(error.args[0])
    return found


@on_every_server
@pytest.mark.parametrize("further", [(), ("DROP",)])
def test_rows_and_temporary_tables_may_be_changed_and_definitions_may_not(server: PrivateServer, further: tuple[str, ...]) -> None:
    with schema(server, "replayed"):
        server.execute(
            "CREATE TABLE hits (a INT) ENGINE=MyISAM", "CREATE TABLE log (a INT) ENGINE=MyISAM", "CREATE VIEW seen AS SELECT a FROM hits",
            "CREATE FUNCTION twice (a INT) RETURNS INT DETERMINISTIC RETURN 2 * a", database="replayed",
        )  # fmt: skip
        make_account(server, ["replayed"], (*PRIVILEGES, *further))
        try:
            # A trigger, and a view, run with the rights of whom they belong to.
            server.execute(
                f"CREATE DEFINER={ACCOUNT}@localhost TRIGGER t AFTER INSERT ON hits FOR EACH ROW INSERT INTO log VALUES (NEW.a)",
                f"CREATE DEFINER={ACCOUNT}@localhost VIEW mine AS SELECT a FROM hits", database="replayed",
            )  # fmt: skip
            allowed = (
                "INSERT INTO hits VALUES (twice(1)), (2)", "REPLACE INTO log VALUES (1)", "UPDATE hits SET a = 1", "DELETE FROM hits WHERE a = 5", "SELECT * FROM mine",
                "EXPLAIN SELECT * FROM mine", "LOCK TABLES hits WRITE, log WRITE", "UNLOCK TABLES", "CREATE TEMPORARY TABLE own (a INT)", "INSERT INTO own SELECT a FROM hits",
                "UPDATE own SET a = 1", "SELECT * FROM own", "DROP TEMPORARY TABLE own", "CREATE TEMPORARY TABLE own LIKE hits", "DROP TEMPORARY TABLE IF EXISTS own",
            )  # fmt: skip
            assert errors(server, *allowed) == [0] * len(allowed)
            assert errors(server, "TRUNCATE TABLE log") == [0 if further else DENIED]
            if not further:
                assert errors(server, *REDEFINING) == [DENIED] * len(REDEFINING)
            assert server.execute("SELECT COUNT(*) FROM hits", database="replayed") == [(2,)]
        finally:
            server.execute(f"DROP USER {ACCOUNT}@localhost")


@on_every_server
def test_no_statement_of_a_workload_changes_the_private_server_or_reaches_beyond_it(server: PrivateServer) -> None:
    """With the widest rights that a replay gives: all on the copied databases."""
    asked = "SELECT @@global.join_buffer_size, (SELECT COUNT(*) FROM mysql.func), (SELECT COUNT(*) FROM mysql.plugin), (SELECT COUNT(*) FROM mysql.user), (SELECT COUNT(*) FROM mysql.servers)"
    file = server.directory / "written"
    with schema(server, "replayed"):
        server.execute("CREATE TABLE hits (a INT) ENGINE=MyISAM", database="replayed")
        make_account(server, ["replayed"])
        try:
            was = server.execute(asked)
            tried = [statement.replace("{file}", str(file)) for statement in TRIED]
            found = dict(zip(tried, errors(server, *tried), strict=True))
            assert [statement for statement, error in found.items() if not error and not statement.startswith(TAKEN)] == []
            assert server.execute(asked) == was
            assert server.execute("SELECT COUNT(*) FROM hits", database="replayed") == [(0,)]
            engines = {engine for (engine,) in server.execute("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'replayed'")}
            assert engines <= {"MyISAM", "InnoDB"}
            assert not file.exists()
        finally:
            server.execute(f"DROP USER {ACCOUNT}@localhost")


# Kept since MySQL 5.7.7: the manual, "XA Transaction States".
FORGET_XA = ("mysql-5.5", "mysql-5.6")
OF_XA = ("XA START 'replayed'", "XA END 'replayed'", "XA PREPARE 'replayed'")


@on_every_server
def test_a_transaction_that_outlives_its_connection_is_not_replayed(server: PrivateServer) -> None:
    """The next run's XA START ended with error 1440: what one run had prepared was there still."""
    with schema(server, "replayed"):
        make_account(server, ["replayed"], PRIVILEGES)
        try:
            assert errors(server, *OF_XA) == [0, 0, 0]
            assert (len(server.execute("XA RECOVER")) == 0) == server.binaries.name.startswith(FORGET_XA)
        finally:
            for _ in server.execute("XA RECOVER"):
                # MariaDB: 1402, as it is gone for having written nothing.
                assert error_of(server, "XA ROLLBACK 'replayed'") in (0, 1402)
            server.execute(f"DROP USER {ACCOUNT}@localhost")
    assert {refused(one.encode()) for one in OF_XA} == {"XA"}
