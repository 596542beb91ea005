"""Books what statements at work will take in buffers of their own: remedies that are planned from now on leave it to them."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import real_of


def plan(row: Mapping[str, Value], _context: PlanContext) -> Planned:
    """The row's `statement_bytes`; nothing where the rule proposes no size."""
    return Plan({}, memory_bytes=real_of(row.get("statement_bytes")) or 0.0)
