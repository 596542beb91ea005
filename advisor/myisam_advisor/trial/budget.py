"""A trial's time, shared out among its workloads: what one is clear without, the later ones have."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.rounds import FEWEST_ROUNDS, Limits

# A machine's speed changes slowly, as its neighbours come and go: how far two runs side by side differ does not depend on their length (measured from 3 ms to
# a second, decision 036), so many short ones tell more than a few long ones. A run is as long as lets so many rounds of everything into the budget; what is
# around it (the sender started) takes 0.05 s.
PLANNED_ROUNDS = 3_000
SHORTEST_RUN, LONGEST_RUN = 0.05, 0.25
# Where rounds are counted, and not seconds.
RUN_WITHOUT_BUDGET = 1.0
LEAST_SECONDS = 0.001
# Rounds that all lie within one wave of the machine's speed look surer than they are: two trials of some fifty equals ended within 2.5 s, wrongly.
WAVE_SECONDS = 3.0


def run_seconds(options: TrialOptions, runs_a_round: int) -> float:
    """How long one run is to take: what the user chose, or what suits the budget."""
    if options.seconds:
        return options.seconds
    if options.budget_seconds is None:
        return RUN_WITHOUT_BUDGET
    return min(max(options.budget_seconds / (runs_a_round * PLANNED_ROUNDS), SHORTEST_RUN), LONGEST_RUN)


def fitted(options: TrialOptions, runs_a_round: int) -> TrialOptions:
    """The options with a run's length in them. What nobody chose may be longer where putting tables back takes longer: else hardly anything would be measured."""
    is_open = not options.seconds and options.budget_seconds is not None
    return replace(options, seconds=run_seconds(options, runs_a_round), longest_seconds=LONGEST_RUN if is_open else 0.0)


class Budget:
    """The time that is left for the workloads that are left. It begins to run when it is made."""

    def __init__(self, options: TrialOptions, runs_a_round: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._options, self._clock, self._began = options, clock, clock()
        self._runs_left = runs_a_round

    @property
    def left(self) -> float | None:
        """Seconds; None for a trial that has no such limit."""
        if self._options.budget_seconds is None:
            return None
        return max(self._options.budget_seconds - (self._clock() - self._began), 0.0)

    def limits(self, variants: int) -> Limits:
        """The limits of the next workload, which has so many variants: its share of what is left."""
        left, runs = self.left, max(self._runs_left, variants)
        self._runs_left -= variants
        share = None if left is None else max(left * variants / runs, LEAST_SECONDS)
        measured = variants * max(self._options.seconds, LEAST_SECONDS)
        return Limits(FEWEST_ROUNDS, self._options.rounds or None, share, math.ceil(WAVE_SECONDS / measured))
