"""A random sample of each adviser's changes: what comes of all of them is reckoned from it, where measuring all would take days.

The order is drawn by a hash of the scenario, the server and the change. So it is the same in each run, a change that several advisers
propose has one place for all of them, and the sample of one run is the beginning of the next one's.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.advice.changes import Piece, pieces
from benchmarks.advice.outcomes import UNTOUCHED
from benchmarks.advice.record import advice_of, measured_of
from benchmarks.advice.tally import Case

NORMAL_95 = 1.959964  # of 100 samples 95 are within so many standard deviations
FEWEST = 10  # of fewer nothing can be said


@dataclass(frozen=True, slots=True)
class Drawn:
    """One change of an adviser in one scenario on one server."""

    case: Case
    piece: Piece

    @property
    def place(self) -> str:
        """Where it stands in the order that was drawn."""
        text = f"{self.case.scenario.name}/{self.case.server}/{self.piece.key}"
        return hashlib.sha256(text.encode()).hexdigest()


def drawn(cases: Sequence[Case], adviser: str) -> list[Drawn]:
    """All changes that an adviser proposed, in the order that was drawn."""
    found = [
        Drawn(case, piece)
        for case in cases
        if (advice := advice_of(case.lines).get(adviser)) is not None
        for piece in pieces(advice.changes)
    ]
    return sorted(found, key=lambda one: one.place)


def advisers_of(cases: Sequence[Case]) -> list[str]:
    """Everybody who was asked."""
    return sorted({name for case in cases for name in advice_of(case.lines)})


def wanted(cases: Sequence[Case], size: int, besides: str) -> Mapping[tuple[str, str], frozenset[str]]:
    """The keys of the changes in the samples of all advisers but one, whose changes are all measured; by scenario and server."""
    found: dict[tuple[str, str], set[str]] = {}
    for adviser in advisers_of(cases):
        if adviser != besides:
            for one in drawn(cases, adviser)[:size]:
                found.setdefault((one.case.scenario.name, one.case.server), set()).add(one.piece.key)
    return {where: frozenset(keys) for where, keys in found.items()}


def known_outcomes(cases: Sequence[Case], adviser: str) -> Iterator[str]:
    """What came of the first changes of the order, up to the first that is not known. One that cannot touch a load is known beforehand."""
    for one in drawn(cases, adviser):
        line = measured_of(one.case.lines).get(one.piece.key)
        if one.case.untouching.why(one.piece) is not None:
            yield UNTOUCHED
        elif line is None:
            return
        else:
            yield str(line["outcome"])


@dataclass(frozen=True, slots=True)
class Sample:
    """What came of an adviser's sample, of so many changes in `all_pieces`."""

    adviser: str
    all_pieces: int
    outcomes: Counter[str]

    @property
    def size(self) -> int:
        """How many changes it has."""
        return self.outcomes.total()

    def share(self, *outcomes: str) -> tuple[float, float]:
        """The share of changes that come out so, as an interval."""
        return wilson(sum(self.outcomes[name] for name in outcomes), self.size)


def samples(cases: Sequence[Case]) -> list[Sample]:
    """Of everybody of whom enough is known."""
    found = [Sample(name, len(drawn(cases, name)), Counter(known_outcomes(cases, name))) for name in advisers_of(cases)]
    return [one for one in found if one.size >= FEWEST]


def wilson(count: int, size: int) -> tuple[float, float]:
    """The 95 % interval of a share of which `size` were drawn and `count` are so (Wilson 1927, score interval without continuity correction)."""
    if not size:
        return 0.0, 1.0
    share, square = count / size, NORMAL_95**2 / size
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) / size + square / (4 * size)) * NORMAL_95 / (1 + square)
    return max(middle - half, 0.0), min(middle + half, 1.0)
