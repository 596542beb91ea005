"""How the account of memory is opened: what there is, what others will still take, and what row data keep."""

from typing import Any

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.memory_budget import MemoryBudget, addressable_bytes, budget_of
from myisam_exporter.look.fact_set import FactSet

ADDRESSABLE = 2_684_354_560  # of 4 GiB


def facts(**tables: Any) -> FactSet:
    return facts_from_document({"schema": 1, **tables})


def budget(memory: float | None = 8e9, available: float | None = None, **tables: Any) -> MemoryBudget:
    return budget_of(facts(host={"memory_bytes": memory, "memory_available_bytes": available}, **tables))


def cache(size: int | None, used: int | None, block: int | None = None) -> dict[str, Any]:
    return {"name": "default", "size_bytes": size, "blocks_used": used, "block_size_bytes": block}


@pytest.mark.parametrize("memory", [None, 0])
def test_without_the_whole_there_is_no_account(memory: float | None) -> None:
    assert budget(memory, 5e9) == MemoryBudget()


def test_the_smaller_of_the_machine_and_its_control_group_is_the_whole() -> None:
    assert budget(8e9, mysqld={"cgroup_memory_limit_bytes": 2_000_000_000}).limit_bytes == 2e9
    assert budget(1e9, mysqld={"cgroup_memory_limit_bytes": 2_000_000_000}).limit_bytes == 1e9
    assert budget(None, mysqld={"cgroup_memory_limit_bytes": 2_000_000_000}).limit_bytes == 2e9


@pytest.mark.parametrize(
    ("available", "group", "held", "left"),
    [
        (5e9, None, None, 5e9), (5e9, None, 1_000_000_000, 5e9), (5e9, 3_000_000_000, None, 3e9),
        (5e9, 3_000_000_000, 1_000_000_000, 2e9), (1e9, 3_000_000_000, 1_000_000_000, 1e9), (5e9, 3_000_000_000, 4_000_000_000, 0.0),
        (5e9, 3_000_000_000, 0, 3e9), (None, 3_000_000_000, 1_000_000_000, 2e9), (None, None, None, None),
    ],
)  # fmt: skip
def test_what_is_available_is_the_least_that_anybody_tells(available: float | None, group: int | None, held: int | None, left: float | None) -> None:
    assert budget(8e9, available, mysqld={"cgroup_memory_limit_bytes": group, "anonymous_bytes": held}).available_bytes == left


@pytest.mark.parametrize(("memory", "available", "granted", "left"), [(None, 5e9, 0, None), (8e9, 5e9, 1e9, 4e9), (8e9, None, 1e9, 6.5e9), (8e9, 5e9, 6e9, 0.0), (1e8, None, 0, 0.0)])
def test_what_is_left_keeps_nothing_back(memory: float | None, available: float | None, granted: float, left: float | None) -> None:
    account = budget(memory, available, variable={"innodb_buffer_pool_size": 500_000_000})
    account.grant("another remedy", granted)
    assert account.left_bytes == left


def test_what_the_control_group_leaves_counts_where_others_use_of_it_too() -> None:
    group = {"cgroup_memory_limit_bytes": 3_000_000_000, "cgroup_memory_available_bytes": 400_000_000}
    assert budget(8e9, 5e9, mysqld={**group, "anonymous_bytes": 1_000_000_000}).available_bytes == 4e8
    assert budget(8e9, 5e9, mysqld=group).available_bytes == 4e8
    # The server was moved into the group: what it held before is charged elsewhere.
    assert budget(8e9, 5e9, mysqld={**group, "anonymous_bytes": 2_900_000_000}).available_bytes == 1e8


@pytest.mark.parametrize(
    ("caches", "unfilled"),
    [
        # A block takes its size and 228 bytes of bookkeeping.
        ([cache(1_000_000, 100, 4096)], 1_000_000 - 100 * 4324), ([cache(1_000_000, 100)], 1_000_000 - 100 * 1252), ([cache(1000, 100)], 0),
        ([cache(1_000_000, 0)], 1_000_000), ([cache(None, 5)], 0), ([cache(1_000_000, None)], 0), ([cache(1_000_000, 0), {**cache(500, 0), "name": "hot"}], 1_000_500),
    ],
)  # fmt: skip
def test_a_key_cache_will_still_take_what_no_block_of_it_holds(caches: list[dict[str, Any]], unfilled: int) -> None:
    assert budget(key_cache=caches).unfilled_key_cache_bytes == unfilled


POOL = {"innodb_buffer_pool_size": 1_000_000_000}


@pytest.mark.parametrize(
    ("variable", "free_pages", "held", "unfilled"),
    [
        (POOL, 1000, None, 1000 * 16384), (POOL | {"innodb_page_size": 4096}, 1000, None, 1000 * 4096), (POOL, 900_000, None, 1e9), (POOL, 0, None, 0.0),
        (POOL, None, None, 0.0), ({}, 1000, None, 0.0), (POOL, 1000, 100_000_000, 1000 * 16384), (POOL, 1000, 999_000_000, 1e6), (POOL, 1000, 2_000_000_000, 0.0),
    ],
)  # fmt: skip
def test_a_pool_will_still_take_its_free_pages_as_far_as_the_server_does_not_hold_them(variable: dict[str, int], free_pages: int | None, held: int | None, unfilled: float) -> None:
    status = {} if free_pages is None else {"Innodb_buffer_pool_pages_free": free_pages}
    assert budget(variable=variable, status=status, mysqld={"anonymous_bytes": held}).unfilled_pool_bytes == unfilled


def test_what_a_key_cache_will_take_is_not_the_pools() -> None:
    one = budget(variable=POOL, status={"Innodb_buffer_pool_pages_free": 60_000}, mysqld={"anonymous_bytes": 300_000_000}, key_cache=[cache(200_000_000, 0)])
    assert (one.unfilled_key_cache_bytes, one.unfilled_pool_bytes) == (200e6, 1e9 + 200e6 - 200e6 - 300e6)


def test_the_server_was_promised_its_caches_and_its_pool_or_holds_more() -> None:
    tables: dict[str, Any] = {"variable": POOL, "key_cache": [cache(200_000_000, 0), {**cache(None, 0), "name": "hot"}]}
    assert budget(**tables).promised_bytes == 1.2e9
    assert budget(**tables, mysqld={"anonymous_bytes": 5_000_000_000}).promised_bytes == 5e9
    assert budget(**tables, mysqld={"anonymous_bytes": 5}).promised_bytes == 1.2e9
    assert budget().promised_bytes == 0.0


def test_row_data_keep_what_they_are() -> None:
    assert budget(totals={"myisam_data_bytes": 77}).row_data_bytes == 77
    assert budget().row_data_bytes is None


@pytest.mark.parametrize("machine", ["i386", "i686", "I586", "ia32", "x86", "arm", "armv7l", "armhf"])
def test_a_server_of_32_bits_addresses_no_more_than_it_can(machine: str) -> None:
    known = {"variable": {"version_compile_machine": machine} | POOL}
    assert addressable_bytes(facts(**known)) == ADDRESSABLE - 1e9
    assert addressable_bytes(facts(**known, mysqld={"anonymous_bytes": 1_500_000_000})) == ADDRESSABLE - 1.5e9
    assert addressable_bytes(facts(**known, mysqld={"anonymous_bytes": 5_000_000_000})) == 0.0
    one = budget(64e9, 60e9, **known)
    assert (one.limit_bytes, one.available_bytes) == (ADDRESSABLE, ADDRESSABLE - 1e9)


@pytest.mark.parametrize("machine", ["x86_64", "amd64", "aarch64", "arm64", "i786", "", None, 32])
def test_one_of_64_bits_or_of_an_unknown_machine_has_all_of_it(machine: str | int | None) -> None:
    known = {"variable": {"version_compile_machine": machine}}
    assert addressable_bytes(facts(**known)) is None
    one = budget(64e9, 60e9, **known)
    assert (one.limit_bytes, one.available_bytes) == (64e9, 60e9)


def test_nothing_is_booked_for_what_takes_nothing() -> None:
    one = MemoryBudget(8e9, 6e9)
    one.grant("a", 0.0)
    one.grant("a", -5.0)
    assert one.granted == {}
    one.grant("a", 0.5)
    assert one.granted == {"a": 0.5}


@pytest.mark.parametrize(
    ("known", "room"),
    [
        (MemoryBudget(), None), (MemoryBudget(10e9, 4e9), 1e9), (MemoryBudget(10e9, 4e9, row_data_bytes=5e8), 2.5e9), (MemoryBudget(10e9, 1e9), 0.0),
        (MemoryBudget(10e9, promised_bytes=20e9), 0.0),
    ],
)  # fmt: skip
def test_room_is_unknown_with_the_machine_and_never_below_nothing(known: MemoryBudget, room: float | None) -> None:
    """A tenth of the whole stays free, and half of what is available for row data of an unknown size."""
    assert known.room_bytes == room


def test_what_is_not_filled_yet_counts_once() -> None:
    told = MemoryBudget(10e9, 4e9, unfilled_key_cache_bytes=1e8, unfilled_pool_bytes=2e8, promised_bytes=9e9, row_data_bytes=1e9)
    assert told.room_bytes == pytest.approx(4e9 - 1e9 - 3e8 - 1e9)
    untold = MemoryBudget(10e9, None, unfilled_key_cache_bytes=1e8, unfilled_pool_bytes=2e8, promised_bytes=6e9, row_data_bytes=1e9)
    assert untold.room_bytes == pytest.approx(4e9 - 1e9 - 1e9)
