"""Whether a larger table cache is asked for already."""

import pytest

from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts
from myisam_advisor.remedies.planners.tables_kept_open import plan
from myisam_exporter.facts.columns import Value
from tests.support.planning import facts


@pytest.mark.parametrize(("planned", "expected"), [({}, None), ({"key_buffer_size": 8}, None), ({"table_open_cache": 800}, 800), ({"table_cache": 400}, 400)])
def test_the_size_is_the_one_that_another_finding_proposes(planned: dict[str, Value], expected: Value) -> None:
    known = PlanFacts(facts())
    known.planned_variables.update(planned)
    assert plan({}, PlanContext(known, {})) == Plan({"planned_tables": expected})
