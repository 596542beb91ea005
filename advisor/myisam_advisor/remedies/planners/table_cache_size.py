"""A size for the table cache. Whether the server may have files for so many is the gate's concern."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned, PlanNeeds
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.facts.columns import Value

SMALLEST = 400
RENAMED_IN = 50103  # table_cache became table_open_cache


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Twice the present size, at least 400."""
    present = row.get("cache_size")
    if not isinstance(present, int | float):
        return PlanNeeds("variable.table_open_cache")
    variable = "table_cache" if (context.version_number or RENAMED_IN) < RENAMED_IN else "table_open_cache"
    wanted = max(2 * int(present), SMALLEST)
    return Plan(
        values={
            "advice": f"Raise {variable} to {wanted}. Raise it again if tables are still closed to make room for others."
        },
        commands=(set_global(variable, wanted),),
        undo_commands=(set_global(variable, int(present)),),
        my_cnf=(option_line(variable, wanted),),
    )
