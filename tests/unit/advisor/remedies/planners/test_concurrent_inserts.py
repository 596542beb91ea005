"""Whether another finding switches concurrent inserts off."""

import pytest

from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts
from myisam_advisor.remedies.planners.concurrent_inserts import plan
from tests.support.planning import facts


@pytest.mark.parametrize(("planned", "is_advised"), [({"concurrent_insert": "NEVER"}, True), ({"concurrent_insert": "AUTO"}, False), ({}, False)])
def test_never_is_advised_where_a_plan_before_sets_it(planned: dict[str, str], is_advised: bool) -> None:
    known = PlanFacts(facts())
    known.planned_variables.update(planned)
    made = plan({}, PlanContext(known, {}))
    assert isinstance(made, Plan)
    assert made.values == {"never_is_advised": is_advised}
