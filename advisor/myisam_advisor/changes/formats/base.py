"""What a form of the plan is: a module beside this one, found by its name."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.factbase.hosting import AMAZON
from myisam_advisor.remedies.option_lines import OptionLine, comment_line
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.units import unit_named

MYSQLD = OptionLine("[mysqld]")


def format_named(name: str) -> ModuleType:
    """The module with `render(plan)` and `FILE_NAME`."""
    return unit_named("myisam_advisor.changes.formats", name)


def nothing_in_it(plan: ChangePlan) -> str:
    """What a plan without a change says: something may have been found all the same, and not all may have been seen."""
    if plan.without_change:
        return "No statement and no setting fixes what was found."
    return " ".join(["Nothing to change in what was seen.", *plan.not_seen]) if plan.not_seen else "Nothing to change."


def option_file_text(plan: ChangePlan) -> str:
    """The lines for the server's section of my.cnf, with the value that each replaces."""
    lines = [comment_line(f"myisam-advisor, {plan.server}, {plan.made_at}")]
    if not plan.settings:
        return "\n".join([*lines, comment_line("nothing to set"), ""])
    if plan.settings_note:
        lines.append(comment_line(plan.settings_note))
    if plan.label != AMAZON.label:
        lines.append(MYSQLD)
    for setting in plan.settings:
        was = "not known" if setting.present is None else setting.present or "not set"
        now = f"; now: {was}" if setting.variable else ""
        when = "; takes effect at the next restart" if setting.waits else ""
        lines += [comment_line(f"{setting.rule}{now}{when}"), *setting.remarks, setting.line]
    return "\n".join([*lines, ""])


def way_back_of_settings(plan: ChangePlan) -> str:
    """What to do with the lines, before what the server had: that may have been set since the start, and be another value than the file's."""
    return f"{plan.label}: put back what stood there, or remove the lines above. What the server had, from its files or set since:"


def former_settings(plan: ChangePlan) -> Sequence[str]:
    """What each variable was that the lines of my.cnf set."""
    return [
        f"{one.variable}: was {printable('unknown here' if one.present is None else one.present or 'empty')}"
        for one in plan.settings
        if one.variable
    ]
