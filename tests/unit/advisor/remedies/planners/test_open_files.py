"""A limit of open files with room, as a power of two."""

import pytest

from myisam_advisor.remedies.planners import open_files
from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, PlanFacts
from tests.support.planning import asked, facts, planned


@pytest.mark.parametrize(("row", "wanted"), [
    ({"open_files": 10, "limit_files": 1024}, 4096),
    ({"open_files": 900, "wanted_files": 4000, "limit_files": 1024}, 8192),
    ({"open_files": 4950, "servers_formula": 4161, "full_cache_files": 19_800, "limit_files": 5000}, 32_768),
    ({"servers_formula": 20_000, "limit_files": 16_384}, 32_768),
    ({"open_files": 10, "limit_files": 4096}, 8192),
    ({}, 4096),
])  # fmt: skip
def test_half_as_much_again_as_is_needed_and_more_than_there_is(row: dict[str, int], wanted: int) -> None:
    assert planned("open_files", row).values == {"wanted_limit": wanted}


def test_a_larger_table_cache_that_is_planned_needs_no_other_limit() -> None:
    known = PlanFacts(facts())
    known.planned_variables["open_files_limit"] = 65_536
    plan = open_files.plan({"open_files": 900, "limit_files": 1024}, PlanContext(known, {}))
    assert isinstance(plan, Plan)
    assert plan.values == {"wanted_limit": 65_536}


def test_a_server_that_lowered_its_limits_is_allowed_what_it_asks_for_by_default() -> None:
    assert planned("open_files", {"limit_files": 1024, "least_limit": 32_768}).values == {"wanted_limit": 32_768}


def test_the_kernels_own_limit_is_not_exceeded() -> None:
    assert planned("open_files", {"open_files": 10_000_000, "limit_files": 1024}).values == {"wanted_limit": 1 << 20}
    assert isinstance(asked("open_files", {"open_files": 10_000_000, "limit_files": 1 << 20}), NotWorth)
    assert planned("open_files", {"open_files": 10_000_000, "limit_files": 1 << 20, "near": 1}).values == {"wanted_limit": None}
