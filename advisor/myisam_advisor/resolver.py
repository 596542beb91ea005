"""One voice: of all that the rules found, what is worth saying, in which order, and why the rest is not said.

Those that make others pointless come first. A finding is dropped when one that stands makes it pointless, when the variable that it would
change is taken for the same object, or when memory has no room for its remedy beside those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_advisor.findings import Dropped, Finding, NotEvaluated, Suppressed
from myisam_advisor.planning import NoRoom, NotWorth, PlanNeeds
from myisam_advisor.rules import SEVERITIES, Rule
from myisam_exporter.columns import Value

EVERY_RULE = "*"
Outcome = Finding | NotWorth | NoRoom | PlanNeeds


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that a rule's query gave: a finding, once it is planned and put in words."""

    rule: Rule
    row: Mapping[str, Value]
    severity: str
    object: str
    variable: str | None

    @property
    def rank(self) -> tuple[int, bool, str, str]:
        """Worst first; among equals what makes others pointless."""
        return SEVERITIES.index(self.severity), not self.makes_pointless, self.rule.id, self.object

    @property
    def makes_pointless(self) -> frozenset[str]:
        """The rules that it makes pointless; a query's column `moots` of 0 says that this row does not."""
        return frozenset(self.rule.moots if self.row.get("moots", 1) else ())

    def moots(self, other: Candidate) -> bool:
        """Whether the other is pointless while this holds.

        What concerns the whole server speaks for all of it; what concerns one object, for findings about that object, and for those
        about another kind of thing that it names: a table may be what empties a key cache.
        """
        named = self.makes_pointless
        if other.rule.id == self.rule.id or not {EVERY_RULE, other.rule.id} & named:
            return False
        if self.rule.scope == "server" or other.object == self.object:
            return True
        return other.rule.id in named and other.rule.scope != self.rule.scope


@dataclass(slots=True)
class Resolution:
    """What stands, and what became of the rest. `mooted` are whole rules, with the reason."""

    kept: list[Finding] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    suppressed: list[Suppressed] = field(default_factory=list)
    undecided: list[NotEvaluated] = field(default_factory=list)
    mooted: dict[str, str] = field(default_factory=dict)


def resolve(
    candidates: Iterable[Candidate],
    rules: Sequence[Rule],
    put_in_words: Callable[[Candidate], Outcome],
    suppression: Callable[[Candidate], tuple[str, str] | None],
) -> Resolution:
    """Decide on each candidate in turn. `suppression` gives a reason and a date for what the site does not want to see."""
    resolution = Resolution()
    mooting: list[Candidate] = []
    taken: dict[tuple[str, str], str] = {}
    ranks: dict[int, tuple[int, bool, str, str]] = {}
    for candidate in _in_turn(candidates):
        unwanted = suppression(candidate)
        why = None if unwanted else _why_not(candidate, mooting, taken)
        if why:
            resolution.dropped.append(Dropped(candidate.rule.id, candidate.object, why))
            continue
        outcome = put_in_words(candidate)
        if isinstance(outcome, PlanNeeds):
            resolution.undecided.append(NotEvaluated(candidate.rule.id, outcome.needs, outcome.how))
        elif isinstance(outcome, NoRoom):
            resolution.dropped.append(Dropped(candidate.rule.id, candidate.object, outcome.why))
        elif isinstance(outcome, Finding):
            if unwanted:
                resolution.suppressed.append(Suppressed(outcome, *unwanted))
                continue
            resolution.kept.append(outcome)
            ranks[id(outcome)] = candidate.rank
            if candidate.makes_pointless:
                mooting.append(candidate)
            if candidate.variable:
                taken[candidate.variable, candidate.object] = candidate.rule.id
    resolution.kept.sort(key=lambda finding: ranks[id(finding)])
    resolution.mooted = _mooted_rules(mooting, rules)
    return resolution


def _in_turn(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Worst first, but what makes a rule pointless, or takes memory before it, ahead of that rule."""
    waiting: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: one.rank, reverse=True):
        waiting.setdefault(candidate.rule.id, []).append(candidate)
    while waiting:
        ready = [rule for rule, own in waiting.items() if not any(_precedes(other, own) for other in waiting.values())]
        # Rules that point at each other have no order of their own: the worst speaks.
        rule = min(ready or waiting, key=lambda name: waiting[name][-1].rank)
        yield waiting[rule].pop()
        if not waiting[rule]:
            del waiting[rule]


def _precedes(first: Sequence[Candidate], second: Sequence[Candidate]) -> bool:
    """Whether one rule's candidates come before another's."""
    earlier, later = first[-1].rule, second[-1].rule
    if earlier.id == later.id:
        return False
    return earlier.id in later.plans_after or bool({EVERY_RULE, later.id} & set(earlier.moots))


def _why_not(candidate: Candidate, mooting: Sequence[Candidate], taken: Mapping[tuple[str, str], str]) -> str | None:
    for other in mooting:
        if other.moots(candidate):
            return _pointless(other)
    holder = taken.get((candidate.variable or "", candidate.object))
    if holder is None or holder == candidate.rule.id:
        return None
    return f"{candidate.variable} is already advised on by {holder}"


def _pointless(other: Candidate) -> str:
    about = f" for {other.object}" if other.rule.scope != "server" and other.object else ""
    return f"pointless while {other.rule.id} holds{about}: {other.rule.title}"


def _mooted_rules(mooting: Sequence[Candidate], rules: Sequence[Rule]) -> dict[str, str]:
    """Rules that a finding about the whole server makes pointless."""
    mooted: dict[str, str] = {}
    for other in mooting:
        if other.rule.scope == "server":
            named = {rule.id for rule in rules} if EVERY_RULE in other.makes_pointless else other.makes_pointless
            for name in named - {other.rule.id}:
                mooted.setdefault(name, _pointless(other))
    return mooted
