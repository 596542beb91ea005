"""Whether a change did what it was made for: recorded samples before it against those after it.

Of several measures the intervals hold all together in 95 % of cases (Bonferroni): who looks at twenty, each wrong in one of twenty, finds one that is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from myisam_advisor.catalogue.rules import Measure
from myisam_advisor.history.ratio_of_means import interval_of_ratio
from myisam_advisor.history.reader import Curve
from myisam_exporter.declaring.lean_dataclasses import dataclass

MINIMUM_SAMPLES = 12
CONFIDENCE = 0.95
WORTHWHILE_CHANGE, CLEAR_WIDTH = 0.05, 0.2
LEAST_SHOWN = 0.01
# Of what happens in few samples, none need be seen on one side: as likely as that, it says nothing.
MOST_LIKELY_CHANCE = 0.05
# Beyond, it is another load rather than the same one served better.
ALIKE_LOADS = (0.5, 2.0)
LOAD = "status.Questions.per_second"

IMPROVED, UNCHANGED, WORSE, NOT_ENOUGH = "improved", "unchanged", "worse", "not enough data"
Points = Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True)
class Window:
    """The time before and after a change that is compared; what lies between `before_end` and `after_begin` is left out."""

    before_begin: float
    before_end: float
    after_begin: float
    after_end: float


@dataclass(frozen=True, slots=True)
class MeasureOutcome:
    """What became of one measure. `low` and `high` bound the ratio after/before; all those that are asked for together do with 95 % confidence.

    They are None where there are too few samples, or what is measured happens in so few of them that the ratio may be anything. Without a ratio there was nothing before.
    """

    name: str
    better: str
    before: float | None
    after: float | None
    samples: tuple[int, int]
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str


def times_in_words(ratio: float) -> str:
    """Two decimals; what is less than the last of them is not nothing."""
    return f"{ratio:.2f}" if ratio >= LEAST_SHOWN or not ratio else f"<{LEAST_SHOWN}"


def compare_measure(
    measure: Measure, curve: Curve, load: Mapping[float, float | None] | None, window: Window, intervals: int = 1
) -> MeasureOutcome:
    """One curve before and after, divided by the load at the same moments where the measure says so; one of so many that are told together."""
    name = f"{curve.name}{f' / {measure.per}' if measure.per else ''}"
    sides = [
        _values(curve.points, load, begin, end)
        for begin, end in ((window.before_begin, window.before_end), (window.after_begin, window.after_end))
    ]
    before, after = ([value for value, _ in side] for side in sides)
    counts = (len(before), len(after))
    means = [statistics.fmean(values) if values else None for values in (before, after)]
    if min(counts) < MINIMUM_SAMPLES:
        return MeasureOutcome(name, measure.better, means[0], means[1], counts, None, None, None, NOT_ENOUGH)
    confidence = 1 - (1 - CONFIDENCE) / max(intervals, 1)
    ratio, low, high = _ratio_with_interval(before, after, confidence)
    if _may_be_chance(before, after) or (ratio is None and interval_of_ratio(after, before, confidence) is None):
        return MeasureOutcome(name, measure.better, means[0], means[1], counts, ratio, None, None, NOT_ENOUGH)
    verdict = verdict_of(measure.better, ratio, low, high)
    if low is not None and high is not None and verdict != UNCHANGED:
        # What goes with the load in part only seems to be more of less, and less of more: whatever that part is, the truth lies between.
        loads = [statistics.fmean(by for _, by in side) for side in sides]
        times = loads[1] / loads[0]
        low, high = low * min(times, 1.0), high * max(times, 1.0)
        verdict = verdict_of(measure.better, ratio, low, high)
    return MeasureOutcome(name, measure.better, means[0], means[1], counts, ratio, low, high, verdict)


def _values(
    points: Points, load: Mapping[float, float | None] | None, begin: float, end: float
) -> list[tuple[float, float]]:
    """The values, and what each was divided by."""
    found = []
    for moment, value in points:
        by = 1.0 if load is None else load.get(moment)
        if value is None or not by or not begin <= moment < end:
            continue
        if math.isfinite(value / by):
            found.append((value / by, by))
    return found


def _ratio_with_interval(
    before: Sequence[float], after: Sequence[float], confidence: float
) -> tuple[float | None, float | None, float | None]:
    """After/before. Where nothing was there before there is no ratio; where there was so little that it may have been nothing, no interval."""
    if not any(before):
        return (1.0, 1.0, 1.0) if not any(after) else (None, None, None)
    ratio = statistics.fmean(after) / statistics.fmean(before)
    return (ratio, *(interval_of_ratio(before, after, confidence) or (None, None)))


def _may_be_chance(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether one side alone has nothing, and would often have nothing if as many of its samples had something as on the other.

    How far samples differ cannot tell: nothing but zeros do not.
    """
    shares = [sum(map(bool, values)) / len(values) for values in (before, after)]
    if min(shares) or not max(shares):
        return False
    without = before if not shares[0] else after
    return (1 - max(shares)) ** len(without) > MOST_LIKELY_CHANCE


def verdict_of(better: str, ratio: float | None, low: float | None, high: float | None) -> str:
    """Improved or worse when the whole interval says so and the change is worthwhile, unchanged when it is narrow around 1."""
    if ratio is None:
        # From nothing at all to something.
        return WORSE if better == "lower" else IMPROVED
    if low is None or high is None:
        return NOT_ENOUGH
    if abs(ratio - 1) >= WORTHWHILE_CHANGE and (high < 1 or low > 1):
        return IMPROVED if (ratio < 1) == (better == "lower") else WORSE
    if low >= 1 - CLEAR_WIDTH and high <= 1 + CLEAR_WIDTH:
        return UNCHANGED
    return NOT_ENOUGH


def overall(outcomes: Sequence[MeasureOutcome]) -> str:
    """One word for all measures: worse beats improved, because it must not be overlooked; without any that tells, not enough data."""
    verdicts = [outcome.verdict for outcome in outcomes]
    return next((verdict for verdict in (WORSE, IMPROVED, UNCHANGED) if verdict in verdicts), NOT_ENOUGH)
