"""ENUM and SET columns of which two members are one to the collation, on real servers: which ALTER ends with error 1291, and that no table is opened to know it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.script import alter, runs
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session

from .conftest import error_of, schema, target
from .test_migrate_schemas import FOUR

PROC = Path("/proc")
STRICT, TRADITIONAL = "STRICT_ALL_TABLES", "TRADITIONAL"
COLUMNS = {
    "capitals": "a ENUM('Y', 'N', 'y') CHARACTER SET latin1",
    "capitals of a SET": "a SET('r', 'w', 'R') CHARACTER SET latin1",
    "the same": "a ENUM('x', 'x') CHARACTER SET latin1 COLLATE latin1_bin",
    "nothing twice": "a ENUM('', '') CHARACTER SET latin1",
    "spaces at the end": "a ENUM('a', 'a ') CHARACTER SET latin1",
    "accents": "a ENUM('e', 'é') CHARACTER SET utf8",
    "two letters for one": "a ENUM('ae', 'ä') CHARACTER SET latin1 COLLATE latin1_german2_ci",
    "Swedish": "a ENUM('y', 'ü') CHARACTER SET latin1",
    "two bytes a character": "a ENUM('a', 'A') CHARACTER SET ucs2",
    **{f"Cyrillic letters of {name}": f"a ENUM('да', 'ДА') CHARACTER SET {name}" for name in ("ucs2", "utf16", "utf16le", "utf32", "cp1251")},
    "accents that differ, of two bytes": "a ENUM('да', 'ДА') CHARACTER SET ucs2 COLLATE ucs2_bin",
    "bytes": "a ENUM('Y', 'y') CHARACTER SET binary",
    "capitals that differ": "a ENUM('Y', 'y') CHARACTER SET latin1 COLLATE latin1_general_cs",
    "accents that differ": "a ENUM('e', 'é') CHARACTER SET utf8 COLLATE utf8_bin",
    "Turkish letters": "a ENUM('i', 'I') CHARACTER SET utf8 COLLATE utf8_turkish_ci",
    "a separator and quotes": "a ENUM('a,b', 'A,B', 'it''s', 'ÿ') CHARACTER SET latin1",
    "before defaults": "a ENUM('x', 'X') CHARACTER SET latin1, d DATE NOT NULL DEFAULT '0000-00-00'",
    "before counters": "a ENUM('x', 'X') CHARACTER SET latin1, b INT, c INT AUTO_INCREMENT, KEY (b, c)",
    "before names": "a ENUM('x', 'X') CHARACTER SET latin1, DB_ROW_ID INT",
    "no list that may repeat": "a ENUM('a', 'b') CHARACTER SET latin1, b SET('x', 'y') CHARACTER SET utf8",
}  # fmt: skip


@pytest.fixture(scope="module", params=FOUR)
def server(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> Iterator[PrivateServer]:
    server = running(request.param)
    ((before,),) = server.execute("SELECT @@global.sql_mode")
    yield server
    server.execute(f"SET GLOBAL sql_mode = '{before}'")


def made(server: PrivateServer, columns: str) -> None:
    server.execute("SET NAMES utf8", "SET SESSION sql_mode = ''", "DROP TABLE IF EXISTS t", f"CREATE TABLE t ({columns}) ENGINE=MyISAM", database="members")


def told(server: PrivateServer, to: str) -> Prediction:
    with Session(target(server), 10) as session:
        (found,) = looked_at(session, ["members.t"], to, None, PROC).predictions
    return found


@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_members_that_are_one_are_told_as_the_server_refuses_them(server: PrivateServer, columns: str, to: str) -> None:
    if to == "Aria" and "mariadb" not in server.binaries.name:
        pytest.skip("MySQL has no Aria")
    with schema(server, "members"):
        for mode in ("", STRICT, TRADITIONAL):
            server.execute(f"SET GLOBAL sql_mode = '{mode}'")
            made(server, columns)
            found = told(server, to)
            code = error_of(server, f"ALTER TABLE t ENGINE={to}", "members")
            assert (found.errors[0].code if found.errors else 0) == code, (mode, found.errors)
            made(server, columns)
            assert (error_of(server, str(alter(found)), "members") == 0) == runs(found), (mode, found.script_errors)


def test_to_know_it_no_table_is_opened_and_nothing_is_asked_where_no_list_may_repeat(server: PrivateServer) -> None:
    with schema(server, "members"):
        asked = []
        for columns in ("a ENUM('x', 'X') CHARACTER SET latin1", "a ENUM('x', 'y') CHARACTER SET latin1"):
            made(server, columns)
            server.execute("FLUSH TABLES")
            with Session(target(server), 10) as session:
                looked_at(session, ["members.t"], "InnoDB", None, PROC)
                asked.append(session.statements)
            assert server.execute("SHOW OPEN TABLES FROM members") == []
        assert asked[0] - asked[1] == 2
