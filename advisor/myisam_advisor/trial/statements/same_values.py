"""Whether SELECTs return the same values under a change: as many rows need not be the same ones.

Rows are counted in every run; values are compared once, of one SELECT of each kind, on tables that nothing was written to. What the settings as they are
answer otherwise when they are asked twice says nothing, nor does LIMIT, which leaves open which rows come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.trial.statements.answers import Digest, Rows, digests_of, selects
from myisam_advisor.trial.statements.figures import KIND_SHARE
from myisam_advisor.trial.statements.survey import Judging, TableName
from myisam_advisor.trial.statements.variants import BASELINE
from myisam_advisor.trial.statements.ways import Ways
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.tokens import tokens
from myisam_exporter.declaring.lean_dataclasses import dataclass

# Of the budget, what asking one server once may take; where rounds are counted and not seconds, so many seconds.
ASKING_SHARE, ASKING_SECONDS = 0.02, 30.0
_LIMIT = b"limit"


@dataclass(frozen=True, slots=True)
class Asked:
    """SELECTs that are asked of each variant, the kinds with most time first: their kinds, and what the settings as they are answer."""

    events: Sequence[Event]
    kinds: Sequence[int]
    usual: Sequence[Digest]


@dataclass(frozen=True, slots=True)
class OtherValues:
    """The kinds that are answered otherwise under a variant, each with the number of its error (0: other values), and their share of the recording."""

    kinds: Mapping[int, int]
    share: float

    def problem(self, names: Sequence[str]) -> str:
        """Why the variant has no speed; empty where what differs has too little weight for that."""
        if self.share < KIND_SHARE:
            return ""
        return f"statements with {self.share:.1%} of the weight are answered otherwise under it, so that its speed says nothing: {self._first(names)}"

    def note(self, variant: str, names: Sequence[str]) -> str:
        """The same for the report, where they have little weight; empty where nothing differs."""
        if not self.kinds:
            return ""
        more = f", and {len(self.kinds) - 1} more kinds" if len(self.kinds) > 1 else ""
        return f"Under {variant}, statements with {self.share:.1%} of the weight are answered otherwise: {self._first(names)}{more}."

    def _first(self, names: Sequence[str]) -> str:
        kind, error = next(iter(self.kinds.items()))
        return f"{names[kind]} {f'fails with error {error}' if error else 'returns other rows'}"


def to_ask(
    events: Iterable[Event], judging: Judging, copied: set[TableName], rows: Rows, shares: Mapping[int, float]
) -> list[Event]:
    """One SELECT of each kind that says which rows it wants, the kinds with most time first."""
    found = [
        one for one in selects(events, judging, copied, rows) if _LIMIT not in map(bytes.lower, tokens(one.statement))
    ]
    return sorted(found, key=lambda one: -shares.get(judging.of(one).kind, 0.0))


def asked_twice(ways: Ways, events: Sequence[Event], judging: Judging, budget_seconds: float | None) -> Asked:
    """What the settings as they are answer; those that they answer twice in the same way, as far as the time does."""
    seconds = ASKING_SECONDS if budget_seconds is None else budget_seconds * ASKING_SHARE
    first = ways.asked(BASELINE, lambda server: digests_of(server, events, seconds))
    again = ways.asked(BASELINE, lambda server: digests_of(server, events[: len(first)]))
    steady = [number for number, answer in enumerate(first) if answer == again[number]]
    return Asked(
        [events[number] for number in steady],
        [judging.of(events[number]).kind for number in steady],
        [first[number] for number in steady],
    )


def other_values(ways: Ways, variant: str, asked: Asked, shares: Mapping[int, float]) -> OtherValues:
    """What a variant answers otherwise. Raises VariantFailedError where it cannot be asked."""
    answers = ways.asked(variant, lambda server: digests_of(server, asked.events))
    kinds = {
        kind: answer if isinstance(answer, int) else 0
        for kind, usual, answer in zip(asked.kinds, asked.usual, answers, strict=True)
        if usual != answer
    }
    return OtherValues(kinds, sum(shares.get(kind, 0.0) for kind in kinds))
