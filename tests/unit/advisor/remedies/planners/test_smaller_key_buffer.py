"""How far a key cache can shrink."""

import pytest

from myisam_advisor.remedies.planners.base import NotWorth
from tests.support.planning import asked, planned, texts

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(("row", "target", "basis"), [
    ({"need_bytes": 100 * MIB + 1, "memory_bytes": 8 * GIB}, 101 * MIB, "for its indexes"),
    ({"need_bytes": 3 * GIB, "memory_bytes": 8 * GIB}, 2 * GIB, "a quarter of the memory"),
    ({"need_bytes": 1, "memory_bytes": 8 * GIB}, 8 * MIB, "for its indexes"),
    ({"need_bytes": 100 * MIB}, 100 * MIB, "for its indexes"),
])  # fmt: skip
def test_to_what_is_needed_and_a_quarter_of_memory_at_most(row: dict[str, int], target: int, basis: str) -> None:
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
