"""A number for myisam_mmap_size, less what remedies before took."""

import pytest

from myisam_advisor.remedies.planners import mmap_size
from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts
from tests.support.planning import facts, parameters_of, planned, texts

MIB = 1 << 20


@pytest.mark.parametrize(("row", "wanted", "basis"), [
    ({"budget_bytes": 100 * MIB + 5, "compressed_bytes": 3 * MIB}, 100 * MIB, "for 3 MiB of compressed data"),
    ({"budget_bytes": 100 * MIB + 5}, 100 * MIB, "50 % of the memory less the key caches, 100 MiB"),
    ({"budget_bytes": 10}, MIB, "50 % of the memory"),
    ({"budget_bytes": 90 * MIB, "is_least": 1}, 90 * MIB, "10 % of the memory, 90 MiB"),
    ({}, 256 * MIB, "the machine's memory is not known"),
])  # fmt: skip
def test_the_number_and_its_basis(row: dict[str, int], wanted: int, basis: str) -> None:
    plan = planned("mmap_size", row)
    assert texts(plan.my_cnf) == [f"myisam_mmap_size = {wanted}"]
    assert plan.values["recommended_bytes"] == wanted
    assert basis in str(plan.values["basis"])


def test_what_others_were_granted_is_not_granted_twice() -> None:
    known = PlanFacts(facts())
    known.budget.grant("key-buffer-too-small", 60 * MIB)
    plan = mmap_size.plan({"budget_bytes": 100 * MIB}, PlanContext(known, parameters_of("mmap_size")))
    assert isinstance(plan, Plan)
    assert texts(plan.my_cnf) == [f"myisam_mmap_size = {40 * MIB}"]


def test_where_others_were_granted_all_of_it_no_negative_number_is_told() -> None:
    known = PlanFacts(facts())
    known.budget.grant("key-buffer-too-small", 60 * MIB)
    plan = mmap_size.plan({"budget_bytes": 50 * MIB}, PlanContext(known, parameters_of("mmap_size")))
    assert isinstance(plan, Plan)
    assert "less the key caches, 0 B" in str(plan.values["basis"])
    assert texts(plan.my_cnf) == [f"myisam_mmap_size = {MIB}"]
