"""A size for the table cache. Whether the server may have files for so many is the gate's concern."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned, PlanNeeds
from myisam_exporter.facts.columns import Value
from myisam_exporter.server.sql import quote_variable, statement

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
        values={"advice": f"Raise {variable} to {wanted}, and again if tables are still being closed for others."},
        commands=(statement("SET GLOBAL {} = {};", quote_variable(variable), wanted),),
        undo_commands=(statement("SET GLOBAL {} = {};", quote_variable(variable), int(present)),),
        my_cnf=(option_line(variable, wanted),),
    )
