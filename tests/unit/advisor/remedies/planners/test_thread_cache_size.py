"""A size for the thread cache, where threads are made anew."""

import pytest

from tests.support.planning import planned, texts


@pytest.mark.parametrize(("present", "wanted"), [(0, 16), (9, 18), (100, 200), (200, 256)])
def test_twice_what_there_is_within_bounds(present: int, wanted: int) -> None:
    plan = planned("thread_cache_size", {"cache_too_small": 1, "thread_cache_size": present})
    assert texts(plan.commands) == [f"SET GLOBAL thread_cache_size = {wanted};"]
    assert texts(plan.undo_commands) == [f"SET GLOBAL thread_cache_size = {present};"]
    assert plan.values["advice"] == f"Until then raise thread_cache_size to {wanted}."


@pytest.mark.parametrize("row", [{"cache_too_small": 0, "thread_cache_size": 0}, {"cache_too_small": 1, "thread_cache_size": 256}, {"cache_too_small": 1, "thread_cache_size": 1000}])
def test_no_advice_where_it_is_large_or_not_to_blame(row: dict[str, int]) -> None:
    plan = planned("thread_cache_size", row)
    assert plan.values == {"advice": ""}
    assert plan.commands == ()


def test_a_size_that_is_not_known_has_no_way_back() -> None:
    plan = planned("thread_cache_size", {"cache_too_small": 1})
    assert texts(plan.commands) == ["SET GLOBAL thread_cache_size = 16;"]
    assert plan.undo_commands == ()
