"""The interval holds the truth at every look, for noise of every kind; runs that were held up cost it little."""

import math
import random
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_advisor.trial.intervals import (
    CONFIDENCE,
    MANY,
    PRIOR_VARIANCE,
    PRIOR_VARIANCE_OF_MANY,
    critical,
    interval_of,
)

LOOKS = range(6, 41)
TRIALS = 400
# What chance adds to a share of 5 % of so many trials, in one test of a hundred.
ALLOWED = (1 - CONFIDENCE) + 2.33 * math.sqrt(0.05 * 0.95 / TRIALS)


def held_up(generator: random.Random) -> float:
    """A pair of which each run was held up once in ten times."""
    return generator.gauss(0, 0.02) + sum(sign * generator.expovariate(8) for sign in (1, -1) if generator.random() < 0.1)


NOISE: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda generator: generator.gauss(0, 0.02),
    "uniform": lambda generator: generator.uniform(-0.03, 0.03),
    "one of two speeds": lambda generator: generator.choice((-0.02, 0.02)) + generator.gauss(0, 0.005),
    "long tails": lambda generator: 0.02 * generator.gauss(0, 1) / math.sqrt(generator.gammavariate(1.5, 1 / 1.5)),
    "runs held up": held_up,
}


def test_it_is_the_mean_and_so_many_of_its_standard_errors() -> None:
    values = [0.02, 0.05, -0.01, 0.03, 0.04]
    found = interval_of(values)
    assert found is not None
    reach = critical(5) * statistics.stdev(values) / math.sqrt(5)
    assert (found.centre, found.low, found.high) == pytest.approx((statistics.fmean(values), found.centre - reach, found.centre + reach))


def test_of_ten_the_least_and_the_largest_are_taken_for_their_neighbours() -> None:
    """Yuen's trimmed mean; eight runs are left, and count as eight."""
    middle = [0.01 * number for number in range(1, 9)]
    found = interval_of([-5.0, *middle, 7.0])
    assert found is not None
    of_winsorised = statistics.stdev([0.01, *middle, 0.08]) * math.sqrt(9 / (8 * 7))
    assert (found.centre, found.high - found.centre) == pytest.approx((statistics.fmean(middle), critical(8) * of_winsorised))


@pytest.mark.parametrize(("prior", "looks"), [(PRIOR_VARIANCE, LOOKS), (PRIOR_VARIANCE_OF_MANY, range(MANY, 300, 9))], ids=["few", "many"])
@pytest.mark.parametrize("kind", NOISE)
def test_it_holds_the_truth_at_all_looks_together(kind: str, prior: float, looks: range) -> None:
    generator, missed = random.Random(kind), 0
    for _ in range(TRIALS):
        values = [NOISE[kind](generator) for _ in looks[-1] * [0]]
        found = [interval_of(values[:count], prior) for count in looks]
        missed += any(one is not None and not one.low <= 0 <= one.high for one in found)
    assert missed / TRIALS <= ALLOWED


def test_an_interval_of_a_single_look_would_not() -> None:
    """What the correction is for: with Student's own factor (2 at 40 rounds) every fourth trial finds a difference."""
    generator, missed = random.Random("student"), 0
    for _ in range(TRIALS):
        values = [generator.gauss(0, 0.02) for _ in LOOKS[-1] * [0]]
        for count in LOOKS:
            found = interval_of(values[:count])
            assert found is not None
            if abs(found.centre) > (found.high - found.centre) / critical(count - 2 * (count // 10)) * 2.02:
                missed += 1
                break
    assert missed / TRIALS > 3 * (1 - CONFIDENCE)


def test_a_run_that_was_held_up_moves_little() -> None:
    values = [0.001 * (-1) ** number for number in range(12)]
    clean, disturbed = interval_of(values), interval_of([*values[:-1], 5.0])
    assert clean is not None
    assert disturbed is not None
    assert disturbed.centre == pytest.approx(clean.centre, abs=0.001)
    assert disturbed.high < 0.01


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=60), st.floats(-1, 1))
def test_it_moves_with_the_values_and_turns_with_their_signs(values: list[float], shift: float) -> None:
    found, moved, turned = interval_of(values), interval_of([value + shift for value in values]), interval_of([-value for value in values])
    assert found is not None
    assert moved is not None
    assert turned is not None
    assert found.low <= found.centre <= found.high
    assert [moved.low, moved.high] == pytest.approx([found.low + shift, found.high + shift], abs=1e-6)
    assert [turned.low, turned.high] == pytest.approx([-found.high, -found.low], abs=1e-9)


@pytest.mark.parametrize("values", [[0.0] * 4, [0.5] * 9])
def test_too_few_values_to_bound_anything_have_no_interval(values: list[float]) -> None:
    """A trial of many rounds that was broken off."""
    assert interval_of(values, PRIOR_VARIANCE_OF_MANY) is None


def test_too_few_values_have_none() -> None:
    assert interval_of([0.1, 0.1, 0.1]) is None
    assert interval_of([0.1, 0.1, 0.1, 0.1]) is not None
    assert critical(3) == math.inf
    assert critical(40) < critical(10) < critical(4) < math.inf


@pytest.mark.parametrize("prior_variance", [PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY])
@pytest.mark.parametrize("count", [12, 40, 300])
def test_it_ends_where_the_bayes_factor_reaches_twenty(count: int, prior_variance: float) -> None:
    """Rouder et al., equation 1, with a normal prior of the effect: no other bound holds at every look and is as tight."""
    square, spread = critical(count, prior_variance) ** 2 / (count - 1), 1 + count * prior_variance
    factor = ((1 + square) / (1 + square / spread)) ** (count / 2) / math.sqrt(spread)
    assert factor == pytest.approx(1 / (1 - CONFIDENCE))


def test_who_looks_only_after_many_rounds_has_a_tighter_interval_from_the_first_look_on() -> None:
    assert all(critical(count, PRIOR_VARIANCE_OF_MANY) <= critical(count) for count in range(MANY, 2000))
    assert critical(100, PRIOR_VARIANCE_OF_MANY) < 0.88 * critical(100)
