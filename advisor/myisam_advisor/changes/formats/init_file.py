"""The lines of the init_file: what the server forgets at a restart, one statement a line."""

from __future__ import annotations

from myisam_advisor.changes.plan import ChangePlan

FILE_NAME = "init_file.sql"


def render(plan: ChangePlan) -> str:
    """The file. Statements only: some releases read a comment as part of the next statement."""
    return "".join(f"{line.sql}\n" for line in plan.init_file)
