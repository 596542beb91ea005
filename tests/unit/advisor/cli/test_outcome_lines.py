"""What `verify` measured, as lines: figures that round to nothing are not called nothing."""

from myisam_advisor.cli.outcome_lines import outcome_lines
from myisam_advisor.history.verification import MeasureOutcome


def test_a_ratio_below_the_last_decimal_is_not_nought() -> None:
    """"0.00 times, 0.00 - 0.00" stood beside 0.578 and 0.0000316."""
    outcome = MeasureOutcome("status.Opened_tables.per_second", "lower", 0.578, 3.16e-05, (59, 42), 5.5e-05, 2e-05, 0.0149, "improved")
    (_, line) = [line.plain for line in outcome_lines([outcome], None, 140)]
    assert line.split()[-7:] == ["<0.01", "<0.01", "-", "0.01", "59,", "42", "improved"]
