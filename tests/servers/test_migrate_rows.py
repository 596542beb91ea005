"""Rows that stop an ALTER, or that it changes, on real servers: each is among the changes beforehand, and the statement that is given finds it."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.prediction import Prediction, predict
from myisam_advisor.migrate.tables import find_tables
from myisam_advisor.migrate.times import Machine
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import CopiedServer, binaries_of

from .conftest import schema
from .test_migrate_schemas import FOUR, kind_of

IN_DATE, OF_DATE, ANY_DAY, STRICT = "NO_ZERO_IN_DATE", "NO_ZERO_DATE", "ALLOW_INVALID_DATES", "STRICT_TRANS_TABLES"
MODES = ("", ANY_DAY, f"{IN_DATE},{OF_DATE}", f"{IN_DATE},{ANY_DAY}", STRICT, f"{STRICT},{OF_DATE}", f"{STRICT},{IN_DATE},{OF_DATE},{ANY_DAY}", "TRADITIONAL")


@pytest.fixture(scope="module", params=[*FOUR, "mysql-5.5"])
def rows(request: pytest.FixtureRequest, running: Callable[[str], PrivateServer]) -> Iterator[PrivateServer]:
    server = running(request.param)
    with schema(server, "of_rows"):
        yield server


def made(server: PrivateServer, columns: str, *filled: str, sql_mode: str = ANY_DAY) -> bool:
    """The table `t`; where the server has no such column, none."""
    server.execute("DROP TABLE IF EXISTS t", database="of_rows")
    *_, failed = errors_of(server, f"SET SESSION sql_mode = '{sql_mode}'", f"CREATE TABLE t ({columns}) ENGINE=MyISAM")
    if not failed:
        server.execute(f"SET SESSION sql_mode = '{sql_mode}'", *filled, "FLUSH TABLES t", database="of_rows")
    return not failed


def errors_of(server: PrivateServer, *statements: str) -> list[int]:
    numbers = []
    with server.session("of_rows") as connection, closing(connection.cursor()) as cursor:
        for one in statements:
            try:
                cursor.execute(one)
                numbers.append(0)
            except Error as error:
                numbers.append(int(error.args[0]))
    return numbers


def told(server: PrivateServer, sql_mode: str, to: str = "InnoDB") -> Prediction:
    found = find_tables(server.data_directory, None, ["of_rows.t"])
    return predict(found.tables, to, kind_of(server, sql_mode), None, Machine())[0]


def altered(server: PrivateServer, sql_mode: str, to: str = "InnoDB") -> int:
    return errors_of(server, f"SET SESSION sql_mode = '{sql_mode}'", f"ALTER TABLE t ENGINE={to}")[-1]


def engines(server: PrivateServer) -> list[str]:
    return ["InnoDB", "Aria"] if "mariadb" in server.binaries.name else ["InnoDB"]


DEFAULTS = {
    "2010-02-30": "DATE DEFAULT '2010-02-30'",
    "2010-04-31 10:00": "DATETIME NOT NULL DEFAULT '2010-04-31 10:00:00'",
    "a fraction": "DATETIME(6) DEFAULT '2010-02-30 10:00:00.123456'",
    "no leap year": "DATE DEFAULT '2011-02-29'",
    "a leap year": "DATE DEFAULT '2012-02-29'",
    "no leap year, a century": "DATE DEFAULT '1900-02-29'",
    "the year 0": "DATE DEFAULT '0000-02-29'",
    "no month": "DATE DEFAULT '2010-00-31'",
    "0000-00-00": "DATE DEFAULT '0000-00-00'",
    "moment 0": "TIMESTAMP NOT NULL DEFAULT 0",
    "two of them": "DATE DEFAULT '2010-02-30', e DATE DEFAULT '2010-00-00', f DATE DEFAULT '0000-00-00'",
}


@pytest.mark.parametrize("sql_mode", MODES)
@pytest.mark.parametrize("column", DEFAULTS.values(), ids=DEFAULTS)
def test_a_default_that_is_no_date_is_told(rows: PrivateServer, column: str, sql_mode: str) -> None:
    for to in engines(rows):
        if not made(rows, f"a INT, d {column}"):
            pytest.skip("this version has no fraction of a second")
        found = told(rows, sql_mode, to)
        code = altered(rows, sql_mode, to)
        assert (found.errors[0].code if found.errors else 0) == code
        if code and found.errors[0].mend.startswith("ALTER"):
            rows.execute(f"SET SESSION sql_mode = '{sql_mode}'", found.errors[0].mend.partition(";")[0], database="of_rows")
            assert altered(rows, sql_mode, to) == 0


@pytest.mark.parametrize("sql_mode", MODES)
@pytest.mark.parametrize("day", ["2010-02-30", "2010-00-01", "2010-01-00", "0000-00-00", "2012-02-29"])
@pytest.mark.parametrize("kind", ["DATE", "DATETIME"])
def test_a_date_that_stops_the_copy_or_is_lost_is_told_and_found(rows: PrivateServer, kind: str, day: str, sql_mode: str) -> None:
    for to in engines(rows):
        assert made(rows, f"d {kind}", f"INSERT INTO t VALUES ('{day}')")
        found = {change.id: change for change in told(rows, sql_mode, to).changes}
        counted = [rows.execute(found[name].statement)[0][0] for name in ("zero-dates", "dates-lost") if name in found]
        before = rows.execute("SELECT d + 0 FROM t", database="of_rows")
        code = altered(rows, sql_mode, to)
        lost = not code and rows.execute("SELECT d + 0 FROM t", database="of_rows") != before
        named = "zero-dates" if code else "dates-lost"
        assert code in {0, 1292}
        # No row is counted that the copy takes over as it is; but MySQL 5.5 does not look at a DATE where sql_mode asks for no zeros.
        assert any(counted) is bool(code or lost) or (rows.binaries.name, kind, day) == ("mysql-5.5", "DATE", "2010-02-30")
        if code or lost:
            assert ("2010-02-30" if day == "2010-02-30" else day[:4]) in found[named].what
            assert made(rows, f"d {kind}", f"INSERT INTO t VALUES ('{day}'), ('2010-10-10'), (NULL)")
            assert rows.execute(found[named].statement) == [(1,)]
        if code:
            # As it is told: the same ALTER under an sql_mode without the one word, or with another.
            words = {STRICT, IN_DATE, OF_DATE} if sql_mode == "TRADITIONAL" else set(sql_mode.split(","))
            words = (words - set(re.findall(r"without (\w+)", found[named].what))) | set(re.findall(r"with ([A-Z_]+)", found[named].what))
            before = rows.execute("SELECT d + 0 FROM t", database="of_rows")
            assert altered(rows, ",".join(words), to) == 0
            assert rows.execute("SELECT d + 0 FROM t", database="of_rows") == before


GENERATED = {
    "division": ("a INT, b INT AS (10 / a) {}", "INSERT INTO t (a) VALUES (0)", 1365),
    "too long": ("a VARCHAR(20), b VARCHAR(3) AS (a) {}", "INSERT INTO t (a) VALUES ('abcdef')", None),
    "too large": ("a INT, b TINYINT AS (a) {}", "INSERT INTO t (a) VALUES (1000)", 1264),
    "no date": ("a VARCHAR(20), x TEXT, b DATE AS (a) {}, FULLTEXT (x)", "INSERT INTO t (a) VALUES ('2010-02-30')", 1292),
}


@pytest.mark.parametrize("kept", ["STORED", "VIRTUAL"])
@pytest.mark.parametrize(("columns", "row", "expected"), GENERATED.values(), ids=GENERATED)
def test_a_row_that_a_generated_column_refuses_is_told_and_shown(rows: PrivateServer, columns: str, row: str, expected: int | None, kept: str) -> None:
    for to in engines(rows):
        if not made(rows, columns.format(kept), row, sql_mode=""):
            pytest.skip("this version computes no columns")
        (change,) = [one for one in told(rows, "TRADITIONAL", to).changes if one.id == "generated-refused"]
        assert "b is computed again" in change.what
        shown = errors_of(rows, "SET SESSION sql_mode = 'TRADITIONAL'", *change.statement.rstrip(";").split("; "))
        code = altered(rows, "TRADITIONAL", to)
        assert sorted({0, *shown}) == [0, code]
        assert code == (expected or code) != 0
        assert str(code) in change.what
        assert "generated-refused" not in [one.id for one in told(rows, "", to).changes]
        assert altered(rows, "", to) == 0


SHAPES = {
    "no shape": ("v VARCHAR(20), g GEOMETRY AS (v) VIRTUAL", "INSERT INTO t (v) VALUES ('word')", 1416),
    "another shape": ("v GEOMETRY, g POINT AS (v) VIRTUAL", "INSERT INTO t (v) VALUES (ST_GeomFromText('LINESTRING(0 0,1 1)'))", 1366),
}


@pytest.mark.parametrize("sql_mode", ["", "TRADITIONAL"])
@pytest.mark.parametrize(("columns", "row", "expected"), SHAPES.values(), ids=SHAPES)
def test_a_shape_that_is_computed_and_is_none_is_told_whatever_the_sql_mode(rows: PrivateServer, columns: str, row: str, expected: int, sql_mode: str) -> None:
    """MySQL refuses the row."""
    if "mariadb" not in rows.binaries.name:
        pytest.skip("MySQL has no such row")
    for to in engines(rows):
        assert made(rows, columns, row, sql_mode="")
        (change,) = [one for one in told(rows, sql_mode, to).changes if one.id == "generated-refused"]
        assert "g is computed when the table is copied" in change.what
        assert str(expected) in change.what
        assert expected in errors_of(rows, f"SET SESSION sql_mode = '{sql_mode}'", *change.statement.rstrip(";").split("; "))
        assert altered(rows, sql_mode, to) == expected
        assert made(rows, columns, sql_mode="")
        assert altered(rows, sql_mode, to) == errors_of(rows, row)[0] == 0
        assert altered(rows, sql_mode, "MyISAM") == expected


DOCUMENTS = {
    "from 1 on": ("(1, 'a'), (2, 'b')", 0, 0),
    "none": ("(0, 'a')", 182, 182),
    "twice": ("(1, 'a'), (1, 'b')", 1022, 1022),
    "far above": ("(1, 'a'), (65536, 'b')", 182, 0),
    "within a step": ("(1, 'a'), (10000, 'b')", 0, 0),
    "between two versions' steps": ("(1, 'a'), (10001, 'b')", 0, 0),
}


@pytest.mark.parametrize(("values", "of_mysql", "of_mariadb"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_numbers_of_documents_that_innodb_does_not_take_are_told(rows: PrivateServer, values: str, of_mysql: int, of_mariadb: int) -> None:
    if rows.binaries.name == "mysql-5.5":
        pytest.skip("InnoDB of MySQL 5.5 has no FULLTEXT index")
    assert made(rows, "FTS_DOC_ID BIGINT UNSIGNED NOT NULL, x TEXT, FULLTEXT (x)", f"INSERT INTO t VALUES {values}")
    (change,) = [one for one in told(rows, "").changes if one.id == "document-numbers"]
    assert len(rows.execute(change.statement)[0]) == 3
    is_mariadb = "mariadb" in rows.binaries.name
    is_old = rows.binaries.name == "mysql-5.6"
    assert [step in change.what for step in ("65,535", "10,000")] == [not is_mariadb and not is_old, is_old]
    if is_old and "10001" in values:
        of_mysql = 182
    assert altered(rows, "") == (of_mariadb if is_mariadb else of_mysql)


def test_other_tables_are_told_nothing_of_documents(rows: PrivateServer) -> None:
    assert made(rows, "FTS_DOC_ID BIGINT UNSIGNED NOT NULL, x TEXT", "INSERT INTO t VALUES (0, 'a')")
    assert "document-numbers" not in [one.id for one in told(rows, "").changes]
    assert altered(rows, "") == 0


def test_an_index_of_documents_that_goes_downwards_is_told(rows: PrivateServer) -> None:
    if not made(rows, "FTS_DOC_ID BIGINT UNSIGNED NOT NULL, x TEXT, FULLTEXT (x), UNIQUE FTS_DOC_ID_INDEX (FTS_DOC_ID DESC)") or rows.binaries.name == "mysql-5.5":
        pytest.skip("no such index in MyISAM of MySQL 8.0 and later, no FULLTEXT in InnoDB of 5.5")
    assert [one.code for one in told(rows, "").errors] == [code for code in [altered(rows, "")] if code]


@pytest.mark.parametrize("words", ["", ", FULLTEXT (x)"])
@pytest.mark.parametrize("column", ["FTS_DOC_ID BIGINT UNSIGNED AS (a) VIRTUAL", "FTS_DOC_ID BIGINT UNSIGNED AS (a) STORED", "DB_ROW_ID INT AS (a) VIRTUAL"])
def test_a_computed_column_with_a_name_of_innodbs_is_told(rows: PrivateServer, column: str, words: str) -> None:
    if not made(rows, f"a INT NOT NULL, {column}, x TEXT{words}"):
        pytest.skip("this version computes no columns")
    assert [one.code for one in told(rows, "").errors][:1] == [code for code in [altered(rows, "")] if code]


OF_OLD_VERSIONS = {
    "a number of documents, where there are none": "FTS_DOC_ID INT",
    "a long part": "a VARCHAR(1000), KEY (a)",
    "a long part of a unique index": "a VARCHAR(1000), UNIQUE (a)",
    "a long part behind another": "a VARCHAR(100), x TEXT, KEY (a, x(800))",
}


@pytest.mark.parametrize("sql_mode", ["", "TRADITIONAL"])
@pytest.mark.parametrize("columns", OF_OLD_VERSIONS.values(), ids=OF_OLD_VERSIONS)
def test_what_versions_make_of_long_parts_and_names(rows: PrivateServer, columns: str, sql_mode: str) -> None:
    rows.execute("ALTER DATABASE of_rows CHARACTER SET latin1")
    assert made(rows, columns)
    assert [one.code for one in told(rows, sql_mode).errors][:1] == [code for code in [altered(rows, sql_mode)] if code]


def test_an_update_moves_the_counter_where_nothing_is_told(rows: PrivateServer) -> None:
    statements = ("INSERT INTO t VALUES (NULL), (NULL)", "UPDATE t SET id = 4 WHERE id = 2", "INSERT INTO t VALUES (NULL), (NULL)")
    assert made(rows, "id INT AUTO_INCREMENT PRIMARY KEY")
    named = [one.id for one in told(rows, "").changes]
    assert errors_of(rows, *statements) == [0, 0, 0]
    assert made(rows, "id INT AUTO_INCREMENT PRIMARY KEY")
    assert altered(rows, "") == 0
    assert errors_of(rows, *statements) == [0, 0, 1062 if "counter-update" in named else 0]
    assert ("counter-update" in named) == rows.binaries.name.startswith("mysql-5")


FLOATS = {
    "of ten digits": ("FLOAT(10,2)", "99999999.99"),
    "negative": ("FLOAT(10,2)", "-99999999.99"),
    "without digits behind the point": ("FLOAT(20,0) UNSIGNED", "99999999999999999999"),
    "which four bytes make smaller": ("FLOAT(7,2)", "99999.99"),
    "of DOUBLE": ("DOUBLE(20,4)", "9999999999999999.9999"),
    "without a limit of its own": ("FLOAT", "3e38"),
    "below it": ("FLOAT(10,2)", "99999900"),
}


@pytest.mark.parametrize("sql_mode", ["", STRICT, "STRICT_ALL_TABLES"])
@pytest.mark.parametrize(("column", "value"), FLOATS.values(), ids=FLOATS)
def test_a_float_at_its_limit_that_stops_the_copy_is_told_and_found(rows: PrivateServer, column: str, value: str, sql_mode: str) -> None:
    for to in engines(rows):
        assert made(rows, f"f {column}", "INSERT INTO t VALUES (0), (NULL)", f"INSERT INTO t VALUES ({value})", sql_mode=STRICT)
        found = [change for change in told(rows, sql_mode, to).changes if change.id == "float-limit"]
        counted = [rows.execute(change.statement, database="of_rows") for change in found]
        code = altered(rows, sql_mode, to)
        assert code in {0, 1264}
        assert (counted == [[(1,)]]) == bool(code)
        assert code or counted in ([], [[(0,)]])


HASHED = {
    "t VARCHAR(300) CHARACTER SET utf8mb4, UNIQUE (t(1)) USING HASH": ("'ab'", "'ac'"), "t TEXT CHARACTER SET utf8mb4, UNIQUE (t(500))": ("CONCAT(REPEAT('a', 500), 'b')", "CONCAT(REPEAT('a', 500), 'c')"),
    "g GEOMETRY, UNIQUE (g)": ("POINT(1, 2)", "POINT(1, 3)"), "g POINT, UNIQUE (g)": ("POINT(1, 2)", "POINT(1, 3)"), "b BLOB, UNIQUE (b(1)) USING HASH": ("'ab'", "'ac'"), "t TEXT CHARACTER SET utf8mb4, UNIQUE (t)": ("'ab'", "'ac'"),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "values"), HASHED.items())
def test_rows_that_a_hash_lets_in_are_told_and_found(rows: PrivateServer, columns: str, values: tuple[str, str]) -> None:
    if "mariadb" not in rows.binaries.name:
        pytest.skip("it has no such index")
    for to in engines(rows):
        assert made(rows, columns, "INSERT INTO t VALUES (NULL), (NULL)", *(f"INSERT IGNORE INTO t VALUES ({value})" for value in values))
        prediction = told(rows, STRICT, to)
        if prediction.errors:
            continue
        shown = [rows.execute("SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY'", change.statement) for change in prediction.changes if change.id == "hash-prefix"]
        assert (altered(rows, STRICT, to) == 1062) == any(shown)


@pytest.mark.parametrize("sql_mode", ["", STRICT])
@pytest.mark.parametrize("default", ["NOT NULL DEFAULT 99999999.99", "DEFAULT -99999999.99", "NOT NULL DEFAULT 9999.5", "NOT NULL", "NULL"])
def test_a_default_at_the_limit_of_a_float_is_told(rows: PrivateServer, default: str, sql_mode: str) -> None:
    for to in engines(rows):
        assert made(rows, f"a INT, f FLOAT(10,2) {default}, b FLOAT DEFAULT 3e38", sql_mode="")
        found = told(rows, sql_mode, to).errors
        assert [one.code for one in found] == [code for code in [altered(rows, sql_mode, to)] if code]
        for one in found:
            assert errors_of(rows, f"SET SESSION sql_mode = '{sql_mode}'", one.mend.partition(";")[0]) == [0, 0]
            assert altered(rows, sql_mode, to) == 0


@pytest.mark.parametrize("sql_mode", ["", STRICT, "TRADITIONAL"])
@pytest.mark.parametrize("value", ["1e23", "-1e23", "1e19", "9223372036854777856", "9223372036854773760", "7"])
def test_a_number_that_no_counter_goes_on_behind_is_told_and_found(rows: PrivateServer, value: str, sql_mode: str) -> None:
    for to in engines(rows):
        if not made(rows, "a DOUBLE NOT NULL AUTO_INCREMENT PRIMARY KEY, b DOUBLE", f"INSERT INTO t VALUES ({value}, 1e23)", sql_mode=""):
            pytest.skip("this version counts in no DOUBLE")
        found = [change for change in told(rows, sql_mode, to).changes if change.id == "counter-beyond"]
        assert len(found) == bool(sql_mode)
        counted = [rows.execute(change.statement, database="of_rows") for change in found]
        before = rows.execute("SELECT a FROM t", database="of_rows")
        code = altered(rows, sql_mode, to)
        assert (counted == [[(1,)]]) == bool(code)
        assert not code or f"Error {code}:" in found[0].what
        assert rows.execute("SELECT a FROM t", database="of_rows") == before


LOG = 2 * (4 << 20)  # of a private server of MySQL 5.6: two files
LONG = {
    "one that is longer": (("b LONGBLOB",), (LOG // 10 + 2000,), True),
    "one that is not": (("b LONGBLOB",), (LOG // 11,), None),
    "two that are together": (("b LONGBLOB", "c MEDIUMTEXT"), (LOG // 20 + 2000, LOG // 20 + 2000), True),
    "a column that cannot be": (("b BLOB", "c TEXT"), (60_000, 60_000), None),
}


@pytest.mark.parametrize(("columns", "lengths", "long"), LONG.values(), ids=LONG)
def test_a_row_that_is_longer_than_a_tenth_of_the_log_is_told(columns: tuple[str, ...], lengths: tuple[int, ...], *, long: bool | None) -> None:
    with CopiedServer(binaries_of("mysql-5.6"), ["--max-allowed-packet=16M"]) as server, schema(server, "of_rows"):
        row = ", ".join(f"REPEAT('x', {length})" for length in lengths)
        assert made(server, f"a INT, {', '.join(columns)}", f"INSERT INTO t VALUES (1, {row})", "INSERT INTO t (a) SELECT 2 FROM information_schema.COLLATIONS LIMIT 100")
        beside_others = told(server, "")
        looks = [one.statement for one in beside_others.changes if one.id == "row-beyond-log"]
        assert len(looks) == (long is not None)
        assert beside_others.errors == ()
        assert [server.execute(one) for one in looks] == [[(sum(lengths),)]] * len(looks)
        code = altered(server, "")
        assert code == (1118 if long else 0)
        longer = ", ".join(f"REPEAT('x', {length + length // 20})" for length in lengths)
        assert made(server, f"a INT, {', '.join(columns)}", f"INSERT INTO t VALUES (1, {longer})")
        assert [one.code for one in told(server, "").errors] == ([1118] if long else [])


def test_other_versions_take_such_rows(rows: PrivateServer) -> None:
    if rows.binaries.name == "mysql-5.6":
        pytest.skip("this one does not")
    assert made(rows, "a INT, b LONGBLOB", f"INSERT INTO t VALUES (1, REPEAT('x', {LOG // 4}))")
    found = told(rows, "")
    assert (found.errors, [one.id for one in found.changes if one.id == "row-beyond-log"]) == ((), [])
    assert altered(rows, "") == 0


def test_the_period_of_a_history_has_no_default_that_sql_mode_refuses(running: Callable[[str], PrivateServer]) -> None:
    for name in ("mariadb-10.5", "mariadb-11.8"):
        server = running(name)
        with schema(server, "of_rows"):
            for columns in ("a INT", "a INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)"):
                server.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t ({columns}) ENGINE=MyISAM WITH SYSTEM VERSIONING", database="of_rows")
                assert told(server, "TRADITIONAL", "Aria").errors == ()
                assert altered(server, "TRADITIONAL", "Aria") == 0


@pytest.mark.parametrize("number", [1000, 1001, 1017, 1018])
def test_so_many_columns_as_told_are_taken(rows: PrivateServer, number: int) -> None:
    assert made(rows, ", ".join(f"c{place} INT" for place in range(number)))
    errors = [one.code for one in told(rows, "").errors]
    assert errors[:1] == ([code] if (code := altered(rows, "")) else [])
