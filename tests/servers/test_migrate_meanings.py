"""Where a change of meaning begins and ends: told for the settings and the tables that have it, on each server, and for no others."""

import threading
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.change import Subject
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.trial.private.driver import Connection
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import wait_for

from .conftest import schema
from .test_migrate_schemas import FOUR, kind_of
from .test_migrate_traps import LONG_AND_SHORT, structures, told


def told_on(connection: Connection, statement: str) -> None:
    """Run it until it ends, or is ended."""
    with suppress(Error), closing(connection.cursor()) as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize(("sql_mode", "told_of"), [("", False), ("STRICT_TRANS_TABLES", True), ("STRICT_ALL_TABLES", False), ("STRICT_TRANS_TABLES,STRICT_ALL_TABLES", False), ("TRADITIONAL", False)])
def test_wrong_values_of_later_rows_are_told_where_myisam_takes_them(running: Callable[[str], PrivateServer], name: str, sql_mode: str, *, told_of: bool) -> None:
    server = running(name)
    asked = (f"SET SESSION sql_mode = '{sql_mode}'", "DELETE FROM t", "INSERT INTO t VALUES (1), (1000)", "SELECT COUNT(id + 0) FROM t")
    with schema(server, "traps"):
        server.execute("CREATE TABLE t (id TINYINT) ENGINE=MyISAM", database="traps")
        structure = structures(server)["t"]
        assert ("strict-rows" in {change.id for change in changes(Subject(("traps", "t"), structure, "InnoDB", kind_of(server, sql_mode)))}) is told_of
        taken = [("error", 1264) in told(server, *asked)]
        server.execute("ALTER TABLE t ENGINE=InnoDB", database="traps")
        taken.append(("error", 1264) in told(server, *asked))
        assert (taken == [False, True]) is told_of
        if "mariadb" in name:
            assert "strict-rows" not in {change.id for change in changes(Subject(("traps", "t"), structure, "Aria", kind_of(server, sql_mode)))}


@pytest.mark.parametrize("longest", [780, 900])
def test_rows_of_aria_come_in_order_as_long_as_they_are_short(mariadb: PrivateServer, longest: int) -> None:
    with schema(mariadb, "traps"):
        mariadb.execute(f"CREATE TABLE t (id INT, x VARCHAR({longest}) CHARACTER SET latin1) ENGINE=MyISAM", LONG_AND_SHORT.replace("900", str(longest)), database="traps")
        named = {change.id for change in changes(Subject(("traps", "t"), structures(mariadb)["t"], "Aria", kind_of(mariadb, "")))}
        before = told(mariadb, "SELECT id FROM t")
        mariadb.execute("ALTER TABLE t ENGINE=Aria", database="traps")
        assert ("aria-order" in named) is (told(mariadb, "SELECT id FROM t") != before) is (longest == 900)


@pytest.mark.parametrize("name", FOUR)
def test_a_killed_statement_leaves_rows_changed_in_myisam_alone(running: Callable[[str], PrivateServer], name: str) -> None:
    server = running(name)
    changed = {}
    with schema(server, "traps"):
        for engine in ("MyISAM", "InnoDB"):
            server.execute("DROP TABLE IF EXISTS t", "CREATE TABLE t (a INT) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (1), (1), (1), (1), (1), (1), (1)", database="traps")
            assert "half-done" in {change.id for change in changes(Subject(("traps", "t"), structures(server)["t"], "InnoDB", kind_of(server, "")))}
            server.execute(f"ALTER TABLE t ENGINE={engine}", database="traps")
            with server.session("traps") as connection:
                number = connection.thread_id()
                killed = threading.Thread(target=lambda: told_on(connection, "UPDATE t SET a = 2 + SLEEP(0.5)"))
                killed.start()
                updates = f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {number} AND INFO LIKE 'UPDATE%' AND TIME >= 2"
                assert wait_for(partial(server.execute, updates))
                server.execute(f"KILL QUERY {number}")
                killed.join()
            changed[engine] = told(server, "SELECT SUM(a = 2) > 0 FROM t")
    assert changed == {"MyISAM": [(1,)], "InnoDB": [(0,)]}


END_OF_BIGINT, END_OF_UNSIGNED = (1 << 63) - 1, (1 << 64) - 2
FILL = "INSERT INTO t (a) VALUES (2)"


def answers_of_full(server: PrivateServer, counter: str, *ways: str, sql_mode: str) -> list[tuple[object, ...]]:
    """What a counter answers behind its last number, without warnings; `ways` lead from a table of MyISAM whose last number but one is taken to there."""
    server.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t (a INT, id {counter}) ENGINE=MyISAM", *ways, database="traps")
    asked = (f"SET SESSION sql_mode = '{sql_mode}'", "INSERT INTO t (a) VALUES (3)", "INSERT INTO t (a) VALUES (4) ON DUPLICATE KEY UPDATE a = 9", "SELECT a FROM t ORDER BY id, a")
    return [one for one in told(server, *asked) if one[0] != "warning"]


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("sql_mode", ["", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"])
@pytest.mark.parametrize(("counter", "last"), [("TINYINT", 127), ("SMALLINT UNSIGNED", 65_535), ("BIGINT", END_OF_BIGINT), ("BIGINT UNSIGNED", END_OF_UNSIGNED), ("DOUBLE", 127)])
@pytest.mark.parametrize("key", ["PRIMARY KEY", "KEY"])
def test_the_last_number_of_a_counter_comes_again_where_that_is_told(running: Callable[[str], PrivateServer], name: str, sql_mode: str, counter: str, last: int, key: str) -> None:
    if counter == "DOUBLE" and name == "mysql-9.7":
        pytest.skip("it counts in no fractions (error 1063)")
    server, column = running(name), f"{counter} NOT NULL AUTO_INCREMENT, {key} (id)"
    near = f"INSERT INTO t VALUES (1, {last - 1})"
    with schema(server, "traps"):
        before = answers_of_full(server, column, near, FILL, sql_mode=sql_mode)
        named = {change.id for change in changes(Subject(("traps", "t"), structures(server)["t"], "InnoDB", kind_of(server, sql_mode)))}
        after = answers_of_full(server, column, near, "ALTER TABLE t ENGINE=InnoDB", FILL, sql_mode=sql_mode)
        assert ("counter-full" in named) is (before != after)
        if "counter-full" in named:
            assert before == [("error", 1264), ("error", 1264), (1,), (2,)]
            assert after == ([("error", 1062), (1,), (9,)] if key == "PRIMARY KEY" else [(1,), (2,), (3,), (4,)])
            assert answers_of_full(server, column, near, FILL, "ALTER TABLE t ENGINE=InnoDB", sql_mode=sql_mode) == [("error", 1467), ("error", 1467), (1,), (2,)]
