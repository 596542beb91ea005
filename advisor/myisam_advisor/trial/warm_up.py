"""How many rounds pass before the rates have settled: detected, not assumed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

# Before so many rounds nobody can say what is usual.
FEWEST_ROUNDS = 6
# The first third may be a warm-up; what still drifts later is no warm-up, and falls on all variants.
LARGEST_SHARE = 3
# Deviations from the median of the later rounds that are none of theirs, in standard deviations by the median absolute deviation.
BEYOND, TO_STANDARD_DEVIATION = 4.0, 1.4826
SMALLEST_CHANGE = 0.03


def warm_up_rounds(levels: Sequence[float]) -> int:
    """How many of the first rounds lie out of line with the later ones, all on the same side.

    A level is the mean logarithm of a round's rates. It is no part of what is compared (the differences within a round), so that leaving rounds out by it favours
    no variant.
    """
    if len(levels) < FEWEST_ROUNDS:
        return 0
    most = len(levels) // LARGEST_SHARE
    later = levels[most:]
    middle = statistics.median(later)
    spread = TO_STANDARD_DEVIATION * statistics.median(abs(level - middle) for level in later)
    beyond, count = max(BEYOND * spread, SMALLEST_CHANGE), 0
    side = levels[0] - middle
    while count < most and abs(levels[count] - middle) > beyond and (levels[count] - middle) * side > 0:
        count += 1
    return count
