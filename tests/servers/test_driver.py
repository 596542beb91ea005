"""Private servers asked by either library: the same values in the same types, the same bytes, the same errors."""

import gc
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import MySQLdb.connections
import pytest

from myisam_advisor.trial.private.driver import Driver, Mysqlclient, PyMySQL
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import CopiedServer, binaries_of

from .conftest import schema

BOTH = (Mysqlclient(), PyMySQL())
COLUMNS = {
    "i TINYINT": "-7", "u BIGINT UNSIGNED": "18446744073709551615", "y YEAR": "2026", "d DECIMAL(20,4)": "'-123.4500'", "f FLOAT": "0.25", "g DOUBLE": "1e300",
    "b BIT(12)": "b'101000000001'", "t TEXT CHARACTER SET utf8mb4": "'\\u00e4 \N{CYRILLIC SMALL LETTER ZHE} \N{GRINNING FACE}'", "c CHAR(4)": "'ab'", "v VARCHAR(9) CHARACTER SET latin1": "'\u00e4'",
    "x BLOB": "x'00ff27'", "z VARBINARY(4)": "x'c328'", "e ENUM('one', 'two')": "'two'", "s SET('p', 'q')": "'p,q'",
    "w DATE": "'2026-02-28'", "m DATETIME(6)": "'2026-02-28 01:02:03.000004'", "n TIMESTAMP NULL": "'2026-02-28 01:02:03'", "o TIME": "'-838:59:59'",
    "w0 DATE": "'0000-00-00'", "m0 DATETIME": "'0000-00-00 00:00:00'", "p POINT": "ST_GeomFromText('POINT(1 2)')", "nothing INT": "NULL",
}  # fmt: skip


@pytest.fixture(scope="module", params=BOTH, ids=lambda driver: type(driver).__name__)
def driver(request: pytest.FixtureRequest) -> Driver:
    found: Driver = request.param
    return found


@pytest.fixture
def every_type(flavour: PrivateServer) -> Iterator[PrivateServer]:
    with schema(flavour, "driver"):
        flavour.execute(
            "SET SESSION sql_mode = ''",
            f"CREATE TABLE driver.t ({', '.join(COLUMNS)}) ENGINE=MyISAM",
            f"INSERT INTO driver.t VALUES ({', '.join(COLUMNS.values())})",
            f"INSERT INTO driver.t () VALUES ({', '.join('NULL' for _ in COLUMNS)})",
            database="driver",
        )
        yield flavour


def rows(driver: Driver, server: PrivateServer, *statements: str | bytes) -> list[list[object]]:
    with closing(driver.connect(server.socket)) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement)
        return [list(row) for row in cursor.fetchall()]


def test_values_of_every_type_are_the_same(every_type: PrivateServer) -> None:
    told = [rows(driver, every_type, "SELECT * FROM driver.t") for driver in BOTH]
    assert told[0] == told[1]
    assert [[type(value) for value in row] for row in told[0]] == [[type(value) for value in row] for row in told[1]]
    assert set(map(type, told[0][0])) >= {int, float, str, bytes, type(None)}


@pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES"])
def test_stored_bytes_as_sql_are_the_same_and_come_back(every_type: PrivateServer, mode: str) -> None:
    before = every_type.execute("SELECT @@GLOBAL.sql_mode")[0][0]
    every_type.execute(
        "CREATE TABLE driver.every_byte (x BLOB) ENGINE=MyISAM",
        f"INSERT INTO driver.every_byte VALUES (x'{bytes(range(256)).hex()}'), (x'27275c5c'), (''), (NULL)",
        f"SET GLOBAL sql_mode = '{mode}'",
    )
    try:
        for table in ("t", "every_byte"):
            first, second = (
                list(driver.literal_rows(every_type.socket, f"SELECT * FROM driver.{table}")) for driver in BOTH
            )
            assert first == second
            assert len(first) == {"t": 2, "every_byte": 4}[table]
        for driver in BOTH:
            for (value,) in driver.literal_rows(
                every_type.socket, "SELECT x FROM driver.every_byte WHERE x IS NOT NULL"
            ):
                assert rows(
                    driver, every_type, b"SELECT COUNT(*) > 0 FROM driver.every_byte WHERE x = _binary " + value
                ) == [[1]]
    finally:
        every_type.execute(f"SET GLOBAL sql_mode = '{before}'")


def test_more_rows_than_are_fetched_at_once(mariadb: PrivateServer, driver: Driver) -> None:
    numbers = list(driver.literal_rows(mariadb.socket, "SELECT seq FROM mysql.seq_1_to_2500"))
    assert numbers == [[b"'%d'" % number] for number in range(1, 2501)]


def test_refusals_are_the_librarys_error_with_number_and_words(mariadb: PrivateServer, driver: Driver) -> None:
    with pytest.raises(driver.error) as refused:
        rows(driver, mariadb, "SELECT * FROM nowhere.nothing")
    assert refused.value.args[0] in (1049, 1146)
    assert "nowhere" in refused.value.args[-1]
    with pytest.raises(driver.error) as refused:
        list(driver.literal_rows(mariadb.socket, "SELECT * FROM nowhere.nothing"))
    assert refused.value.args[0] in (1049, 1146)
    with pytest.raises(driver.error) as refused:
        driver.connect(mariadb.socket, "nobody", "wrong")
    assert refused.value.args[0] == 1045


def test_where_nobody_listens_no_socket_is_left_open(driver: Driver) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="driver-", dir="/tmp") as folder,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        with pytest.raises(driver.error) as refused:
            driver.connect(Path(folder) / "s")
        assert refused.value.args[0] == 2002
        del refused
        gc.collect()
        assert [warning for warning in warned if warning.category is ResourceWarning] == []


def test_a_connection_knows_its_number_and_ends_with_its_block(mariadb: PrivateServer, driver: Driver) -> None:
    with closing(driver.connect(mariadb.socket)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT CONNECTION_ID(), @@autocommit")
        assert cursor.fetchone() == (connection.thread_id(), 1)
    with pytest.raises(driver.error):
        connection.cursor().execute("SELECT 1")


def test_a_private_server_starts_with_the_mysqlclient_of_debian_12(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections of 1.4 do not stand behind `with`."""
    for name in ("__enter__", "__exit__"):
        monkeypatch.delattr(MySQLdb.connections.Connection, name)
    with CopiedServer(binaries_of("mariadb-10.11")) as server:
        assert server.execute("SELECT 1") == [(1,)]


def test_one_statement_is_run_at_a_time_and_no_file_of_ours_is_sent(driver: Driver, flavour: PrivateServer) -> None:
    with schema(flavour, "driver"):
        flavour.execute("CREATE TABLE driver.t (line TEXT) ENGINE=MyISAM")
        for several in ("SELECT 1; DROP TABLE driver.t", "SELECT 1 /*!50000 ; DROP TABLE driver.t */"):
            with pytest.raises(driver.error) as refused:
                rows(driver, flavour, several)
            assert refused.value.args[0] == 1064
        with pytest.raises(driver.error):
            rows(driver, flavour, "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE driver.t")
        assert rows(driver, flavour, "SELECT COUNT(*) FROM driver.t") == [[0]]
