"""A trial's time is shared out among its workloads, and the length of a run fits into it."""

import pytest

from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.budget import LONGEST_RUN, RUN_WITHOUT_BUDGET, SHORTEST_RUN, Budget, fitted, run_seconds


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_one_workload_is_clear_without_the_later_ones_have() -> None:
    clock = Clock()
    budget = Budget(TrialOptions(budget_seconds=120.0), 6, clock)
    assert budget.limits(2).budget_seconds == pytest.approx(40)
    clock.now += 10
    assert budget.left == pytest.approx(110)
    assert budget.limits(2).budget_seconds == pytest.approx(55)
    clock.now += 500
    assert budget.left == 0
    last = budget.limits(2).budget_seconds
    assert last is not None
    assert 0 < last < 1


def test_more_runs_than_were_announced_have_what_is_left() -> None:
    budget = Budget(TrialOptions(budget_seconds=120.0), 1, Clock())
    assert budget.limits(2).budget_seconds == budget.limits(2).budget_seconds == pytest.approx(120)


def test_without_a_budget_rounds_are_the_limit() -> None:
    budget = Budget(TrialOptions(rounds=7, budget_seconds=None), 6, Clock())
    limits = budget.limits(2)
    assert (budget.left, limits.budget_seconds, limits.maximum_rounds) == (None, None, 7)
    assert Budget(TrialOptions(), 6, Clock()).limits(2).maximum_rounds is None


def test_runs_are_as_long_as_the_budget_bears() -> None:
    assert run_seconds(TrialOptions(seconds=7.0), 64) == 7
    assert run_seconds(TrialOptions(budget_seconds=None), 64) == RUN_WITHOUT_BUDGET
    assert run_seconds(TrialOptions(budget_seconds=3600.0), 2) == LONGEST_RUN
    assert SHORTEST_RUN < run_seconds(TrialOptions(budget_seconds=3600.0), 9) < LONGEST_RUN
    assert run_seconds(TrialOptions(budget_seconds=1.0), 64) == SHORTEST_RUN


def test_what_nobody_chose_may_be_longer() -> None:
    assert [fitted(options, 64).longest_seconds for options in (TrialOptions(), TrialOptions(seconds=0.1), TrialOptions(budget_seconds=None))] == [LONGEST_RUN, 0, 0]


def test_the_shorter_the_runs_the_more_rounds_before_a_verdict_ends_them() -> None:
    assert [Budget(TrialOptions(seconds=seconds), 2, Clock()).limits(2).early_rounds for seconds in (0.05, 0.5, 5.0)] == [30, 3, 1]
