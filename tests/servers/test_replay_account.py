"""The account that sends a replay's statements: rows and temporary tables are its own to change, definitions of copied tables are not."""

from contextlib import closing

import pytest

from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.stages import ACCOUNT, PRIVILEGES, make_account

from .conftest import on_every_server, schema

DENIED = 1142
REDEFINING = ("DROP TABLE hits", "ALTER TABLE hits ADD b INT", "CREATE TABLE more (a INT)", "RENAME TABLE hits TO gone", "CREATE INDEX i ON hits (a)", "DROP VIEW seen")


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
