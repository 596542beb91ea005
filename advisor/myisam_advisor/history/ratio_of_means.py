"""How sure the ratio of two means is, of samples that follow each other: those before a change, and those after it.

Samples that follow each other are alike, so that many of them say hardly more than a few: each side is cut into four parts, and how far the means of
these differ among themselves is the error (batch means: Schmeiser, Batch size effects in the analysis of simulation output, Operations Research 30,
1982). The interval of the ratio is Fieller's (Some problems in interval estimation, Journal of the Royal Statistical Society B 16, 1954).

What was on its way before the change, or goes on after it, is not the change's work: the interval reaches as far as what either side moves by itself,
from its first half to its second, would explain. How often that is wrong: docs/decisions/064-before-and-after.md.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# More parts are surer of samples that have nothing in common, and are wrong more often of those that have.
PARTS = 4
DEGREES_OF_FREEDOM = 2 * (PARTS - 1)
LARGEST_QUANTILE = 1e6
# Beyond, it is as good as no end.
LARGEST_RATIO = 1e6


def interval_of_ratio(before: Sequence[float], after: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """The ends of after/before, for four samples a side or more of which none is negative; None where it may be anything."""
    (below, below_error), (above, above_error) = (_mean_with_error(side) for side in (before, after))
    if below <= 0:
        return None
    reach, ratio = quantile(confidence), above / below
    from_before, from_after = reach * below_error / below, reach * above_error / below
    share = 1 - from_before**2
    if share <= 0:
        return None
    root = math.sqrt(max(ratio**2 - share * (ratio**2 - from_after**2), 0.0))
    moved = [1.0, *(_moves(side) for side in (before, after))]
    low, high = max((ratio - root) / share, 0.0) / max(moved), (ratio + root) / share / min(moved)
    return (low, high) if high <= LARGEST_RATIO else None


def _mean_with_error(samples: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error by the means of the parts."""
    count = len(samples)
    parts = [
        statistics.fmean(samples[count * number // PARTS : count * (number + 1) // PARTS]) for number in range(PARTS)
    ]
    middle = statistics.fmean(parts)
    # Not by statistics.stdev, which ends with an OverflowError for numbers near the largest before Python 3.11.
    deviation = math.hypot(*(part - middle for part in parts)) / math.sqrt(PARTS - 1)
    return statistics.fmean(samples), deviation / math.sqrt(PARTS)


def _moves(samples: Sequence[float]) -> float:
    """How many times as much there is a whole side later, if it goes on as from the first half to the second; 1 where a half has nothing."""
    half = len(samples) // 2
    first, second = statistics.fmean(samples[:half]), statistics.fmean(samples[-half:])
    return (second / first) ** 2 if first > 0 and second > 0 else 1.0


def quantile(confidence: float) -> float:
    """Of Student's t with six degrees of freedom, between minus and plus which value it lies with this probability.

    Its distribution is Abramowitz and Stegun's 26.7.4.
    """
    low, high = 0.0, LARGEST_QUANTILE
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle) < confidence else (low, middle)
    return high


def _within(value: float) -> float:
    angle = math.atan(value / math.sqrt(DEGREES_OF_FREEDOM))
    cosine = math.cos(angle) ** 2
    return math.sin(angle) * (1 + cosine / 2 + 3 * cosine**2 / 8)
