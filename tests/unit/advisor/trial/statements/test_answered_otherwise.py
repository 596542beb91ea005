"""A variant under which statements fail, or return other rows, is not called fast."""

from collections import Counter

from myisam_advisor.trial.statements.figures import answered_otherwise
from myisam_advisor.trial.statements.replay_result import Latency
from myisam_advisor.trial.statements.tally import KindTally, ReplayRun

KINDS = ("select a from t", "insert into t values (?+)")


def run(differences: dict[tuple[int, int], int], strayed: dict[int, int] | None = None) -> ReplayRun:
    return ReplayRun(1.0, 1000, Latency(1, 1, 1), 0.001, {}, 0, 0, 0.1, 0.5, differences=Counter(differences), strayed=Counter(strayed or {}))


def test_errors_that_the_baseline_has_not_are_named() -> None:
    said = answered_otherwise(KINDS, [run({(1, 1062): 400})] * 2, [run({(1, 1062): 400, (0, 1054): 30})] * 2)
    assert said == "3 % of the statements are answered otherwise under it, so that its speed says nothing: select a from t fails with error 1054"


def test_other_rows_count_too_and_what_both_have_does_not() -> None:
    assert "insert into t values (?+) returns other rows" in answered_otherwise(KINDS, [run({})], [run({(1, 0): 5})])
    assert answered_otherwise(KINDS, [run({(0, 0): 50})], [run({(0, 0): 51})]) == ""
    assert answered_otherwise(KINDS, [run({(0, 1054): 50})], [run({})]) == ""


def test_where_the_recording_tells_no_rows_the_baseline_does() -> None:
    # As when a variant deletes what is looked up: no error, and nothing found.
    said = answered_otherwise(KINDS, [run({})] * 2, [run({}, {0: 900})] * 2)
    assert said == "90 % of the statements are answered otherwise under it, so that its speed says nothing: select a from t returns other rows"


def test_rows_that_differ_among_the_baselines_own_runs_are_the_neighbours_order() -> None:
    assert answered_otherwise(KINDS, [run({}, {0: 50})] * 2, [run({}, {0: 80})] * 2) == ""
    assert "15 % of the statements" in answered_otherwise(KINDS, [run({}, {0: 50})] * 2, [run({}, {0: 250})] * 2)
    # One kind's disorder excuses no other.
    assert "insert into t" in answered_otherwise(KINDS, [run({}, {0: 500})] * 2, [run({}, {1: 250})] * 2)


def reports(failing: int = 0, seconds: float = 4.0, rows: int = 0) -> ReplayRun:
    """Of 9,999 light statements that take a second, and five reports: some of these fail, or return other rows."""
    kinds = {0: KindTally(9_999, 10**9), 1: KindTally(5, round(seconds * 1e9))}
    return ReplayRun(
        1.0 + seconds, 10_004, Latency(1, 1, 1), 0.001, kinds, 0, 0, 0.1, 0.5, differences=Counter({(1, 1104): failing, (1, 0): rows}),
    )  # fmt: skip


def test_few_statements_with_most_of_the_time_that_fail_are_no_speed() -> None:
    said = answered_otherwise(KINDS, [reports()] * 6, [reports(failing=5, seconds=0.001)] * 6)
    assert said == "80 % of the statements, by their time, are answered otherwise under it, so that its speed says nothing: insert into t values (?+) fails with error 1104"
    assert "returns other rows" in answered_otherwise(KINDS, [reports()] * 6, [reports(rows=1)] * 6)


def test_one_other_answer_of_a_heavy_kind_in_many_runs_is_chance() -> None:
    assert answered_otherwise(KINDS, [reports()] * 6, [reports()] * 5 + [reports(rows=1)]) == ""
    assert answered_otherwise(KINDS, [reports(rows=1)] * 6, [reports(rows=1)] * 6) == ""
    assert answered_otherwise(KINDS, [reports(rows=1)] * 6, [reports(rows=2)] * 6) == ""
