"""InnoDB tables that refer to one of MyISAM, on real servers: which ALTER fails, with which error, and which constraint comes alive."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Migration
from myisam_advisor.migrate.script import alter, as_script
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session

from .conftest import schema, target
from .test_migrate_schemas import FOUR

# What the parent `p` has, and what the child `c`.
PAIRS = {
    "fits": ("id INT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "names in other letters": ("ID INT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "longer number": ("id BIGINT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "other sign": ("id INT UNSIGNED PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "no index": ("id INT", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "index that is not unique": ("id INT, KEY (id)", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "first of two": ("id INT, b INT, PRIMARY KEY (id, b)", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "second of two": ("id INT, b INT, UNIQUE (b, id)", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "two columns": ("x INT, y INT, PRIMARY KEY (x, y)", "a INT, b INT, FOREIGN KEY (a, b) REFERENCES p (x, y)"),
    "two columns the other way round": ("x INT, y INT, PRIMARY KEY (x, y)", "a INT, b INT, FOREIGN KEY (a, b) REFERENCES p (y, x)"),
    "index and the primary key behind it": ("id INT PRIMARY KEY, b INT, KEY (b)", "a INT, c INT, FOREIGN KEY (a, c) REFERENCES p (b, id)"),
    "NULLs in the unique index": ("id INT, UNIQUE (id)", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "no such column": ("other INT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "other collation": ("id VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin PRIMARY KEY", "a VARCHAR(10) CHARACTER SET latin1, FOREIGN KEY (a) REFERENCES p (id)"),
    "other length of text": ("id CHAR(20) CHARACTER SET latin1 PRIMARY KEY", "a VARCHAR(10) CHARACTER SET latin1, FOREIGN KEY (a) REFERENCES p (id)"),
    "prefix": ("id VARCHAR(20) CHARACTER SET latin1, UNIQUE (id(5))", "a VARCHAR(20) CHARACTER SET latin1, FOREIGN KEY (a) REFERENCES p (id)"),
    "text and bytes": ("id BINARY(10) PRIMARY KEY", "a CHAR(10) CHARACTER SET latin1, FOREIGN KEY (a) REFERENCES p (id)"),
    "bytes and bytes": ("id VARBINARY(10) PRIMARY KEY", "a DECIMAL(10, 2), FOREIGN KEY (a) REFERENCES p (id)"),
    "times": ("id DATETIME PRIMARY KEY", "a TIMESTAMP NULL, FOREIGN KEY (a) REFERENCES p (id)"),
    "date and number": ("id MEDIUMINT PRIMARY KEY", "a DATE, FOREIGN KEY (a) REFERENCES p (id)"),
    "year and number": ("id TINYINT UNSIGNED PRIMARY KEY", "a YEAR, FOREIGN KEY (a) REFERENCES p (id)"),
    "members": ("id ENUM('a', 'b') PRIMARY KEY", "a ENUM('c''d', 'e,f', 'g'), FOREIGN KEY (a) REFERENCES p (id)"),
    "bits and number": ("id TINYINT UNSIGNED PRIMARY KEY", "a BIT(8), FOREIGN KEY (a) REFERENCES p (id)"),
    "floats": ("id DOUBLE PRIMARY KEY", "a FLOAT, FOREIGN KEY (a) REFERENCES p (id)"),
    "type and index": ("id BIGINT", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "another error of the engine": ("id BIGINT) ROW_FORMAT=FIXED COMMENT='' -- ", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "another error of the server": ("id BIGINT, x INT, y INT AUTO_INCREMENT, KEY (x, y)", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
    "a name of InnoDB's": ("id BIGINT, DB_ROW_ID INT", "a INT, FOREIGN KEY (a) REFERENCES p (id)"),
}  # fmt: skip


@pytest.fixture(scope="module", params=[*FOUR, "mysql-8.0"])
def referred(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> Iterator[PrivateServer]:
    """The server with a database that has a name with an odd letter, as it stands otherwise among files."""
    server = running(request.param)
    with schema(server, "referred-to"):
        yield server


def looked(server: PrivateServer, table: str = "p", later: str | None = None) -> Migration:
    with Session(target(server), 10) as session:
        return looked_at(session, [f"referred-to.{table}"], "InnoDB", later, Path("/proc"))


def happened(server: PrivateServer, *statements: str) -> list[int]:
    """The number of each statement's error, 0 of none."""
    numbers = []
    with server.session("referred-to") as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            try:
                cursor.execute(statement)
                numbers.append(0)
            except Error as error:
                numbers.append(int(error.args[0]))
    return numbers


def made(server: PrivateServer, parent: str, child: str) -> None:
    parent, engine = (parent, ") ENGINE=MyISAM") if "-- " not in parent else (parent.replace(") ROW", ") ENGINE=MyISAM ROW"), "")
    numbers = happened(
        server, "SET SESSION foreign_key_checks = 0, sql_mode = ''", "DROP TABLE IF EXISTS c, p", f"CREATE TABLE p ({parent}{engine}", f"CREATE TABLE c ({child}) ENGINE=InnoDB",
    )  # fmt: skip
    assert numbers == [0] * 4


@pytest.mark.parametrize("checks", ["ON", "OFF"])
@pytest.mark.parametrize(("parent", "child"), PAIRS.values(), ids=PAIRS)
def test_a_constraint_that_does_not_fit_is_told(referred: PrivateServer, parent: str, child: str, checks: str) -> None:
    made(referred, parent, child)
    referred.execute(f"SET GLOBAL foreign_key_checks = {checks}")
    try:
        migration = looked(referred)
        (code,) = happened(referred, "ALTER TABLE p ENGINE=InnoDB")
    finally:
        referred.execute("SET GLOBAL foreign_key_checks = ON")
    (told,) = migration.predictions
    assert migration.foreign_keys_unknown == ""
    assert next((error.code for error in told.errors), 0) == code, told.errors
    assert ("foreign-key-alive" in [change.id for change in told.changes]) == (code == 0 and checks == "ON")


@pytest.mark.parametrize(("parent", "child"), PAIRS.values(), ids=PAIRS)
def test_a_constraint_that_does_not_fit_the_target_is_told_by_the_present_server(referred: PrivateServer, running: Callable[[str], PrivateServer], parent: str, child: str) -> None:
    """The same tables are made on both: what an upgrade or a dump brings there."""
    to = "mariadb-11.8" if "mariadb" in referred.binaries.name else "mysql-9.7"
    if referred.binaries.name == to:
        pytest.skip("it is the target")
    made(referred, parent, child)
    (told,) = looked(referred, later=to).predictions
    target_server = running(to)
    with schema(target_server, "referred-to"):
        made(target_server, parent, child)
        (code,) = happened(target_server, "ALTER TABLE p ENGINE=InnoDB")
    there = told.target_errors[0].code if told.target_errors else 0
    if told.errors:  # what is refused for the same reason there is told of here alone
        assert code or not there, (told.errors, told.target_errors)
    else:
        assert there == code, told.target_errors


def test_what_comes_alive_is_told_and_its_statement_finds_rows_without_parent(referred: PrivateServer) -> None:
    made(referred, "id INT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE")
    assert happened(referred, "SET SESSION foreign_key_checks = 0", "INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (1), (7), (NULL)") == [0] * 3
    (told,) = looked(referred).predictions
    (change,) = [one for one in told.changes if one.id == "foreign-key-alive"]
    assert "of `referred-to`.c refers" in change.what
    assert "change or delete rows there" in change.what
    dead = referred.execute("SELECT 1 FROM DUAL WHERE @@version LIKE '9.%'") == []
    assert ("refuses each new row" in change.what) == dead
    assert referred.execute(change.statement) == [(1,)]
    assert happened(referred, "INSERT INTO c VALUES (1)", "DELETE FROM c WHERE a = 1 LIMIT 1") == [1452 if dead else 0, 0]
    assert happened(referred, "SET SESSION foreign_key_checks = 0", "INSERT INTO c SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM c WHERE a = 1)") == [0, 0]
    assert happened(referred, "ALTER TABLE p ENGINE=InnoDB", "INSERT INTO c VALUES (1)", "INSERT INTO c VALUES (8)", "DELETE FROM p") == [0, 0, 1452, 0]
    assert referred.execute("SELECT a FROM c ORDER BY a", database="referred-to") == [(None,), (7,)]


def test_what_comes_alive_refuses_the_way_back_until_it_is_dropped_as_told(referred: PrivateServer) -> None:
    made(referred, "id INT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)")
    found = looked(referred)
    (told,) = found.predictions
    (there, *_) = back(told)
    dropping = "ALTER TABLE `referred-to`.`c` DROP FOREIGN KEY `c_ibfk_1`;"
    assert dropping in as_script(found)
    assert happened(referred, "TRUNCATE p", alter(told)) == [0, 0]
    refused = happened(referred, "TRUNCATE p", "DROP TABLE p", there, "SET SESSION foreign_key_checks = 0")
    assert (refused[0], refused[1] in (1217, 1451, 3730), refused[2] in (1217, 3776)) == (1701, True, True)
    assert happened(referred, dropping, there) == [0, 0]


def test_the_constraint_is_dropped_by_what_mends_it(referred: PrivateServer) -> None:
    made(referred, "id BIGINT PRIMARY KEY", "a INT, CONSTRAINT `of c` FOREIGN KEY (a) REFERENCES p (id)")
    (told,) = looked(referred).predictions
    mend = told.errors[0].mend.partition("constraint: ")[2]
    referred.execute(mend.rstrip(";"))
    assert looked(referred).predictions[0].errors == ()
    assert happened(referred, "ALTER TABLE p ENGINE=InnoDB") == [0]


def test_tables_of_other_databases_and_odd_names_are_found(referred: PrivateServer) -> None:
    with schema(referred, "childs"):
        referred.execute(
            "SET SESSION foreign_key_checks = 0", "DROP TABLE IF EXISTS c, p", "CREATE TABLE `p.ö x` (id BIGINT PRIMARY KEY) ENGINE=MyISAM",
            "CREATE TABLE childs.`c-c` (a INT, FOREIGN KEY (a) REFERENCES `referred-to`.`p.ö x` (id)) ENGINE=InnoDB", database="referred-to",
        )  # fmt: skip
        (told,) = looked(referred, "p.ö x").predictions
        assert "of childs.`c-c` refers to its column id by a" in told.errors[0].why
        assert happened(referred, "ALTER TABLE `p.ö x` ENGINE=InnoDB") == [told.errors[0].code]
    referred.execute("SET SESSION foreign_key_checks = 0", "DROP TABLE `p.ö x`", database="referred-to")


def test_who_may_not_ask_says_so(referred: PrivateServer) -> None:
    made(referred, "id BIGINT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)")
    referred.execute("CREATE USER asker@localhost IDENTIFIED BY 'Asker 1 word'", "GRANT SELECT ON `referred-to`.* TO asker@localhost")
    try:
        with Session(target(referred, "asker", "Asker 1 word"), 10) as session:
            migration = looked_at(session, ["referred-to.p"], "InnoDB", None, Path("/proc"))
        # From MySQL 8.0 on whoever may read the tables sees their constraints.
        assert ("GRANT PROCESS ON *.*" in migration.foreign_keys_unknown) == (migration.predictions[0].errors == ())
        assert (migration.foreign_keys_unknown == "") == referred.binaries.name.startswith(("mysql-8", "mysql-9"))
    finally:
        referred.execute("DROP USER asker@localhost")


def test_the_look_opens_no_table(referred: PrivateServer) -> None:
    made(referred, "id BIGINT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)")
    referred.execute("FLUSH TABLES")
    assert looked(referred).predictions[0].errors != ()
    assert referred.execute("SHOW OPEN TABLES FROM `referred-to`") == []
    referred.execute("SELECT * FROM p", database="referred-to")
    assert referred.execute("SHOW OPEN TABLES FROM `referred-to`") != [], "which shows what is open"


def test_to_aria_nothing_is_asked(referred: PrivateServer) -> None:
    made(referred, "id BIGINT PRIMARY KEY", "a INT, FOREIGN KEY (a) REFERENCES p (id)")
    with Session(target(referred), 10) as session:
        before = session.statements
        migration = looked_at(session, ["referred-to.p"], "Aria", None, Path("/proc"))
        asked = session.statements - before
        looked_at(session, ["referred-to.p"], "InnoDB", None, Path("/proc"))
        assert session.statements - before - asked == asked + 1
    assert 1025 not in [error.code for error in migration.predictions[0].errors]
