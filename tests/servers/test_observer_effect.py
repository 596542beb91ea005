"""The observer changes nothing: no table opened, no cache moved, across a snapshot of a thousand tables."""

from collections.abc import Callable

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.variable_origins import ON_MARIADB
from myisam_exporter.server.session import Session

from .conftest import look, on_every_server, schema, target

TABLES = 1000
OWN_STATEMENTS = 13
WATCHED = ("Open%", "Key%", "Handler%", "Created_tmp%", "Table_open_cache%", "Innodb_rows%", "Aria_pagecache%requests", "Select_full_join", "Sort%")
OWN = {"Handler_external_lock", "Handler_read_rnd_next", "Handler_read_first", "Handler_read_key", "Handler_read_next", "Handler_tmp_write", "Handler_tmp_update", "Handler_tmp_delete",
       "Handler_write", "Handler_commit", "Handler_update", "Handler_delete", "Handler_rollback", "Handler_read_rnd", "Created_tmp_tables", "Table_open_cache_hits"}


def counters(server: PrivateServer) -> dict[str, str]:
    with server.session() as connection:
        cursor = connection.cursor()
        found = {}
        for pattern in WATCHED:
            cursor.execute(f"SHOW GLOBAL STATUS LIKE '{pattern}'")
            found.update(dict(cursor.fetchall()))
        return found


def growth(server: PrivateServer, act: Callable[[], object]) -> dict[str, int]:
    before = counters(server)
    act()
    return {key: int(value) - int(before[key]) for key, value in counters(server).items()}


def test_a_snapshot_of_a_thousand_tables_moves_no_counter(server: PrivateServer) -> None:
    with schema(server, "many") as name:
        with server.session(name) as connection:
            cursor = connection.cursor()
            for number in range(TABLES):
                cursor.execute(f"CREATE TABLE t{number} (id INT NOT NULL PRIMARY KEY, c CHAR(20), KEY (c)) ENGINE=MyISAM")
        look(server)  # the server opens its own performance_schema tables once
        server.execute("FLUSH TABLES")
        look(server)
        # Once for each connection MariaDB makes a temporary table on disk of where its variables' values come from: a row each.
        own = growth(server, lambda: server.execute(ON_MARIADB)) if server.binaries.flavour == "mariadb" else {}
        before = counters(server)
        facts = look(server)
        after = counters(server)
        assert facts.single("totals")["myisam_tables"] == TABLES
        assert facts.tables["tables"].has("data_resident_bytes")
        moved = {key: int(after[key]) - int(before[key]) - own.get(key, 0) for key in before if before[key] != after[key] and key not in OWN}
        assert {key: growth for key, growth in moved.items() if key.startswith(("Key", "Handler"))} == {}
        # A connection opens the performance_schema tables it asks: as many as we have statements, however many tables there are.
        assert all(abs(growth) <= OWN_STATEMENTS for growth in moved.values()), moved
        assert server.execute("SHOW OPEN TABLES FROM many") == []


def test_a_snapshot_takes_no_lock_and_leaves_no_connection(server: PrivateServer) -> None:
    with schema(server, "locked") as name, server.session(name) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM")
        cursor.execute("LOCK TABLES t WRITE")
        facts = look(server)
        assert [row["table_name"] for row in facts.tables["tables"].dictionaries()] == ["t"]
        cursor.execute("UNLOCK TABLES")
    connected = server.execute("SHOW GLOBAL STATUS LIKE 'Threads_connected'")[0][1]
    assert int(str(connected)) <= 2


@on_every_server
def test_where_a_server_does_not_commit_by_itself_what_is_read_stays_locked_for_nobody(server: PrivateServer) -> None:
    with schema(server, "uncommitted") as name:
        server.execute(f"CREATE TABLE {name}.t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "SET GLOBAL autocommit = 0")
        try:
            with Session(target(server)) as session:
                server.execute("SET GLOBAL autocommit = 1")
                assert session.rows("SELECT @@autocommit") == [("1",)]
                assert session.rows(f"SELECT id FROM {name}.t") == []
                server.execute("SET SESSION lock_wait_timeout = 1", f"ALTER TABLE {name}.t ADD COLUMN told INT")
        finally:
            server.execute("SET GLOBAL autocommit = 1")


@on_every_server
def test_limits_on_everybodys_queries_cut_no_answer_of_ours(server: PrivateServer) -> None:
    """Shared hosts set them. SHOW VARIABLES of three rows names no data directory, and all tables were out of sight."""
    with schema(server, "limited") as name:
        server.execute(*(f"CREATE TABLE {name}.t{number} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for number in range(3)))
        unlimited = len(look(server).tables["variable"].rows)
        server.execute("SET GLOBAL sql_select_limit = 2", "SET GLOBAL max_join_size = 1")
        try:
            facts = look(server)
        finally:
            server.execute("SET SESSION sql_big_selects = 1", "SET GLOBAL sql_select_limit = 18446744073709551615", "SET GLOBAL max_join_size = 18446744073709551615")
        assert sorted(str(row["table_name"]) for row in facts.tables["tables"].dictionaries()) == ["t0", "t1", "t2"]
        assert len(facts.tables["variable"].rows) == unlimited
