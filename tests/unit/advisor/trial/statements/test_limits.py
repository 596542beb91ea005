"""For how long a replay's rounds go on at least."""

from myisam_advisor.trial.rounds import FEWEST_ROUNDS
from myisam_advisor.trial.statements.replaying import limits_of


def test_no_verdict_ends_rounds_that_lie_within_one_wave_of_the_machine() -> None:
    assert [limits_of(None, 60.0, 2, seconds).early_rounds for seconds in (0.05, 0.5, 5.0)] == [30, 3, 1]
    assert limits_of(9, 60.0, 2, 0.5).maximum_rounds == 9
    assert limits_of(None, 60.0, 2, 0.5).minimum_rounds == FEWEST_ROUNDS
