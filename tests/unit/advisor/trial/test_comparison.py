"""Verdicts from runs: right where there is a difference, silent where there is none."""

import json

import pytest

from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT, verdict_of
from myisam_advisor.trial.comparison import Run, compare, compare_pairs, median_of
from myisam_advisor.trial.conclusions import said, times
from myisam_advisor.trial.intervals import PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.results import WorkloadResult


def runs(*rates: float) -> list[Run]:
    return [Run(1.0, rate, server_cpu_seconds=0.5) for rate in rates]


def test_ratio_and_interval() -> None:
    found = compare("new", runs(100, 102, 98, 101, 99, 100), runs(150, 149, 153, 151, 148, 152))
    assert found.ratio == pytest.approx(1.505, abs=0.01)
    assert found.interval is not None
    assert 1.4 < found.interval[0] <= found.ratio <= found.interval[1] < 1.6
    assert found.verdict == WORTH_IT
    assert times(found).startswith("1.51 times (1.4")


def test_a_rate_is_of_a_second_and_a_run_that_took_no_time_has_none() -> None:
    assert Run(4.0, 100).operations_per_second == 25
    assert Run(0.0, 100).operations_per_second == 0


def test_a_median_of_runs_is_known_where_each_of_them_knows_it() -> None:
    assert median_of([*runs(100, 50), Run(1.0, 25, server_cpu_seconds=0.5)], "server_cpu_seconds") == 0.01
    assert median_of([*runs(100, 50), Run(1.0, 25)], "server_cpu_seconds") is None
    assert median_of([], "server_cpu_seconds") is None


def test_pairs_are_compared_as_runs_are() -> None:
    pairs = [(100.0, 150.0), (102.0, 149.0), (98.0, 153.0), (101.0, 151.0), (99.0, 148.0)]
    before, after = zip(*pairs, strict=True)
    assert compare_pairs("new", pairs) == compare("new", runs(*before), runs(*after))


def test_a_slower_variant_is_worse_and_a_like_one_makes_no_difference() -> None:
    assert compare("new", runs(100, 102, 98, 101, 100, 100), runs(80, 81, 79, 82, 80, 81)).verdict == WORSE
    assert compare("new", runs(100, 100.5, 99.5, 100, 101, 100), runs(100.5, 100, 100, 99.5, 100.5, 100)).verdict == NO_DIFFERENCE


def test_what_varies_more_than_it_differs_is_unclear() -> None:
    assert compare("new", runs(100, 60, 140, 100), runs(150, 70, 90, 160)).verdict == UNCLEAR


def test_too_few_rounds_conclude_nothing() -> None:
    for rates in ((100,), (100, 100), (100, 100, 100)):
        found = compare("new", runs(*rates), runs(*(9 * rate for rate in rates)))
        assert (found.verdict, found.interval) == (UNCLEAR, None)
        assert found.ratio == pytest.approx(9)
        assert times(found) == "9.00 times"  # no interval of a single point


def test_runs_that_got_nothing_done_have_no_ratio_to_rely_on() -> None:
    found = compare("new", runs(*[100] * 6), runs(120, 0, 120, 120, 120, 120))
    assert (found.verdict, found.interval, found.ratio) == (UNCLEAR, None, 1.2)
    assert compare_pairs("new", []).verdict == UNCLEAR


def test_a_slow_minute_of_the_machine_falls_on_both() -> None:
    slow = [1.0, 0.4, 1.0, 0.4, 1.0, 0.4]
    found = compare("new", runs(*(100 * mood for mood in slow)), runs(*(130 * mood for mood in slow)))
    # The ratio is that of pairs: the mood cancels out, where it would not between the medians of all runs.
    assert found.ratio == pytest.approx(1.3)
    assert found.low == pytest.approx(1.3)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.98, 1.05, UNCLEAR), (1.0, 1.06, UNCLEAR), (0.98, 1.04, NO_DIFFERENCE), (1.01, 1.04, NO_DIFFERENCE), (0.98, 1.06, UNCLEAR), (1.001, 1.06, WORTH_IT), (0.94, 0.99, WORSE), (0.9, 1.2, UNCLEAR)],
)
def test_verdicts(low: float, high: float, verdict: str) -> None:
    assert verdict_of(low, high) == verdict
    assert verdict_of(1 / high, 1 / low) == {WORTH_IT: WORSE, WORSE: WORTH_IT}.get(verdict, verdict)


def test_what_has_nothing_in_common_is_still_a_number() -> None:
    found = compare("new", runs(1, 1e9, 1, 1e9), runs(1e9, 1, 1e9, 1))
    assert found.verdict == UNCLEAR
    assert found.interval is not None
    assert json.loads(json.dumps(found.interval)) == [pytest.approx(1e-6), pytest.approx(1e6)]


def test_too_few_rounds_of_a_trial_of_many_have_no_interval() -> None:
    """A budget that is over early: an interval from 0.00 to 1000000.00 stood in the report."""
    found = compare("new", runs(*[100, 101] * 3), runs(*[150, 149] * 3), PRIOR_VARIANCE_OF_MANY)
    assert (found.verdict, found.interval) == (UNCLEAR, None)
    assert found.ratio == pytest.approx(1.5, rel=0.02)


def test_an_unknown_count_is_no_zero() -> None:
    assert median_of(runs(100, 200), "read_calls") is None
    assert median_of(runs(100, 200), "server_cpu_seconds") == pytest.approx(0.00375)


def test_a_ratio_of_which_nothing_is_concluded_is_no_part_of_the_conclusion() -> None:
    faster = WorkloadResult("inserts", "rows", {"old": runs(100, 102, 98, 101, 99, 100), "new": runs(150, 149, 153, 151, 148, 152)})
    noisy = WorkloadResult("reads", "keys", {"old": runs(100, 60, 140, 100), "new": runs(150, 70, 90, 160)})
    assert said([faster, noisy], "new") == f"inserts {times(faster.comparisons[0])}; unclear: reads"
    assert said([noisy], "new") == "unclear: reads"
    assert said([faster], "new") == f"inserts {times(faster.comparisons[0])}"
