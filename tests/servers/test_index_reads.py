"""Reads by index where performance_schema counts them: the finding that rests on them, and what is not counted there."""

import time

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, with_thresholds
from .test_expert_rules import findings


def test_reads_that_performance_schema_had_no_room_to_count_are_no_zero() -> None:
    """A larger table cache holds more open tables than it has places for, on MySQL 5.6: what uses the others is not counted."""
    site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=100, minimum_index_bytes=1)
    with CopiedServer(binaries_of("mysql-5.6"), ["--table-open-cache=200", "--performance-schema-max-table-handles=40"]) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.w (a INT NOT NULL PRIMARY KEY, b INT NOT NULL, c INT NOT NULL, KEY b (b)) ENGINE=MyISAM", "INSERT INTO d.w VALUES " + ", ".join(f"({n}, {n % 50}, 1)" for n in range(500)))
        server.execute("SELECT SUM(c) FROM d.w FORCE INDEX (PRIMARY) WHERE a BETWEEN 1 AND 200")
        assert "2, b (INT NOT NULL) serves no statement" in findings(server, "duplicate-indexes", site=site)[0].message
        server.execute("SET GLOBAL table_open_cache = 2000", *[f"CREATE TABLE d.t{number} (a INT) ENGINE=MyISAM" for number in range(60)], *[f"SELECT * FROM d.t{number}" for number in range(60)])
        with server.session("d") as holder:
            holder.cursor().execute("LOCK TABLES w READ")  # who reads it now opens it once more
            server.execute("SELECT SUM(c) FROM d.w FORCE INDEX (b) WHERE b = 5")
        counted = server.execute("SELECT COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_index_usage WHERE OBJECT_NAME = 'w' AND INDEX_NAME = 'b'")
        assert counted == [(0,)]
        assert findings(server, "duplicate-indexes", site=site) == []
        assert [row["rows_read_per_second"] for row in look(server, 1.0).tables["tables"].dictionaries() if row["table_name"] == "w"] == [None]
        time.sleep(3.0)
        server.execute("FLUSH STATUS")  # sets back what tells of lost handles, and not what was counted
        assert findings(server, "duplicate-indexes", site=site) == []
        server.execute("SET GLOBAL table_open_cache = 40")
        assert "2, b (INT NOT NULL) serves no statement" in findings(server, "duplicate-indexes", site=site)[0].message


@pytest.mark.parametrize("kind", ["mysql-5.6", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_an_index_that_nothing_reads_by_is_found_by_its_name(kind: str) -> None:
    """Names come in the order of the header, however the keys were declared; counters begin anew with an ALTER, and FULLTEXT has none."""
    site = with_thresholds("duplicate-indexes", minimum_uptime_seconds=0, minimum_rows_read=100, minimum_index_bytes=1)

    def reads(server: PrivateServer) -> dict[object, object]:
        return {row["index_name"]: row["rows_read_since_start"] for row in look(server).tables["indexes"].dictionaries() if row["table_name"] == "t"}

    with CopiedServer(binaries_of(kind), ["--performance-schema=ON"]) as server:
        keys = "KEY busy (z), UNIQUE KEY u (c), KEY idle (b), FULLTEXT KEY words (w), PRIMARY KEY (a)"
        server.execute("CREATE DATABASE d", f"CREATE TABLE d.t (a INT NOT NULL, b INT NOT NULL, c INT NOT NULL, z INT NOT NULL, w VARCHAR(20) NOT NULL, {keys}) ENGINE=MyISAM")
        server.execute("INSERT INTO d.t VALUES " + ", ".join(f"({n}, {n}, {n}, {n}, 'word{n}')" for n in range(300)))
        server.execute("SELECT COUNT(z) FROM d.t FORCE INDEX (busy) WHERE z >= 0", "SELECT a FROM d.t WHERE a = 7", "SELECT a FROM d.t WHERE MATCH (w) AGAINST ('word7')")
        found = reads(server)
        assert list(found) == ["PRIMARY", "u", "busy", "idle", "words"]
        assert int(str(found["busy"])) >= 300
        counted = server.execute("SELECT COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_index_usage WHERE OBJECT_NAME = 't' AND INDEX_NAME = 'words'")
        assert counted == [(0,)]
        assert (found["PRIMARY"], found["u"], found["idle"], found["words"]) == (1, 0, 0, None)
        (finding,) = findings(server, "duplicate-indexes", site=site)
        words = "gave no row that was counted" if kind.startswith("mariadb") else "serves no statement"
        assert f"d.t has 1 index that adds nothing: 4, idle (INT NOT NULL) {words}" in finding.message
        assert findings(server, "duplicate-indexes") == []  # which wants a month
        server.execute("FLUSH TABLES")
        assert reads(server) == found
        server.execute("ALTER TABLE d.t ADD KEY late (b, z)", "SELECT * FROM d.t LIMIT 1")
        # Nothing was read since: not even what says that the table is in use.
        assert set(reads(server).values()) <= {0, None}
        assert not any(words in one.message for one in findings(server, "duplicate-indexes", site=site))
