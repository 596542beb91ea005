"""Queries of which the parts over per-table facts are asked again only when these changed."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase import guarded_query as guard
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
from myisam_advisor.factbase.steady_parts import MAXIMUM_ROWS, TRIED_AGAIN_AFTER, common_table_expressions
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet

AWKWARD = "a`b'c\"d\0\U0001f980"


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("SELECT 1", {}),
        ("WITH a AS (SELECT 1) SELECT * FROM a", {"a": "SELECT 1"}),
        ("with a as(SELECT (1)), b AS (SELECT ')' AS \")\" -- )\n, '(' /* ) */ FROM a) SELECT 2", {"a": "SELECT (1)", "b": "SELECT ')' AS \")\" -- )\n, '(' /* ) */ FROM a"}),
        ("WITH a AS (SELECT 'it''s ('), b AS (SELECT [)] FROM `)`) SELECT 3", {"a": "SELECT 'it''s ('", "b": "SELECT [)] FROM `)`"}),
        ("WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a", {}),
        ("WITH a(x) AS (SELECT 1) SELECT * FROM a", {}),
        ("WITH a AS MATERIALIZED (SELECT 1) SELECT * FROM a", {}),
        ("WITH a AS (SELECT 1 SELECT * FROM a", {"": ""}),
    ],
)
def test_the_parts_of_a_statement(statement: str, parts: dict[str, str]) -> None:
    found = {part.name: statement[part.start : part.end] for part in common_table_expressions(statement)}
    assert found == ({} if "" in parts else parts)


class Looks:
    """A server's facts, look after look, and the statements that were put to them."""

    def __init__(self) -> None:
        self.database = FactDatabase()
        self.tables = facts([table("a", 5), table("b", 50)])
        self.statements: list[str] = []

    def ask(self, statement: str, questions: float, **parameters: Value) -> Sequence[tuple[Value, ...]]:
        status = facts_from_document({"schema": 1, "status": {"Questions": questions}}).tables["status"]
        looked = FactSet({**self.tables.tables, "status": status}, self.tables.unknown)
        self.statements = []
        guarded = self.database.holding(looked)
        guarded.query = self.noting(guarded)  # type: ignore[method-assign]
        return self.database.steady_parts.query(guarded, statement, parameters, 1000).rows


    def noting(self, guarded: GuardedDatabase) -> Callable[..., guard.Result]:
        def query(statement: str, *rest: Any, **more: Any) -> guard.Result:
            self.statements.append(statement)
            return GuardedDatabase.query(guarded, statement, *rest, **more)

        return query


def table(name: str, rows: int | None) -> dict[str, Any]:
    return {"schema_name": "s", "table_name": name} | ({} if rows is None else {"rows": rows})


def facts(tables: list[dict[str, Any]]) -> FactSet:
    return facts_from_document({"schema": 1, "tables": tables, "indexes": []})


SMALL = "WITH small AS (SELECT table_name FROM tables WHERE rows < 10) SELECT table_name FROM small"


@pytest.fixture
def looks() -> Iterator[Looks]:
    one = Looks()
    yield one
    one.database.close()


LARGE = "WITH large AS (SELECT table_name, rows FROM tables WHERE rows >= :least), now AS (SELECT value FROM status) SELECT large.*, now.value FROM large, now"


def test_tables_are_looked_through_when_they_changed(looks: Looks) -> None:
    assert looks.ask(LARGE, 1, least=10) == [("b", 50, 1)]
    assert looks.ask(LARGE, 2, least=10) == [("b", 50, 2)]
    assert len(looks.statements) == 1
    assert "FROM tables" not in looks.statements[0]
    looks.tables = facts([table("a", 15), table("b", None)])
    assert looks.ask(LARGE, 3, least=10) == [("a", 15, 3)]
    assert looks.ask(LARGE, 3, least=16) == []
    assert looks.ask(LARGE, 4, least=16) == []
    assert len(looks.statements) == 1


def test_names_and_unknown_values_come_through(looks: Looks) -> None:
    looks.tables = facts([table(AWKWARD, None), table("second", 7)])
    statement = "WITH x AS (SELECT table_name AS \"a`b\", rows, rows, 1.5 FROM tables) SELECT x.*, (SELECT value FROM status) FROM x"
    assert [looks.ask(statement, number) for number in (8, 9)] == [[(AWKWARD, None, None, 1.5, number), ("second", 7, 7, 1.5, number)] for number in (8, 9)]


def test_a_part_may_read_a_former_one_and_a_name_may_hide_a_fact_table(looks: Looks) -> None:
    statement = "WITH tables AS (SELECT 'x' AS table_name, 9 AS rows), mine AS (SELECT SUM(rows) AS rows FROM tables) SELECT rows FROM mine"
    assert [looks.ask(statement, number) for number in (1, 2)] == [[(9,)], [(9,)]]
    statement = "WITH one AS (SELECT rows FROM tables), two AS (SELECT MAX(rows) AS most FROM one) SELECT most, (SELECT COUNT(*) FROM one) FROM two"
    assert [looks.ask(statement, number) for number in (1, 2)] == [[(50, 2)], [(50, 2)]]
    assert "FROM tables" not in looks.statements[0]


def test_a_part_may_have_any_name(looks: Looks) -> None:
    statement = "WITH \"a b\"AS (SELECT MAX(rows) AS most FROM tables), [c,d] AS (SELECT COUNT(*) AS all_of_them FROM tables) SELECT \"a b\".most, [c,d].* FROM \"a b\", [c,d]"
    assert [looks.ask(statement, number) for number in (1, 2)] == [[(50, 2)], [(50, 2)]]
    assert "FROM tables" not in looks.statements[0]


def test_more_rows_than_are_worth_handing_over_stay_where_they_are(looks: Looks) -> None:
    looks.tables = facts([table(f"t{number}", number) for number in range(MAXIMUM_ROWS + 1)])
    assert len(looks.ask(LARGE, 1, least=1)) == MAXIMUM_ROWS
    assert len(looks.ask(LARGE, 1, least=0)) == MAXIMUM_ROWS + 1
    assert "FROM tables" in looks.statements[-1]


def test_a_part_that_gave_too_many_rows_is_not_asked_by_itself_in_every_look(looks: Looks) -> None:
    for number in range(TRIED_AGAIN_AFTER):
        looks.tables = facts([table(f"t{one}", one + number) for one in range(MAXIMUM_ROWS + 1)])
        assert len(looks.ask(LARGE, 1, least=0)) == MAXIMUM_ROWS + 1
        assert len(looks.statements) == 1 or number == 0
    looks.tables = facts([table("a", 5), table("b", 50)])
    assert len(looks.ask(LARGE, 1, least=0)) == 2
    assert len(looks.statements) > 1
    assert len(looks.ask(LARGE, 2, least=0)) == 2
    assert "FROM tables" not in looks.statements[-1]


@pytest.mark.parametrize("statement", ["WITH x AS (SELECT nothing FROM tables) SELECT * FROM x", "WITH x AS (DELETE FROM tables) SELECT 1", "WITH x AS (SELECT 1"])
def test_what_is_wrong_is_said_as_ever(looks: Looks, statement: str) -> None:
    with pytest.raises(QueryError) as plain:
        looks.database.holding(looks.tables).query(statement)
    with pytest.raises(QueryError) as kept:
        looks.ask(statement, 1)
    assert str(kept.value) == str(plain.value)


def test_in_a_look_without_change_the_rules_take_as_many_steps_for_any_number_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (steps_of_rules(number, monkeypatch) for number in (20, 5000))
    assert few["first"] * 20 < many["first"]
    assert many["next"] <= few["next"] * 1.1


def steps_of_rules(tables: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """SQLite's steps, in hundreds, for all shipped rules: over new facts, and again when only the status is new."""
    names = [f"t{number}" for number in range(tables)]
    known = facts_from_document(DOCUMENT | {"tables": [ROW | {"table_name": name} for name in names], "indexes": [INDEX | {"table_name": name} for name in names]}).tables
    database = FactDatabase()
    clock = Clock()
    monkeypatch.setattr(guard, "PROGRESS_STEPS", 100)
    monkeypatch.setattr(guard, "time", clock)
    steps = {}
    for look in ("first", "next"):
        status = facts_from_document(DOCUMENT | {"status_per_second": {"Questions": len(look)}}).tables
        clock.asked = 0
        judgement = judge(prepared(FactSet({**status, "tables": known["tables"], "indexes": known["indexes"]}, {}, 60.0), Site(shipped_rules())), database)
        assert len(judgement.seconds) == len(shipped_rules())
        steps[look] = clock.asked
    database.close()
    return steps


class Clock:
    """A clock that stands still: the guard looks at it before each query and after every hundred of SQLite's steps."""

    def __init__(self) -> None:
        self.asked = 0

    def monotonic(self) -> float:
        self.asked += 1
        return 0.0


ROW = {
    "schema_name": "s", "row_format": "dynamic", "rows": 50, "deleted_rows": 0, "data_bytes": 2450, "index_bytes": 4096, "free_bytes": 0, "max_data_bytes": 1 << 40, "max_index_bytes": 1 << 40, "has_holes": 0,
    "fragments_per_row": 1.0, "crashed": 0, "recovery_failed": 0, "write_statements_per_second": 0.0, "rows_added_per_second": 0.0, "rows_read_per_second": 0.0, "rows_changed_per_second": 0.0,
    "lock_wait_seconds_per_second": 0.0, "data_modified_seconds_ago": 1e6, "fixed_row_bytes": 49, "blob_columns": 0, "data_resident_bytes": 2450, "data_recently_evicted_bytes": 0, "index_resident_bytes": 4096,
}  # fmt: skip
INDEX = {"schema_name": "s", "index_number": 1, "algorithm": "btree", "is_unique": 0, "is_packed": 1, "is_variable_length": 1, "binary_search_without_packing": 1, "page_bytes": 1024, "maximum_key_bytes": 100, "is_enabled": 1}
DOCUMENT: dict[str, Any] = {
    "schema": 1, "interval_seconds": 60.0, "server": {"version": "10.11.6-MariaDB", "uptime_seconds": 86400},
    "totals": {"myisam_tables": 5000, "myisam_data_bytes": 1 << 24, "myisam_index_bytes": 1 << 24}, "key_cache": [{"name": "default", "size_bytes": 1 << 27, "block_size_bytes": 1024, "read_requests": 10, "reads": 1}],
    "host": {"cpu_iowait_ratio": 0.01, "memory_bytes": 1 << 34, "cpu_count": 2}, "mysqld": {"mapped_data_files": 0}, "variable": {"myisam_use_mmap": "ON", "table_open_cache": 400, "read_buffer_size": 131072},
}  # fmt: skip


def test_what_a_statement_reads_is_found_out_in_a_database_that_keeps_no_statement(looks: Looks) -> None:
    """Each is prepared for that once: kept as prepared, all rules' took 5 MB in a daemon."""
    assert looks.ask(SMALL, 1) == [("a",)]
    assert looks.statements
    assert not [one for one in looks.statements if "EXPLAIN" in one or one.endswith("LIMIT 0")]
    empty = looks.database.steady_parts._empty
    assert empty is not None
    asked: list[int] = []

    def allowed(action: int, *_: str | None) -> int:
        asked.append(action)
        return 0

    empty._database.set_authorizer(allowed)
    for _ in range(2):
        empty._database.execute("SELECT 1")
    # Python 3.10 keeps five at least.
    assert len(asked) == (2 if sys.version_info >= (3, 11) else 1), "prepared each time"
    looks.database.close()
    assert looks.database.steady_parts._empty is None
    assert looks.ask(SMALL, 2) == [("a",)], "closed, and asked again"
