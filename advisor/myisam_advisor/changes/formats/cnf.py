"""The lines of my.cnf, with the value that each replaces."""

from __future__ import annotations

from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.texts import printable

FILE_NAME = "my.cnf"


def render(plan: ChangePlan) -> str:
    """A fragment for the server's section."""
    lines = ["# myisam-advisor, " + printable(f"{plan.server}, {plan.made_at}")]
    if not plan.settings:
        return "\n".join([*lines, "# nothing to set", ""])
    lines.append("[mysqld]")
    for setting in plan.settings:
        was = "not known" if setting.present is None else setting.present or "not set"
        lines += [f"# {setting.rule}; now: {printable(was)}", setting.line]
    return "\n".join([*lines, ""])
