"""One database for one set of facts after another."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.factbase.database import FactDatabase, open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
from myisam_advisor.factbase.shared_views import VIEWS
from myisam_advisor.factbase.view import View
from myisam_exporter.facts.columns import TABLES
from myisam_exporter.files.myi_definition import KEY_TYPES, SEGMENT_NULL, SIZED_TYPES, KeyPart
from myisam_exporter.look.fact_set import FactRows, FactSet


def facts(tables: list[str], size: int) -> FactSet:
    return facts_from_document({"schema": 1, "tables": [{"schema_name": "s", "table_name": name} for name in tables], "key_cache": [{"name": "default", "size_bytes": size}]})


def answers(guarded: GuardedDatabase) -> Sequence[tuple[object, ...]]:
    with pytest.raises(QueryError):
        guarded.query("DELETE FROM tables")
    return guarded.query("SELECT (SELECT group_concat(table_name) FROM tables), (SELECT size_bytes FROM key_cache)").rows


def test_the_next_facts_replace_the_last() -> None:
    database = FactDatabase()
    assert answers(database.holding(facts(["a", "b"], 5))) == [("a,b", 5)]
    assert answers(database.holding(facts(["c"], 6))) == [("c", 6)]
    assert answers(database.holding(facts([], 7))) == [(None, 7)]
    database.close()
    assert answers(database.holding(facts(["d"], 8))) == [("d", 8)]
    database.close()


def test_what_is_the_same_object_is_not_filled_again() -> None:
    database = FactDatabase()
    first, second = facts(["a"], 5), facts(["b"], 6)
    database.holding(first)
    mixed = FactSet({**second.tables, "tables": first.tables["tables"]}, second.unknown)
    held = database.holding(mixed)
    assert answers(held) == [("a", 6)]
    assert held is database.holding(second)
    assert answers(held) == [("b", 6)]
    database.close()


class Breaking(list[Sequence[object]]):
    """Rows that fail half-way."""

    def __iter__(self) -> Iterator[Sequence[object]]:
        yield super().__getitem__(0)
        raise MemoryError


def test_what_was_filled_half_is_asked_by_nobody() -> None:
    database = FactDatabase()
    database.holding(facts(["a", "b"], 5))
    others = facts(["c"], 6)
    rows = others.tables["tables"]
    broken = FactSet({**others.tables, "tables": FactRows(rows.columns, cast("Any", Breaking(rows.rows)))})
    with pytest.raises(MemoryError):
        database.holding(broken)
    assert answers(database.holding(others)) == [("c", 6)]
    database.close()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_gives_the_columns_that_it_is_said_to_and_nothing_that_a_query_may_not_ask(view: View) -> None:
    document = {"schema": 1, "tables": [{"table_name": "a"}], "indexes": [{"table_name": "a", "key_description": "INT"}], "key_cache": [{"name": "default", "size_bytes": 5}], "processlist": [{"threads": 1}]}
    with open_database(facts_from_document(document)) as guarded:
        result = guarded.query(f"SELECT * FROM {view.name}")
        assert result.columns == tuple(view.columns)
        assert len(result.rows) == 1
        assert guarded.columns_read(f"SELECT * FROM {view.name}", None).keys() & {table.name for table in TABLES}
    assert view.name not in {table.name for table in TABLES}


# Of the first, shipped rules ask `tables`, of which a daemon asks what changed; the second takes a text apart, for whoever asks.
FOR_SITES = ("table_activity", "index_parts")


@pytest.mark.parametrize("view", [view for view in VIEWS if view.name not in FOR_SITES], ids=lambda view: view.name)
def test_several_rules_or_several_parts_ask_a_view(view: View) -> None:
    queries = [text for rule in shipped_rules() for text in rule.statements]
    assert sum(len(re.findall(rf"\b(?:FROM|,) (?:\w+ AS \w+, )*{view.name}\b", text)) for text in queries) >= 2


def test_where_nothing_is_known_a_view_knows_nothing() -> None:
    with open_database(facts_from_document({"schema": 1})) as guarded:
        assert guarded.query("SELECT * FROM table_lock_waits").rows == [(None,) * 17]
        assert guarded.query("SELECT * FROM lock_waits").rows == [(None,) * 4]
        assert guarded.query("SELECT * FROM write_statements").rows == [(None,) * 2]
        assert guarded.query("SELECT * FROM row_reads").rows == [(None,) * 5]
        assert guarded.query("SELECT * FROM own_reads").rows == [(None,) * 3]
        assert guarded.query("SELECT * FROM server_load").rows == [(None,) * 8]
        assert guarded.query("SELECT * FROM sent_rows").rows == [(None,) * 6]
        assert guarded.query("SELECT type, size_bytes, is_on, waiting_threads FROM query_cache").rows == [(None, None, 0, None)]
        assert guarded.query("SELECT * FROM table_activity").rows == []
        assert guarded.query("SELECT * FROM key_cache_requests").rows == []
        assert guarded.query("SELECT * FROM index_parts").rows == []
        assert guarded.query("SELECT * FROM connections").rows == []
        assert guarded.query("SELECT * FROM applier").rows == [(None, 0)]


@pytest.mark.parametrize(("method", "read"), [("counted", (1000.0, 8192.0, 1000.0)), ("the data lie on NFS, whose reads are not counted", (None,) * 3)])
def test_of_reads_that_nobody_counts_none_is_not_known(method: str, read: tuple[float | None, ...]) -> None:
    seen = {"page_cache_misses_per_second": 1000.0, "disk_read_bytes_per_second": 8192.0, "page_cache_method": method}
    with open_database(facts_from_document({"schema": 1, "mysqld": seen})) as guarded:
        assert guarded.query("SELECT * FROM own_reads").rows == [read]


def test_pages_that_are_read_are_told_by_bytes_where_misses_are_not_known() -> None:
    with open_database(facts_from_document({"schema": 1, "mysqld": {"disk_read_bytes_per_second": 8192.0}})) as guarded:
        assert guarded.query("SELECT pages_per_second FROM own_reads").rows == [(2.0,)]


# States as MySQL 5.6 and 9.7 and MariaDB 10.11 showed them on replicas, but for those that wait for a lock.
@pytest.mark.parametrize(("command", "state", "is_idle", "works", "runs"), [
    ("Query", "Sending data", 0, 1, 1), ("Execute", None, 0, 1, 1), ("Query", "Waiting for table level lock", 0, 1, 0), ("Query", "Locked", 0, 1, 0),
    ("Sleep", "", 0, 0, 0), ("Daemon", "Waiting on empty queue", 0, 0, 0), ("Binlog Dump GTID", "Sending binlog event to replica", 0, 0, 0), (None, "Sending data", 0, 1, None),
    ("Connect", "User sleep", 0, 1, 1), ("Slave_SQL", "User sleep", 0, 1, 1), ("Slave_worker", "Update", 0, 1, 1), ("Connect", "Reading event from the relay log", 0, 1, 1),
    ("Connect", "Waiting for table level lock", 0, 1, 0), ("Slave_SQL", "Waiting for table metadata lock", 0, 1, 0), ("Connect", "login", 0, 1, 0), ("Connect", None, 0, 1, 0),
    ("Connect", "Waiting on empty queue", 1, 0, 0), ("Connect", "Waiting for source to send event", 1, 0, 0), ("Connect", "Waiting for an event from Coordinator", 1, 0, 0), ("Connect", "Connecting to master", 1, 0, 0),
    ("Connect", "Slave has read all relay log; waiting for the slave I/O thread t", 1, 0, 0), ("Connect", "Queueing master event to the relay log", 1, 0, 0),
    ("Query", "Replica has read all relay log; waiting for more updates", 1, 0, 0), ("Slave_SQL", "Slave has read all relay log; waiting for more updates", 1, 0, 0),
    ("Slave_IO", "Waiting for master to send event", 0, 0, 0),
])  # fmt: skip
def test_a_replicas_threads_are_told_apart_by_their_states(command: str | None, state: str | None, is_idle: int, works: int, runs: int | None) -> None:
    with open_database(facts_from_document({"schema": 1, "processlist": [{"command": command, "state": state, "threads": 1}]})) as guarded:
        assert guarded.query("SELECT is_idle, works, runs FROM connections").rows == [(is_idle, works, runs)]


@pytest.mark.parametrize(("replica", "row", "found"), [
    ({"sql_running": 1}, {"command": "Slave_SQL", "state": "Updating", "longest_seconds": 600}, (600, 0)),
    ({"sql_running": 1}, {"command": "Query", "state": "Sending data", "longest_seconds": 600}, (None, 1)),
    ({"sql_running": 1, "seconds_behind": 9}, {"command": "Connect", "state": "Waiting for source to send event", "longest_seconds": 600}, (None, 1)),
    ({"sql_running": 1, "seconds_behind": 0}, {"command": "Query", "state": "Sending data", "longest_seconds": 600}, (None, 0)),
    ({"sql_running": 0}, {"command": "Query", "state": "Sending data", "longest_seconds": 600}, (None, 0)),
    ({"sql_running": 1}, {"command": "Query", "state": "Replica has read all relay log; waiting for more updates", "longest_seconds": 600}, (None, 0)),
    ({"sql_running": 1}, {"command": "Connect", "state": "Waiting for table level lock", "longest_seconds": 600}, (None, 0)),
])  # fmt: skip
def test_an_applier_that_may_hold_a_lock_is_seen_or_known_to_be_hidden(replica: dict[str, int], row: dict[str, object], found: tuple[int | None, int]) -> None:
    with open_database(facts_from_document({"schema": 1, "replica": [replica], "processlist": [{**row, "threads": 1}]})) as guarded:
        assert guarded.query("SELECT applier_seconds, is_hidden FROM applier").rows == [found]


def parts_of(described: Sequence[str | None]) -> Sequence[tuple[object, ...]]:
    rows = [{"schema_name": "s", "table_name": "t", "index_number": number, "key_description": one} for number, one in enumerate(described, 1)]
    with open_database(facts_from_document({"schema": 1, "indexes": rows})) as guarded:
        return guarded.query("SELECT index_number, part_number, data_type, length_bytes, is_nullable FROM index_parts ORDER BY 1, 2").rows


def test_the_parts_of_an_index_are_columns() -> None:
    assert parts_of(["INT NOT NULL, VARCHAR(60 bytes)", "INT NOT NULL, VARCHAR(60 bytes)", "BIGINT UNSIGNED", None, ""]) == [
        (1, 1, "INT", 4, 0),
        (1, 2, "VARCHAR", 60, 1),
        (2, 1, "INT", 4, 0),
        (2, 2, "VARCHAR", 60, 1),
        (3, 1, "BIGINT UNSIGNED", 8, 1),
    ]


def test_each_type_that_an_index_can_have_is_taken_apart_as_the_header_told_it() -> None:
    kinds = [*KEY_TYPES, 99]
    for flag in (0, SEGMENT_NULL):
        parts = [KeyPart(kind, flag, 7) for kind in kinds]
        found = parts_of([", ".join(map(str, parts))])
        assert [(part, data_type, nullable) for _, part, data_type, _, nullable in found] == [(number, KEY_TYPES.get(kind, "type 99"), int(flag > 0)) for number, kind in enumerate(kinds, 1)]
        lengths = {str(data_type): length for _, _, data_type, length, _ in found}
        assert {KEY_TYPES[kind]: lengths[KEY_TYPES[kind]] for kind in SIZED_TYPES} == dict.fromkeys((KEY_TYPES[kind] for kind in SIZED_TYPES), 7)
        assert [name for name, length in lengths.items() if length is None] == ["NUMERIC", "BIT", "type 99"]
        assert {name: lengths[name] for name in ("TINYINT", "SMALLINT", "MEDIUMINT UNSIGNED", "INT", "BIGINT", "FLOAT", "DOUBLE")} == {
            "TINYINT": 1, "SMALLINT": 2, "MEDIUMINT UNSIGNED": 3, "INT": 4, "BIGINT": 8, "FLOAT": 4, "DOUBLE": 8,
        }  # fmt: skip


def test_a_description_that_somebody_made_up_stops_no_query() -> None:
    assert parts_of([", , x", "(", ")", "a'b\"(9 bytes) NOT NULL"]) == [
        (1, 1, "", None, 1), (1, 2, "", None, 1), (1, 3, "x", None, 1), (2, 1, "(", None, 1), (3, 1, "", 0, 1), (4, 1, "a'b\"", 9, 0),
    ]  # fmt: skip


def test_activity_that_is_not_known_is_told_from_none() -> None:
    rows = [{"schema_name": "s", "table_name": "idle", "rows_read_per_second": 0.0}, {"schema_name": "s", "table_name": "unseen"}]
    with open_database(facts_from_document({"schema": 1, "tables": rows})) as guarded:
        asked = guarded.query("SELECT table_name, rows_read_per_second, is_known, reads_known FROM table_activity").rows
    assert asked == [("idle", 0, 1, 1), ("unseen", 0, 0, 0)]


def test_who_waits_for_tables_is_told_from_who_runs() -> None:
    document = {
        "schema": 1,
        "mysqld": {"threads_running": 9},
        "host": {"cpu_count": 2, "processes_running": 3},
        "processlist": [{"state": "Waiting for table level lock", "threads": 4, "longest_seconds": 7}, {"state": "Locked", "threads": 1, "longest_seconds": 9}, {"state": "updating", "threads": 4, "longest_seconds": 60}],
        "status": {"Table_locks_waited": 30, "Table_locks_immediate": 70}, "status_per_second": {"Table_locks_waited": 1, "Table_locks_immediate": 3},
    }  # fmt: skip
    with open_database(facts_from_document(document)) as guarded:
        assert guarded.query("SELECT running, unqueued, cores FROM server_load").rows == [(9, 4, 2)]
        assert guarded.query("SELECT waits, wait_share, waiting_threads, longest_seconds FROM table_lock_waits").rows == [(30, 0.25, 5, 9)]
