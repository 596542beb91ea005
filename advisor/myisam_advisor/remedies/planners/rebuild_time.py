"""How long the ALTER of a rule lasts that copies a table; the rule itself says what to run."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned, is_felt_unsorted
from myisam_advisor.remedies.rebuild_times import lasts
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import numbers_in


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """`lasts`: words for the time."""
    known = numbers_in((row.get("data_bytes"), row.get("index_bytes")))
    table_bytes = sum(known) if len(known) == 2 else None
    memory = context.number("host", "memory_available_bytes")
    return Plan(
        {
            "lasts": lasts(
                "ALTER TABLE",
                table_bytes,
                memory,
                rebuild_rates_for(context.facts, context.known.rates),
                known[1] if len(known) == 2 else None,
                is_felt_unsorted(row, context.known),
            )
        }
    )
