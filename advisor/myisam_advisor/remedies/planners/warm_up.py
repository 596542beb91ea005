"""Reading the data files that are missing from the page cache once, the largest gaps first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.shell_lines import shell_line
from myisam_advisor.texts.templates import object_name
from myisam_exporter.facts.columns import Row, Value

MAXIMUM_TABLES = 8
# Other characters stand in file names as codes; those tables are left to LOAD INDEX and to use.
_PLAIN = re.compile(r"[0-9A-Za-z_]+")


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """A command for each of the tables that miss most."""
    directory = row.get("data_directory")
    missing = sorted(
        (table for table in context.known.tables if _gap(table) > 0), key=lambda table: (-_gap(table), _name(table))
    )[:MAXIMUM_TABLES]
    commands = []
    for table in missing:
        names = (str(table["schema_name"]), str(table["table_name"]))
        if _is_a_path(directory) and all(_PLAIN.fullmatch(name) for name in names):
            file = PurePosixPath(str(directory), names[0], f"{names[1]}.MYD")
            meant = f"read the data file of {'.'.join(names)} (.MYD), so that it is in the page cache"
            commands.append(shell_line("cat {} > /dev/null", str(file), meant=meant))
    return Plan({"warm_up_tables": ", ".join(map(_name, missing))}, tuple(commands))


def _is_a_path(directory: Value) -> bool:
    """Whether it can stand in a command: cat would take what begins with - for an option, and no line holds a line break."""
    return isinstance(directory, str) and directory.startswith("/") and directory.isprintable()


def _gap(table: Row) -> float:
    data, resident = table["data_bytes"], table["data_resident_bytes"]
    if not isinstance(data, int | float) or not isinstance(resident, int | float):
        return 0.0
    return float(data) - min(float(resident), float(data))


def _name(table: Row) -> str:
    return object_name(str(table["schema_name"]), str(table["table_name"]))
