"""Dividing the key cache: segments on MariaDB, a cache for each hot table on MySQL."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners.base import NoRoom, NotWorth, PlanContext, PlanFacts
from myisam_advisor.remedies.planners.key_cache_layout import MAXIMUM_CACHES, HotTable, cache_sizes, hot_tables
from tests.support.planning import MARIADB, MYSQL, asked, facts, parameters_of, planned, texts

MIB = 1 << 20
ROW: dict[str, Any] = {"name": "default", "size_bytes": 64 * MIB, "segments": 0}
LARGE = {"memory_bytes": 64 << 30, "memory_available_bytes": 60 << 30, "cpu_count": 8}


def tables(count: int, **values: Any) -> list[dict[str, Any]]:
    return [{"schema_name": "s", "table_name": f"t{number}", "index_bytes": 20 * MIB, "row_format": "fixed", "crashed": 0, "rows_added_per_second": 10_000.0 - number} | values for number in range(count)]


def test_segments_are_twice_the_cores_and_never_set_online() -> None:
    plan = planned("key_cache_layout", ROW | {"segments": 2}, facts(server=MARIADB, host=LARGE, tables=tables(2), totals={"myisam_tables": 2}))
    assert (plan.commands, plan.undo_commands) == ((), ())
    assert texts(plan.my_cnf) == ["key_cache_segments = 16"]
    assert plan.values["former"] == "key_cache_segments = 2"
    assert "Set it in my.cnf and restart." in str(plan.values["advice"])


def test_the_segments_of_a_cache_of_its_own_are_named_by_it() -> None:
    plan = planned("key_cache_layout", ROW | {"name": "hot_1"}, facts(server=MARIADB, host=LARGE, tables=tables(2)))
    assert texts(plan.my_cnf) == ["hot_1.key_cache_segments = 16"]
    assert plan.values["former"] == "hot_1.key_cache_segments = 0"


@pytest.mark.parametrize("segments", [5, 8, 16, 64])
def test_segments_that_are_there_are_left_alone(segments: int) -> None:
    assert isinstance(asked("key_cache_layout", ROW | {"segments": segments}, facts(server=MARIADB, host=LARGE)), NotWorth)


@pytest.mark.parametrize(("size_bytes", "segments", "block", "wanted"), [(64 * MIB, 4, 1024, 16), (MIB, 0, None, 16), (MIB // 2, 0, 1024, 8), (MIB // 4, 1, 1024, 4), (2 * MIB, 0, 16384, 8)])
def test_a_small_cache_is_divided_into_fewer_segments(size_bytes: int, segments: int, block: int | None, wanted: int) -> None:
    plan = planned("key_cache_layout", ROW | {"size_bytes": size_bytes, "segments": segments, "block_size_bytes": block}, facts(server=MARIADB, host=LARGE))
    assert texts(plan.my_cnf) == [f"key_cache_segments = {wanted}"]


def test_a_tiny_cache_is_not_divided() -> None:
    for segments in (0, 1):
        row = ROW | {"size_bytes": MIB // 8, "segments": segments}
        assert asked("key_cache_layout", row, facts(server=MARIADB, host=LARGE)) == NotWorth("the key cache is too small to be divided")


def test_reads_make_a_table_hot_as_the_rule_says_it() -> None:
    read = [one | {"rows_added_per_second": 0, "rows_read_per_second": 50_000} for one in tables(2)]
    known = facts(server=MYSQL, host=LARGE, tables=read, totals={"myisam_tables": 2})
    usual = dict(parameters_of("key_cache_layout"))
    strict = usual | {"reads_as_hot_as_a_row_added": 1e9}
    assert not hot_tables(PlanContext(PlanFacts(known), strict))
    assert [table.activity for table in hot_tables(PlanContext(PlanFacts(known), usual | {"reads_as_hot_as_a_row_added": 5}))] == [10_000.0, 10_000.0]


def test_mysql_gives_each_hot_table_a_cache() -> None:
    plan = planned("key_cache_layout", ROW, facts(server=MYSQL, host=LARGE, tables=tables(2), totals={"myisam_tables": 2}))
    sizes = [int(line.rpartition(" ")[2]) for line in texts(plan.my_cnf)[:2]]
    assert texts(plan.commands) == [
        f"SET GLOBAL `hot_1`.key_buffer_size = {sizes[0]};", f"SET GLOBAL `hot_2`.key_buffer_size = {sizes[1]};",
        "CACHE INDEX `s`.`t0` IN `hot_1`;", "CACHE INDEX `s`.`t1` IN `hot_2`;",
        "LOAD INDEX INTO CACHE `s`.`t0`;", "LOAD INDEX INTO CACHE `s`.`t1`;",
    ]  # fmt: skip
    assert texts(plan.init_file) == texts(plan.commands)[2:]
    assert texts(plan.undo_commands)[:2] == ["CACHE INDEX `s`.`t0` IN default;", "CACHE INDEX `s`.`t1` IN default;"]
    assert plan.values["way_back"] == " ".join(texts(plan.undo_commands))
    assert plan.memory_bytes == sum(sizes)
    assert all(size >= 20 * MIB for size in sizes)
    assert "deprecated" in str(plan.values["advice"])


def test_names_that_are_taken_are_passed_over() -> None:
    named = [{"name": "default", "size_bytes": 64 * MIB}, {"name": "hot_2", "size_bytes": 0}, {"name": "old", "size_bytes": 8 * MIB}]
    assigned = [{"schema_name": "s", "table_name": "idle", "key_cache": "hot_3", "index_bytes": 1}]
    plan = planned("key_cache_layout", ROW, facts(server=MYSQL, host=LARGE, key_cache=named, tables=[*tables(2), *assigned]))
    assert texts(plan.commands)[2:4] == ["CACHE INDEX `s`.`t0` IN `hot_1`;", "CACHE INDEX `s`.`t1` IN `hot_4`;"]
    assert texts(plan.undo_commands)[2:] == ["SET GLOBAL `hot_1`.key_buffer_size = 0;", "SET GLOBAL `hot_4`.key_buffer_size = 0;"]
    assert "does not say which tables" not in str(plan.values["price"])


def test_tables_of_the_contended_cache_go_back_into_it() -> None:
    known = facts(server=MYSQL, host=LARGE, tables=[*tables(2, key_cache="busy"), *tables(1, table_name="other", key_cache="own")])
    plan = planned("key_cache_layout", ROW | {"name": "busy"}, known)
    assert texts(plan.undo_commands)[:2] == ["CACHE INDEX `s`.`t0` IN `busy`;", "CACHE INDEX `s`.`t1` IN `busy`;"]
    assert "`other`" not in " ".join(texts(plan.commands))


@pytest.mark.parametrize(
    ("caches", "back"),
    [((None, None, None), "IN default"), (("busy", "busy", "busy"), "IN busy"), (("busy", None, "busy"), "IN the key cache that it had")],
)
def test_the_way_back_of_many_tables_names_the_cache_that_they_leave(caches: tuple[str | None, ...], back: str) -> None:
    named = [one | {"key_cache": cache} for one, cache in zip(tables(3), caches, strict=True)]
    plan = planned("key_cache_layout", ROW | {"name": "busy"}, facts(server=MYSQL, host=LARGE, tables=named))
    assert plan.values["way_back"] == f"For each table CACHE INDEX ... {back}; then SET GLOBAL hot_N.key_buffer_size = 0; for each of hot_1 to hot_3."
    assert [text.rpartition(" IN ")[2] for text in texts(plan.undo_commands)[:3]] == [f"`{cache}`;" if cache else "default;" for cache in caches]


def test_hot_tables_with_caches_of_their_own_need_no_plan() -> None:
    known = facts(server=MYSQL, host=LARGE, tables=[*tables(1), *tables(1, table_name="other", key_cache="own")])
    assert asked("key_cache_layout", ROW, known) == NotWorth("the other hot tables have key caches of their own")


@pytest.mark.parametrize(
    ("counted", "named", "seen", "hidden"),
    [(None, [], False, True), (1, [], False, False), (2, [], False, True), (2, ["old"], True, False), (3, ["old"], True, True), (None, ["old"], True, True)],
)
def test_what_mysql_does_not_tell_of_key_caches_is_to_be_looked_at_first(counted: int | None, named: list[str], seen: bool, hidden: bool) -> None:
    server = MYSQL if counted is None else MYSQL | {"initialised_key_caches": counted}
    caches = [{"name": name, "size_bytes": 8 * MIB} for name in ("default", *named)]
    price = str(planned("key_cache_layout", ROW, facts(server=server, host=LARGE, key_cache=caches, tables=tables(2))).values["price"])
    assert ("has named key caches already (old)" in price) is seen
    assert ("The new key caches are named hot_1 to hot_2: where the server has one of that name already, it is resized" in price) is hidden
    assert ("SELECT @@GLOBAL.hot_1.key_buffer_size; says 0" in price) is hidden


def test_without_hot_tables_the_advice_is_how_to_find_them() -> None:
    plan = planned("key_cache_layout", ROW, facts(server=MYSQL, host=LARGE))
    assert plan.commands == ()
    assert "not known here which tables these are" in str(plan.values["advice"])


def test_without_memory_there_is_no_room() -> None:
    small = {"memory_bytes": 32 * MIB, "memory_available_bytes": 8 * MIB}
    assert isinstance(asked("key_cache_layout", ROW, facts(server=MYSQL, host=small, tables=tables(2), totals={"myisam_tables": 2})), NoRoom)


@pytest.mark.parametrize(("budget", "caches"), [(1 << 30, 3), (17 * MIB, 2), (1, 1)])
def test_caches_never_take_more_than_the_budget_holds(budget: int, caches: int) -> None:
    hot = [HotTable("s", f"t{number}", False, 50.0 * MIB, 100.0 * (number + 1), None) for number in range(3)]
    sizes = cache_sizes(hot, 1024, budget, 0).sizes
    assert len(sizes) == caches
    assert sum(sizes) <= max(budget, 8 * MIB)


@pytest.mark.parametrize(
    ("present_bytes", "index_bytes", "host", "said"),
    [
        (0, 20 * MIB, LARGE, "each as large as the indexes that it is to hold and a quarter more."),
        (256 * MIB, 20 * MIB, LARGE, "each as large as the share of the present cache that its load has."),
        (0, MIB, LARGE, "each as large as 8 MiB, the least that is given."),
        (64 * MIB, 400 * MIB, {}, "kept small because it is not known how much memory this machine has."),
        (512 * MIB, MIB, {"memory_bytes": 1024 * MIB, "memory_available_bytes": 700 * MIB}, "which is what memory has room for, and less than they ask for."),
        (64 * MIB, 400 * MIB, {"memory_bytes": 512 * MIB, "memory_available_bytes": 400 * MIB}, "which is what memory has room for, and less than they ask for."),
    ],
)
def test_what_the_caches_are_as_large_as_is_said_as_it_is(present_bytes: int, index_bytes: int, host: dict[str, int], said: str) -> None:
    known = facts(server=MYSQL, host=host, tables=tables(2, index_bytes=index_bytes), totals={"myisam_tables": 2})
    plan = planned("key_cache_layout", ROW | {"size_bytes": present_bytes}, known)
    advice = str(plan.values["advice"])
    assert f" MiB in all, {said}" in advice, advice
    sizes = [int(line.rpartition(" ")[2]) for line in texts(plan.my_cnf)[:2]]
    assert f"{sum(sizes) // MIB} MiB in all" in advice


def test_caches_of_different_tables_are_sized_by_different_things() -> None:
    known = facts(server=MYSQL, host=LARGE, tables=[*tables(1, index_bytes=500 * MIB), *tables(1, table_name="small", index_bytes=MIB, rows_added_per_second=5000.0)])
    advice = str(planned("key_cache_layout", ROW | {"size_bytes": 0}, known).values["advice"])
    assert "each as large as the indexes that it is to hold and a quarter more, or as 8 MiB, the least that is given. The other tables stay where they are." in advice


def test_more_tables_than_caches_share_them_and_no_table_is_promised_its_own() -> None:
    known = facts(server=MYSQL, host=LARGE, tables=tables(MAXIMUM_CACHES + 3))
    plan = planned("key_cache_layout", ROW, known)
    assert str(plan.values["advice"]).startswith(f"Divide the {MAXIMUM_CACHES + 3} busiest tables among {MAXIMUM_CACHES} key caches of their own: ")
    assert len([text for text in texts(plan.commands) if text.startswith("CACHE INDEX")]) == MAXIMUM_CACHES + 3
    # Three caches hold two tables each, and are as large as both.
    sizes = [int(line.rpartition(" ")[2]) for line in texts(plan.my_cnf)[:MAXIMUM_CACHES]]
    assert [size >= 40 * MIB for size in sizes] == [True] * 3 + [False] * (MAXIMUM_CACHES - 3)
    assert len([text for text in texts(plan.commands) if text.startswith("LOAD INDEX")]) == MAXIMUM_CACHES + 3


@pytest.mark.parametrize(("block_bytes", "lines"), [(None, []), (1024, []), (4096, ["hot_1.key_cache_block_size = 4096", "hot_2.key_cache_block_size = 4096"])])
def test_new_caches_have_blocks_as_large_as_the_default_one(block_bytes: int | None, lines: list[str]) -> None:
    variables = {} if block_bytes is None else {"key_cache_block_size": block_bytes}
    plan = planned("key_cache_layout", ROW, facts(server=MYSQL, host=LARGE, tables=tables(2), variable=variables))
    assert [line for line in texts(plan.my_cnf) if "block_size" in line] == lines
    commands = texts(plan.commands)
    set_blocks = [f"SET GLOBAL `{line.split('.')[0]}`.{line.split('.')[1]};" for line in lines]
    assert [command.replace("`", "") for command in commands[2 : 2 + len(lines)]] == [command.replace("`", "") for command in set_blocks]
    assert all("key_buffer_size" in command for command in commands[:2])
    assert commands[2 + len(lines)].startswith("CACHE INDEX")
