"""What is told of a judgement: decided once, and set by each report for people in its own way.

Nothing here is escaped or shortened for a medium: a report says how many lines it has room for, and makes names harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from myisam_advisor.judging.findings import Blind, Finding, Judgement, NotEvaluated, ShownFact, Suppressed
from myisam_advisor.judging.verdict import Verdict, verdict_of
from myisam_advisor.remedies.statements.base import Command, Statement
from myisam_advisor.reports.wording import NAMED_PER_RULE, TOLD_PER_RULE, holds_since
from myisam_advisor.texts.templates import with_unit
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A fact that led to a finding, in words with units; `threshold` is None where it was held against none."""

    fact: str
    value: str
    threshold: str | None
    source: str


@dataclass(frozen=True, slots=True)
class ToldRule:
    """The findings of one rule and severity: the first in full, a few by what they say, the others by name.

    `sentences` are what is said of the first few, `likewise` the objects of others, and `unnamed` how many there are besides.
    """

    first: Finding
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]
    likewise: tuple[str, ...]
    unnamed: int
    since: str

    @property
    def commands(self) -> tuple[Command, ...]:
        """What to run, for all findings."""
        return tuple(command for finding in self.findings for command in finding.remedy.commands)

    @property
    def undo_commands(self) -> tuple[Statement, ...]:
        """What takes it back, for all findings."""
        return tuple(command for finding in self.findings for command in finding.remedy.undo_commands)

    def likewise_sentence(self, where: str = "") -> str:
        """Which other objects it is about; empty where each has its own sentence. `where` says where the unnamed are."""
        if not self.likewise:
            return ""
        more = f" and {self.unnamed} more{where}" if self.unnamed else ""
        return f"Likewise {', '.join(self.likewise)}{more}."


@dataclass(frozen=True, slots=True)
class ToldDrop:
    """Findings of one rule that are not told, all for one reason, and the objects they are about."""

    rule: str
    why: str
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """All that is told, in the order of the findings.

    `notes` are what could not be seen for a reason that somebody may mend, `suspicious` whole sentences.
    """

    verdict: Verdict
    rules: tuple[ToldRule, ...]
    suspicious: tuple[str, ...]
    blind: tuple[Blind, ...]
    unknown: tuple[NotEvaluated, ...]
    dropped: tuple[ToldDrop, ...]
    suppressed: tuple[Suppressed, ...]
    notes: tuple[Unknown, ...]
    warnings: tuple[str, ...]
    quiet: tuple[str, ...]


def told(judgement: Judgement, facts: FactSet, *, contradicted: bool = False) -> Told:
    """What is told of a judgement of these facts; `contradicted` also tells what a second sign spoke against."""
    return Told(
        verdict_of(judgement, facts.interval_seconds),
        tuple(
            _rule(tuple(group))
            for _, group in groupby(judgement.findings, key=lambda finding: (finding.severity, finding.rule))
        ),
        tuple(f"{_about(one.object)}{one.why}. Set aside." for one in judgement.suspicious),
        tuple(judgement.blind),
        tuple(judgement.not_evaluated),
        _dropped(judgement, contradicted),
        tuple(judgement.suppressed),
        tuple(note for note in facts.notes if not note.off),
        tuple(judgement.warnings),
        tuple(judgement.quiet),
    )


def told_facts(evidence: Sequence[ShownFact]) -> tuple[ToldFact, ...]:
    """Evidence in words."""
    return tuple(
        ToldFact(
            fact.fact,
            with_unit(fact.value, fact.unit),
            with_unit(fact.threshold, fact.unit) if fact.threshold is not None else None,
            fact.source,
        )
        for fact in evidence
    )


def _rule(findings: tuple[Finding, ...]) -> ToldRule:
    in_words = findings if len(findings) <= TOLD_PER_RULE else findings[:1]
    others = tuple(finding.object for finding in findings[len(in_words) :])
    return ToldRule(
        findings[0],
        findings,
        tuple(map(_sentence, in_words)),
        others[:NAMED_PER_RULE],
        max(len(others) - NAMED_PER_RULE, 0),
        holds_since(findings),
    )


def _sentence(finding: Finding) -> str:
    sure = finding.confidence == "confirmed"
    return finding.message if sure else f"{finding.confidence.capitalize()}: {finding.message}"


def _about(name: str) -> str:
    return f"{name}: " if name else ""


def _dropped(judgement: Judgement, contradicted: bool) -> tuple[ToldDrop, ...]:
    """Alike ones together."""
    known = [one for one in judgement.dropped if contradicted or not one.contradicted]
    return tuple(
        ToldDrop(rule, why, tuple(one.object for one in group if one.object))
        for (rule, why), group in groupby(known, key=lambda one: (one.rule, one.why))
    )
