"""Twelve traps of meaning: each is named beforehand, and a statement that shows it behaves otherwise after the ALTER, on MariaDB and MySQL."""

from contextlib import closing
from dataclasses import dataclass

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.meaning import Subject, changes
from myisam_advisor.migrate.script import values_sum
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.structure_reader import read_structures

from .conftest import schema
from .test_migrate_schemas import kind_of

ROWS = "(1, 'the cat sat because of rain'), (2, 'the dog word word'), (3, 'word of the sea')"


def told(server: PrivateServer, *statements: str) -> list[tuple[object, ...]]:
    """All that the statements answer on one connection; of one that is refused, its error."""
    answers: list[tuple[object, ...]] = []
    with server.session("traps") as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            try:
                cursor.execute(statement)
            except Error as error:
                answers.append(("error", error.args[0]))
                continue
            answers += list(cursor.fetchall()) if cursor.description else []
            cursor.execute("SHOW WARNINGS")
            answers += [("warning", row[1]) for row in cursor.fetchall()]
    return answers


@dataclass(frozen=True)
class Trap:
    """What is planted, and what shows it; the table is `t`."""

    id: str
    shown: tuple[str, ...]
    columns: str = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, x TEXT, FULLTEXT (x)"
    options: str = ""
    filled: tuple[str, ...] = (f"INSERT INTO t (id, x) VALUES {ROWS}",)
    only: str = ""


TRAPS = (
    Trap("count-cost", ("EXPLAIN SELECT COUNT(*) FROM t",)),
    Trap("order", ("SELECT id, x FROM t",), filled=("INSERT INTO t (id) VALUES (3), (1), (2)",)),
    Trap("rollback", ("START TRANSACTION", "DELETE FROM t WHERE id = 1", "ROLLBACK", "SELECT COUNT(id + 0) FROM t")),
    Trap("half-done", ("INSERT INTO t (id) VALUES (7), (8), (1)", "SELECT COUNT(id + 0) FROM t")),
    Trap("counter-gaps", ("INSERT IGNORE INTO t (id) VALUES (1)", "INSERT IGNORE INTO t (a) VALUES (1), (2), (1)", "INSERT INTO t (a) VALUES (9)", "SELECT MAX(id) FROM t"),
         columns="id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, UNIQUE KEY (a)", filled=("INSERT INTO t (a) VALUES (1)",)),
    Trap("fulltext-length", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('cat' IN BOOLEAN MODE)",)),
    Trap("fulltext-stopwords", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('because' IN BOOLEAN MODE)",)),
    Trap("fulltext-ranking", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('word') ORDER BY id",)),
    Trap("options-ignored", ("CHECKSUM TABLE t QUICK",), columns="id INT", options="CHECKSUM=1", filled=("INSERT INTO t VALUES (1)",)),
    Trap("repair", ("REPAIR TABLE t",)),
    Trap("disable-keys", ("ALTER TABLE t DISABLE KEYS",)),
    Trap("merge-members", ("SELECT COUNT(*) FROM both_of",), columns="id INT", filled=("INSERT INTO t VALUES (1)", "CREATE TABLE both_of (id INT) ENGINE=MERGE UNION=(t)")),
    Trap("key-cache", ("CACHE INDEX t IN default",)),
    Trap("insert-delayed", ("INSERT DELAYED INTO t () VALUES ()",), columns="id INT", filled=(), only="mariadb"),
)  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.id)
def test_a_trap_is_named_and_shown(flavour: PrivateServer, trap: Trap) -> None:
    if trap.only not in flavour.binaries.name:
        pytest.skip("MySQL 5.7 and later take INSERT DELAYED for INSERT, whatever the engine")
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *trap.filled, database="traps")
        found = {one.table_name: one.structure for one in read_structures(str(flavour.data_directory / "traps"), "traps", None, lambda _: True)}
        structure = found["t"]
        assert structure is not None
        merged = [("traps", "both_of")] if "both_of" in found else []
        named = {change.id: change for change in changes(Subject(("traps", "t"), structure, "InnoDB", kind_of(flavour, ""), merged))}
        assert trap.id in named
        before = _shown(flavour, trap)
        flavour.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *[one for one in trap.filled if "MERGE" not in one], "ALTER TABLE t ENGINE=InnoDB", database="traps")
        after = _shown(flavour, trap)
        assert before != after


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.id)
def test_the_statement_that_is_given_runs_and_loses_nothing(flavour: PrivateServer, trap: Trap) -> None:
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *trap.filled, database="traps")
        found = {one.table_name: one.structure for one in read_structures(str(flavour.data_directory / "traps"), "traps", None, lambda _: True)}
        assert found["t"] is not None
        rows = flavour.execute("SELECT COUNT(*) FROM t", database="traps")
        for change in changes(Subject(("traps", "t"), found["t"], "InnoDB", kind_of(flavour, ""))):
            answers = told(flavour, "USE information_schema", *(part for part in map(str.strip, change.statement.split(";")) if part))
            assert not any(answer[0] == "error" and answer[1] not in (1062,) for answer in answers), (change, answers)
        assert flavour.execute("SELECT COUNT(*) FROM t", database="traps") == rows


ALIKE = {
    "FIXED": ("a INT, b CHAR(10), c DECIMAL(10,2), d DOUBLE, e FLOAT", "ROW_FORMAT=FIXED", "(1, 'x ', 1.5, 0.1, 0.1), (NULL, NULL, NULL, NULL, NULL)"),
    "bits and places": ("a BIT(9), g GEOMETRY, e ENUM('x','y'), s SET('x','y'), t TIMESTAMP NULL", "", "(b'101', NULL, 'x', 'x,y', NULL), (NULL, POINT(1, 2), 'y', '', '2020-02-02')"),
    "long texts": ("a INT PRIMARY KEY, v LONGTEXT, b BLOB", "ROW_FORMAT=DYNAMIC", "(1, REPEAT('x', 100000), 'y'), (2, NULL, '')"),
    "no rows": ("a INT", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
def test_the_scripts_sum_is_the_same_in_each_engine_and_tells_a_change(flavour: PrivateServer, to: str, name: str) -> None:
    if to == "Aria" and "mariadb" not in flavour.binaries.name:
        pytest.skip("MySQL has no Aria")
    columns, options, rows = ALIKE[name]
    with schema(flavour, "traps"):
        made = f"CREATE TABLE t ({columns}) ENGINE=MyISAM {options}"
        flavour.execute("SET SESSION sql_mode = ''", made, *([f"INSERT INTO t VALUES {rows}"] if rows else []), database="traps")
        (found,) = read_structures(str(flavour.data_directory / "traps"), "traps", None, lambda _: True)
        assert found.structure is not None, found.problem
        total = f"SELECT COUNT(*), {values_sum(found.structure.columns)} FROM t"
        before = flavour.execute(total, database="traps")
        flavour.execute(f"ALTER TABLE t ENGINE={to}, ROW_FORMAT=DEFAULT", database="traps")
        assert flavour.execute(total, database="traps") == before
        if rows:
            flavour.execute("UPDATE t SET a = 7 WHERE a IS NOT NULL ORDER BY a LIMIT 1", database="traps")
            assert flavour.execute(total, database="traps") != before


def test_the_statement_for_zeros_finds_each_kind(flavour: PrivateServer) -> None:
    with schema(flavour, "traps"):
        rows = "INSERT INTO t VALUES ('2020-02-02', '2020-02-02'), ('2020-02-02', '2010-00-00'), ('0000-00-00', '2020-02-02'), ('2010-05-00', NULL)"
        flavour.execute("SET SESSION sql_mode = ''", "CREATE TABLE t (d DATE, e DATETIME) ENGINE=MyISAM", rows, database="traps")
        (found,) = read_structures(str(flavour.data_directory / "traps"), "traps", None, lambda _: True)
        assert found.structure is not None, found.problem
        kind = kind_of(flavour, "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE")
        looks = next(one.statement for one in changes(Subject(("traps", "t"), found.structure, "InnoDB", kind)) if one.id == "zero-dates")
        assert told(flavour, "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'", looks.rstrip(";"))[-1] == (3,)


def _shown(server: PrivateServer, trap: Trap) -> list[tuple[object, ...]]:

    return told(server, *trap.shown)
