"""A size for the table cache, within the open files that the server may have."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.option_lines import option_line
from myisam_advisor.planning import Plan, PlanContext, Planned, PlanNeeds
from myisam_exporter.columns import Value
from myisam_exporter.sql import quote_variable, statement

FILES_PER_TABLE = 2  # sql/mysqld.cc, adjust_open_files_limit: "MyISAM requires two file handles per table"
FILES_RESERVED = 10
SMALLEST = 400
RENAMED_IN = 50103  # table_cache became table_open_cache


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Twice the present size, at least 400, as far as open_files_limit reaches."""
    present, limit, connections = (row.get(name) for name in ("cache_size", "open_files_limit", "max_connections"))
    if not isinstance(present, int | float):
        return PlanNeeds("variable.table_open_cache")
    variable = "table_cache" if (context.version_number or RENAMED_IN) < RENAMED_IN else "table_open_cache"
    wanted = max(2 * int(present), SMALLEST)
    files = ""
    if isinstance(limit, int | float) and limit:
        reach = int(
            (limit - FILES_RESERVED - (connections if isinstance(connections, int | float) else 0)) // FILES_PER_TABLE
        )
        if wanted > reach:
            files = f" Raise open_files_limit first: it is {int(limit):,} and allows {max(reach, 0):,} tables."
    return Plan(
        values={
            "advice": f"Raise {variable} to {wanted}, and again if tables are still being closed for others.{files}"
        },
        commands=(statement("SET GLOBAL {} = {};", quote_variable(variable), wanted),),
        undo_commands=(statement("SET GLOBAL {} = {};", quote_variable(variable), int(present)),),
        my_cnf=(option_line(variable, wanted),),
    )
