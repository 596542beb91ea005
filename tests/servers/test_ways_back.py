"""What a change replaces that no index file tells, and a log that is switched on and goes nowhere, on real servers."""

import contextlib
import time
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.conftest import look, schema
from tests.support.servers import CopiedServer, binaries_of, status_number


def packed_indexes(server: PrivateServer, database: str) -> list[object]:
    return [row["is_packed"] for row in look(server).tables["indexes"].dictionaries() if row["schema_name"] == database]


def test_only_the_option_that_was_there_packs_numbers_again(server: PrivateServer) -> None:
    with schema(server, "packing") as database:
        server.execute("CREATE TABLE t (a INT NOT NULL, KEY (a)) ENGINE=MyISAM PACK_KEYS=1", "INSERT INTO t VALUES (1), (2)", database=database)
        assert packed_indexes(server, database) == [1]
        server.execute("ALTER TABLE t PACK_KEYS=0", database=database)
        assert packed_indexes(server, database) == [0]
        server.execute("ALTER TABLE t PACK_KEYS=DEFAULT", database=database)
        assert packed_indexes(server, database) == [0]
        server.execute("ALTER TABLE t PACK_KEYS=1", database=database)
        assert packed_indexes(server, database) == [1]


def test_a_slow_query_log_that_goes_nowhere_counts_and_writes_nothing(server: PrivateServer) -> None:
    names = ("slow_query_log", "log_output", "general_log")
    before = {name: server.execute(f"SELECT @@GLOBAL.{name}")[0][0] for name in names}
    assert not int(str(before["general_log"]))
    file = Path(str(server.execute("SELECT @@GLOBAL.datadir")[0][0])) / str(server.execute("SELECT @@GLOBAL.slow_query_log_file")[0][0])

    def written() -> int:
        counted = status_number(server, "Slow_queries")
        size = file.stat().st_size if file.exists() else 0
        with server.session() as connection, contextlib.closing(connection.cursor()) as cursor:
            cursor.execute("SET SESSION long_query_time = 0")
            cursor.execute("SELECT SLEEP(0.01)")
            cursor.fetchall()
        assert status_number(server, "Slow_queries") > counted
        return (file.stat().st_size if file.exists() else 0) - size

    try:
        server.execute("SET GLOBAL log_output = 'NONE'", "SET GLOBAL slow_query_log = ON")
        assert written() == 0
        server.execute("SET GLOBAL log_output = 'FILE'")
        assert written() > 0
    finally:
        server.execute(f"SET GLOBAL slow_query_log = {int(str(before['slow_query_log']))}", f"SET GLOBAL log_output = '{before['log_output']}'")


def test_without_a_line_mariadb_recovers_tables_and_mysql_does_not(server: PrivateServer) -> None:
    """What is left where the line of recovery-disabled is removed: on MariaDB somebody wrote OFF, or there is no such finding."""
    ((options,),) = server.execute("SELECT @@GLOBAL.myisam_recover_options")
    assert str(options) == ("OFF" if server.binaries.flavour == "mysql" else "BACKUP,QUICK")


@pytest.mark.parametrize("name", ["mysql-5.6", "mariadb-10.11"])
def test_a_flush_time_that_is_set_online_closes_nothing_until_a_restart(name: str) -> None:
    with CopiedServer(binaries_of(name), ["--flush-time=1"]) as server, schema(server, "flushed") as database:
        server.execute("CREATE TABLE t (a INT, KEY (a)) ENGINE=MyISAM", database=database)

        def is_opened_anew() -> bool:
            server.execute("SELECT COUNT(*) FROM t WHERE a > 1", database=database)
            before = status_number(server, "Opened_tables")
            time.sleep(2.2)
            server.execute("SELECT COUNT(*) FROM t WHERE a > 1", database=database)
            return status_number(server, "Opened_tables") > before

        assert is_opened_anew()
        server.execute("SET GLOBAL flush_time = 0")
        time.sleep(1.2)  # the flush that was due
        assert not is_opened_anew()
        server.execute("SET GLOBAL flush_time = 1")
        assert not is_opened_anew()
