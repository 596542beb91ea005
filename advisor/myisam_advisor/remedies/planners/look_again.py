"""How a person sees what a rebuild made of one table: the query that asks for its pieces and holes."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.shell_lines import shell_line
from myisam_exporter.facts.columns import Value
from myisam_exporter.server.sql import quote_comment, statement

NO_LINE = (
    "myisam-advisor query, with fragments_per_row and free_bytes of that table: its name fits in no line for a shell."
)


def plan(row: Mapping[str, Value], _context: PlanContext) -> Planned:
    """`look`: the line for a shell; words where a name has what no line can hold, or no literal that SQLite reads as a server does."""
    try:
        schema, table = (quote_comment(str(row[name])) for name in ("schema_name", "table_name"))
    except ValueError:
        return Plan({"look": NO_LINE})
    asked = statement(
        "SELECT fragments_per_row, free_bytes FROM tables WHERE schema_name = {} AND table_name = {}", schema, table
    )
    return Plan({"look": shell_line("myisam-advisor query {}", asked)})
