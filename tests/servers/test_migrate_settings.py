"""Settings that decide whether an ALTER succeeds, or what it leads to, on real servers: what was told is what happens, and the script stops where it says so."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.looking import looked_at
from myisam_advisor.migrate.prediction import Prediction, predict
from myisam_advisor.migrate.script import STOPS, alter, as_script
from myisam_advisor.migrate.server_kind import ServerKind, of_variables
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.migrate.unchanged import forgets
from myisam_advisor.migrate.way_back import back
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from tests.support.servers import CopiedServer, binaries_of

from .conftest import schema, target
from .test_migrate_schemas import FOUR, kind_of

PROC = Path("/proc")
ASKED_FOR = ("ROW_FORMAT=DYNAMIC", "ROW_FORMAT=COMPRESSED", "KEY_BLOCK_SIZE=4", "ROW_FORMAT=COMPACT", "")


@pytest.fixture(scope="module", params=FOUR)
def four(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> PrivateServer:
    return running(request.param)


@pytest.fixture
def settings(four: PrivateServer) -> Iterator[PrivateServer]:
    """The server in a database of its own."""
    with schema(four, "settings"):
        yield four


def errors_of(server: PrivateServer, *statements: str) -> list[int]:
    """The number of each statement's error on one connection, 0 of none."""
    numbers = []
    with server.session("settings") as connection, closing(connection.cursor()) as cursor:
        for one in statements:
            try:
                cursor.execute(one)
                if cursor.description:
                    cursor.fetchall()
                numbers.append(0)
            except Error as error:
                numbers.append(int(error.args[0]))
    return numbers


def told(server: PrivateServer, kind: ServerKind, to: str = "InnoDB") -> Prediction:
    found = find_tables(server.data_directory, None, ["settings.t"])
    return predict(found.tables, to, kind, None, Machine())[0]


@contextmanager
def globally(server: PrivateServer, **values: str) -> Iterator[None]:
    """Settings, and their former values behind."""
    before = {name: server.execute(f"SELECT @@global.{name}")[0][0] for name in values}
    server.execute(*(f"SET GLOBAL {name} = {value}" for name, value in values.items()))
    try:
        yield
    finally:
        server.execute(*(f"SET GLOBAL {name} = {value!r}" for name, value in before.items()))


@pytest.mark.parametrize("strict", ["ON", "OFF"])
@pytest.mark.parametrize("asked_for", ASKED_FOR)
def test_what_one_file_for_all_tables_refuses_was_told(settings: PrivateServer, asked_for: str, strict: str) -> None:
    barracuda = {"innodb_file_format": "'Barracuda'"} if settings.binaries.name.startswith("mysql-5.") else {}
    with globally(settings, innodb_file_per_table="OFF", innodb_strict_mode=strict, **barracuda):
        settings.execute("SET SESSION sql_mode = ''", f"CREATE TABLE t (a INT) ENGINE=MyISAM {asked_for}", database="settings")
        found = told(settings, kind_of(settings, ""))
        (code,) = errors_of(settings, "ALTER TABLE t ENGINE=InnoDB")
        assert [error.code for error in found.errors] == ([code] if code else [])
        settings.execute("SET SESSION innodb_strict_mode = OFF", "ALTER TABLE t ENGINE=MyISAM", database="settings")
        assert errors_of(settings, str(alter(found))) == [0]
        assert "shared-file" in [change.id for change in found.changes]


def test_the_script_s_comparison_ends_with_an_error_where_rows_differ(settings: PrivateServer) -> None:
    def count(into: str) -> str:
        return f"SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', CRC32(`a`)))) INTO @rows_{into}, @values_{into} FROM t"

    settings.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2)", database="settings")
    same = errors_of(settings, count("before"), "ALTER TABLE t ENGINE=InnoDB", count("after"), STOPS)
    assert same == [0, 0, 0, 0]
    assert errors_of(settings, count("before"), "UPDATE t SET a = 9 WHERE a = 1", count("after"), STOPS) == [0, 0, 0, 1242]
    assert errors_of(settings, count("before"), "INSERT INTO t VALUES (NULL)", count("after"), STOPS) == [0, 0, 0, 1242]
    assert errors_of(settings, "DELETE FROM t", count("before"), count("after"), STOPS) == [0, 0, 0, 0]
    # Nothing is compared where there is nothing: in a new session, or where a count failed.
    assert errors_of(settings, STOPS) == [1242]
    assert errors_of(settings, count("before"), count("after"), str(forgets(kind_of(settings, ""))), count("before"), STOPS) == [0, 0, 0, 0, 1242]


def test_writes_that_cannot_be_logged_fail_behind_the_alter(four: PrivateServer) -> None:
    with CopiedServer(binaries_of(four.binaries.name), ["--log-bin=log", "--server-id=1", "--binlog-format=STATEMENT", "--transaction-isolation=READ-COMMITTED"]) as server, schema(server, "settings"):
        server.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", database="settings")
        assert "statement-log" in [change.id for change in told(server, kind_of(server, "")).changes]
        assert errors_of(server, "INSERT INTO t VALUES (1)", "ALTER TABLE t ENGINE=InnoDB", "INSERT INTO t VALUES (1)") == [0, 0, 1665]


def test_the_way_back_has_the_prefixes_that_were_shortened(settings: PrivateServer) -> None:
    if not settings.binaries.name.startswith("mysql-5."):
        pytest.skip("later servers shorten none")
    settings.execute("SET SESSION sql_mode = ''", "CREATE TABLE t (b INT, a VARCHAR(1000), c VARCHAR(300) CHARACTER SET utf8, KEY k (a(800), b), KEY l (c), KEY m (b)) ENGINE=MyISAM CHARSET=latin1", database="settings")
    before = settings.execute("SHOW INDEX FROM t", database="settings")
    found = told(settings, kind_of(settings, ""))
    assert errors_of(settings, "SET SESSION sql_mode = ''", str(alter(found))) == [0, 0]
    assert settings.execute("SHOW INDEX FROM t", database="settings") != before
    assert errors_of(settings, *back(found)) == [0]
    assert [row[:5] + row[7:8] for row in settings.execute("SHOW INDEX FROM t", database="settings")] == [row[:5] + row[7:8] for row in before]


def test_the_way_back_from_aria_leaves_nothing_of_it(settings: PrivateServer) -> None:
    if "mariadb" not in settings.binaries.name:
        pytest.skip("MySQL has no Aria")
    settings.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", database="settings")
    found = told(settings, kind_of(settings, ""), "Aria")
    assert errors_of(settings, alter(found), *back(found)) == [0, 0, 0]
    ((_, definition),) = settings.execute("SHOW CREATE TABLE t", database="settings")
    # Comments are no words.
    assert not {"TRANSACTIONAL", "PAGE_CHECKSUM"} & set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", str(definition))))


@pytest.mark.parametrize("sql_mode", ["", "NO_ENGINE_SUBSTITUTION"])
@pytest.mark.parametrize("to", ["Aria", "InnoDB"])
def test_an_enforced_engine_takes_no_other(settings: PrivateServer, to: str, sql_mode: str) -> None:
    if "mariadb" not in settings.binaries.name:
        pytest.skip("MySQL has no enforce_storage_engine")
    settings.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", database="settings")
    kind = kind_of(settings, sql_mode)
    enforcing = of_variables("mariadb", kind.version, {"enforce_storage_engine": "InnoDB", "sql_mode": sql_mode})
    found = told(settings, enforcing, to)
    *_, code = errors_of(settings, f"SET SESSION sql_mode = '{sql_mode}'", "SET SESSION enforce_storage_engine = InnoDB", f"ALTER TABLE t ENGINE={to}")
    assert [error.code for error in found.errors] == ([] if to == "InnoDB" else [code])
    ((engine,),) = settings.execute("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'settings'")
    assert engine == ("MyISAM" if code else "InnoDB")


@pytest.fixture(scope="module", params=["mariadb-10.5", "mariadb-10.11", "mariadb-11.8", "mysql-5.6"])
def without_innodb(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    engines = ["--default-storage-engine=MyISAM", "--loose-default-tmp-storage-engine=MyISAM"]
    with CopiedServer(binaries_of(request.param), ["--skip-innodb", *engines]) as server:
        yield server


@pytest.mark.parametrize("sql_mode", ["", "NO_ENGINE_SUBSTITUTION"])
def test_a_server_without_innodb_converts_nothing_and_that_was_told(without_innodb: PrivateServer, sql_mode: str) -> None:
    with schema(without_innodb, "settings"), globally(without_innodb, sql_mode=f"'{sql_mode}'"):
        without_innodb.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", database="settings")
        with Session(target(without_innodb), 10) as session:
            migration = looked_at(session, ["settings.t"], "InnoDB", None, PROC)
        (code,) = errors_of(without_innodb, "ALTER TABLE t ENGINE=InnoDB")
        assert [error.code for error in migration.predictions[0].errors] == [code]
        assert code == (1286 if sql_mode else 0)
        ((engine,),) = without_innodb.execute("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'settings'")
        assert engine == "MyISAM"


STOPPED = {"read-only": ["--innodb-read-only=ON"], "recovers": ["--innodb-force-recovery=1"], "recovers much": ["--innodb-force-recovery=5"]}


@pytest.mark.parametrize("name", FOUR)
def test_an_innodb_that_writes_nothing_was_told(name: str) -> None:
    with CopiedServer(binaries_of(name), ["--sql-mode="]) as server:
        server.execute("CREATE DATABASE settings", "CREATE TABLE settings.t (a INT) ENGINE=MyISAM", "INSERT INTO settings.t VALUES (1)")
        for options in STOPPED.values():
            server.stop()
            server.start(["--sql-mode=", *options])
            found = told(server, kind_of(server, ""))
            assert [error.code for error in found.errors] == [code for code in errors_of(server, alter(found)) if code]
            if not found.errors:
                server.execute("ALTER TABLE settings.t ENGINE=MyISAM")


def test_an_algorithm_that_no_other_engine_takes_was_told(settings: PrivateServer) -> None:
    asked = ("INPLACE", "NOCOPY", "INSTANT", "COPY", "DEFAULT") if "mariadb" in settings.binaries.name else ()
    for algorithm in asked:
        with globally(settings, alter_algorithm=f"'{algorithm}'"):
            settings.execute("DROP TABLE IF EXISTS t", "CREATE TABLE t (a INT) ENGINE=MyISAM", database="settings")
            found = told(settings, kind_of(settings, ""))
            assert [error.code for error in found.errors] == [code for code in errors_of(settings, "ALTER TABLE t ENGINE=InnoDB") if code]
            with Session(target(settings), 10) as session:
                script = as_script(looked_at(session, ["settings.t"], "InnoDB", None, PROC))
            settings.execute("ALTER TABLE t ENGINE=MyISAM" if not found.errors else "DO 0", database="settings")
            assert errors_of(settings, *[line for line in script.splitlines() if "alter_algorithm" in line], alter(found))[-1] == 0


def test_questions_that_find_no_room_are_asked_with_more() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--tmp-disk-table-size=16384"]) as server:
        server.execute("CREATE DATABASE settings", "CREATE TABLE settings.t (a INT, b TEXT) ENGINE=MyISAM")
        columns = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'settings' AND TABLE_NAME = 't'"
        with Session(target(server), 10) as session:
            script = as_script(looked_at(session, ["settings.t"], "InnoDB", None, PROC))
        assert errors_of(server, columns) == [1114]
        assert errors_of(server, *[line for line in script.splitlines() if "tmp_disk_table_size" in line], columns) == [0, 0]


def test_compressed_pages_that_nobody_may_write_were_told() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--innodb-read-only-compressed=ON"]) as server:
        server.execute("CREATE DATABASE settings")
        for asked_for in (*ASKED_FOR, "KEY_BLOCK_SIZE=3"):
            server.execute("DROP TABLE IF EXISTS settings.t", f"CREATE TABLE settings.t (a INT) ENGINE=MyISAM {asked_for}")
            found = told(server, kind_of(server, ""))
            assert [error.code for error in found.errors] == [code for code in errors_of(server, "ALTER TABLE t ENGINE=InnoDB") if code]
