"""One voice: of all that the rules found, what is worth saying, in which order, and why the rest is not said.

Those that make others pointless come first. A finding is dropped when one that stands makes it pointless, when the variable that it would
change is taken for the same object, when memory has no room for its remedy beside those before it, or when a proof shows that it does not pay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from myisam_advisor.catalogue.rules import CONFIDENCES, SEVERITIES, Rule
from myisam_advisor.judging.findings import Dropped, Finding, NotEvaluated, Suppressed
from myisam_advisor.remedies.planners.base import NoRoom, NotWorth, PlanNeeds
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value

EVERY_RULE = "*"
LAST = 1000  # what holds nobody back comes after what does
CONFIRMED, SUSPECTED = CONFIDENCES[0], CONFIDENCES[-1]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that a rule's query gave: a finding, once it is planned and put in words.

    `held` is what is said before and behind it where a former look gave it and it is told on, and `away_seconds` how long ago that was, where this look has none (told.py).
    """

    rule: Rule
    row: Mapping[str, Value]
    severity: str
    object: str
    variable: str | None
    confidence: str = "likely"
    held: tuple[str, str] = ("", "")
    away_seconds: float | None = None

    @property
    def rank(self) -> tuple[int, bool, str, str]:
        """Worst first; among equals what makes others pointless."""
        return SEVERITIES.index(self.severity), not self.makes_pointless, self.rule.id, self.object

    @property
    def makes_pointless(self) -> frozenset[str]:
        """The rules that it makes pointless; a query's column `moots` of 0 says that this row does not."""
        return frozenset(self.rule.moots if self.row.get("moots", 1) else ())


@dataclass(frozen=True, slots=True)
class Worded:
    """A candidate as a finding, and what the indexes of tables will take in the default key cache if it stands."""

    finding: Finding
    index_bytes: Mapping[tuple[Value, Value], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NoGain:
    """It was proved here that the change makes no difference: the finding is dropped, and the report says so."""

    why: str


CandidateOutcome = Worded | NotWorth | NoRoom | NoGain | PlanNeeds


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
    put_in_words: Callable[[Candidate], CandidateOutcome],
    suppression: Callable[[Candidate], tuple[str, str] | None],
    keep: Callable[[Worded], None] = lambda _worded: None,
) -> Resolution:
    """Decide on each candidate in turn.

    `suppression` gives a reason and a date for what the site does not want to see; `keep` is told of each finding that stands, before
    the next one is planned.
    """
    resolution = Resolution()
    pointless = _Pointless()
    taken: dict[tuple[str, str], str] = {}
    orders = _orders(rules)
    places: dict[int, tuple[int, int, str, str]] = {}
    for candidate in _in_turn(candidates):
        unwanted = suppression(candidate)
        why = None if unwanted else pointless.why(candidate) or _variable_taken(candidate, taken)
        if why:
            resolution.dropped.append(Dropped(candidate.rule.id, candidate.object, why))
            continue
        outcome = put_in_words(candidate)
        if isinstance(outcome, PlanNeeds):
            resolution.undecided.append(
                NotEvaluated(candidate.rule.id, outcome.needs, outcome.how, object=candidate.object)
            )
        elif isinstance(outcome, NoRoom | NoGain):
            resolution.dropped.append(Dropped(candidate.rule.id, candidate.object, outcome.why))
        elif isinstance(outcome, Worded) and unwanted:
            resolution.suppressed.append(Suppressed(outcome.finding, *unwanted))
        elif isinstance(outcome, Worded):
            resolution.kept.append(outcome.finding)
            places[id(outcome.finding)] = _place(candidate, orders)
            pointless.add(candidate)
            if candidate.variable:
                taken[candidate.variable, candidate.object] = candidate.rule.id
            keep(outcome)
    resolution.kept.sort(key=lambda finding: places[id(finding)])
    resolution.mooted = pointless.whole_rules(rules)
    return resolution


def _orders(rules: Sequence[Rule]) -> Mapping[str, int]:
    """Which cause is told before which: those nearest to the hardware first, and what makes others pointless where the first of them would be."""
    own = {rule.id: rule.resource_order or LAST for rule in rules}
    return {
        rule.id: 0
        if EVERY_RULE in rule.moots
        else min(own[rule.id], *(own.get(other, LAST) - 1 for other in rule.moots), LAST)
        for rule in rules
    }


def _place(candidate: Candidate, orders: Mapping[str, int]) -> tuple[int, int, str, str]:
    """Where a finding is told: the worst first, among equals the cause."""
    order = orders.get(candidate.rule.id, LAST)
    return SEVERITIES.index(candidate.severity), order, candidate.rule.id, candidate.object


def _in_turn(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Worst first, but what makes a rule pointless, or takes memory before it, ahead of that rule."""
    waiting: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: one.rank, reverse=True):
        waiting.setdefault(candidate.rule.id, []).append(candidate)
    while waiting:
        rules = {name: own[0].rule for name, own in waiting.items()}
        ready = [name for name, rule in rules.items() if not any(_precedes(other, rule) for other in rules.values())]
        # Rules that point at each other have no order of their own: the worst speaks.
        among = ready or list(waiting)
        rule = min(among, key=lambda name: waiting[name][-1].rank)
        while rule in waiting:
            yield waiting[rule].pop()
            if not waiting[rule]:
                del waiting[rule]
            else:
                rule = min(among, key=lambda name: waiting[name][-1].rank)


def _precedes(earlier: Rule, later: Rule) -> bool:
    """Whether one rule's candidates come before another's."""
    if earlier.id == later.id:
        return False
    return earlier.id in later.plans_after or bool({EVERY_RULE, later.id} & set(earlier.moots))


class _Pointless:
    """What the findings that stand make pointless.

    What concerns the whole server speaks for all of it; what concerns one object, for findings about that object, and for those about
    another kind of thing that it names: a table may be what empties a key cache. A suspicion never hides what is confirmed: that
    may be its cause.
    """

    def __init__(self) -> None:
        self._everywhere: dict[str, Candidate] = {}
        self._of_object: dict[tuple[str, str], Candidate] = {}
        self._of_other_kinds: dict[tuple[str, str], Candidate] = {}

    def add(self, candidate: Candidate) -> None:
        """A finding that stands from now on."""
        for rule in candidate.makes_pointless:
            if candidate.rule.scope == "server":
                self._everywhere.setdefault(rule, candidate)
                continue
            self._of_object.setdefault((rule, candidate.object), candidate)
            if rule != EVERY_RULE:
                self._of_other_kinds.setdefault((rule, candidate.rule.scope), candidate)

    def why(self, candidate: Candidate) -> str | None:
        """Why this one is pointless; None when it is not."""
        for rule in (candidate.rule.id, EVERY_RULE):
            found = [self._everywhere.get(rule), self._of_object.get((rule, candidate.object))]
            found += [
                other
                for (named, scope), other in self._of_other_kinds.items()
                if named == rule and scope != candidate.rule.scope
            ]
            for other in found:
                if (
                    other is not None
                    and other.rule.id != candidate.rule.id
                    and not _better_proven(candidate, other, rule)
                ):
                    return _pointless_beside(other)
        return None

    def whole_rules(self, rules: Sequence[Rule]) -> dict[str, str]:
        """Rules that a finding about the whole server makes pointless, whatever they would have found."""
        mooted = {}
        for named, other in self._everywhere.items():
            for rule in rules:
                if named in (EVERY_RULE, rule.id) and rule.id != other.rule.id:
                    mooted[rule.id] = _pointless_beside(other)
        return mooted


def _better_proven(candidate: Candidate, other: Candidate, named: str) -> bool:
    return named != EVERY_RULE and (candidate.confidence, other.confidence) == (CONFIRMED, SUSPECTED)


def _variable_taken(candidate: Candidate, taken: Mapping[tuple[str, str], str]) -> str | None:
    holder = taken.get((candidate.variable or "", candidate.object))
    if holder is None or holder == candidate.rule.id:
        return None
    return f"{candidate.variable} is already advised on by {holder}"


def _pointless_beside(other: Candidate) -> str:
    about = f" for {other.object}" if other.rule.scope != "server" and other.object else ""
    return f"pointless while {other.rule.id} holds{about}: {other.rule.title}"
