"""A variant under which statements fail, or return other rows, is not called fast."""

from collections import Counter

from myisam_advisor.trial.statements.figures import answered_otherwise
from myisam_advisor.trial.statements.replay_result import Latency
from myisam_advisor.trial.statements.tally import Run

KINDS = ("select a from t", "insert into t values (?+)")


def run(differences: dict[tuple[int, int], int], strayed: dict[int, int] | None = None) -> Run:
    return Run(1.0, 1000, Latency(1, 1, 1), 0.001, {}, 0, 0, 0.1, 0.5, differences=Counter(differences), strayed=Counter(strayed or {}))


def test_errors_that_the_baseline_has_not_are_named() -> None:
    said = answered_otherwise(KINDS, [run({(1, 1062): 400})] * 2, [run({(1, 1062): 400, (0, 1054): 30})] * 2)
    assert said == "3.0% of the statements are answered otherwise under it, so that its speed says nothing: select a from t fails with error 1054"


def test_other_rows_count_too_and_what_both_have_does_not() -> None:
    assert "insert into t values (?+) returns other rows" in answered_otherwise(KINDS, [run({})], [run({(1, 0): 5})])
    assert answered_otherwise(KINDS, [run({(0, 0): 50})], [run({(0, 0): 51})]) == ""
    assert answered_otherwise(KINDS, [run({(0, 1054): 50})], [run({})]) == ""


def test_where_the_recording_tells_no_rows_the_baseline_does() -> None:
    # As when a variant deletes what is looked up: no error, and nothing found.
    said = answered_otherwise(KINDS, [run({})] * 2, [run({}, {0: 900})] * 2)
    assert said == "90.0% of the statements are answered otherwise under it, so that its speed says nothing: select a from t returns other rows"


def test_rows_that_differ_among_the_baselines_own_runs_are_the_neighbours_order() -> None:
    assert answered_otherwise(KINDS, [run({}, {0: 50})] * 2, [run({}, {0: 80})] * 2) == ""
    assert "15.0% of the statements" in answered_otherwise(KINDS, [run({}, {0: 50})] * 2, [run({}, {0: 250})] * 2)
    # One kind's disorder excuses no other.
    assert "insert into t" in answered_otherwise(KINDS, [run({}, {0: 500})] * 2, [run({}, {1: 250})] * 2)
