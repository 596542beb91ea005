"""Parts that are put together: which they are, and that both ways give the same, whatever changed."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.factbase import kept_parts
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import GuardedDatabase, Result
from myisam_advisor.factbase.kept_parts import SLICE, Chosen, Summed
from myisam_advisor.factbase.split_parts import split
from myisam_advisor.factbase.steady_parts import _as_values, _Steady, _steady
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows, FactSet

CHOICES = (
    "SELECT * FROM tables WHERE rows > 2",
    "SELECT table_name, rows * 2 AS twice FROM tables AS t WHERE t.rows > :least -- so it is\n",
    "SELECT table_name, max(rows, data_bytes) AS most FROM tables t WHERE COALESCE(rows, 0) > 3",
    "SELECT t.*, 1 AS one FROM tables AS t WHERE rows > 4",
    "SELECT * FROM (SELECT table_name, rows + 1 AS more FROM tables) WHERE more > 3",
    "SELECT * FROM (SELECT * FROM tables WHERE data_bytes > 1) WHERE rows > 3",
)
SUMS = (
    "SELECT SUM(rows) AS total, COUNT(*) AS tables, MAX(data_bytes) AS most, MIN(rows) FROM tables",
    "SELECT SUM(data_modified_seconds_ago) AS seconds, TOTAL(rows) AS all_rows FROM tables WHERE rows > :least",
    "SELECT COUNT(*) FILTER (WHERE rows > 3) AS many, COUNT(COALESCE(rows, data_bytes)) AS known, SUM(MAX(rows, 2)) AS at_least FROM tables",
)
NEITHER = (
    "SELECT COUNT(*), rows FROM tables GROUP BY rows",
    "SELECT table_name FROM tables ORDER BY rows LIMIT 3",
    "SELECT DISTINCT rows FROM tables",
    "SELECT SUM(rows) / 2 AS half FROM tables",
    "SELECT SUM(rows) + 1 FROM tables",
    "SELECT COUNT(*) > 0 AS any_there FROM tables",
    "SELECT max(rows) + 1 AS next FROM tables",
    "SELECT a.rows FROM tables AS a, tables AS b",
    "SELECT a.rows FROM tables AS a JOIN indexes AS i USING (table_name)",
    "SELECT rows FROM tables WHERE rows > (SELECT AVG(rows) FROM tables)",
    "SELECT rows FROM tables UNION SELECT 1",
    "SELECT *, * FROM tables",
    "SELECT (SELECT 1), rows FROM tables",
    "SELECT SUM(rows) OVER (ORDER BY rows) FROM tables",
    "SELECT x.rows FROM (SELECT rows FROM tables) AS x",
    "SELECT rows FROM indexes",
    "VALUES (1)",
    "SELECT MAX(rowid) AS last FROM tables",
    "SELECT SUM(main.tables.rows) AS total FROM tables",
    "SELECT COUNT(*) AS tables FROM tables WHERE table_name IN former",
    "SELECT COUNT(DISTINCT rows) AS many FROM tables",
    "SELECT group_concat(table_name) AS names FROM tables",
    "SELECT rows AS _place FROM tables WHERE rows > 1",
    "SELECT COUNT(*) AS tables FROM tables WHERE rows > :_piece",
)
ROWS = 3 * SLICE + 5
COLUMNS = ("schema_name", "table_name", "rows", "data_bytes", "data_modified_seconds_ago")


def drawn(chance: random.Random, number: int) -> tuple[Value, ...]:
    return ("s", f"t{number}", chance.choice((None, 0, 3, 7)), chance.randrange(5), chance.choice((None, 0.1, 1e6 / 3)))


def fact_set(rows: Sequence[Sequence[Value]]) -> FactSet:
    whole = facts_from_document({"schema": 1, "tables": [{}], "indexes": []})
    columns = whole.tables["tables"].columns
    own = dict(zip(COLUMNS, range(len(COLUMNS)), strict=True))
    wide = [tuple(row[own[name]] if name in own else None for name in columns) for row in rows]
    return FactSet({**whole.tables, "tables": FactRows(columns, wide)}, {})


@pytest.fixture
def guarded() -> Iterator[GuardedDatabase]:
    database = FactDatabase()
    yield database.holding(fact_set([drawn(random.Random(1), 1)]))
    database.close()


@pytest.mark.parametrize("text", CHOICES)
def test_what_looks_at_each_row_by_itself_is_a_choice(guarded: GuardedDatabase, text: str) -> None:
    assert isinstance(split(guarded, text, {"least": 1}), Chosen)


@pytest.mark.parametrize("text", SUMS)
def test_sums_alone_are_sums(guarded: GuardedDatabase, text: str) -> None:
    assert isinstance(split(guarded, text, {"least": 1}), Summed)


@pytest.mark.parametrize("text", NEITHER)
def test_everything_else_is_asked_as_a_whole(guarded: GuardedDatabase, text: str) -> None:
    assert split(guarded, text, {}) is None


class Ways:
    """One database that is told what changed, and one that is filled anew each time."""

    def __init__(self, rows: list[tuple[Value, ...]]) -> None:
        self.kept, self.facts = FactDatabase(), fact_set(rows)

    def change(self, rows: Mapping[int, tuple[Value, ...]]) -> None:
        tables = self.facts.tables["tables"]
        own = {tables.columns.index(name): place for place, name in enumerate(COLUMNS)}
        wide = {place: tuple(row[own[at]] if at in own else None for at in range(len(tables.columns))) for place, row in rows.items()}
        self.facts = FactSet({**self.facts.tables, "tables": tables.with_rows(wide)}, {})

    def asked(self, database: FactDatabase, statement: str, **values: Value) -> list[tuple[Value, ...]]:
        return database.steady_parts.query(database.holding(self.facts), statement, values, 10_000).rows

    def anew(self, statement: str, **values: Value) -> list[tuple[Value, ...]]:
        fresh = FactDatabase()
        found = self.asked(fresh, statement, **values)
        fresh.close()
        return found


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, ROWS - 1), max_size=9), min_size=1, max_size=5), st.integers(0, 2**32))
def test_both_ways_give_the_same(changes: list[list[int]], seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_parts, "SLICES_TOGETHER", 3)
        patch.setattr(kept_parts, "PLACES_TOGETHER", 4)
        patch.setattr(kept_parts, "MOST_ALONE", 12)
        patch.setattr(kept_parts, "BLOCK", 2)
        both_ways(changes, random.Random(seed))


def same(rows: list[tuple[Value, ...]], expected: list[tuple[Value, ...]]) -> bool:
    """But for the last digit of a sum of fractions: it depends on which are summed up first."""
    def pairs() -> Iterator[tuple[Value, Value]]:
        for row, other in zip(rows, expected, strict=True):
            yield from zip(row, other, strict=True)

    return all(
        type(one) is type(other) and (math.isclose(one, other, rel_tol=1e-14) if isinstance(one, float) and isinstance(other, float) else one == other)
        for one, other in pairs()
    )


def both_ways(changes: list[list[int]], chance: random.Random) -> None:
    ways = Ways([drawn(chance, number) if chance.random() < 0.02 else ("s", f"t{number}", 1, 1, 0.5) for number in range(ROWS)])
    statements = [f"WITH part AS ({text}) SELECT part.*, :now AS now FROM part" for text in (*CHOICES, *SUMS)]
    for now, places in enumerate(changes):
        ways.change({place: drawn(chance, place) for place in places})
        for statement in statements:
            if chance.random() < 0.8:  # a rule may not be asked in each look
                assert same(ways.asked(ways.kept, statement, least=2, now=now), ways.anew(statement, least=2, now=now)), statement
    ways.kept.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that are asked."""
    found: list[str] = []
    query = GuardedDatabase.query

    def noted(self: GuardedDatabase, statement: str, *rest: Any, **more: Any) -> Result:
        found.append(statement)
        return query(self, statement, *rest, **more)

    monkeypatch.setattr(GuardedDatabase, "query", noted)
    return found


def test_only_what_changed_is_asked_again(asked: list[str]) -> None:
    ways = Ways([("s", f"t{number}", number, 1, 0.5) for number in range(ROWS)])
    statements = {text: f"WITH part AS ({text}) SELECT part.*, :now AS now FROM part" for text in (f"SELECT rows FROM tables WHERE rows >= {ROWS}", SUMS[0])}
    for now, row in enumerate([("s", "t5", ROWS + 9, 1, 0.5), ("s", "t5", 0, 1, 0.5)]):
        for statement in statements.values():
            ways.asked(ways.kept, statement, now=now)
        asked.clear()
        ways.change({5: row})
        choice, sums = (ways.asked(ways.kept, statement, now=now) for statement in statements.values())
        assert choice == ([(ROWS + 9, now)] if now == 0 else [])
        assert sums[0][0] == sum(range(ROWS)) - 5 + (row[2] if isinstance(row[2], int) else 0)
        over_tables = [statement for statement in asked if "main.tables" in statement]
        # What changed for the first time is summed up with the rows beside it, and by itself from then on.
        assert [("WHERE rowid IN (:_place0)" in statement, "s.rowid IN (:_piece0)" in statement) for statement in over_tables] == [
            (True, False),
            (True, False),
            *([(False, True)] if now == 0 else []),
        ]
    ways.kept.close()


def test_sums_of_few_rows_among_many_are_put_together_as_those_of_many(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """How many slices are many is told by the table, not by the rows that the sum is of."""
    monkeypatch.setattr(kept_parts, "MOST_SLICES", 1)
    monkeypatch.setattr(kept_parts, "SLICES_PART", 1)
    ways = Ways([("s", f"t{number}", 0, 1, 0.5) for number in range(ROWS)])
    statement = "WITH part AS (SELECT COUNT(*) AS tables FROM tables WHERE rows > 0) SELECT part.*, :now AS now FROM part"
    ways.asked(ways.kept, statement, now=0)
    asked.clear()
    ways.change({place: ("s", f"t{place}", 1, 1, 0.5) for place in (0, SLICE)})
    assert ways.asked(ways.kept, statement, now=0) == [(2, 0)]
    assert ["s.rowid IN (:_piece0" in one for one in asked if "COUNT" in one] == [False, True]
    ways.kept.close()


@pytest.mark.parametrize("most", [1, 3])
def test_rows_that_stand_alone_are_bounded(asked: list[str], monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Where there would be more, all is asked, and those that changed last stand alone, if they are not too many."""
    monkeypatch.setattr(kept_parts, "PLACES_TOGETHER", 1)
    monkeypatch.setattr(kept_parts, "MOST_ALONE", most)
    ways = Ways([("s", f"t{number}", 0, 1, 0.5) for number in range(ROWS)])
    statement = f"WITH part AS ({SUMS[0]}) SELECT part.*, :now AS now FROM part"
    ways.asked(ways.kept, statement, now=0)
    seen = []
    for now, places in enumerate([(1, 2, 3), (4, 5), (4, 5)], 1):
        ways.change({place: ("s", f"t{place}", now, 1, 0.5) for place in places})
        asked.clear()
        found = ways.asked(ways.kept, statement, now=now)
        seen.append({"slices" if "s.rowid IN" in one else "rows" if " rowid IN" in one else "all" for one in asked if "GROUP BY" in one})
        assert found == ways.anew(statement, now=now)
    assert seen == ([{"all"}] * 3 if most == 1 else [{"rows", "slices"}, {"all", "rows"}, {"rows"}])
    ways.kept.close()


def test_rows_that_differ_in_other_columns_alone_are_not_asked_about_again(asked: list[str]) -> None:
    ways = Ways([("s", f"t{number}", number, 1, 0.5) for number in range(ROWS)])
    statement = "WITH part AS (SELECT rows FROM tables WHERE rows > 990) SELECT part.*, :now AS now FROM part"
    ways.asked(ways.kept, statement, now=0)
    # More rows than it would pay to name: their pages differ, as after a backup.
    others = {place: ("s", f"t{place}", place, 2, 0.75) for place in range(100, ROWS)}
    ways.change(others | {5: ("s", "t5", 5000, 1, 0.5), 6: ("s", "t6", 6, 1, 0.5)})
    asked.clear()
    assert ways.asked(ways.kept, statement, now=1)[0] == (5000, 1)
    assert [one.partition("rowid IN ")[2][:10] for one in asked if "main.tables" in one] == ["(:_place0)"]
    assert ways.asked(ways.kept, statement, now=1) == ways.anew(statement, now=1)
    ways.kept.close()


def test_of_columns_that_a_part_does_not_read_it_is_not_asked(asked: list[str]) -> None:
    ways = Ways([("s", f"t{number}", number, 1, 0.5) for number in range(ROWS)])
    texts = ("SELECT rows FROM tables WHERE rows > 990", "SELECT SUM(rows) AS n FROM tables", "SELECT rows FROM tables ORDER BY rows DESC LIMIT 2")
    statements = [f"WITH part AS ({text}) SELECT part.*, :now AS now FROM part" for text in texts]

    def over_tables(place: int, row: tuple[Value, ...], now: int) -> list[bool]:
        """Of each statement whether it looked at tables, and that it gives what it should."""
        ways.change({place: row})
        looked = []
        for statement in statements:
            asked.clear()
            found = ways.asked(ways.kept, statement, now=now)
            looked.append(any("tables" in one for one in asked))
            assert found == ways.anew(statement, now=now)
        return looked

    over_tables(5, ("s", "t5", 5, 1, 0.5), 0)
    # More often than changes are remembered: what was asked before them is still known to hold.
    for number in range(12):
        assert over_tables(7, ("s", "t7", 7, 2 + number, number / 4), 1 + number) == [False, False, False]
    assert over_tables(7, ("s", "t7", 5000, 1, 0.5), 20) == [True, True, True]
    assert over_tables(7, ("s", "t7", 5000.0, 1, 0.5), 20) == [True, True, True]
    ways.kept.close()


def test_after_more_changes_than_are_remembered_all_is_asked_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways([("s", f"t{number}", number, 1, 0.5) for number in range(ROWS)])
    statement = "WITH part AS (SELECT rows FROM tables WHERE rows > 990) SELECT part.*, :now AS now FROM part"
    assert len(ways.asked(ways.kept, statement, now=0)) == 0
    for number in range(20):
        ways.change({number: ("s", f"t{number}", 1000 + number, 1, 0.5)})
        ways.kept.holding(ways.facts)
    assert ways.asked(ways.kept, statement, now=1) == ways.anew(statement, now=1)
    monkeypatch.setattr(kept_parts, "MOST_PLACES", 1)
    monkeypatch.setattr(kept_parts, "MOST_SLICES", 0)
    for text in (statement, f"WITH part AS ({SUMS[0]}) SELECT part.*, :now AS now FROM part"):
        ways.asked(ways.kept, text, now=2)
        ways.change({3: ("s", "t3", 5000, 1, 0.5), 4: ("s", "t4", 5001, 1, 0.5)})
        assert ways.asked(ways.kept, text, now=2) == ways.anew(text, now=2)
    ways.kept.close()


@pytest.mark.parametrize("text", ["MAX(table_name)", "MAX(CAST(table_name AS BLOB))", "SUM(data_bytes * 1e308 * 1e308)", "TOTAL(data_bytes * 1e308 * 1e308)"])
def test_sums_that_are_no_finite_numbers_are_sqlites(guarded: GuardedDatabase, text: str) -> None:
    part = split(guarded, f"SELECT {text} AS last FROM tables", {})
    assert isinstance(part, Summed)
    part.ask(guarded, {}, 100)
    assert part.result() is None


def test_a_sum_that_is_too_large_is_sqlites() -> None:
    part = Summed("", (kept_parts.COMBINED["SUM"],), ("total",), {0: {0: (1.7e308,), 1: (1.7e308,)}}, stale={0})
    assert part.result() is None


@pytest.mark.parametrize(
    "statement",
    [
        "WITH a AS (SELECT table_name, rows FROM tables WHERE rows > 2), b AS (SELECT COUNT(*) AS n FROM a AS z) SELECT n, :now FROM b",
        "WITH a AS (SELECT table_name, rows FROM tables WHERE rows > 2), b AS (SELECT COUNT(*) AS n FROM [A]) SELECT n, :now FROM b",
        'WITH "a" AS (SELECT table_name, rows FROM tables WHERE rows > 2), b AS (SELECT (SELECT COUNT(*) FROM a) AS n) SELECT n, :now FROM b',
        "WITH a AS (SELECT rows FROM tables WHERE rows > 2), b AS (SELECT COUNT(*) AS n FROM indexes WHERE 7 IN (SELECT rows FROM a)) SELECT (SELECT COUNT(*) FROM a), n, :now FROM b",
        'WITH "tables" AS (SELECT * FROM main.tables WHERE rows > 2), b AS (SELECT COUNT(*) AS n FROM tables) SELECT n, :now FROM b',
        "WITH a AS (SELECT COUNT(*) AS n FROM tables WHERE rows > @now) SELECT n, :now FROM a",
        "WITH a AS (SELECT ROWS, Table_Name FROM tables WHERE rows > 2) SELECT *, :now FROM a",
    ],
)
def test_parts_that_read_parts_are_never_older_than_those(statement: str) -> None:
    ways = Ways([("s", f"t{number}", 1, 1, 0.5) for number in range(30)])
    for now in range(3):
        database = ways.kept.holding(ways.facts)
        plain = database.query(statement, {"now": now})
        assert ways.kept.steady_parts.query(database, statement, {"now": now}, 1000) == plain
        ways.change({5 + now: ("s", f"t{5 + now}", 7, 1, 0.5)})
    ways.kept.close()


def test_numbers_of_another_type_are_other_values() -> None:
    ways, statement = Ways([("s", "t", 9, 1, 0.5)]), "WITH a AS (SELECT rows / :by AS part FROM tables WHERE rows = 9) SELECT part FROM a"
    assert [ways.asked(ways.kept, statement, by=by) for by in (2, 2.0)] == [[(4,)], [(4.5,)]]
    ways.kept.close()


# What looks through all tables, and is reached only where something else was found before.
RARELY = {"disk-nearly-full", "file-size-limit", "io-bound-data", "migrate-engine", "mmap-ineffective", "no-myisam", "table-cache-too-large", "table-lock-contention", "pack-keys", "key-cache-block-size", "duplicate-indexes", "full-scan-no-index"}


def test_of_every_rule_what_looks_through_all_tables_is_put_together(guarded: GuardedDatabase) -> None:
    whole = set()
    for rule in shipped_rules():
        values = {**rule.values(), "interval_seconds": 60.0}
        steady = list(_steady(guarded, rule.query, values, splits=True))
        rest = guarded.columns_read(_emptied(guarded, rule.query, steady, values), values)
        if "tables" in rest or any("tables" in one.tables and not one.split for one in steady):
            whole.add(rule.id)
    assert whole <= RARELY


def _emptied(guarded: GuardedDatabase, statement: str, steady: Sequence[_Steady], values: Mapping[str, Value]) -> str:
    """The statement with columns in the place of its steady parts."""
    rest = statement
    for one in reversed(steady):
        columns = guarded.query(f"{statement[: one.part.end]}) SELECT * FROM {one.part.name} LIMIT 0", values).columns
        rest = rest[: one.part.start] + _as_values(Result(columns, []), "")[0] + rest[one.part.end :]
    return rest


def test_sums_beyond_sqlites_whole_numbers_are_put_together_as_sqlite_can_hold_them() -> None:
    """Of slices whose own sums are whole numbers still."""
    most = 2**62
    rows = [{"table_name": f"t{place}", "rows": most if place % SLICE == 1 else 1} for place in range(3 * SLICE)]
    with FactDatabase().holding(facts_from_document({"schema": 1, "tables": rows})) as database:
        summed = split(database, "SELECT SUM(rows) AS total FROM tables", {})
        assert isinstance(summed, Summed)
        summed.ask(database, {}, 10)
        result = summed.result()
        assert result is not None
        assert result.rows == database.query("SELECT SUM(rows) FROM tables").rows == [(float(3 * most),)]
        assert isinstance(result.rows[0][0], float)  # as a whole number it is the same to Python, and too large for SQLite
