"""What is told of a judgement: decided once, and set by each report for people in its own way.

Nothing here is escaped or shortened for a medium: a report says how many lines it has room for, and makes names harmless.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from myisam_advisor.judging.findings import Blind, Finding, Judgement, NotEvaluated, ShownFact, Suppressed
from myisam_advisor.judging.verdict import Verdict, verdict_of
from myisam_advisor.remedies.option_lines import OptionLine
from myisam_advisor.remedies.price import in_words, together
from myisam_advisor.remedies.statements.base import Command, Statement
from myisam_advisor.reports.alike import said_of_all
from myisam_advisor.reports.forecasts_in_words import gain_in_words
from myisam_advisor.reports.wording import NAMED_PER_RULE, TOLD_PER_RULE, holds_since
from myisam_advisor.texts.steps import first_step
from myisam_advisor.texts.templates import beside, limit
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet

# How many objects the overview names, and how long what a rule would have one do may be there.
NAMED_IN_SHORT = 2
LONGEST_PHRASE = 60
ONLY_CACHE = "default"
_PHRASE_END = re.compile(r"[.:;,(](?:\s|$)|\s\(")


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A fact that led to a finding, in words with units; `threshold` is None where it was held against none.

    `label` is for people; `fact` is its name, for who wants to ask for it.
    """

    label: str
    fact: str
    value: str
    threshold: str | None
    source: str


@dataclass(frozen=True, slots=True)
class ToldRule:
    """The findings of one rule and severity: the first in full, a few by what they say, the others by name.

    `number` is its place in every report. `subject` says in few words what it is about, `to_do` what to do, `price` what that asks of the
    server, empty where that is nothing. `sentences` are what is said of the first few, `likewise` the objects of others, and `unnamed` how many there are besides.
    """

    number: int
    subject: str
    to_do: str
    price: str
    first: Finding
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]
    likewise: tuple[str, ...]
    unnamed: int
    since: str

    @property
    def commands(self) -> tuple[tuple[Command, ...], ...]:
        """What to run, for each finding that has something: a remark or a lock of one is about nothing of the next."""
        return tuple(finding.remedy.commands for finding in self.findings if finding.remedy.commands)

    @property
    def undo_commands(self) -> tuple[tuple[Statement, ...], ...]:
        """What takes it back, for each finding likewise."""
        return tuple(finding.remedy.undo_commands for finding in self.findings if finding.remedy.undo_commands)

    @property
    def my_cnf(self) -> tuple[OptionLine, ...]:
        """The lines of my.cnf of all, each once."""
        return tuple(dict.fromkeys(line for finding in self.findings for line in finding.my_cnf))

    @property
    def label(self) -> str:
        """What these lines are of: one server has one such place."""
        return self.first.remedy.label

    @property
    def init_file(self) -> tuple[Statement, ...]:
        """The lines of the init_file of all, each once."""
        return tuple(dict.fromkeys(line for finding in self.findings for line in finding.remedy.init_file))

    @property
    def recommendation(self) -> str:
        """What to do about all of them."""
        return said_of_all((finding.object, finding.recommendation) for finding in self.findings)

    @property
    def cost(self) -> str:
        """What that costs, for all of them."""
        return said_of_all((finding.object, finding.cost) for finding in self.findings)

    @property
    def undo(self) -> str:
        """What takes it back, for all of them."""
        return said_of_all((finding.object, finding.undo) for finding in self.findings)

    @property
    def verify(self) -> str:
        """How to see the effect, for all of them."""
        return said_of_all((finding.object, finding.verify) for finding in self.findings)

    @property
    def expectation(self) -> str:
        """What was proved here first, then what the change brings, with what was measured of it on the nearest kind of server, and what it is expected to gain here."""
        return said_of_all((finding.object, _expectation(finding)) for finding in self.findings)

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
class Gap:
    """What could not be seen for one cause, or what one remedy mends: `causes` are phrases, `rules` those that could not judge for it.

    `counted` is how many of them the verdict has counted already: others lack something else that the same remedy gives.
    """

    causes: tuple[str, ...]
    remedy: str
    rules: tuple[str, ...]
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """All that is told, in the order of the findings.

    `gaps` are what is in `blind`, `unknown` and `notes`, by their remedies: for who reads one line for each cause.
    `notes` are what could not be seen for a reason that somebody may mend, `suspicious` whole sentences. `dismissed` are those of the `quiet` rules that found
    something which another sign explains.
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
    gaps: tuple[Gap, ...] = ()
    dismissed: tuple[str, ...] = ()


def told(judgement: Judgement, facts: FactSet, *, contradicted: bool = False) -> Told:
    """What is told of a judgement of these facts; `contradicted` also tells what a second sign spoke against."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in judgement.findings:
        alike.setdefault(_kind_of(finding), []).append(finding)
    notes = tuple(note for note in facts.notes if not note.off)
    verdict = verdict_of(judgement, facts.interval_seconds)
    return Told(
        verdict=verdict,
        rules=tuple(_rule(number, tuple(group)) for number, group in enumerate(alike.values(), 1)),
        suspicious=tuple(f"{_about(one.object)}{one.why}. Set aside." for one in judgement.suspicious),
        blind=tuple(judgement.blind),
        unknown=tuple(judgement.not_evaluated),
        dropped=_dropped(judgement, contradicted),
        suppressed=tuple(judgement.suppressed),
        notes=notes,
        warnings=tuple(judgement.warnings),
        quiet=tuple(judgement.quiet),
        dismissed=tuple(sorted({one.rule for one in judgement.dropped if one.contradicted} & {*judgement.quiet})),
        gaps=_gaps(judgement, notes, verdict),
    )


def _kind_of(finding: Finding) -> tuple[str, ...]:
    """What is told together: of one rule and severity, and with the same remedy: one that was proved to hurt is none."""
    decided = finding.proof.verdict if finding.proof is not None and finding.proof.used else ""
    return finding.severity, finding.rule, decided


def told_facts(evidence: Sequence[ShownFact]) -> tuple[ToldFact, ...]:
    """Evidence in words."""
    return tuple(
        ToldFact(
            fact.label or fact.fact,
            fact.fact,
            beside(fact.label, fact.value, fact.unit),
            limit(fact.threshold, fact.unit) if fact.threshold is not None else None,
            fact.source,
        )
        for fact in evidence
    )


def _rule(number: int, findings: tuple[Finding, ...]) -> ToldRule:
    in_words = findings if len(findings) <= TOLD_PER_RULE else findings[:1]
    others = tuple(finding.object for finding in findings[len(in_words) :])
    return ToldRule(
        number,
        _subject(findings),
        _to_do(findings[0]),
        _price(findings),
        findings[0],
        findings,
        tuple(map(_sentence, in_words)),
        others[:NAMED_PER_RULE],
        max(len(others) - NAMED_PER_RULE, 0),
        holds_since(findings),
    )


def _expectation(finding: Finding) -> str:
    return " ".join(filter(None, (finding.proved, finding.expect, finding.measured, gain_in_words(finding))))


def _subject(findings: Sequence[Finding]) -> str:
    """What it is about: nothing for the whole server, and for the only key cache."""
    names = [finding.object for finding in findings if finding.object]
    if not names or (findings[0].scope == "key_cache" and names == [ONLY_CACHE]):
        return ""
    more = len(names) - NAMED_IN_SHORT
    # The last of them takes no more room by its name than by a number.
    return f"{', '.join(names[:NAMED_IN_SHORT])} and {more} more" if more > 1 else ", ".join(names)


def _to_do(finding: Finding) -> str:
    # What is refused about no object switches a log on: it would only prepare what is done by hand in any case.
    if finding.object and finding.refused and not (finding.commands or finding.my_cnf):
        return f"not on this server as it is: {finding.to_do}"
    return finding.to_do or _beginning(finding.recommendation)


def _beginning(text: str) -> str:
    """How a recommendation begins: a rule of the site's may have no shorter one."""
    phrase = _PHRASE_END.split(first_step(text), maxsplit=1)[0]
    return phrase if len(phrase) <= LONGEST_PHRASE else f"{phrase[:LONGEST_PHRASE].rpartition(' ')[0]} ..."


def _price(findings: Sequence[Finding]) -> str:
    if findings[0].cost.startswith("None."):
        return ""
    return in_words(together([finding.price for finding in findings]))


def _sentence(finding: Finding) -> str:
    sure = finding.confidence == "confirmed"
    return finding.message if sure else f"{finding.confidence.capitalize()}: {finding.message}"


def _gaps(judgement: Judgement, notes: Sequence[Unknown], verdict: Verdict) -> tuple[Gap, ...]:
    """What is missing, once for each remedy; where there is none, once for each cause."""
    causes: dict[str, list[str]] = {}
    rules: dict[str, list[str]] = {}
    remedies: dict[str, str] = {}
    counted: dict[str, int] = {}

    def note(cause: str, remedy: str, concerned: Sequence[str]) -> None:
        key = remedy or f"without: {cause}"
        remedies[key] = remedy
        causes.setdefault(key, []).append(cause)
        rules.setdefault(key, []).extend(concerned)

    for spot in judgement.blind:
        # What the verdict said is not said again.
        seen = spot.sentence in f"{verdict.headline} {verdict.detail}"
        cause = spot.why if seen else f"{spot.sentence.rstrip('.')}. {spot.why}"
        note(cause, spot.remedy, spot.rules)
        if seen:
            counted[spot.remedy or f"without: {cause}"] = len(spot.rules)
    told_of = {rule for spot in judgement.blind for rule in spot.rules}
    for outcome in judgement.not_evaluated:
        if outcome.rule not in told_of:
            note(outcome.why or f"needs {outcome.needs}", outcome.how, (outcome.rule,))
    for one in notes:
        note(one.reason, one.remedy, ())
    return tuple(
        Gap(_without_echoes(once(causes[key])), remedies[key], tuple(dict.fromkeys(rules[key])), counted.get(key, 0))
        for key in remedies
    )


def _without_echoes(causes: Sequence[str]) -> tuple[str, ...]:
    """Without those that say of something else that it is not known for a cause that is among them."""
    ends = tuple(f": {cause.casefold()}" for cause in causes)
    return tuple(cause for cause in causes if not cause.casefold().endswith(ends))


def once(phrases: Sequence[str]) -> tuple[str, ...]:
    """Each of them once, whether it began a sentence or not."""
    return tuple({phrase.casefold(): phrase for phrase in phrases}.values())


def _about(name: str) -> str:
    return f"{name}: " if name else ""


def _dropped(judgement: Judgement, contradicted: bool) -> tuple[ToldDrop, ...]:
    """Alike ones together."""
    known = [one for one in judgement.dropped if contradicted or not one.contradicted]
    return tuple(
        ToldDrop(rule, why, tuple(one.object for one in group if one.object))
        for (rule, why), group in groupby(known, key=lambda one: (one.rule, one.why))
    )
