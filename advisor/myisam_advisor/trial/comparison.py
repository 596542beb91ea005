"""What several runs of each variant say: the ratio of their rates, how sure it is, and a verdict.

Variants run in rounds, each once, so that what the machine does meanwhile falls on both runs of a pair. What is held against the other is
the pair of a round, never the heap of all runs: intervals.py.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import field

from myisam_advisor.proofs.proof import UNCLEAR, verdict_of
from myisam_advisor.trial.intervals import MINIMUM_VALUES, PRIOR_VARIANCE, interval_of
from myisam_exporter.declaring.lean_dataclasses import dataclass

MINIMUM_ROUNDS = MINIMUM_VALUES
# An interval of four rounds that have nothing in common ends nowhere: a million times is as good as that.
LARGEST_LOGARITHM = math.log(1e6)


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
    """A variant held against the baseline: the ratio of their rates, pair by pair, above 1 is faster, with its 95 % interval.

    Too few rounds have no interval (None), nor have runs that got nothing done.
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


def compare(
    variant: str, baseline: Sequence[Run], changed: Sequence[Run], prior_variance: float = PRIOR_VARIANCE
) -> Comparison:
    """Hold the runs of a variant against those of the baseline, round by round."""
    rates = [[run.operations_per_second for run in runs] for runs in (baseline, changed)]
    return compare_pairs(variant, list(zip(*rates, strict=True)), prior_variance)


def compare_pairs(
    variant: str, pairs: Sequence[tuple[float, float]], prior_variance: float = PRIOR_VARIANCE
) -> Comparison:
    """Hold a variant against the baseline by the two rates of each round, the baseline's first. It may be asked after every round."""
    if not pairs or any(not (0 < rate < math.inf) for pair in pairs for rate in pair):
        return Comparison(variant, _ratio_of_medians(pairs), None, None, UNCLEAR)
    logarithms = [math.log(after / before) for before, after in pairs]
    found = interval_of(logarithms, prior_variance)
    if found is None:
        return Comparison(variant, math.exp(statistics.fmean(logarithms)), None, None, UNCLEAR)
    ratio, low, high = math.exp(found.centre), _times(found.low), _times(found.high)
    return Comparison(variant, ratio, low, high, verdict_of(low, high))


def _times(logarithm: float) -> float:
    """The ratio of a logarithm; of one beyond all measure the largest that JSON and readers bear."""
    return math.exp(min(max(logarithm, -LARGEST_LOGARITHM), LARGEST_LOGARITHM))


def _ratio_of_medians(pairs: Sequence[tuple[float, float]]) -> float:
    before, after = (statistics.median(side) for side in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
    return after / before if before else float("nan")
