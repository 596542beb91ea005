"""Where facts begin to contradict each other, what is set aside then, and what stays."""

from typing import Any

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.contradictions import (
    BOUNDS,
    MAXIMUM_SHOWN,
    PAIRS_OF_COLUMNS,
    STATUS_STATES,
    Between,
    set_aside_contradictions,
)
from myisam_advisor.judging.findings import Suspicion
from myisam_exporter.look.fact_set import FactSet

TABLES_OF_ONE_ROW = ("host", "mysqld", "server", "totals")


def looked_at(**facts: Any) -> tuple[FactSet, list[Suspicion]]:
    return set_aside_contradictions(facts_from_document({"schema": 1, **facts}))


def one_row(table: str, **values: float | str | None) -> dict[str, Any]:
    return {table: values if table in TABLES_OF_ONE_ROW else [values]}


def column_of(facts: FactSet, table: str, column: str) -> list[Any]:
    return list(facts.tables[table].values(column))


def whys(suspicions: list[Suspicion]) -> list[str]:
    return [one.why for one in suspicions]


def test_two_counters_that_were_not_read_in_the_same_instant_are_believed() -> None:
    facts, found = looked_at(key_cache=[{"name": "default", "reads": 106, "read_requests": 100, "miss_ratio": 0.5}])
    assert found == []
    assert column_of(facts, "key_cache", "reads") == [106]


@pytest.mark.parametrize(("misses", "is_believed"), [(106.0, True), (106.005, False)])
def test_a_rate_may_be_a_twentieth_and_one_more(misses: float, is_believed: bool) -> None:
    _, found = looked_at(key_cache=[{"name": "default", "reads_per_second": misses, "read_requests_per_second": 100.0}])
    assert (found == []) == is_believed


def test_what_has_no_name_is_told_without_one() -> None:
    _, (found,) = looked_at(totals={"myisam_tables": 3, "compressed_tables": 9})
    assert (found.object, found.why) == ("", "compressed_tables is 9, above myisam_tables (3)")


def test_beyond_that_both_and_what_follows_from_them_are_set_aside_and_nothing_else() -> None:
    facts, (found,) = looked_at(key_cache=[{"name": "default", "size_bytes": 8388608, "reads": 107, "read_requests": 100, "miss_ratio": 0.5}])
    assert found == Suspicion(("key_cache.reads", "key_cache.read_requests"), "default", "reads is 107, above read_requests (100)")
    assert [column_of(facts, "key_cache", name) for name in ("reads", "read_requests", "miss_ratio", "size_bytes")] == [[None], [None], [None], [8388608]]
    lost = {name for name, reason in facts.unknown.items() if reason.reason == "the facts contradict each other"}
    assert lost == {"key_cache.reads", "key_cache.read_requests", "key_cache.miss_ratio"}


def test_of_many_rows_only_the_one_that_cannot_be_is_set_aside() -> None:
    sizes = (("c", 100, None), ("a", 100, 100), ("b", 100, 900), ("e", 100, 7), ("f", None, 900))
    tables = [{"schema_name": "d", "table_name": name, "data_bytes": data, "free_bytes": free} for name, data, free in sizes]
    facts, (found,) = looked_at(tables=tables)
    assert (found.object, found.why) == ("d.b", "free_bytes is 900, above data_bytes (100)")
    assert column_of(facts, "tables", "free_bytes") == [None, 100, None, 7, 900]
    assert column_of(facts, "tables", "data_bytes") == [100, 100, None, 100, None]
    assert "tables.free_bytes" not in facts.unknown


@pytest.mark.parametrize("check", [check for check in PAIRS_OF_COLUMNS if check.per_unit], ids=lambda check: str(check.smaller))
@pytest.mark.parametrize(("blocks", "is_believed"), [(1050, True), (1051, False)])
def test_a_count_of_blocks_beyond_the_size_is_set_aside_and_the_size_stays(check: Any, blocks: int, is_believed: bool) -> None:
    # 1,000 blocks of 1,000 bytes: 5 % and one byte more are 1,050,001.
    facts, found = looked_at(key_cache=[{"name": "default", "size_bytes": 1_000_000, "block_size_bytes": 1000, check.smaller: blocks}])
    assert whys(found) == ([] if is_believed else [f"{check.smaller} is 1,051,000, above size_bytes (1,000,000)"])
    assert column_of(facts, "key_cache", check.smaller) == [blocks if is_believed else None]
    assert column_of(facts, "key_cache", "size_bytes") == [1_000_000]


@pytest.mark.parametrize(("block_size", "is_believed"), [(None, False), (512, False), (1024, False), (1536, True), (4096, True)])
def test_blocks_larger_than_a_page_are_read_without_a_request(block_size: int | None, is_believed: bool) -> None:
    row = {"name": "default", "block_size_bytes": block_size, "reads": 535, "read_requests": 480, "reads_per_second": 40.0, "read_requests_per_second": 20.0, "miss_ratio": 2.0}
    facts, found = looked_at(key_cache=[row])
    assert (found == [], column_of(facts, "key_cache", "reads"), column_of(facts, "key_cache", "miss_ratio")) == (is_believed, [535 if is_believed else None], [2.0 if is_believed else None])


def test_blocks_of_an_unknown_size_contradict_nothing() -> None:
    _, found = looked_at(key_cache=[{"name": "default", "size_bytes": 1000, "blocks_used": 9000}])
    assert found == []


@pytest.mark.parametrize("check", [check for check in PAIRS_OF_COLUMNS if not check.per_unit], ids=lambda check: f"{check.table}.{check.smaller}")
def test_each_pair_is_held_against_each_other(check: Any) -> None:
    believed = looked_at(**one_row(check.table, **{check.smaller: 21, check.larger: 20}))[1]
    found = looked_at(**one_row(check.table, **{check.smaller: 50, check.larger: 20}))[1]
    assert believed == []
    assert [one.facts for one in found] == [(f"{check.table}.{check.smaller}", f"{check.table}.{check.larger}")]


@pytest.mark.parametrize("further", [[], [{"schema_name": "d", "table_name": "b", "data_bytes": 5, "free_bytes": 900}]])
def test_what_is_no_larger_is_not_said_to_be_where_both_are_below_zero(further: list[Any]) -> None:
    _, found = looked_at(tables=[{"schema_name": "d", "table_name": "a", "data_bytes": -100, "free_bytes": -100}, *further])
    assert [one.why for one in found if one.object == "d.a"] == ["data_bytes is -100, below 0"]


@pytest.mark.parametrize("bound", [bound for bound in BOUNDS if bound.maximum], ids=lambda bound: f"{bound.table}.{bound.column}")
def test_a_share_may_be_a_little_above_the_whole(bound: Between) -> None:
    facts, found = looked_at(**one_row(bound.table, **{bound.column: 1.05}))
    assert (found, column_of(facts, bound.table, bound.column)) == ([], [1.05])
    facts, found = looked_at(**one_row(bound.table, **{bound.column: 1.06}))
    assert [one.facts for one in found] == [(f"{bound.table}.{bound.column}",)]
    assert whys(found) == [f"{bound.column} is 1.1, above 1"]
    assert column_of(facts, bound.table, bound.column) == [None]


@pytest.mark.parametrize("bound", [bound for bound in BOUNDS if bound.table != "status"], ids=lambda bound: f"{bound.table}.{bound.column}")
def test_nothing_is_below_zero(bound: Between) -> None:
    assert looked_at(**one_row(bound.table, **{bound.column: 0}))[1] == []
    facts, found = looked_at(**one_row(bound.table, **{bound.column: -1}))
    assert whys(found) == [f"{bound.column} is -1, below 0"]
    assert column_of(facts, bound.table, bound.column) == [None]


def test_of_bounds_too_only_the_row_beyond_is_set_aside() -> None:
    tables = [{"schema_name": "d", "table_name": name, "rows": rows} for name, rows in (("a", 5), ("b", None), ("c", -5), ("e", 0))]
    facts, (found,) = looked_at(tables=tables)
    assert (found.object, column_of(facts, "tables", "rows")) == ("d.c", [5, None, None, 0])
    shares = [{"schema_name": "d", "table_name": name, "fullest_partition_used_ratio": share} for name, share in (("a", 0.5), ("b", 2.0))]
    facts, (found,) = looked_at(tables=shares)
    assert (found.object, column_of(facts, "tables", "fullest_partition_used_ratio")) == ("d.b", [0.5, None])


@pytest.mark.parametrize(("column", "section", "words"), [("value", "status", ""), ("per_second", "status_per_second", " per second")])
@pytest.mark.parametrize(("small", "large"), [("Slow_queries", "Queries"), ("Created_tmp_disk_tables", "Created_tmp_tables")])
def test_counters_of_the_status_are_held_against_each_other(column: str, section: str, words: str, small: str, large: str) -> None:
    assert looked_at(**{section: {small: 106, large: 100, "Questions": 5}})[1] == []
    facts, found = looked_at(**{section: {small: 107, large: 100, "Questions": 5}})
    assert found == [Suspicion((f"status.{small}", f"status.{large}"), "", f"{small}{words} is 107, above {large} (100)")]
    left = dict(zip(column_of(facts, "status", "name"), column_of(facts, "status", column), strict=True))
    assert left == {small: None, large: None, "Questions": 5}


@pytest.mark.parametrize("status", [{"Slow_queries": 107}, {"Queries": 5}, {"Slow_queries": 107, "Queries": "many"}, {"Slow_queries": "many", "Queries": 5}])
def test_a_counter_without_its_other_contradicts_nothing(status: dict[str, Any]) -> None:
    facts, found = looked_at(status=status)
    assert found == []
    assert dict(zip(column_of(facts, "status", "name"), column_of(facts, "status", "value"), strict=True)) == status


@pytest.mark.parametrize("name", STATUS_STATES)
@pytest.mark.parametrize(("value", "shown"), [(18446744073709551615, "18,446,744,073,709,551,616"), (4294967295, "4,294,967,295"), (-1, "-1")])
def test_a_state_that_went_below_zero_is_set_aside(name: str, value: int, shown: str) -> None:
    facts, found = looked_at(status={name: value, "Uptime": 5}, status_per_second={"Questions": 7})
    assert found == [Suspicion((f"status.{name}",), "", f"{name} is {shown}: a count that went below zero")]
    left = dict(zip(column_of(facts, "status", "name"), column_of(facts, "status", "value"), strict=True))
    assert (left[name], left["Uptime"]) == (None, 5)
    assert looked_at(status={name: 2147483647})[1] == looked_at(status={name: 0})[1] == looked_at(status={name: "many"})[1] == []


def test_all_are_set_aside_where_only_some_are_shown() -> None:
    tables = [{"schema_name": "d", "table_name": f"t{place}", "rows": -1} for place in range(MAXIMUM_SHOWN + 3)]
    facts, found = looked_at(tables=tables)
    assert len(found) == MAXIMUM_SHOWN == 20
    assert set(column_of(facts, "tables", "rows")) == {None}
