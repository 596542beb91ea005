"""Rounds end as soon as it is clear, go on while it is not, and end with the budget; what disturbs them is told."""

import math
import random
from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.intervals import MANY, PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.load import LoadMeter, MachineLoad
from myisam_advisor.trial.results import WorkloadResult
from myisam_advisor.trial.rounds import (
    BUDGET,
    CLEAR,
    FEWEST_ROUNDS,
    ROUNDS,
    Course,
    Limits,
    Rounds,
    doubted,
    is_look,
    run_rounds,
    run_told_rounds,
)

QUIET, BUSY = MachineLoad(0.05, 0.4, 2.0), MachineLoad(0.9, 0.0, 2.0)

BEGAN = 1000.0


class Told(LoadMeter):
    """Loads as they are told, round by round; the last one stays."""

    def __init__(self, *loads: MachineLoad | None) -> None:
        super().__init__(Path("/nonexistent"))
        self.loads = list(loads)

    def lap(self) -> MachineLoad | None:
        return self.loads.pop(0) if len(self.loads) > 1 else self.loads[0]


class Machine:
    """Runs of a second each, at rates of a variant's own with noise; `before` are factors of the first runs."""

    def __init__(self, spread: float, seed: int = 1, before: tuple[float, ...] = ()) -> None:
        self.now, self.order, self.before = BEGAN, list[str](), list(before)
        self.generator, self.spread, self.seed = random.Random(seed), spread, seed

    def variant(self, name: str, rate: float) -> Callable[[], float]:
        def run() -> float:
            self.now += 1.0
            self.order.append(name)
            factor = self.before.pop(0) if self.before else 1.0
            return rate * factor * math.exp(self.generator.gauss(0, self.spread))

        return run

    def rounds(self, limits: Limits, *loads: MachineLoad | None, **rates: float) -> Rounds[float]:
        variants = {name: self.variant(name, rate) for name, rate in rates.items()}
        return run_rounds(variants, float, limits, lambda _: None, clock=lambda: self.now, meter=Told(*(loads or (QUIET,))), draw=random.Random(self.seed))


def verdicts(rounds: Rounds[float]) -> list[str]:
    return [one.verdict for one in rounds.comparisons]


def test_a_clear_effect_ends_after_the_fewest_rounds() -> None:
    found = Machine(0.01).rounds(Limits(), A=100, B=140, C=70)
    assert verdicts(found) == [WORTH_IT, WORSE]
    assert (found.course.ended_by, found.course.rounds) == (CLEAR, FEWEST_ROUNDS)


def test_equals_go_on_until_no_difference_is_clear() -> None:
    found = Machine(0.06).rounds(Limits(), A=100, B=100)
    assert verdicts(found) == [NO_DIFFERENCE]
    assert found.course.ended_by == CLEAR
    assert found.course.rounds > FEWEST_ROUNDS


def test_it_goes_on_while_it_is_not_clear_and_ends_with_the_budget() -> None:
    machine = Machine(1.0)
    found = machine.rounds(Limits(budget_seconds=61.0), A=100, B=104)
    assert verdicts(found) == [UNCLEAR]
    assert (found.course.ended_by, found.course.rounds) == (BUDGET, 30)
    assert machine.now <= BEGAN + 61.0  # no round is begun that would not fit


def test_at_most_so_many_rounds_and_one_in_any_case() -> None:
    assert Machine(1.0).rounds(Limits(maximum_rounds=2, budget_seconds=None), A=1, B=1).course.ended_by == ROUNDS
    found = Machine(0.01).rounds(Limits(budget_seconds=0.1), A=1, B=9)
    assert (len(found["A"]), len(found["B"]), verdicts(found)) == (1, 1, [UNCLEAR])


def test_fewer_rounds_that_were_chosen_are_looked_at_too() -> None:
    found = Machine(0.01).rounds(Limits(maximum_rounds=4), A=100, B=200)
    assert (found.course.rounds, verdicts(found)) == (4, [WORTH_IT])


def orders_of(rounds: int, draw: random.Random | None = None) -> list[tuple[str, ...]]:
    order: list[str] = []

    def variant(name: str) -> Callable[[], float]:
        def run() -> float:
            order.append(name)
            return 1.0

        return run

    run_rounds({name: variant(name) for name in "ABC"}, float, Limits(rounds, rounds, None), lambda _: None, meter=Told(QUIET), draw=draw)
    return [tuple(order[place : place + 3]) for place in range(0, len(order), 3)]


def test_each_round_has_a_random_order_of_its_own() -> None:
    found = orders_of(200, random.Random(1))
    assert set(found) == set(permutations("ABC"))
    # Of two equal ones each is the earlier one as often as the other; and a round's order tells nothing of the next one's.
    before = [order.index("A") < order.index("B") for order in found]
    assert 80 < sum(before) < 120
    assert 80 < sum(one == other for one, other in pairwise(before)) < 120


def test_another_trial_has_other_orders() -> None:
    assert orders_of(50) != orders_of(50)


class BusyEachNow(Machine):
    """A machine that somebody else slows down for half of each `period` runs, however long that lasts."""

    def __init__(self, seed: int, period: float) -> None:
        super().__init__(0.02, seed)
        self.period, self.phase = period, random.Random(seed).random() * period

    def variant(self, name: str, rate: float) -> Callable[[], float]:
        run = super().variant(name, rate)
        return lambda: run() * (0.75 if (self.now + self.phase) % self.period < self.period / 2 else 1.0)


@pytest.mark.parametrize("period", [2.0, 3.9, 4.1])
@pytest.mark.parametrize("early", [0, MANY])
def test_what_beats_in_time_with_the_rounds_makes_no_difference_of_equals(period: float, early: int) -> None:
    """With an order and the same backwards in turn, 19 to 45 % of trials of equals found a difference at a period near two rounds of two runs."""
    limits = Limits(maximum_rounds=100, budget_seconds=None, early_rounds=early)
    found = [verdicts(BusyEachNow(seed, period).rounds(limits, A=100, B=100))[0] for seed in range(60)]
    assert found.count(WORTH_IT) + found.count(WORSE) <= 10  # 5 % of 60 are 3: of more than ten that has a chance of 0.04 %


def test_a_warm_up_is_found_and_said() -> None:
    found = Machine(0.1, before=(0.3, 0.3, 0.5, 0.5)).rounds(Limits(maximum_rounds=12, budget_seconds=None), A=100, B=100)
    assert found.course.warm_up_rounds == 2
    assert found.course.rounds == len(found["A"]) == 10
    assert min(*found["A"], *found["B"]) > 60


def test_rounds_that_others_disturbed_are_run_and_do_not_count() -> None:
    found = Machine(0.01).rounds(Limits(), BUSY, BUSY, QUIET, A=100, B=150)
    assert (found.course.disturbed_rounds, found.course.rounds, found.course.is_busy) == (2, FEWEST_ROUNDS, False)
    assert found.course.warm_up_rounds == 0
    assert verdicts(found) == [WORTH_IT]


def test_a_busy_machine_lets_nothing_be_concluded() -> None:
    found = Machine(0.01).rounds(Limits(budget_seconds=60.0), BUSY, A=100, B=150)
    assert verdicts(found) == [UNCLEAR]
    assert (found.course.is_busy, found.course.ended_by) == (True, BUDGET)
    assert found.course.rounds == len(found["A"]) == 30  # there are no better ones to show
    assert found.course.warm_up_rounds == 0
    assert found.course.others_cpu_share == pytest.approx(0.9)
    assert found.comparisons[0].low is not None


@pytest.mark.parametrize("early", [0, MANY])
def test_what_ends_the_rounds_is_what_is_told(early: int) -> None:
    """A verdict that ends them by one interval, and is unclear by another, would be told as unclear "until it was clear"."""
    found = Machine(0.15).rounds(Limits(early_rounds=early, budget_seconds=None), A=100, B=100)
    assert (found.course.ended_by, verdicts(found)) == (CLEAR, [NO_DIFFERENCE])
    told = WorkloadResult("work", "rows", {name: [Run(1.0, rate) for rate in rates] for name, rates in found.items()}, course=found.course)
    assert told.comparisons == found.comparisons


def test_an_unknown_load_disturbs_nobody() -> None:
    found = Machine(0.01).rounds(Limits(), None, A=100, B=150)
    assert (verdicts(found), found.course.others_cpu_share) == ([WORTH_IT], None)


def test_noise_is_how_far_equal_runs_differ() -> None:
    quiet, loud = (Machine(spread).rounds(Limits(maximum_rounds=20, budget_seconds=None, minimum_rounds=20), A=100, B=300).course.noise for spread in (0.01, 0.2))
    assert quiet.pairs == loud.pairs == 20  # both variants, ten times two rounds
    assert quiet.median is not None
    assert quiet.worst is not None
    assert loud.median is not None
    assert 0 < quiet.median < quiet.worst < 0.1 < loud.median
    assert Machine(0.1).rounds(Limits(maximum_rounds=1), A=1, B=1).course.noise.median is None


def test_what_lies_between_two_pairs_of_rounds_is_no_noise() -> None:
    """Both rounds of a pair run one after the other; the machine may have another mood in the next."""
    rates = iter([100.0, 100.0, 120.0, 120.0, 100.0, 100.0])
    noise = run_rounds({"A": lambda: next(rates)}, float, Limits(), lambda _: None, meter=Told(QUIET)).course.noise
    assert (noise.pairs, noise.median, noise.worst) == (3, 0.0, 0.0)


def test_who_waits_for_many_rounds_has_the_interval_of_many() -> None:
    assert Limits(early_rounds=MANY).prior_variance_of(MANY) == PRIOR_VARIANCE_OF_MANY
    assert Limits(early_rounds=MANY - 1).prior_variance_of(MANY) == Limits().prior_variance_of(MANY) == PRIOR_VARIANCE


@pytest.mark.parametrize("ends", [{"maximum_rounds": FEWEST_ROUNDS, "budget_seconds": None}, {"budget_seconds": 2.0 * FEWEST_ROUNDS}], ids=["rounds", "budget"])
def test_who_waits_for_many_rounds_and_has_few_has_the_interval_of_few(ends: dict[str, Any]) -> None:
    """That of many has no ends there: with `--rounds 6` and short runs, three times as fast was unclear."""
    found = Machine(0.01).rounds(Limits(early_rounds=MANY, **ends), A=100, B=300)
    assert (found.course.rounds, found.course.prior_variance, verdicts(found)) == (FEWEST_ROUNDS, PRIOR_VARIANCE, [WORTH_IT])
    low, high = found.comparisons[0].interval or (0.0, 0.0)
    assert 2.5 < low < 3 < high < 3.5


def test_runs_without_a_rate_are_unclear_and_no_error() -> None:
    found = run_rounds({"A": lambda: 1.0, "B": lambda: 0.0}, float, Limits(maximum_rounds=7), lambda _: None, meter=Told(QUIET))
    assert verdicts(found) == [UNCLEAR]


def test_a_baseline_alone_ends_after_the_fewest_rounds() -> None:
    found = Machine(0.1).rounds(Limits(), A=100)
    assert (found.comparisons, found.course.rounds) == ([], FEWEST_ROUNDS)
    assert list(found) == ["A"]
    assert len(found) == 1


def test_doubt_takes_the_verdict_alone() -> None:
    (one,) = Machine(0.01).rounds(Limits(), A=100, B=150).comparisons
    assert doubted(one, None) == doubted(one, Course(6)) == one
    doubtful = doubted(one, Course(6, is_busy=True))
    assert (doubtful.verdict, doubtful.interval) == (UNCLEAR, one.interval)


def trial_verdicts(truth: float, spread: float, trials: int) -> list[str]:
    return [verdicts(Machine(spread, seed).rounds(Limits(maximum_rounds=40, budget_seconds=60.0), A=100, B=100 * truth))[0] for seed in range(trials)]


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.03])
def test_of_200_trials_of_equals_ten_at_most_find_anything_else(spread: float) -> None:
    """Two equal runs differ by 1 to 3 % (standard deviation 1 to 4 %) in the median: within a minute, runs of a second."""
    assert trial_verdicts(1.0, spread, 200).count(NO_DIFFERENCE) >= 190


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.03])
def test_a_true_five_percent_is_found_within_a_minute(spread: float) -> None:
    assert trial_verdicts(1.05, spread, 200).count(WORTH_IT) >= 190
    assert trial_verdicts(1 / 1.05, spread, 200).count(WORSE) >= 190


def test_a_verdict_ends_it_only_after_as_many_rounds_as_a_wave_of_the_machine_may_last() -> None:
    assert Machine(0.001).rounds(Limits(early_rounds=30), A=100, B=300).course.rounds == 30
    assert Machine(0.001).rounds(Limits(early_rounds=30, maximum_rounds=9), A=100, B=300).course.rounds == 9


def test_of_hundreds_of_rounds_not_each_is_looked_at() -> None:
    looks = [count for count in range(1, 1001) if is_look(count)]
    assert looks[:100] == [*range(1, 101)]
    assert len(looks) < 250
    assert all(later - earlier <= 0.05 * later for earlier, later in pairwise(looks[20:]))


@pytest.mark.parametrize("budget", [None, 100.0])
def test_who_listens_hears_what_runs_that_it_ran_and_what_is_left_of_the_budget(budget: float | None) -> None:
    class Heard(Listener):
        def __init__(self) -> None:
            self.runs, self.ends, self.rest = list[str](), 0, list[float | None]()

        def doing(self, what: str) -> None:
            self.runs.append(what)

        def ran(self) -> None:
            self.ends += 1

        def left(self, seconds: float | None) -> None:
            self.rest.append(seconds)

    heard = Heard()
    run_told_rounds({"A": lambda: 1.0, "B": lambda: 2.0}, float, Limits(maximum_rounds=1, budget_seconds=budget), heard)
    assert sorted(heard.runs) == ["A (round 1)", "B (round 1)"]
    assert heard.ends == 2
    known = [seconds for seconds in heard.rest if seconds is not None]
    assert known == heard.rest
    assert known == sorted(known, reverse=True)
    assert len(known) == (0 if budget is None else 2)
    assert all(0 < seconds <= 100 for seconds in known)
