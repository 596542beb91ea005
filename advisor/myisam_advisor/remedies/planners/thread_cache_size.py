"""A size for the thread cache where threads are made anew for connections."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.facts.columns import Value

SMALLEST, LARGEST = 16, 256


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Twice the present size, from 16 to 256; no advice on it where threads come from the cache."""
    if not row.get("cache_too_small"):
        return Plan({"advice": ""})
    present = row.get("thread_cache_size")
    wanted = min(max(2 * int(present) if isinstance(present, int | float) else 0, SMALLEST), LARGEST)
    if isinstance(present, int | float) and wanted <= present:
        return Plan({"advice": ""})
    return Plan(
        {"advice": f"Until then raise thread_cache_size to {wanted}."},
        commands=(set_global("thread_cache_size", wanted),),
        undo_commands=(set_global("thread_cache_size", int(present)),) if isinstance(present, int | float) else (),
        my_cnf=(option_line("thread_cache_size", wanted),),
    )
