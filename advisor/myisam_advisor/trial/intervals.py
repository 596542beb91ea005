"""The interval of paired runs: robust against runs that were held up, and right however often one looks at it.

Of each round the logarithm of the ratio is taken: a machine's mood that both runs of a round shared cancels out, and twice as fast lies
as far from 1 as half as fast. A tenth of the ratios at either end is trimmed, and the spread is that of the winsorised ones (Yuen, The
two-sample trimmed t for unequal population variances, Biometrika 61, 1974): a run that was held up moves nothing.

Whoever looks after each round and stops when it pleases him finds with an ordinary 95 % interval a difference in far more than 5 % of
comparisons of equals. This one is a confidence sequence: it holds the truth at *all* looks together in 95 % of trials. It is the values
that the t-test's Bayes factor does not reject, which is a martingale for any spread under the right Haar prior (Wang and Ramdas,
Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance, Sequential Analysis 44, 2025; Rouder et al.,
Bayesian t tests, Psychonomic Bulletin & Review 16, 2009, equation 1 with a normal prior). Trimmed runs count as fewer ones.
docs/decisions/036-verdicts.md has what simulations said of it, and of others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from myisam_exporter.declaring.lean_dataclasses import dataclass

CONFIDENCE = 0.95
TRIMMED_SHARE = 0.1
# The variance that effects have before anything was seen, in units of the noise's: where the interval is tightest (5 to 40 rounds). Who has made up his mind
# beforehand that nobody looks before there are 30 takes the other: from there on it is tighter, by 13 % at a hundred rounds.
PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY, MANY = 4.0, 0.1, 30
# Of three, no bound is finite.
MINIMUM_VALUES = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the centre of values lies: the trimmed mean, and the ends of its interval."""

    centre: float
    low: float
    high: float


def interval_of(values: Sequence[float], prior_variance: float = PRIOR_VARIANCE) -> Interval | None:
    """The interval of values that scatter about a centre; None for fewer than four, and for too few to bound anything. The prior is the same at every look."""
    if len(values) < MINIMUM_VALUES:
        return None
    cut = int(len(values) * TRIMMED_SHARE)
    ordered = sorted(values)
    kept = ordered[cut : len(values) - cut]
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    centre, middle = math.fsum(kept) / len(kept), math.fsum(winsorised) / len(winsorised)
    squares = math.fsum((value - middle) ** 2 for value in winsorised)
    error = math.sqrt(squares / (len(kept) * (len(kept) - 1)))
    reach = critical(len(kept), prior_variance)
    if reach == math.inf:
        return None
    return Interval(centre, centre - error * reach, centre + error * reach)


def critical(count: int, prior_variance: float = PRIOR_VARIANCE) -> float:
    """How many standard errors the interval of so many values reaches to either side."""
    prior = 1 + count * prior_variance
    bound = (math.sqrt(prior) / (1 - CONFIDENCE)) ** (2 / count)
    if bound >= prior:
        return math.inf
    return math.sqrt((count - 1) * (bound - 1) / (1 - bound / prior))
