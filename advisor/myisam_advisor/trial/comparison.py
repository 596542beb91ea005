"""What several runs of each variant say: medians, their ratio, how sure it is, and a verdict.

Runs of two variants alternate (A B B A), so that what the machine does meanwhile falls on both. The interval is a percentile bootstrap
over the rounds: rounds are drawn with replacement, both variants of a round together, because they shared the machine's mood
(Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 8).
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20081112  # the same runs give the same interval again
MINIMUM_ROUNDS = 3
# A change of less is not worth a restart or an ALTER, and no benchmark of seconds tells it from chance.
WORTHWHILE_CHANGE = 0.05
CLEAR_WIDTH = 0.15

WORTH_IT, NO_DIFFERENCE, WORSE, UNCLEAR = "worth it", "no difference", "worse", "unclear"


@dataclass(frozen=True, slots=True)
class Run:
    """One measured run: how many operations in how many seconds, and what the server did for them.

    CPU in seconds; switches, faults and read calls are counts over the run; None is unknown. `figures` are further numbers of the
    experiment's own, with units in their names.
    """

    seconds: float
    operations: float
    server_cpu_seconds: float | None = None
    client_cpu_seconds: float | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    read_calls: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def operations_per_second(self) -> float:
        """The rate that variants are compared by."""
        return self.operations / self.seconds if self.seconds else 0.0

    def per_operation(self, name: str) -> float | None:
        """A count or a time of this run, for each operation; None when unknown."""
        value = getattr(self, name)
        return value / self.operations if value is not None and self.operations else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A variant held against the baseline: the ratio of their median rates, above 1 is faster, with its 95 % interval.

    Too few rounds have no interval (None): one round drawn again and again would be as wide as a point.
    """

    variant: str
    ratio: float
    low: float | None
    high: float | None
    verdict: str

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval's ends; None where there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def median_of(runs: Sequence[Run], name: str) -> float | None:
    """The median over runs of `operations_per_second`, or of a count for each operation; None when any run does not know it."""
    values = [run.operations_per_second if name == "operations_per_second" else run.per_operation(name) for run in runs]
    known = [value for value in values if value is not None]
    return statistics.median(known) if known and len(known) == len(values) else None


def compare(variant: str, baseline: Sequence[Run], changed: Sequence[Run]) -> Comparison:
    """Hold the runs of a variant against those of the baseline, round by round."""
    pairs = [
        (before.operations_per_second, after.operations_per_second)
        for before, after in zip(baseline, changed, strict=True)
    ]
    ratio = _ratio(pairs)
    if len(pairs) < MINIMUM_ROUNDS:
        return Comparison(variant, ratio, None, None, UNCLEAR)
    generator = random.Random(SEED)  # noqa: S311 -- repeatable, not secret
    resampled = sorted(_ratio(generator.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    tail = (1 - CONFIDENCE) / 2
    low, high = resampled[int(tail * RESAMPLES)], resampled[int((1 - tail) * RESAMPLES) - 1]
    return Comparison(variant, ratio, low, high, verdict_of(ratio, low, high))


def verdict_of(ratio: float, low: float, high: float) -> str:
    """Worth it or worse when the whole interval and a worthwhile change say so; no difference when the interval is narrow; else unclear."""
    if low > 1 and ratio >= 1 + WORTHWHILE_CHANGE:
        return WORTH_IT
    if high < 1 and ratio <= 1 / (1 + WORTHWHILE_CHANGE):
        return WORSE
    if low >= 1 - CLEAR_WIDTH and high <= 1 + CLEAR_WIDTH:
        return NO_DIFFERENCE
    return UNCLEAR


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    before, after = (statistics.median(side) for side in zip(*pairs, strict=True))
    return after / before if before else float("nan")
