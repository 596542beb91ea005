"""How long one run may take."""

from myisam_advisor.trial.statements.sender import longest_run


def test_a_run_takes_no_longer_than_the_budget_of_all() -> None:
    an_hour = 3600.0
    assert longest_run(300.0, an_hour) == 300.0
    assert longest_run(None, an_hour) == 20 * an_hour
    # Of a budget of seconds, or a recording of some, a machine that is slow for once makes no failure.
    assert longest_run(5.0, an_hour) == longest_run(None, 1.0) == 120.0
