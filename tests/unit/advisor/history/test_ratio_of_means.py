"""How often `verify` tells a change where there is none, and finds one that there is, by samples that are made up as servers make them."""

import math
import random
from collections.abc import Callable

import pytest

from myisam_advisor.catalogue.rules import Measure
from myisam_advisor.history.ratio_of_means import DEGREES_OF_FREEDOM, LARGEST_RATIO, interval_of_ratio, quantile
from myisam_advisor.history.reader import Curve
from myisam_advisor.history.verification import IMPROVED, NOT_ENOUGH, UNCHANGED, WORSE, Window, compare_measure

from .test_verification import compared

SERIES = 200
# What a server's figures do by themselves, as so many samples one after the other.
Samples = Callable[[random.Random, int], list[float]]


def scattered(spread: float) -> Samples:
    return lambda draw, count: [math.exp(draw.gauss(0, spread)) for _ in range(count)]


def alike(likeness: float, spread: float) -> Samples:
    """Each like the one before it, by so much."""

    def made(draw: random.Random, count: int) -> list[float]:
        level, found = draw.gauss(0, spread), []
        for _ in range(count):
            level = likeness * level + math.sqrt(1 - likeness**2) * draw.gauss(0, spread)
            found.append(math.exp(level))
        return found

    return made


def growing(draw: random.Random, count: int) -> list[float]:
    """A table that grows by a third meanwhile."""
    return [1 + number / count / 3 + draw.gauss(0, 0.03) for number in range(count)]


def waves(draw: random.Random, count: int) -> list[float]:
    """Busier and quieter times, longer than what is compared."""
    phase = draw.random() * count
    return [1 + math.sin(2 * math.pi * (number + phase) / count * 0.7) / 2 + draw.gauss(0, 0.03) for number in range(count)]


def told(samples: Samples, count: int, truth: float = 1.0) -> list[str]:
    """The verdicts on so many series, of which those after the change are so many times as high."""
    draw, verdicts = random.Random(5), []
    for _ in range(SERIES):
        made = samples(draw, 2 * count)
        verdicts.append(compared(made[:count], [value * truth for value in made[count:]]).verdict)
    return verdicts


@pytest.mark.parametrize("count", [12, 24, 60, 180])
@pytest.mark.parametrize(
    ("samples", "share"),
    [
        (scattered(0.05), 0.05), (scattered(0.3), 0.05), (scattered(1.0), 0.05), (alike(0.5, 0.1), 0.05), (growing, 0.05), (waves, 0.05),
        # So much alike that two sides of them hold hardly more than two values.
        (alike(0.8, 0.1), 0.1), (alike(0.95, 0.2), 0.1), (alike(0.99, 0.2), 0.1),
    ],
)  # fmt: skip
def test_where_nothing_changed_hardly_ever_a_change_is_told(samples: Samples, share: float, count: int) -> None:
    """With the bootstrap of before it was 5 to 67 %, and of a figure that grows each time."""
    verdicts = told(samples, count)
    assert (verdicts.count(IMPROVED) + verdicts.count(WORSE)) / SERIES <= share


@pytest.mark.parametrize(("samples", "count", "share"), [(scattered(0.05), 12, 1.0), (scattered(0.15), 60, 0.9), (alike(0.5, 0.1), 60, 0.85), (alike(0.8, 0.1), 180, 0.85), (growing, 60, 0.9)])
def test_what_became_a_quarter_less_is_found(samples: Samples, count: int, share: float) -> None:
    assert told(samples, count, 1 / 1.3).count(IMPROVED) / SERIES >= share
    assert told(scattered(0.05), 60).count(UNCHANGED) / SERIES >= 0.95


@pytest.mark.parametrize("begin", [0, 7, 30, 48])
def test_a_job_of_some_minutes_is_no_work_of_the_change(begin: int) -> None:
    """Nothing before, and something in twelve minutes of an hour after it: that was worse, as if it had been spread over the hour. The other way about it was improved."""
    job = [float(begin <= number < begin + 12) for number in range(60)]
    assert compared([0.0] * 60, job).verdict == compared(job, [0.0] * 60).verdict == NOT_ENOUGH
    assert compared([0.0] * 60, [1.0, 0.0] * 30).verdict == WORSE


@pytest.mark.parametrize(
    ("part", "loads", "truth", "expected"),
    [
        # Half of it is there whatever the load is: of each statement it is more when there are fewer.
        (0.5, (100, 60), 1.0, NOT_ENOUGH), (0.5, (60, 100), 1.0, NOT_ENOUGH), (0.0, (100, 60), 1.0, NOT_ENOUGH), (1.0, (100, 60), 1.0, UNCHANGED),
        (1.0, (100, 60), 3.0, WORSE), (0.5, (100, 60), 3.0, WORSE), (0.5, (100, 60), 0.3, IMPROVED), (0.5, (60, 100), 0.3, IMPROVED), (1.0, (100, 95), 0.8, IMPROVED),
    ],
)  # fmt: skip
def test_what_goes_with_the_load_in_part_only_is_no_work_of_the_change(part: float, loads: tuple[float, float], truth: float, expected: str) -> None:
    """A load of six tenths made *worse* of whatever is there for half without any."""
    draw, points, load = random.Random(1), [], {}
    for moment in range(120):
        side = int(moment >= 60)
        load[float(moment)] = loads[side] * math.exp(draw.gauss(0, 0.02))
        points.append((float(moment), ((1 - part) * 100 + part * load[float(moment)]) * (1, truth)[side]))
    found = compare_measure(Measure("x", "lower", per="y"), Curve("here", "x", tuple(points)), load, Window(0, 60, 60, 120))
    assert found.verdict == expected


def test_of_many_measures_of_nothing_hardly_ever_one_is_told() -> None:
    draw, window, reports = random.Random(3), Window(0, 60, 60, 120), 40
    wrong = 0
    for _ in range(reports):
        curves = [Curve("here", "x", tuple((float(moment), draw.gauss(1, 0.3)) for moment in range(120))) for _ in range(30)]
        verdicts = {compare_measure(Measure("x", "lower"), curve, None, window, len(curves)).verdict for curve in curves}
        wrong += bool(verdicts & {IMPROVED, WORSE})
    assert wrong <= 3


@pytest.mark.parametrize(("confidence", "expected"), [(0.9, 1.943), (0.95, 2.447), (0.99, 3.707), (0.999, 5.959)])
def test_the_quantiles_are_those_of_the_tables(confidence: float, expected: float) -> None:
    assert DEGREES_OF_FREEDOM == 6
    assert quantile(confidence) == pytest.approx(expected, abs=0.001)
    assert math.isfinite(quantile(1 - 1e-15))


def test_numbers_at_their_ends_make_no_error() -> None:
    large, small = [1e200, 1.1e200, 1e200, 0.9e200] * 3, [1e-200, 1.1e-200, 1e-200, 0.9e-200] * 3
    for before, after in ((large, small), (small, large), (large, large), ([0.0] * 11 + [1.0], [0.0] * 12), ([0.0] * 12, [0.0] * 12)):
        found = interval_of_ratio(before, after, 0.95)
        assert found is None or 0 <= found[0] <= found[1] <= LARGEST_RATIO
    infinite = [math.inf, math.nan] * 12
    assert compared(infinite, infinite).samples == (0, 0)
    assert compared(infinite, infinite).verdict == NOT_ENOUGH
