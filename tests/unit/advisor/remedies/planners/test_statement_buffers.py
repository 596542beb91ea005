"""What statements at work will take in buffers of their own is booked, and nothing else is planned."""

import pytest

from tests.support.planning import planned


@pytest.mark.parametrize(("row", "booked"), [({"statement_bytes": 62914560}, 62914560), ({"statement_bytes": None}, 0), ({}, 0)])
def test_what_the_rule_reckons_is_booked(row: dict[str, int | None], booked: int) -> None:
    plan = planned("statement_buffers", row)
    assert plan.memory_bytes == booked
    assert (plan.commands, plan.values) == ((), {})
