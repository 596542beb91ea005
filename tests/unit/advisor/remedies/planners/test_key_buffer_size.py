"""How large the key cache should be, within what memory can spare."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners.base import NoRoom, NotWorth
from tests.support.planning import MARIADB, MYSQL, OLD_MYSQL, asked, facts, planned, texts

MIB, GIB = 1 << 20, 1 << 30
ROW = {"name": "default", "size_bytes": 8 * MIB, "index_bytes": 100 * MIB, "block_size_bytes": 1024}
LARGE = {"memory_bytes": 64 * GIB, "memory_available_bytes": 60 * GIB}


def test_indexes_with_their_bookkeeping_and_a_tenth_more() -> None:
    plan = planned("key_buffer_size", ROW, facts(server=MARIADB, host=LARGE))
    target = int(100 * MIB * (1 + 228 / 1024) * 1.1) // MIB * MIB
    assert texts(plan.commands) == [f"SET GLOBAL key_buffer_size = {target};"]
    assert texts(plan.undo_commands) == [f"SET GLOBAL key_buffer_size = {8 * MIB};"]
    assert texts(plan.my_cnf) == [f"key_buffer_size = {target}"]
    assert plan.memory_bytes == target - 8 * MIB


def test_a_named_cache_is_named() -> None:
    plan = planned("key_buffer_size", ROW | {"name": "hot"}, facts(server=MYSQL, host=LARGE))
    assert texts(plan.commands)[0].startswith("SET GLOBAL `hot`.key_buffer_size = ")
    assert texts(plan.my_cnf)[0].startswith("hot.key_buffer_size = ")


def test_memory_bounds_it_and_none_at_all_says_so() -> None:
    bounded = planned("key_buffer_size", ROW, facts(server=MARIADB, host={"memory_bytes": 160 * MIB, "memory_available_bytes": 150 * MIB}))
    assert "all that memory can spare" in str(bounded.values["advice"])
    assert bounded.memory_bytes <= 40 * MIB
    short = asked("key_buffer_size", ROW, facts(server=MARIADB, host={"memory_bytes": 64 * MIB, "memory_available_bytes": MIB}))
    assert isinstance(short, NoRoom)


def test_a_cache_whose_size_is_not_known_is_not_set_to_what_memory_can_spare() -> None:
    """That comes on top of what it has: by itself it may be less."""
    host = {"memory_bytes": 160 * MIB, "memory_available_bytes": 150 * MIB}
    plan = planned("key_buffer_size", ROW | {"size_bytes": None}, facts(server=MARIADB, host=host))
    assert (plan.commands, plan.my_cnf, plan.memory_bytes) == ((), (), 0)
    assert plan.values["advice"] == "Raise key_buffer_size. How far is not known: its present size cannot be seen; memory has room for 40 MiB more."


@pytest.mark.parametrize("index_bytes", [None, 100 * MIB])
def test_nobody_is_told_to_raise_it_where_memory_has_no_room_whatever_it_is(index_bytes: int | None) -> None:
    host = {"memory_bytes": 160 * MIB, "memory_available_bytes": MIB}
    row = ROW | {"size_bytes": None, "index_bytes": index_bytes}
    assert asked("key_buffer_size", row, facts(server=MARIADB, host=host)) == NoRoom("memory has no room for a larger key cache")


def test_small_indexes_in_a_smaller_cache_need_a_step_and_not_memory() -> None:
    small = planned("key_buffer_size", ROW | {"size_bytes": 16 << 10, "index_bytes": 126 << 10}, facts(server=MARIADB, host=LARGE))
    assert texts(small.commands) == [f"SET GLOBAL key_buffer_size = {MIB};"]


def test_a_little_more_than_there_is_needs_a_step_and_is_no_lack_of_memory() -> None:
    little = planned("key_buffer_size", ROW | {"index_bytes": int(8.6 * MIB / (1 + 228 / 1024) / 1.1)}, facts(server=MARIADB, host=LARGE))
    assert texts(little.commands) == [f"SET GLOBAL key_buffer_size = {9 * MIB};"]


def test_a_cache_that_holds_its_indexes_is_large_enough() -> None:
    enough = asked("key_buffer_size", ROW | {"index_bytes": MIB}, facts(server=MARIADB, host=LARGE))
    assert isinstance(enough, NotWorth)
    assert "holds 1 MiB of indexes" in enough.why


@pytest.mark.parametrize(("row", "advice"), [({"index_bytes": None}, "twice the present size"), ({"index_bytes": None, "size_bytes": None}, "How far is not known")])
def test_what_is_not_known_is_said(row: dict[str, None], advice: str) -> None:
    plan = planned("key_buffer_size", ROW | row, facts(server=MARIADB, host=LARGE))
    assert advice in str(plan.values["advice"])
    assert bool(plan.commands) == (row.get("size_bytes", 1) is not None)


def test_old_versions_stay_below_four_gigabytes() -> None:
    huge = ROW | {"index_bytes": 10 * GIB}
    assert planned("key_buffer_size", huge, facts(server=OLD_MYSQL, host=LARGE)).memory_bytes == 4 * GIB - MIB - 8 * MIB
    assert isinstance(asked("key_buffer_size", huge | {"size_bytes": 4 * GIB}, facts(server=OLD_MYSQL, host=LARGE)), NoRoom)
    assert planned("key_buffer_size", huge | {"size_bytes": None}, facts(server=OLD_MYSQL, host=LARGE)).memory_bytes == 4 * GIB - MIB
    for server in (MARIADB, {}):
        assert planned("key_buffer_size", huge, facts(server=server, host=LARGE)).memory_bytes > 10 * GIB


def test_what_old_versions_have_of_indexes_below_that_is_all_that_they_are_given() -> None:
    new, old = (planned("key_buffer_size", ROW, facts(server=server, host=LARGE)).memory_bytes for server in (MARIADB, OLD_MYSQL))
    assert old == new < 200 * MIB


@pytest.mark.parametrize(("size_bytes", "is_worth_it"), [(236 * MIB, True), (300 * MIB, False)])
def test_a_cache_that_holds_a_part_is_emptied_for_a_tenth_more_and_for_no_less(size_bytes: int, is_worth_it: bool) -> None:
    """Memory has room for 24 MiB more, of the 2.5 GiB that are wanted."""
    host = {"memory_bytes": 800 * MIB, "memory_available_bytes": 208 * MIB}
    found = asked("key_buffer_size", ROW | {"size_bytes": size_bytes, "index_bytes": 2 * GIB}, facts(server=MARIADB, host=host))
    assert isinstance(found, NoRoom) is not is_worth_it


@pytest.mark.parametrize(
    ("server", "row", "words"),
    [
        (MARIADB, {}, "100 MiB of indexes and their bookkeeping). The machine's memory is not seen from here: 126 MiB must be available there"),
        (MARIADB, {"index_bytes": None}, "twice the present size, as the size of the indexes is not known). The machine's memory is not seen from here: 8 MiB"),
        (MARIADB, {"size_bytes": None}, "134 MiB must be available there"),
        (OLD_MYSQL, {}, "Set it in my.cnf and restart: resizing a key cache under load can crash this version."),
    ],
)
def test_where_memory_is_not_seen_a_size_is_told_and_nothing_is_set(server: dict[str, Any], row: dict[str, Any], words: str) -> None:
    plan = planned("key_buffer_size", ROW | row, facts(server=server))
    assert (plan.commands, plan.undo_commands, plan.my_cnf, plan.memory_bytes) == ((), (), (), 0)
    assert words in str(plan.values["advice"])
    assert ("restart" in str(plan.values["advice"])) == (server is OLD_MYSQL)
    assert ("SET GLOBAL" in str(plan.values["way_back"])) == (server is not OLD_MYSQL and row.get("size_bytes", 1) is not None)


def test_where_a_cache_may_be_slower_than_none_there_are_words_alone() -> None:
    plan = planned("key_buffer_size", {"name": "default", "size_bytes": 4096, "index_bytes": 100 << 20, "pays": 0})
    assert (plan.commands, plan.my_cnf) == ((), ())
    assert "key_cache_segments = 16" in str(plan.values["advice"])
