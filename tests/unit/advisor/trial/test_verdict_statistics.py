"""Verdicts on pairs that real servers gave (benchmarks/verdicts.jsonl): seldom wrong, and found where there is something."""

import pytest

from benchmarks import verdicts
from benchmarks.kept_lines import kept_lines
from benchmarks.verdicts import EQUALS, FASTER, GOALS, RECORD, TRUTH, recorded_pairs, simulated, table_of
from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT

TRIALS, ROUNDS = 200, 30
PAIRS = recorded_pairs(kept_lines(RECORD))


def test_pairs_were_recorded() -> None:
    assert len(PAIRS) > 100


@pytest.mark.parametrize("strength", [0.01, 0.02, 0.03])
def test_noise_of_this_shape_is_borne_at_the_strength_of_a_quiet_machine(strength: float) -> None:
    """A pair's standard deviation of 1 to 3 %; thirty rounds of a second, which is a minute."""
    assert simulated(PAIRS, 1.0, strength, TRIALS, ROUNDS).count(NO_DIFFERENCE) >= 0.95 * TRIALS
    assert simulated(PAIRS, TRUTH, strength, TRIALS, ROUNDS).count(WORTH_IT) >= 0.95 * TRIALS
    assert simulated(PAIRS, 1 / TRUTH, strength, TRIALS, ROUNDS).count(WORSE) >= 0.95 * TRIALS


def test_as_loud_as_they_were_recorded_verdicts_are_unclear_and_not_wrong() -> None:
    of_equals, of_five = simulated(PAIRS, 1.0, 0.2, TRIALS, ROUNDS), simulated(PAIRS, TRUTH, 0.2, TRIALS, ROUNDS)
    assert of_equals.count(UNCLEAR) + of_equals.count(NO_DIFFERENCE) >= 0.95 * TRIALS
    assert of_five.count(WORSE) + of_five.count(NO_DIFFERENCE) <= 0.05 * TRIALS


def test_what_was_found_stands_beside_its_goal() -> None:
    trial = {"verdict": NO_DIFFERENCE, "seconds": 12.0, "noise": 0.02}
    table = table_of([{"case": EQUALS, **trial}, {"case": EQUALS, **trial, "verdict": WORSE}, {"case": FASTER, **trial}])
    assert "| equals | 2 | no difference: 50.0% | 95% | 0 | 1 | 12; 12 | 2.0% |" in table
    assert "| faster | 1 | worth it: 0.0% | 95% | 0 | 1 |" in table
    assert all(case in GOALS for case in verdicts.BUSY)
