"""Findings that a person names, and what became of a rule that has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.catalogue.rules import no_such_rule
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_exporter.errors import UserError


def refuse_unknown_rules(wanted: Iterable[str], rule_ids: Iterable[str]) -> None:
    """Raises UserError for the first name that no rule has, with those that are spelled nearly alike."""
    known = set(rule_ids)
    for name in wanted:
        if name not in known:
            raise no_such_rule(name, sorted(known))


def choose(judgement: Judgement, wanted: Sequence[str], rule_ids: Iterable[str]) -> list[Finding]:
    """The findings that RULE or RULE:OBJECT name; all of them where nothing is named.

    Raises UserError for a rule that does not exist, or that has no such finding, with what became of it.
    """
    if not wanted:
        return list(judgement.findings)
    refuse_unknown_rules((name.partition(":")[0] for name in wanted), rule_ids)
    chosen: list[Finding] = []
    for name in wanted:
        rule, _, about = name.partition(":")
        found = [one for one in judgement.findings if one.rule == rule and about in ("", one.object)]
        if not found:
            raise UserError(f"{name} has no finding: {why_not(judgement, rule, about)}.")
        chosen += [one for one in found if one not in chosen]
    return chosen


def why_not(judgement: Judgement, rule: str, about: str = "") -> str:
    """Why a rule has no finding about this object, or none at all."""
    objects = [one.object or "the whole server" for one in judgement.findings if one.rule == rule]
    if objects:
        return f"it speaks of {', '.join(objects[:5])}"
    for dropped in judgement.dropped:
        if dropped.rule == rule and about in ("", dropped.object):
            return f"it was dropped, because {dropped.why}"
    for missing in judgement.not_evaluated:
        if missing.rule == rule:
            return f"it needs {missing.needs}"
    for other in judgement.not_applicable:
        if other.rule == rule:
            return other.why.rstrip(".")
    if any(one.finding.rule == rule for one in judgement.suppressed):
        return "the configuration suppresses it"
    return "the rule found nothing"
