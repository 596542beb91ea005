"""Verdicts from runs: right where there is a difference, silent where there is none."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_advisor.trial.comparison import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT, Run, compare, median_of, verdict_of
from myisam_advisor.trial.conclusions import times


def runs(*rates: float) -> list[Run]:
    return [Run(1.0, rate, server_cpu_seconds=0.5) for rate in rates]


def test_medians_ratio_and_interval() -> None:
    found = compare("new", runs(100, 102, 98, 101, 99, 100), runs(150, 149, 153, 151, 148, 152))
    assert found.ratio == pytest.approx(1.505, abs=0.01)
    assert found.interval is not None
    assert 1.4 < found.interval[0] <= found.ratio <= found.interval[1] < 1.6
    assert found.verdict == WORTH_IT


def test_a_slower_variant_is_worse_and_a_like_one_makes_no_difference() -> None:
    assert compare("new", runs(100, 102, 98, 101), runs(80, 81, 79, 82)).verdict == WORSE
    assert compare("new", runs(100, 102, 98, 101), runs(101, 100, 99, 102)).verdict == NO_DIFFERENCE


def test_what_varies_more_than_it_differs_is_unclear() -> None:
    assert compare("new", runs(100, 60, 140, 100), runs(150, 70, 90, 160)).verdict == UNCLEAR


def test_too_few_rounds_conclude_nothing() -> None:
    for rates in ((100,), (100, 100)):
        found = compare("new", runs(*rates), runs(*(9 * rate for rate in rates)))
        assert (found.verdict, found.interval, found.ratio) == (UNCLEAR, None, 9)
        assert times(found) == "9.00 times"  # no interval of a single point


def test_a_slow_minute_of_the_machine_falls_on_both() -> None:
    slow = [1.0, 0.4, 1.0, 0.4, 1.0, 0.4]
    found = compare("new", runs(*(100 * mood for mood in slow)), runs(*(130 * mood for mood in slow)))
    # Rounds are drawn in pairs: the mood cancels out, where it would not between independent draws.
    assert found.ratio == pytest.approx(1.3)
    assert found.low == pytest.approx(1.3)


@given(st.integers(0, 10_000))
def test_two_like_variants_seldom_seem_worth_it(seed: int) -> None:
    generator = random.Random(seed)
    before, after = ([generator.gauss(100, 1.5) for _ in range(6)] for _ in range(2))
    assert compare("new", runs(*before), runs(*after)).verdict == NO_DIFFERENCE


def test_the_same_runs_give_the_same_interval() -> None:
    first, second = (compare("new", runs(1, 2, 3, 4), runs(2, 3, 4, 6)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("ratio", "low", "high", "verdict"), [(1.04, 1.01, 1.07, NO_DIFFERENCE), (1.2, 0.99, 1.5, UNCLEAR), (1.2, 1.01, 1.5, WORTH_IT), (0.9, 0.8, 0.99, WORSE)])
def test_verdicts(ratio: float, low: float, high: float, verdict: str) -> None:
    assert verdict_of(ratio, low, high) == verdict


def test_an_unknown_count_is_no_zero() -> None:
    assert median_of(runs(100, 200), "read_calls") is None
    assert median_of(runs(100, 200), "server_cpu_seconds") == pytest.approx(0.00375)
