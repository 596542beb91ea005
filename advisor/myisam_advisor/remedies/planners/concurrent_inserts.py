"""Whether another finding advises to switch concurrent inserts off."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_exporter.facts.columns import Value


def plan(_row: Mapping[str, Value], context: PlanContext) -> Planned:
    """`never_is_advised`: concurrent_insert = NEVER is set by a plan made before."""
    return Plan({"never_is_advised": context.known.planned_variables.get("concurrent_insert") == "NEVER"})
