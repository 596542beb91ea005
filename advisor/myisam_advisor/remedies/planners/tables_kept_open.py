"""Whether another finding proposes a larger table cache already, which keeps tables open."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import TABLE_CACHES, Plan, PlanContext, Planned
from myisam_exporter.facts.columns import Value


def plan(_row: Mapping[str, Value], context: PlanContext) -> Planned:
    """`planned_tables`: the size that is proposed elsewhere; None where none is."""
    planned = context.known.planned_variables
    return Plan({"planned_tables": next((planned[name] for name in sorted(TABLE_CACHES) if name in planned), None)})
