"""A rule as a page for a person."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from myisam_advisor.rules import Rule
from myisam_exporter.errors import UserError

WIDTH = 100


def list_rules(rules: Sequence[Rule]) -> str:
    """One line a rule."""
    width = max(len(rule.id) for rule in rules)
    return "\n".join(f"{rule.id:{width}}  {rule.severity:8}  {rule.title}" for rule in rules)


def explain_rule(name: str, rules: Sequence[Rule]) -> str:
    """What a rule checks, why, when it is wrong, with which thresholds, and where that comes from.

    Raises UserError for a rule that does not exist.
    """
    rule = next((rule for rule in rules if rule.id == name), None)
    if rule is None:
        raise UserError(f"there is no rule {name!r}. `myisam-advisor explain` lists them.")
    sections = [
        f"{rule.id}: {rule.title}",
        f"Severity {rule.severity}, scope {rule.scope}" + (f", would change {rule.variable}" if rule.variable else ""),
    ]
    for heading, text in (
        ("Why", rule.why),
        ("When it is wrong", rule.when_wrong),
        ("Where it applies", rule.not_in_version),
    ):
        if text:
            sections.append(f"{heading}\n{_indented(text)}")
    if rule.parameters:
        lines = [
            f"{name} = {parameter.default} {parameter.unit}: {parameter.why}"
            for name, parameter in rule.parameters.items()
        ]
        sections.append("Thresholds\n" + "\n".join(_indented(line) for line in lines))
    if rule.needs:
        sections.append(
            "Needs\n"
            + "\n".join(
                _indented(need if isinstance(need, str) else "one of " + ", ".join(need)) for need in rule.needs
            )
        )
    sections.append("Query\n" + textwrap.indent(rule.query, "  "))
    sections.append("Sources\n" + "\n".join(_indented(source) for source in rule.sources))
    return "\n\n".join(sections)


def _indented(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
