"""ENUM and SET columns of two bytes a character and more that share a list, on real servers: which ones an ALTER takes the values of, what it says, and what keeps them."""

from collections.abc import Iterator

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.misread_members import MISREAD
from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.script import alter, as_script
from myisam_advisor.trial.private.private_server import PrivateServer

from .conftest import schema
from .test_migrate_definitions import predicted
from .test_migrate_scripts import engines, fed, looked

DATABASE = "made"
HALVING = ("mysql-5.5", "mysql-5.6")
on_old_servers = pytest.mark.parametrize("server", HALVING, indirect=True, scope="session")
on_old_and_later_servers = pytest.mark.parametrize("server", [*HALVING, "mysql-8.0", "mariadb-10.5"], indirect=True, scope="session")
WIDE = ("ucs2", "utf16", "utf32")
COLUMNS = {
    **{f"words of {name}": f"a ENUM('yes','no') CHARACTER SET {name}, b ENUM('yes','no') CHARACTER SET {name}" for name in WIDE},
    **{f"Cyrillic words of {name}": f"a ENUM('да','нет') CHARACTER SET {name}, b ENUM('да','нет') CHARACTER SET {name} NOT NULL" for name in WIDE},
    "three columns": "a ENUM('да','нет') CHARACTER SET ucs2, b ENUM('да','нет') CHARACTER SET ucs2, c SET('да','нет') CHARACTER SET ucs2",
    "digits": "a ENUM('㌳','㍄') CHARACTER SET ucs2, b ENUM('㌳','㍄') CHARACTER SET ucs2",
    "two sets of characters": "a ENUM('yes','no') CHARACTER SET ucs2, b ENUM('yes','no') CHARACTER SET utf16",
    "an ENUM and a SET": "a ENUM('yes','it''s') CHARACTER SET ucs2, b SET('yes','it''s') CHARACTER SET ucs2 NOT NULL",
    "digits as words": "a ENUM('0061','0062') CHARACTER SET latin1, b ENUM('a','b') CHARACTER SET ucs2",
    "digits as words behind": "a ENUM('a','b') CHARACTER SET ucs2, b ENUM('0061','0062') CHARACTER SET latin1",
    "an empty word": "a ENUM('','no') CHARACTER SET ucs2, b ENUM('','no') CHARACTER SET ucs2",
    "one in half": "a ENUM('aa','ab') CHARACTER SET ucs2, b ENUM('aa','ab') CHARACTER SET ucs2",
    "one in half, and a rest": "a ENUM('aXe','Abe') CHARACTER SET utf16, b ENUM('aXe','Abe') CHARACTER SET utf16",
    "the rests differ": "a ENUM('yes','yo') CHARACTER SET ucs2, b ENUM('yes','yo') CHARACTER SET ucs2",
    "nothing to halve": "a ENUM('') CHARACTER SET ucs2, b ENUM('') CHARACTER SET ucs2",
    "lists of their own": "a ENUM('yes','no') CHARACTER SET ucs2, b ENUM('yes','nO') CHARACTER SET ucs2",
    "one byte a character": "a ENUM('yes','no') CHARACTER SET latin1, b ENUM('yes','no') CHARACTER SET utf8",
}  # fmt: skip
NUMBERS = "SELECT a + 0, b + 0 FROM t ORDER BY i"
READ = "SELECT HEX(CONVERT(a USING utf8)), HEX(CONVERT(b USING utf8)), a + 0, b + 0 FROM t ORDER BY i"


@pytest.fixture(autouse=True)
def lenient(server: PrivateServer) -> Iterator[None]:
    ((usual,),) = server.execute("SELECT @@global.sql_mode")
    yield
    server.execute(f"SET GLOBAL sql_mode = '{usual}'")


def made(server: PrivateServer, columns: str) -> None:
    """With each member in a row, by its number."""
    second = 1 if "('')" in columns else 2
    server.execute(
        "SET NAMES utf8", "SET SESSION sql_mode = ''", "DROP TABLE IF EXISTS t", f"CREATE TABLE t (i INT, {columns}, KEY (a)) ENGINE=MyISAM",
        f"INSERT INTO t (i, a, b) VALUES (1, 1, {second}), (2, {second}, 1)", "FLUSH TABLES", database=DATABASE,
    )  # fmt: skip


def told(server: PrivateServer, sql_mode: str = "") -> Prediction:
    server.execute(f"SET GLOBAL sql_mode = '{sql_mode}'")
    return predicted(server)


def is_misread(one: Prediction) -> bool:
    return MISREAD in [change.id for change in one.changes]


@on_old_and_later_servers
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_members_that_an_alter_would_halve_are_told_and_the_alter_is_held(server: PrivateServer, columns: str) -> None:
    with schema(server, DATABASE):
        made(server, columns)
        rows = server.execute(READ, database=DATABASE)
        one = told(server)
        script = as_script(looked(server, f"{DATABASE}.t"))
        assert fed(server, script) == ""
        assert (engines(server, DATABASE)["t"] == "MyISAM") is is_misread(one)
        server.execute("SET SESSION sql_mode = ''", str(alter(one)), "FLUSH TABLES", database=DATABASE)
        assert (server.execute(READ, database=DATABASE) != rows) is is_misread(one)
        if server.binaries.name not in HALVING:
            assert not is_misread(one)


@on_old_and_later_servers
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_a_strict_server_ends_with_the_error_that_is_told(server: PrivateServer, columns: str) -> None:
    with schema(server, DATABASE):
        made(server, columns)
        one = told(server, "STRICT_ALL_TABLES")
        try:
            server.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'", "ALTER TABLE t ENGINE=InnoDB", database=DATABASE)
        except Error as error:
            if error.args[0] == 1265:  # which rows decide, and the change tells
                assert "1265" in next(change.what for change in one.changes if change.id == MISREAD)
                return
            assert [refusal.code for refusal in one.errors] == [error.args[0]] == [1291]
        else:
            assert one.errors == ()


@on_old_servers
@pytest.mark.parametrize("sql_mode", ["", "TRADITIONAL"])
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_the_two_alters_that_are_told_keep_each_value_and_the_list_as_it_was_meant(server: PrivateServer, columns: str, sql_mode: str) -> None:
    with schema(server, DATABASE):
        made(server, columns)
        numbers = server.execute(NUMBERS, database=DATABASE)
        one = told(server)
        if not is_misread(one):
            pytest.skip("the server reads what was meant")
        (what,) = (change.what for change in one.changes if change.id == MISREAD)
        first, second = (f"ALTER TABLE{words}" for words in what.split("ALTER TABLE")[1:])
        server.execute("SET NAMES utf8", f"SET SESSION sql_mode = '{sql_mode}'", first, second, "FLUSH TABLES", database=DATABASE)
        assert not is_misread(told(server))
        server.execute("ALTER TABLE t ENGINE=InnoDB", "FLUSH TABLES", database=DATABASE)
        assert server.execute(NUMBERS, database=DATABASE) == numbers
        rows = server.execute("SELECT a, b FROM t ORDER BY i", database=DATABASE)
        members = [[word.strip("'").replace("''", "'") for word in part.partition(")")[0].split(",")] for part in columns.split("(")[1:3]]
        assert rows == [(members[0][0], members[1][1]), (members[0][1], members[1][0])]
