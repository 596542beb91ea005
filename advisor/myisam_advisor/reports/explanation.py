"""A rule as a page for a person."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterable, Sequence
from functools import partial

from myisam_advisor.catalogue.rules import Measured, Parameter, Proving, Rule, Undecided, need_in_words, no_such_rule
from myisam_advisor.remedies.planners.base import planner_named
from myisam_advisor.reports.rule_words import outline, rule_text
from myisam_advisor.texts.templates import sentence
from myisam_advisor.texts.width import PAGE_WIDTH
from myisam_exporter.server.version_number import PRODUCT_NAMES


def list_rules(rules: Sequence[Rule]) -> str:
    """One line for each rule."""
    width = max(len(rule.id) for rule in rules)
    severities = [", ".join(rule.severities) for rule in rules]
    room = max(map(len, severities))
    return "\n".join(
        f"{rule.id:{width}}  {severity:{room}}  {rule.title}" for rule, severity in zip(rules, severities, strict=True)
    )


def explain_rule(
    name: str, rules: Sequence[Rule], width: int = PAGE_WIDTH, with_sql: bool = True, proved: Sequence[str] = ()
) -> str:
    """What a rule checks, why, when it is wrong, with which thresholds, and where that comes from; its query is asked for.

    `proved` are sentences about what was proved here of its remedy.

    Prose is broken at this width; a query stands as its author wrote it.

    Raises UserError for a rule that does not exist.
    """
    rule = next((rule for rule in rules if rule.id == name), None)
    if rule is None:
        raise no_such_rule(name, [rule.id for rule in rules])
    indented = partial(_indented, width=width)
    sections = [
        f"{rule.id}: {rule.title}",
        f"Severity {_one_of(rule.severities)}, scope {rule.scope}"
        + (f", would change {rule.variable}" if rule.variable else ""),
    ]
    for heading, text in texts_of(rule):
        sections.append(f"{heading}\n{indented(text)}")
    if proved:
        sections.append("What was proved here\n" + "\n".join(map(indented, proved)))
    if rule.parameters:
        lines = [f"{name} = {threshold(parameter)}: {parameter.why}" for name, parameter in rule.parameters.items()]
        sections.append("Thresholds\n" + "\n".join(indented(line) for line in lines))
    if rule.needs:
        sections.append("Needs\n" + "\n".join(indented(need_in_words(need)) for need in rule.needs))
    if rule.not_quiet_without:
        facts = dict.fromkeys(one.fact for one in rule.not_quiet_without)
        sections.append("Not quiet without, unless others exclude it\n" + "\n".join(map(indented, facts)))
    if with_sql:
        sections += _queries(rule)
    sections.append("Sources\n" + "\n".join(indented(source) for source in rule.sources))
    sections.append(
        "Change the thresholds, or silence the rule (/etc/myisam-advisor/config.yaml)\n"
        + textwrap.indent(configuration(rule), "  ")
    )
    return "\n\n".join(sections)


def _queries(rule: Rule) -> Iterable[str]:
    yield "Query\n" + textwrap.indent(rule.query, "  ")
    if rule.details:
        yield "What is said beside it\n" + textwrap.indent(rule.details_in_sql, "  ")
    if rule.not_if:
        queries = "\n".join(f"{condition.when.strip()};" for condition in rule.not_if)
        yield "Not if this gives a row\n" + textwrap.indent(queries, "  ")


def texts_of(rule: Rule) -> Iterable[tuple[str, str]]:
    """What a person wants to know of a rule, with headings; where a finding fills in values, an example's."""
    yield "What it says", rule_text(rule, "finding")
    if rule.resource:
        yield "What then holds the server back", sentence(f"{rule.resource[0].upper()}{rule.resource[1:]}")
    yield "Why", rule.why
    yield "What to do", rule_text(rule, "recommendation")
    if rule.planner:
        yield "How that is worked out", (inspect.getdoc(sys.modules[planner_named(rule.planner).__module__]) or "")
    yield "What to expect", rule_text(rule, "expect")
    if rule.published:
        yield "What was published", rule.published
    yield "What it costs", rule_text(rule, "cost")
    yield "How to undo it", rule_text(rule, "undo")
    yield "How to verify it", rule_text(rule, "verify")
    if rule.measured:
        yield "What was measured", _measured(rule.measured)
    if rule.proof:
        yield "What proves it here", _proving(rule.proof)
    yield "When it is wrong", rule.when_wrong
    if rule.not_if:
        reasons = (outline(condition.because, rule.scope) for condition in rule.not_if)
        yield "What silences it", " ".join(f"{reason[:1].upper()}{reason[1:].rstrip('.')}." for reason in reasons)
    if rule.undecided:
        yield "What it needs where it cannot decide", _lacking(rule.undecided, rule.scope)
    yield "Where it applies", " ".join(_applies(rule))
    if rule.moots:
        others = "every other rule" if "*" in rule.moots else ", ".join(rule.moots)
        yield "What it makes pointless", others


def _lacking(undecided: Undecided, scope: str) -> str:
    """What is needed, and how to have it; of texts that choose, each choice."""
    needs, how = outline(undecided.needs, scope), outline(undecided.how, scope)
    return f"{sentence(needs)} To have it: {sentence(how)}" if how else sentence(needs)


def _measured(measured: Measured) -> str:
    what = "; ".join(dict.fromkeys(quote.workload for quote in measured.quotes))
    return f"{what}: see docs/reference/evidence.md. {measured.not_for} On your own tables: myisam-advisor trial {measured.experiment} --table DB.TABLE."


def _proving(proof: Proving) -> str:
    said = f"myisam-advisor trial {proof.experiment} --table DB.TABLE, on a copy of your own table: what it finds is kept, and quoted."
    if proof.required:
        return f"{said} The change is recommended from such a proof only; no difference drops it, and a loss makes it a warning."
    return f"{said} No difference drops the change, and a loss makes it a warning."


def threshold(parameter: Parameter) -> str:
    """A threshold's value with its unit, and the shipped one where the site chose another."""
    shipped = f" (here; shipped: {parameter.shipped})" if parameter.shipped is not None else ""
    return f"{parameter.default} {parameter.unit}{shipped}"


def _applies(rule: Rule) -> Iterable[str]:
    flavours = [name for name in ("mysql", "percona", "mariadb") if name in rule.flavours]
    for name in flavours:
        wanted = rule.versions.get("mariadb" if name == "mariadb" else "mysql")
        yield f"{PRODUCT_NAMES[name]}{f' {wanted}' if wanted else ''}{',' if name != flavours[-1] else '.'}"
    if rule.not_in_version:
        yield rule.not_in_version
    yield from (f"Not where: {' '.join(condition.otherwise.split())}" for condition in rule.applicable)


def configuration(rule: Rule) -> str:
    """Lines of config.yaml that change a threshold of this rule, or silence it."""
    lines = []
    if rule.parameters:
        name, parameter = next(iter(rule.parameters.items()))
        lines += ["thresholds:", f"  {rule.id}: {{{name}: {parameter.default}}}"]
    about = ', object: "shop.*"' if rule.scope != "server" else ""
    lines += ["suppressions:", f"  - {{rule: {rule.id}{about}, reason: why, until: 2027-12-31}}"]
    return "\n".join(lines)


def _one_of(words: Sequence[str]) -> str:
    """critical, warning or info."""
    *before, last = words
    return f"{', '.join(before)} or {last}" if before else last


def _indented(text: str, width: int) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
