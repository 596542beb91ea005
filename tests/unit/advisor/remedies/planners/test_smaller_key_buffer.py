"""How far a key cache can shrink."""

import pytest

from myisam_advisor.remedies.planners.base import NotWorth
from tests.support.planning import asked, planned, texts

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(("row", "target", "basis"), [
    ({"need_bytes": 100 * MIB + 1, "memory_bytes": 8 * GIB}, 101 * MIB, "for its indexes"),
    ({"need_bytes": 3 * GIB, "memory_bytes": 8 * GIB}, 3 * GIB, "for its indexes"),
    ({"need_bytes": None, "memory_bytes": 8 * GIB}, 2 * GIB, "a quarter of the memory"),
    ({"need_bytes": 1, "memory_bytes": 8 * GIB}, 8 * MIB, "for its indexes"),
    ({"need_bytes": 100 * MIB}, 100 * MIB, "for its indexes"),
])  # fmt: skip
def test_to_what_is_needed_and_to_a_quarter_of_memory_where_that_is_not_known(row: dict[str, int], target: int, basis: str) -> None:
    plan = planned("smaller_key_buffer", {"name": "default", "size_bytes": 4 * GIB, **row})
    assert texts(plan.commands) == [f"SET GLOBAL key_buffer_size = {target};"]
    assert texts(plan.undo_commands) == [f"SET GLOBAL key_buffer_size = {4 * GIB};"]
    assert texts(plan.my_cnf) == [f"key_buffer_size = {target}"]
    assert basis in str(plan.values["advice"])


def test_a_named_cache_is_named() -> None:
    plan = planned("smaller_key_buffer", {"name": "hot", "size_bytes": GIB, "need_bytes": 16 * MIB})
    assert texts(plan.my_cnf) == [f"hot.key_buffer_size = {16 * MIB}"]


@pytest.mark.parametrize("present", [8 * MIB, 16 * MIB, None])
def test_what_is_small_or_not_known_stays(present: int | None) -> None:
    assert isinstance(asked("smaller_key_buffer", {"size_bytes": present, "need_bytes": 16 * MIB}), NotWorth)


def test_without_what_it_needs_and_the_memory_nothing_is_known() -> None:
    assert asked("smaller_key_buffer", {"size_bytes": 4 * GIB, "need_bytes": None}) == NotWorth("how much it needs is not known")


@pytest.mark.parametrize(
    ("pool", "promised", "instead"),
    [(3 * GIB, "4 GiB for key caches and 3 GiB for innodb_buffer_pool_size are promised, of 8 GiB", "Lower innodb_buffer_pool_size"), (0, "4 GiB for key caches are promised, of 8 GiB", "Give the machine more memory")],
)
@pytest.mark.parametrize("need", [4 * GIB - 63 * MIB, 6 * GIB])
def test_what_the_indexes_need_is_not_taken_from_them(need: int, pool: int, promised: str, instead: str) -> None:
    row = {"name": "hot", "size_bytes": 4 * GIB, "need_bytes": need, "memory_bytes": 8 * GIB, "all_caches_bytes": 4 * GIB, "pool_bytes": pool}
    plan = planned("smaller_key_buffer", row)
    assert (plan.commands, plan.undo_commands, plan.my_cnf, plan.values["lowers"]) == ((), (), (), False)
    for words in ("Leave hot.key_buffer_size as it is", "then it misses", promised, instead):
        assert words in str(plan.values["advice"])
