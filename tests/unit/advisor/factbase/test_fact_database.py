"""One database for one set of facts after another."""

import sqlite3
from collections.abc import Sequence

import pytest

from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
from myisam_exporter.look.fact_set import FactSet


def facts(tables: list[str], size: int) -> FactSet:
    return facts_from_document({"schema": 1, "tables": [{"schema_name": "s", "table_name": name} for name in tables], "key_cache": [{"name": "default", "size_bytes": size}]})


def answers(database: sqlite3.Connection) -> Sequence[tuple[object, ...]]:
    with GuardedDatabase(database, keep_open=True) as guarded:
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
