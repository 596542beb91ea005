"""A variant under which statements fail, or return other rows, is not called fast."""

from collections import Counter

from myisam_advisor.trial.statements.figures import answered_otherwise
from myisam_advisor.trial.statements.replay_result import Latency
from myisam_advisor.trial.statements.tally import Run

KINDS = ("select a from t", "insert into t values (?+)")


def run(differences: dict[tuple[int, int], int]) -> Run:
    return Run(1.0, 1000, Latency(1, 1, 1), 0.001, {}, 0, 0, 0.1, 0.5, differences=Counter(differences))


def test_errors_that_the_baseline_has_not_are_named() -> None:
    said = answered_otherwise(KINDS, [run({(1, 1062): 400})] * 2, [run({(1, 1062): 400, (0, 1054): 30})] * 2)
    assert said == "3.0% of the statements are answered otherwise under it, so that its speed says nothing: select a from t fails with error 1054"


def test_other_rows_count_too_and_what_both_have_does_not() -> None:
    assert "insert into t values (?+) returns other rows" in answered_otherwise(KINDS, [run({})], [run({(1, 0): 5})])
    assert answered_otherwise(KINDS, [run({(0, 0): 50})], [run({(0, 0): 51})]) == ""
    assert answered_otherwise(KINDS, [run({(0, 1054): 50})], [run({})]) == ""
