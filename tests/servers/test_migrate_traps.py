"""Traps of meaning: each is named beforehand, and a statement that shows it behaves otherwise after the ALTER, on MariaDB and MySQL."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.change import Subject
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.script import values_sum
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.files.structure import Structure
from myisam_exporter.files.structure_reader import read_structures
from tests.support.daemon import wait_for
from tests.support.servers import CopiedServer, binaries_of

from .conftest import FLAVOURS, schema
from .test_migrate_schemas import FOUR, kind_of

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


def structures(server: PrivateServer) -> dict[str, Structure]:
    """The tables of the database, by name."""
    found = read_structures(str(server.data_directory / "traps"), None, lambda _: True)
    return {one.table_name: one.structure for one in found if one.structure is not None}


@dataclass(frozen=True)
class Trap:
    """What is planted, and what shows it; the table is `t`."""

    id: str
    shown: tuple[str, ...]
    columns: str = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, x TEXT, FULLTEXT (x)"
    options: str = ""
    filled: tuple[str, ...] = (f"INSERT INTO t (id, x) VALUES {ROWS}",)
    only: str = ""
    to: str = "InnoDB"
    sql_mode: str = ""


TWO = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, x TEXT, y TEXT, FULLTEXT (x, y)"
SYNCS = "SELECT VARIABLE_VALUE INTO @{} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'Aria_transaction_log_syncs'"
# The name of InnoDB's own tables differs: the server refuses the one that it does not have, before and after alike.
HIDDEN = tuple(
    f"SELECT COUNT(*) FROM information_schema.{tables} AS t JOIN information_schema.{indexes} AS i USING (TABLE_ID) WHERE t.NAME = 'traps/t' AND i.NAME = 'GEN_CLUST_INDEX'"
    for tables, indexes in (("INNODB_SYS_TABLES", "INNODB_SYS_INDEXES"), ("INNODB_TABLES", "INNODB_INDEXES"))
)

STRICT = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"
# A page of Aria's holds eight long ones.
LONG_AND_SHORT = "INSERT INTO t VALUES " + ", ".join(f"({number}, REPEAT('a', {900 if number % 2 else 1}))" for number in range(200))

TRAPS = (
    Trap("count-cost", ("EXPLAIN SELECT COUNT(*) FROM t",)),
    Trap("order", ("SELECT id, x FROM t",), filled=("INSERT INTO t (id) VALUES (3), (1), (2)",)),
    Trap("rollback", ("START TRANSACTION", "DELETE FROM t WHERE id = 1", "ROLLBACK", "SELECT COUNT(id + 0) FROM t")),
    Trap("half-done", ("INSERT INTO t (id) VALUES (7), (8), (1)", "SELECT COUNT(id + 0) FROM t")),
    Trap("half-done", ("INSERT INTO t VALUES (1), (2)", "SELECT COUNT(id) FROM t"), columns="id INT", filled=("CREATE TRIGGER one BEFORE INSERT ON t FOR EACH ROW BEGIN IF NEW.id = 2 THEN SIGNAL SQLSTATE '45000'; END IF; END",)),
    *(Trap("strict-rows", (f"SET SESSION sql_mode = '{STRICT}'", f"INSERT INTO t (id, d) VALUES (1, '2020-02-02'), {wrong}", "SELECT COUNT(id + 0) FROM t"), columns="id TINYINT NOT NULL, d DATE, x VARCHAR(2)", filled=(), sql_mode=STRICT)
      for wrong in ("(1000, NULL)", "('x', NULL)", "(2, '2020-13-01')", "(NULL, NULL)")),
    Trap("strict-rows", (f"SET SESSION sql_mode = '{STRICT}'", "INSERT INTO t SELECT 1, 'ok' UNION ALL SELECT 2, 'too long'", "SELECT COUNT(id + 0) FROM t"), columns="id INT, x VARCHAR(5)", filled=(), sql_mode=STRICT),
    Trap("counter-gaps", ("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 1", "INSERT INTO t (a) VALUES (9)", "SELECT MAX(id) FROM t"),
         columns="id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, UNIQUE KEY (a)", filled=("INSERT INTO t (a) VALUES (1)",)),
    Trap("counter-gaps", ("INSERT INTO t (a) SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5", "INSERT INTO t (a) VALUES (9)", "SELECT MAX(id) FROM t"),
         columns="id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT", filled=()),
    Trap("order", ("ALTER TABLE t ORDER BY x", "SELECT id, x FROM t"), filled=("INSERT INTO t (id, x) VALUES (1, 'b'), (2, 'a')",)),
    Trap("order", ("DELETE FROM t LIMIT 1", "SELECT id + 0 FROM t ORDER BY id"), filled=("INSERT INTO t (id) VALUES (3), (1), (2)",)),
    Trap("aria-order", ("SELECT id, LENGTH(x) FROM t",), columns="id INT, x VARCHAR(900) CHARACTER SET latin1", filled=(LONG_AND_SHORT,), only="mariadb", to="Aria"),
    Trap("maintenance", ("CHECK TABLE t", "CHECK TABLE t FAST", "CHECK TABLE t CHANGED")),
    Trap("maintenance", ("OPTIMIZE TABLE t",)),
    Trap("statistics", ("SET SESSION information_schema_stats_expiry = 0", "SHOW INDEX FROM t"), columns="id INT, KEY (id)", filled=("INSERT INTO t VALUES (1), (2)",)),
    Trap("foreign-key-clauses", ("ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES nowhere (id)",)),
    Trap("fulltext-temporary", ("CREATE TEMPORARY TABLE copied LIKE t",)),
    Trap("fulltext-ranking", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('word' IN BOOLEAN MODE)",), filled=("INSERT INTO t (id, x) VALUES (1, 'a word'), (2, 'word word word'), (3, 'none')",)),
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
    Trap("fulltext-syntax", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('a@b' IN BOOLEAN MODE)",)),
    Trap("fulltext-required", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('+the +word' IN BOOLEAN MODE)",)),
    Trap("fulltext-columns", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('word' IN BOOLEAN MODE)",), columns=TWO),
    Trap("fulltext-columns", ("SELECT id FROM t WHERE MATCH (x) AGAINST ('word' IN BOOLEAN MODE)",), columns="id INT, b BLOB, x VARCHAR(50)"),
    Trap("fulltext-commit", ("START TRANSACTION", "INSERT INTO t (x) VALUES ('newcomer')", "SELECT x FROM t WHERE MATCH (x) AGAINST ('newcomer' IN BOOLEAN MODE)", "COMMIT")),
    Trap("no-primary-key", HIDDEN, columns="id INT", filled=("INSERT INTO t VALUES (1)",)),
    Trap("table-status", ("SET SESSION information_schema_stats_expiry = 0", "SELECT UPDATE_TIME IS NULL FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'traps' AND TABLE_NAME = 't'",)),
    Trap("aria-savepoint", ("START TRANSACTION", "SELECT 1 FROM t LIMIT 1", "SAVEPOINT a", "ROLLBACK"), only="mariadb", to="Aria"),
    Trap("aria-commit", (SYNCS.format("before"), *["INSERT INTO t (x) VALUES ('one')"] * 10, SYNCS.format("after"), "SELECT @after - @before >= 10"), only="mariadb", to="Aria"),
    Trap("insert-delayed", ("INSERT DELAYED INTO t () VALUES ()",), columns="id INT", filled=(), only="mariadb", to="Aria"),
)  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.id}-{trap.to}")
def test_a_trap_is_named_and_shown(flavour: PrivateServer, trap: Trap) -> None:
    if trap.only not in flavour.binaries.name:
        pytest.skip("MySQL has no Aria, and since 5.7 takes INSERT DELAYED for INSERT, whatever the engine")
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *trap.filled, database="traps")
        found = structures(flavour)
        merged = [("traps", "both_of")] if trap.id == "merge-members" else []
        named = {change.id: change for change in changes(Subject(("traps", "t"), found["t"], trap.to, kind_of(flavour, trap.sql_mode), merged))}
        assert trap.id in named
        before = _shown(flavour, trap)
        flavour.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *[one for one in trap.filled if "MERGE" not in one], f"ALTER TABLE t ENGINE={trap.to}", database="traps")
        after = _shown(flavour, trap)
        assert before != after


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: f"{trap.id}-{trap.to}")
def test_the_statement_that_is_given_runs_and_loses_nothing(flavour: PrivateServer, trap: Trap) -> None:
    if trap.only not in flavour.binaries.name:
        pytest.skip("MySQL has no Aria")
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t ({trap.columns}) ENGINE=MyISAM {trap.options}", *trap.filled, database="traps")
        rows = flavour.execute("SELECT COUNT(*) FROM t", database="traps")
        for change in changes(Subject(("traps", "t"), structures(flavour)["t"], trap.to, kind_of(flavour, trap.sql_mode))):
            statements = change.statement.replace("SLEEP(10)", "SLEEP(0)").split(";")
            answers = told(flavour, "USE information_schema", *(part for part in map(str.strip, statements) if part))
            assert not any(answer[0] == "error" and answer[1] not in (1062,) for answer in answers), (change, answers)
        assert flavour.execute("SELECT COUNT(*) FROM t", database="traps") == rows


@pytest.mark.parametrize("name", FOUR)
def test_what_repair_says_is_shown_on_each(running: Callable[[str], PrivateServer], name: str) -> None:
    """MariaDB 11.8 answers OK to a bare REPAIR TABLE of InnoDB, too."""
    server = running(name)
    with schema(server, "traps"):
        server.execute("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=MyISAM", database="traps")
        (shown,) = [one.statement for one in changes(Subject(("traps", "t"), structures(server)["t"], "InnoDB", kind_of(server, ""))) if one.id == "repair"]
        parts = [part for part in map(str.strip, shown.split(";")) if part]
        before = told(server, *parts)
        server.execute("ALTER TABLE t ENGINE=InnoDB", database="traps")
        after = told(server, *parts)
        assert before[-1][-1] == "OK"
        assert "support repair" in str(after[-1])


@pytest.mark.parametrize("words", [True, False])
def test_what_is_shown_on_a_copy_shows_after_the_alter_too(flavour: PrivateServer, *, words: bool) -> None:
    columns = "id INT PRIMARY KEY, x TEXT, y INT AS (id + 1) STORED"
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t ({columns}{', FULLTEXT (x)' if words else ''}) ENGINE=MyISAM", "INSERT INTO t (id) VALUES (1), (2)", database="traps")
        named = {change.id: change for change in changes(Subject(("traps", "t"), structures(flavour)["t"], "InnoDB", kind_of(flavour, "")))}
        flavour.execute("ALTER TABLE t ENGINE=InnoDB", database="traps")
        for name, last in {"rollback": 0, "lock-tables": 1}.items():
            parts = [part for part in map(str.strip, named[name].statement.split(";")) if part]
            # Twice in one connection, as who pastes one after another does: only the first time there is no copy to drop.
            assert told(flavour, *parts, *parts) == [("warning", NO_SUCH_TABLE), (last,), (last,)], name


WAITED, NO_SUCH_TABLE = 1205, 1051


@contextmanager
def held(server: PrivateServer, *statements: str) -> Iterator[Callable[[str], object]]:
    """A connection that has done so and is still there; it answers a question."""
    with server.session("traps") as connection, closing(connection.cursor()) as cursor:
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()

        def asked(question: str) -> object:
            cursor.execute(question)
            return cursor.fetchall()

        yield asked


def waits(server: PrivateServer, engine: str) -> dict[str, object]:
    """What a second connection meets while the first one is not done."""
    server.execute("DROP TABLE IF EXISTS t", f"CREATE TABLE t (id INT PRIMARY KEY, a INT) ENGINE={engine}", "INSERT INTO t VALUES (1, 1), (2, 2)", database="traps")
    patience = ("SET SESSION lock_wait_timeout = 1", "SET SESSION innodb_lock_wait_timeout = 1")
    found: dict[str, object] = {}
    with held(server, "LOCK TABLES t READ LOCAL"):
        found["lock-tables"] = told(server, *patience, "INSERT INTO t VALUES (3, 3)")
    with held(server, "START TRANSACTION", "UPDATE t SET a = 7 WHERE id = 1"):
        found["lock-waits"] = told(server, *patience, "UPDATE t SET a = 8 WHERE id = 1")
    with held(server, "START TRANSACTION", "SELECT a FROM t WHERE id = 1 FOR UPDATE"):
        found["read for an update"] = told(server, *patience, "UPDATE t SET a = 8 WHERE id = 1")
    with held(server, "START TRANSACTION", "DELETE FROM t WHERE id = 7"):
        found["gap-locks"] = told(server, *patience, "INSERT INTO t VALUES (8, 8)")
    with held(server, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION", "DELETE FROM t WHERE id = 7"):
        found["READ COMMITTED"] = told(server, *patience, "INSERT INTO t VALUES (9, 9)")
    server.execute("DELETE FROM t WHERE id > 7", "CREATE TABLE other (a INT) ENGINE=InnoDB", database="traps")
    with held(server, "START TRANSACTION", "INSERT INTO other SELECT a FROM t"):
        found["read for an insert"] = told(server, *patience, "UPDATE t SET a = 8 WHERE id = 1")
    with held(server, "START TRANSACTION", "UPDATE t SET a = 7 WHERE a = 1"):
        found["without an index"] = told(server, *patience, "UPDATE t SET a = 8 WHERE id = 2")
        found["undone alone"] = told(server, *patience, "START TRANSACTION", "INSERT INTO other VALUES (77)", "UPDATE t SET a = 8 WHERE id = 2", "COMMIT", "SELECT COUNT(*) FROM other WHERE a = 77")[-1:]
    server.execute("DROP TABLE other", database="traps")
    with held(server, "START TRANSACTION", "SELECT COUNT(*) FROM t") as asked:
        before = asked("SELECT COUNT(id + 0) FROM t")
        told(server, "INSERT INTO t VALUES (4, 4)")
        found["repeatable-read"] = asked("SELECT COUNT(id + 0) FROM t") == before
    return found


def test_what_others_wait_for_and_see(flavour: PrivateServer) -> None:
    with schema(flavour, "traps"):
        before = waits(flavour, "MyISAM")
        named = {change.id for change in changes(Subject(("traps", "t"), structures(flavour)["t"], "InnoDB", kind_of(flavour, "")))}
        after = waits(flavour, "InnoDB")
        locked = {"lock-tables", "lock-waits", "gap-locks", "read for an update", "read for an insert", "without an index"}
        # A program that passes over the error and goes on to COMMIT has kept the rest.
        rest = {"undone alone": [(1,)], "READ COMMITTED": []}
        assert before == {**{one: [] for one in locked}, **rest, "repeatable-read": False}
        assert after == {**{one: [("error", WAITED)] for one in locked}, **rest, "repeatable-read": True}
        assert {"lock-tables", "lock-waits", "gap-locks", "repeatable-read"} <= named


@pytest.mark.parametrize("engine", ["MyISAM", "InnoDB"])
def test_two_that_look_for_a_missing_row_and_insert_it_stop_each_other(flavour: PrivateServer, engine: str) -> None:
    with schema(flavour, "traps"):
        flavour.execute(f"CREATE TABLE t (id INT PRIMARY KEY) ENGINE={engine}", "INSERT INTO t VALUES (1), (9)", database="traps")
        look = ("SET SESSION innodb_lock_wait_timeout = 60", "START TRANSACTION", "SELECT id FROM t WHERE id = {} FOR UPDATE")
        ended: list[int] = []

        def insert(connection: Callable[[str], object], number: int) -> None:
            try:
                connection(f"INSERT INTO t VALUES ({number})")
            except Error as error:
                ended.append(error.args[0])

        with held(flavour, *(one.format(5) for one in look)) as first, held(flavour, *(one.format(6) for one in look)) as second:
            other = threading.Thread(target=insert, args=(first, 5))
            other.start()
            # Who asks again within 0.1 s is given what was there before (storage/innobase/trx/trx0i_s.cc, CACHE_MIN_IDLE_TIME).
            waits = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'"
            assert engine != "InnoDB" or wait_for(lambda: flavour.execute(waits), step=0.2)
            insert(second, 6)
            other.join()
        assert ended == ([1213] if engine == "InnoDB" else [])


@pytest.mark.parametrize("name", [*FLAVOURS, "mysql-5.6"])
def test_numbers_come_again_after_a_restart_where_that_is_told(name: str) -> None:
    with CopiedServer(binaries_of(name)) as server, schema(server, "traps"):
        for table in ("t", "converted"):
            server.execute(f"CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO {table} VALUES (1), (2), (3)", database="traps")
        named = {change.id for change in changes(Subject(("traps", "t"), structures(server)["t"], "InnoDB", kind_of(server, "")))}
        server.execute("ALTER TABLE converted ENGINE=InnoDB", "DELETE FROM t WHERE id > 1", "DELETE FROM converted WHERE id > 1", database="traps")
        server.restart()
        server.execute("INSERT INTO t VALUES (NULL)", "INSERT INTO converted VALUES (NULL)", database="traps")
        given = server.execute("SELECT (SELECT MAX(id) FROM t), (SELECT MAX(id) FROM converted)", database="traps")
        again = "counter-after-restart" in named
        assert again == (name == "mysql-5.6")
        assert given == [(4, 2 if again else 4)]


WORDS_SET = {"own": ["--ft-min-word-len=2", "--ft-stopword-file="], "alike": ["--ft-min-word-len=2", "--ft-stopword-file=", "--innodb-ft-min-token-size=2", "--innodb-ft-enable-stopword=OFF"]}


@pytest.mark.parametrize("name", FLAVOURS)
@pytest.mark.parametrize("settings", WORDS_SET)
def test_words_are_told_by_the_servers_settings(name: str, settings: str) -> None:
    asked = [f"SELECT COUNT(id + 0) FROM t WHERE MATCH (x) AGAINST ('{word}' IN BOOLEAN MODE)" for word in ("ox", "about", "+the +word", "+x +word")]
    with CopiedServer(binaries_of(name), WORDS_SET[settings]) as server, schema(server, "traps"):
        server.execute("CREATE TABLE t (id INT PRIMARY KEY, x TEXT, FULLTEXT (x)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'an ox about the word')", database="traps")
        named = {change.id: change.what for change in changes(Subject(("traps", "t"), structures(server)["t"], "InnoDB", kind_of(server, "")))}
        assert told(server, *asked) == [(1,)] * 4
        server.execute("ALTER TABLE t ENGINE=InnoDB", database="traps")
        if settings == "alike":
            assert not named.keys() & {"fulltext-length", "fulltext-stopwords"}
            assert "'+x +word' finds nothing" in named["fulltext-required"]
            assert told(server, *asked) == [(1,), (1,), (1,), (0,)]
        else:
            assert "words only from 3 characters on" in named["fulltext-length"]
            assert "'about' and 'where' are not found any more" in named["fulltext-stopwords"]
            assert told(server, *asked) == [(0,)] * 4


def test_signs_of_a_search_are_innodbs_own(flavour: PrivateServer) -> None:
    asked = "SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE MATCH (x) AGAINST ('word rain' IN BOOLEAN MODE)"
    try:
        flavour.execute("SET GLOBAL ft_boolean_syntax = ' |-><()~*:\"\"&^'")
        with schema(flavour, "traps"):
            flavour.execute("CREATE TABLE t (id INT PRIMARY KEY, x TEXT, FULLTEXT (x)) ENGINE=MyISAM", f"INSERT INTO t VALUES {ROWS}", database="traps")
            named = {change.id for change in changes(Subject(("traps", "t"), structures(flavour)["t"], "InnoDB", kind_of(flavour, "")))}
            assert "fulltext-operators" in named
            assert told(flavour, asked) == [(None,)]
            flavour.execute("ALTER TABLE t ENGINE=InnoDB", database="traps")
            assert told(flavour, asked) == [("1,2,3",)]
    finally:
        flavour.execute("SET GLOBAL ft_boolean_syntax = DEFAULT")


def test_aria_uses_the_options_that_are_not_told(flavour: PrivateServer) -> None:
    if "mariadb" not in flavour.binaries.name:
        pytest.skip("MySQL has no Aria")
    with schema(flavour, "traps"):
        flavour.execute("CREATE TABLE t (id INT) ENGINE=MyISAM CHECKSUM=1", "INSERT INTO t VALUES (1)", database="traps")
        named = {change.id for change in changes(Subject(("traps", "t"), structures(flavour)["t"], "Aria", kind_of(flavour, "")))}
        assert "options-ignored" not in named
        flavour.execute("ALTER TABLE t ENGINE=Aria, ROW_FORMAT=PAGE, TRANSACTIONAL=1", database="traps")
        ((_, kept),) = told(flavour, "CHECKSUM TABLE t QUICK")
        assert kept is not None


def test_defaults_of_texts_are_refused_or_vanish_in_mysql(flavour: PrivateServer) -> None:
    made = "CREATE TABLE t (id INT, x TEXT DEFAULT 'y') ENGINE=MyISAM"
    with schema(flavour, "traps"):
        if "mariadb" in flavour.binaries.name:
            flavour.execute(made, "ALTER TABLE t ENGINE=InnoDB", "INSERT INTO t (id) VALUES (1)", database="traps")
            assert told(flavour, "SELECT x FROM t") == [("y",)], "kept within MariaDB, which is why nothing is told there"
            return
        assert told(flavour, "SET SESSION sql_mode = ''", made) == [("error", 1101)]
        assert told(flavour, "SET SESSION sql_mode = 'STRICT_ALL_TABLES'", made.replace("'y'", "('y')"), "DROP TABLE t")[1:] == []
        assert ("warning", 1101) in told(flavour, "SET SESSION sql_mode = ''", made.replace("'y'", "''"), "INSERT INTO t (id) VALUES (1)")
        assert told(flavour, "SELECT x FROM t") == [(None,)]


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
        (found,) = read_structures(str(flavour.data_directory / "traps"), None, lambda _: True)
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
        kind = kind_of(flavour, "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE")
        looks = next(one.statement for one in changes(Subject(("traps", "t"), structures(flavour)["t"], "InnoDB", kind)) if one.id == "zero-dates")
        assert told(flavour, "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'", looks.rstrip(";"))[-1] == (3,)


def _shown(server: PrivateServer, trap: Trap) -> list[tuple[object, ...]]:
    return told(server, *trap.shown)
