"""What servers write into their logs beside plain statements, and how it is read: the database before a connection's end, procedures, several statements at once."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import CLIENT

from myisam_advisor.trial.private.driver import Connection
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.recording import Recorded, record_log, source_named
from tests.servers.conftest import on_four_servers, schema
from tests.support.servers import CopiedServer, binaries_of

INNER = ["UPDATE t SET a = a + 1", "SELECT 'inner'"]


@contextmanager
def logging(server: PrivateServer, kind: str) -> Iterator[Path]:
    """Its log of this kind in a file of its own, with all that it has; each is as it was afterwards."""
    name = {"slow_log": "slow_query_log", "general_log": "general_log"}[kind]
    log = Path(str(server.execute("SELECT @@datadir")[0][0])) / f"{kind}-for-test.log"
    file, threshold = server.execute(f"SELECT @@GLOBAL.{name}_file, @@GLOBAL.long_query_time")[0]
    server.execute("SET GLOBAL long_query_time = 0", f"SET GLOBAL {name}_file = '{log}'", f"SET GLOBAL {name} = 1")
    try:
        yield log
    finally:
        server.execute(f"SET GLOBAL {name} = 0", f"SET GLOBAL {name}_file = '{file}'", f"SET GLOBAL long_query_time = {threshold}")
        log.unlink(missing_ok=True)


def recorded(kind: str, log: Path, tmp_path: Path) -> tuple[Recorded, list[Event]]:
    done = record_log(source_named(kind), log, tmp_path / "w")
    return done, list(read_workload(tmp_path / "w").events())


def ask(connection: Connection, statement: str) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        cursor.fetchall()


@on_four_servers
def test_the_database_is_each_connections_own_also_behind_the_end_of_another(server: PrivateServer, tmp_path: Path) -> None:
    with schema(server, "forum"), schema(server, "shop"), logging(server, "slow_log") as log:
        for number in range(3):
            with server.session("shop") as second:
                # Its end is written behind the other's statement, with the database before it, and the next is of the same.
                with server.session("forum") as first:
                    ask(first, f"SELECT 'forum', {number}")
                    ask(second, f"SELECT 'shop', {number}")
                time.sleep(0.1)
                with server.session("forum") as third:
                    ask(third, f"SELECT 'forum', {number} + 1")
                    # A statement is written behind its answer, and before the next one of its connection begins.
                    ask(third, "SELECT 1")
                ask(second, "SELECT 1")
        _, events = recorded("slow_log", log, tmp_path)
    told = [(event.database, event.statement.split(b"'")[1]) for event in events if b"SELECT '" in event.statement]
    assert len(told) == 9
    assert all(database == named for database, named in told)


@pytest.mark.parametrize("kind", ["mysql-9.7", "mysql-5.6", "mariadb-10.11"])
def test_what_a_procedure_runs_is_recorded_by_its_call_alone(kind: str, tmp_path: Path) -> None:
    options = ["--log-slow-disabled-statements=", "--log-disabled-statements="] if kind.startswith("mariadb") else []
    with CopiedServer(binaries_of(kind), options) as server, schema(server, "inner") as database:
        server.execute("CREATE TABLE t (a INT) ENGINE=MyISAM", f"CREATE PROCEDURE p() BEGIN {'; '.join(INNER)}; END", database=database)
        for source in ("slow_log", "general_log"):
            with logging(server, source) as log, server.session(database) as connection:
                ask(connection, "CALL p()")
                # It is written when it has ended, and all is read before this is.
                ask(connection, "SELECT 1")
                done, events = recorded(source, log, tmp_path)
            (tmp_path / "w").unlink()
            told = [event.statement.decode() for event in events if event.statement.decode() in ["CALL p()", *INNER]]
            # MariaDB's general log has them behind the call, as if they had been sent.
            is_doubled = kind.startswith("mariadb") and source == "general_log"
            assert told == ["CALL p()", *(INNER if is_doubled else ())]
            assert ("calls" in done.totals.note) is is_doubled


def test_several_statements_at_once_are_recorded_one_by_one(flavour: PrivateServer, tmp_path: Path) -> None:
    sent = ["SELECT 'a;b'", "USE other_one", "SELECT 'it\\'s;' /* ; */", "SELECT 5"]
    for source in ("general_log", "slow_log"):
        with schema(flavour, "one"), schema(flavour, "other_one"), logging(flavour, source) as log:
            with closing(pymysql.connect(unix_socket=str(flavour.socket), user="root", database="one", client_flag=CLIENT.MULTI_STATEMENTS)) as connection, connection.cursor() as cursor:
                cursor.execute("; ".join(sent))
                while cursor.nextset():
                    pass
                cursor.execute("SELECT 'last'")
                # It is written behind its answer, and before the next one begins.
                cursor.execute("SELECT 1")
            _, events = recorded(source, log, tmp_path)
        (tmp_path / "w").unlink()
        # MySQL writes each by itself, with its sign.
        statements = [(event.database, event.statement.decode().rstrip(";").strip()) for event in events]
        told = [one for one in statements if one[1] in (*sent, "SELECT 'last'")]
        assert [statement for _, statement in told] == [*sent, "SELECT 'last'"]
        assert [database for database, statement in told if not statement.startswith("USE")] == [b"one", b"other_one", b"other_one", b"other_one"]


@pytest.mark.parametrize("kind", ["mysql-5.6", "mariadb-10.11", "mysql-9.7"])
def test_rows_are_those_that_came_or_are_not_told(kind: str, tmp_path: Path) -> None:
    # From the query cache come other numbers than the rows: each is asked twice.
    asked = (
        "SELECT id FROM t WHERE id > 90", "SELECT id FROM t ORDER BY id LIMIT 5, 6", "SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 3",
        "SELECT id FROM t WHERE id = 1000", "HANDLER t OPEN", "HANDLER t READ FIRST LIMIT 2, 2", "HANDLER t CLOSE",
    )  # fmt: skip
    came: dict[bytes, int] = {}
    with CopiedServer(binaries_of(kind), ["--loose-query-cache-type=1", "--loose-query-cache-size=8M"]) as server, schema(server, "shop"):
        rows = ",".join(f"({number})" for number in range(100))
        server.execute("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=MyISAM", f"INSERT INTO t VALUES {rows}", database="shop")
        with logging(server, "slow_log") as log:
            with server.session("shop") as connection, closing(connection.cursor()) as cursor:
                for statement in asked * 2:
                    cursor.execute(statement)
                    came[statement.encode()] = len(cursor.fetchall())
            time.sleep(0.1)
            _, events = recorded("slow_log", log, tmp_path)
    told = [event for event in events if event.statement in came]
    assert len(told) == 2 * len(asked)
    assert {event.rows_sent for event in told if event.statement == asked[0].encode()} >= {9}
    assert [event for event in told if event.rows_sent not in (None, came[event.statement])] == []


@on_four_servers
def test_what_execute_runs_is_kept_once(server: PrivateServer, tmp_path: Path) -> None:
    # MySQL writes PREPARE without its text, and what it ran behind EXECUTE; MariaDB both whole.
    with schema(server, "shop"), logging(server, "general_log") as log:
        time.sleep(1.1)
        with server.session("shop") as connection:
            for statement in ("PREPARE s FROM 'SELECT 5 + ?'", "SET @n = 7", "EXECUTE s USING @n", "EXECUTE s USING @n", "DEALLOCATE PREPARE s", "SELECT 'other'"):
                ask(connection, statement)
        time.sleep(0.1)
        done, events = recorded("general_log", log, tmp_path)
    statements = [event.statement for event in events]
    run = statements.count(b"EXECUTE s USING @n") + statements.count(b"SELECT 5 + 7")
    assert (run, statements.count(b"SELECT 'other'")) == (2, 1)
    is_whole = b"PREPARE s FROM 'SELECT 5 + ?'" in statements
    assert done.totals.left_out["inner statement of EXECUTE" if is_whole else "EXECUTE, kept as what it ran"] == 2


@pytest.mark.parametrize("kind", ["slow_log", "general_log"])
def test_what_is_executed_immediately_is_kept_once(mariadb: PrivateServer, kind: str, tmp_path: Path) -> None:
    with schema(mariadb, "shop"), logging(mariadb, kind) as log:
        time.sleep(1.1)
        with mariadb.session("shop") as connection:
            for statement in ("EXECUTE IMMEDIATE 'SELECT 5 + 7'", "SELECT 'other'"):
                ask(connection, statement)
        time.sleep(0.1)
        done, events = recorded(kind, log, tmp_path)
    told = [event.statement for event in events if b"5 + 7" in event.statement or b"other" in event.statement]
    assert told == [b"SELECT 5 + 7", b"SELECT 'other'"]
    assert done.totals.left_out["EXECUTE, kept as what it ran"] == 1


@on_four_servers
def test_what_triggers_and_functions_run_is_no_statement_that_was_sent(server: PrivateServer, tmp_path: Path) -> None:
    made = (
        "CREATE TABLE t (id INT, n INT) ENGINE=MyISAM", "CREATE TABLE a (w VARCHAR(40), n INT) ENGINE=MyISAM",
        "CREATE TRIGGER added AFTER INSERT ON t FOR EACH ROW BEGIN DECLARE x INT DEFAULT 5; INSERT INTO a VALUES ('added', NEW.n); UPDATE a SET n = x WHERE n = NEW.id; END",
        "CREATE TRIGGER gone AFTER DELETE ON t FOR EACH ROW INSERT INTO a VALUES (CONCAT('gone ', OLD.n), 0)",
        "CREATE FUNCTION larger(p INT) RETURNS INT READS SQL DATA BEGIN DECLARE r INT; SELECT COUNT(*) INTO r FROM a WHERE n > p; RETURN r; END",
    )  # fmt: skip
    sent = ("INSERT INTO t VALUES (1, 2), (3, 4)", "SELECT larger(1)", "DELETE FROM t WHERE id = 1")
    with schema(server, "shop"):
        before = server.execute("SELECT @@GLOBAL.log_bin_trust_function_creators")[0][0]
        server.execute("SET GLOBAL log_bin_trust_function_creators = 1", *made, f"SET GLOBAL log_bin_trust_function_creators = {before}", database="shop")
        with logging(server, "general_log") as log:
            time.sleep(1.1)  # a time is written with the first statement of another second
            with server.session("shop") as connection:
                for statement in sent:
                    ask(connection, statement)
            time.sleep(0.1)
            done, events = recorded("general_log", log, tmp_path)
    told = [event.statement.decode() for event in events if event.database == b"shop"]
    assert [statement for statement in told if not statement.upper().startswith("SET NAMES")] == list(sent)
    assert done.totals.left_out.get("inner statement of a stored program", 0) in (0, 6)


@pytest.mark.parametrize("server", ["mariadb-10.5", "mariadb-10.11", "mysql-5.6"], indirect=True, scope="session")
def test_a_statement_of_seconds_and_a_session_with_a_clock_of_its_own_are_where_they_were(server: PrivateServer, tmp_path: Path) -> None:
    """MariaDB tells of a statement when it began, or when it ended, and by the clock of its session."""
    with logging(server, "slow_log") as log, server.session() as own, server.session() as slow:
        began = time.time()
        sleeping = threading.Thread(target=ask, args=(slow, "SELECT SLEEP(3.5)"))
        sleeping.start()
        ask(own, "SET timestamp = 1700000000")
        while sleeping.is_alive():
            ask(own, "SELECT 'by another clock'")
            server.execute("SELECT 'meanwhile'")
            time.sleep(0.1)
        sleeping.join()
        ask(own, "SET timestamp = DEFAULT")
        # Each entry is written behind its answer.
        server.execute("SELECT 'later'")
        done, events = recorded("slow_log", log, tmp_path)
    assert "clock" not in done.totals.note
    [slept] = [event for event in events if b"SLEEP" in event.statement]
    assert abs(slept.start_microseconds / 1e6 - began) < 1.5
    asked = [event.start_microseconds / 1e6 - began for event in events if event.statement == b"SELECT 'by another clock'"]
    assert len(asked) > 10
    assert -1 < min(asked) < 1.5
    assert 2 < max(asked) < 5.5
