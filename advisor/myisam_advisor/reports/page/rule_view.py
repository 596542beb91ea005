"""A rule's page: what it says of this server now, then what it checks, why, and where that comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from myisam_advisor.catalogue.rules import SEVERITIES, Rule, need_in_words
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.reports.explanation import configuration, texts_of, threshold
from myisam_advisor.reports.page.general_text import GeneralText, general_text
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.view import FindingView, cleaner, finding_views, moment
from myisam_advisor.reports.told import told
from myisam_exporter.declaring.lean_dataclasses import dataclass

# The texts of `explain` that a finding completes, and the fields of the rule that they are made of.
COMPLETED = {
    "What it says": "finding",
    "What to do": "recommendation",
    "What to expect": "expect",
    "What it costs": "cost",
    "How to undo it": "undo",
    "How to verify it": "verify",
}
# Told by the finding alone: a half of it would mislead.
WHOLE_OR_NOT = ("What it says", "How to undo it")
# How a text begins that an example's values complete (reports/rule_words.py).
EXAMPLE = "For example: "
# Parts of sentences; other texts may begin with the name of a program.
BEGIN_SMALL = ("What then holds the server back", "What was measured")
# Addresses in a source, which are links: what ends a sentence or a bracket behind one is no part of it, nor are a colon and a semicolon.
_ADDRESS = re.compile(r"(https?://\S+?)(?=[.,:;)]*(?:\s|$))")
FOUND, QUIET, NOT_JUDGED, SET_ASIDE, NOT_FOR_THIS = "found here", "quiet", "not judged", "set aside", "does not apply"


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A text under a heading. `more` where a finding has figures that no general text can have; `example` has those of a case of the rule."""

    anchor: str
    heading: str
    text: str
    cases: tuple[str, ...]
    more: bool
    example: str

    @property
    def says_anything(self) -> bool:
        """Whether anything of it holds without a finding."""
        return bool(self.text or self.cases or self.example)


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What the last look made of the rule: in a word or two, in a sentence, and how to have it judged where it was not.

    `tone` is the worst severity found, `good`, or `unknown`.
    """

    state: str
    sentence: str
    remedy: str = ""
    tone: str = "unknown"


@dataclass(frozen=True, slots=True)
class RuleView:
    """All that the template sets. Every other part of a source is an address."""

    title: str
    id: str
    severity: str
    about: str
    server: str
    taken: str
    outcome: RuleOutcome
    findings: tuple[FindingView, ...]
    sections: tuple[RuleSection, ...]
    left_to_findings: str
    thresholds: tuple[tuple[str, str, str], ...]
    needs: tuple[str, ...]
    query: str
    details: str
    silencing: str
    sources: tuple[Sequence[str], ...]
    configuration: str
    links: Links


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule as a line: with the severity that was found, or else its own; `state` is empty where no server was looked at."""

    id: str
    title: str
    severity: str
    state: str
    is_found: bool


@dataclass(frozen=True, slots=True)
class RuleListView:
    """The list of rules, those with findings first."""

    title: str
    server: str
    taken: str
    rules: tuple[ListedRule, ...]
    links: Links


def rule_view(rule: Rule, look: Look | None, links: Links, *, paths: bool) -> RuleView:
    """The page of a rule; `look` is the last one at the server, if there is one."""
    clean, command = cleaner(look, paths)
    sections = tuple(_sections(rule))
    silent = [section.heading for section in sections if not section.says_anything]
    rules = [one for one in told(look.judgement, look.facts).rules if one.first.rule == rule.id] if look else []
    outcome = _outcome(rule, look.judgement if look else None)
    return RuleView(
        title=rule.title,
        id=rule.id,
        severity=rule.severity,
        about=f"About {_scope(rule)}" + (f"; would change {rule.variable}" if rule.variable else ""),
        server=look.name if look else "",
        taken=moment(look.taken_at) if look else "",
        outcome=replace(outcome, sentence=clean(outcome.sentence), remedy=clean(outcome.remedy)),
        findings=tuple(replace(one, is_open=True) for one in finding_views(rules, clean, command)),
        sections=tuple(section for section in sections if section.says_anything),
        left_to_findings=_in_a_row(silent),
        thresholds=tuple((name, threshold(one), one.why) for name, one in rule.parameters.items()),
        needs=tuple(map(need_in_words, rule.needs)),
        query=rule.query.strip(),
        details=rule.details_in_sql,
        silencing="\n".join(f"{condition.when.strip()};" for condition in rule.not_if),
        sources=tuple(_ADDRESS.split(source) for source in rule.sources),
        configuration=configuration(rule),
        links=links,
    )


def rule_list_view(rules: Sequence[Rule], look: Look | None, links: Links) -> RuleListView:
    """All rules: what was found first, then by severity."""
    judgement = look.judgement if look else None
    lines = [_line(rule, _outcome(rule, judgement), is_known=look is not None) for rule in rules]
    lines.sort(key=lambda line: (not line.is_found, SEVERITIES.index(line.severity), line.id))
    server, taken = (look.name, moment(look.taken_at)) if look else ("", "")
    return RuleListView("Rules", server, taken, tuple(lines), links)


def _line(rule: Rule, outcome: RuleOutcome, *, is_known: bool) -> ListedRule:
    is_found = outcome.state == FOUND
    severity = outcome.tone if is_found else rule.severity
    return ListedRule(rule.id, rule.title, severity, outcome.state if is_known else "", is_found)


def _outcome(rule: Rule, judgement: Judgement | None) -> RuleOutcome:
    if judgement is None:
        return RuleOutcome(NOT_JUDGED, "No server was looked at yet.")
    quiet = RuleOutcome(QUIET, "The rule found nothing here.", tone="good")
    return next(iter(_outcomes(rule.id, judgement)), quiet)


def _outcomes(rule: str, judgement: Judgement) -> Iterable[RuleOutcome]:
    """What became of it; the first one is told."""
    found = [one for one in judgement.findings if one.rule == rule]
    if found:
        worst = min((one.severity for one in found), key=SEVERITIES.index)
        yield RuleOutcome(FOUND, f"Found: {worst}. What to do follows.", tone=worst)
    for unknown in judgement.not_evaluated:
        if unknown.rule == rule:
            yield RuleOutcome(NOT_JUDGED, f"It could not be judged: it needs {unknown.needs}.", unknown.how)
    for dropped in judgement.dropped:
        if dropped.rule == rule:
            yield RuleOutcome(SET_ASIDE, f"It was found and set aside: {dropped.why.rstrip('.')}.")
    for hidden in judgement.suppressed:
        if hidden.finding.rule == rule:
            until = f", until {hidden.until}" if hidden.until else ""
            yield RuleOutcome(SET_ASIDE, f"It was found, and the configuration hides it ({hidden.reason}{until}).")
    for other in judgement.not_applicable:
        if other.rule == rule:
            yield RuleOutcome(NOT_FOR_THIS, f"It does not apply to this server: {other.why.rstrip('.')}.")


def _scope(rule: Rule) -> str:
    return {"server": "the server", "table": "a table", "index": "an index", "key_cache": "a key cache"}[rule.scope]


def _sections(rule: Rule) -> Iterable[RuleSection]:
    for heading, text in texts_of(rule):
        general, told_whole = _general(rule, heading, text), " ".join(text.split())
        said = " ".join(general.always)
        if heading in BEGIN_SMALL:
            said = said[:1].upper() + said[1:]
        example = "" if general.is_complete or not told_whole.startswith(EXAMPLE) else told_whole.removeprefix(EXAMPLE)
        anchor = heading.lower().replace(" ", "-")
        yield RuleSection(anchor, heading, said, general.in_some_cases, not general.is_complete, example)


def _general(rule: Rule, heading: str, text: str) -> GeneralText:
    """What of a text always holds; nothing of those of which a half would mislead."""
    if heading == "What silences it":
        return _together(general_text(condition.because) for condition in rule.not_if)
    if heading not in COMPLETED:
        return GeneralText((" ".join(text.split()),), (), is_complete=True)
    general = general_text(getattr(rule, COMPLETED[heading]))
    partly = heading in WHOLE_OR_NOT and not general.is_complete
    return GeneralText((), (), is_complete=False) if partly else general


def _in_a_row(headings: Sequence[str]) -> str:
    """Headings as a subject: "what to do, what it costs and how to undo it"."""
    names = [heading[:1].lower() + heading[1:] for heading in headings]
    row = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return row[:1].upper() + row[1:]


def _together(texts: Iterable[GeneralText]) -> GeneralText:
    """Each silences by itself."""
    known = list(texts)
    cases = tuple(sentence for text in known for sentence in (*text.always, *text.in_some_cases))
    return GeneralText((), cases, all(text.is_complete for text in known))
