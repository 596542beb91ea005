"""The lines of my.cnf, with the value that each replaces."""

from __future__ import annotations

from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.remedies.option_lines import OptionLine, comment_line

FILE_NAME = "my.cnf"
MYSQLD = OptionLine("[mysqld]")


def render(plan: ChangePlan) -> str:
    """A fragment for the server's section."""
    lines = [comment_line(f"myisam-advisor, {plan.server}, {plan.made_at}")]
    if not plan.settings:
        return "\n".join([*lines, comment_line("nothing to set"), ""])
    lines.append(MYSQLD)
    for setting in plan.settings:
        was = "not known" if setting.present is None else setting.present or "not set"
        now = f"; now: {was}" if setting.variable else ""
        lines += [comment_line(f"{setting.rule}{now}"), setting.line]
    return "\n".join([*lines, ""])
