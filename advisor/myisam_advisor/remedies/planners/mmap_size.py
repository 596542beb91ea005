"""A number for myisam_mmap_size: what compressed tables need, within the memory that mapped pages may take."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.texts.templates import percent, size
from myisam_exporter.facts.columns import Value

STEP_BYTES = 1 << 20


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The number, and where it comes from."""
    budget, compressed = row.get("budget_bytes"), row.get("compressed_bytes")
    if isinstance(budget, int | float):
        recommended = max(int(budget - context.known.budget.granted_bytes), 0)
        share = context.parameter("least_memory_share" if row.get("is_least") else "memory_share")
        basis = f"{percent(share)} of the memory{'' if row.get('is_least') else ' less the key caches'}, {size(recommended)}"
        if isinstance(compressed, int | float):
            basis += f", for {size(compressed)} of compressed data"
    else:
        recommended, basis = (
            int(context.parameter("assumed_bytes")),
            "the machine's memory is not known, and this fits on any server of 1 GiB",
        )
    recommended = max(recommended // STEP_BYTES, 1) * STEP_BYTES
    return Plan(
        {"recommended_bytes": recommended, "basis": basis}, my_cnf=(option_line("myisam_mmap_size", recommended),)
    )
