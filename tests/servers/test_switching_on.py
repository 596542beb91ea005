"""What is said to make a fact known, does on the version that it is said of."""

from pathlib import Path

import pytest

from myisam_exporter.collectors.performance_schema import NO_TABLES
from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF
from tests.servers.conftest import look
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, working

BY_TABLE = ("tables.rows_read_per_second", "tables.rows_changed_per_second", "tables.lock_wait_seconds_per_second", "indexes.rows_read_since_start")


@pytest.mark.parametrize("kind", ["mysql-5.5", "mysql-5.6", "mysql-8.0", "mariadb-10.5"])
def test_each_instrument_that_is_to_be_switched_on_is_there(kind: str) -> None:
    with CopiedServer(binaries_of(kind), ["--performance-schema=ON"]) as server:
        server.execute("UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME LIKE 'wait/%'")
        said = {unknown.remedy for unknown in look(server).unknown.values() if unknown.remedy.startswith("UPDATE ")}
        assert said
        for statement in said:
            assert server.execute(statement, "SELECT ROW_COUNT()") == [(1,)], statement


@pytest.mark.parametrize(("kind", "counts"), [("mysql-5.6", False), ("mysql-9.7", True)])
def test_a_lock_that_was_made_before_its_instrument_was_on_is_not_said_to_be_free(kind: str, counts: bool) -> None:
    """MySQL 5.6 takes the statement, and counts nothing of a lock that is there: 0 was shown, and the rule took it for one that nobody waits for."""
    named = "performance_schema_instrument='wait/synch/mutex/mysys/KEY_CACHE::cache_lock=ON'"
    with CopiedServer(binaries_of(kind), ["--performance-schema=ON"]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", look(server).unknown["mutex_wait"].remedy)
        with working(server, "d", ["REPLACE INTO t VALUES (1), (2), (3)"]):
            found = look(server, 1.0)
        assert [row[0] for row in found.tables["mutex_wait"].rows if row[0] == "key_cache_lock"] == ["key_cache_lock"] * counts
        assert ("mutex_wait" in found.unknown) is not counts
        if not counts:
            assert named in found.unknown["mutex_wait"].remedy
            server.restart(["--performance-schema=ON", f"--{named.replace('_', '-', 2).replace(chr(39), '')}"])
            with working(server, "d", ["REPLACE INTO t VALUES (1), (2), (3)"]):
                assert "mutex_wait" not in look(server, 1.0).unknown


def test_what_no_switch_makes_known_has_no_remedy() -> None:
    with CopiedServer(binaries_of("mysql-5.5"), ["--performance-schema=ON"]) as server:
        unknown = look(server).unknown
        assert {unknown[column] for column in BY_TABLE} == {NO_TABLES}
        server.restart(["--performance-schema=OFF"])
        unknown = look(server).unknown
        assert {unknown[column] for column in BY_TABLE} == {NO_TABLES}
        assert unknown["mutex_wait"] == PERFORMANCE_SCHEMA_OFF
        account = ("--socket", server.socket, "--user", "root")
        (told,) = (line for line in run("doctor", *account).stdout.splitlines() if "key-cache-contention" in line)
        assert "table-lock-contention" not in told, "it gains nothing by what counts no tables"
        assert "off        performance_schema" in run("rights", *account).stdout


def test_no_option_is_advised_with_which_the_server_would_not_start(tmp_path: Path) -> None:
    with CopiedServer(binaries_of("mysql-5.5"), ["--performance-schema=OFF"]) as server:
        for switch in ("OFF", "ON"):
            server.restart([f"--performance-schema={switch}"])
            done = run("record", "--socket", server.socket, "--user", "root", "--output", tmp_path / "w", "--seconds", "2", "--source", "performance-schema", "--yes")
            assert (done.returncode, "keeps no statements in this version" in done.stderr, "events" in done.stderr) == (2, True, False)
