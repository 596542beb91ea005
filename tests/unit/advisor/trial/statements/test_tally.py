from array import array
from pathlib import Path

from myisam_advisor.trial.statements.records import ANSWER, THREAD, read_report
from myisam_advisor.trial.statements.schedule import NONE_INSERTED, UNKNOWN, Schedule, ThreadPlan
from myisam_advisor.trial.statements.sender import Sent
from myisam_advisor.trial.statements.tally import TAKEN, keep_usual, measured, rows_answered, tally
from myisam_advisor.workload.events import Event

MILLISECOND = 1_000_000


def test_rows_errors_and_times_are_counted_by_kind(tmp_path: Path) -> None:
    plan = ThreadPlan(array("I", [0, 0, 1, 1, 1]), array("q", [1, 2, UNKNOWN, 0, 0]), array("i", [UNKNOWN, UNKNOWN, UNKNOWN, 1062, UNKNOWN]))
    answers = [(1, 1 * MILLISECOND, 1, 0, 0, 1), (2, 3 * MILLISECOND, 5, 0, 0, 1), (3, MILLISECOND, 9, 0, 0, 1), (4, MILLISECOND, 0, 0, 1062, 1), (0, 0, 0, 0, 2013, 0)]
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 1, 0, 0)
    (tmp_path / "0.answers").write_bytes(head + b"".join(ANSWER.pack(*one) for one in answers))
    schedule = Schedule(tmp_path, ["select", "insert"], [plan], [], 1, 0, {}, frozenset())
    run = tally(schedule, Sent(tmp_path, [read_report(head)]), 0.5)
    assert (run.rows_equal, run.rows_differ, run.rows_unknown) == (1, 1, 1)
    # 1062 was recorded, too; 2013 was not.
    assert dict(run.differences) == {(0, 0): 1, (1, 2013): 1}
    assert run.unconnected == 1
    assert run.examples == {(0, 0): (2, 5)}
    assert (run.answered, run.statements_per_second, run.lost_turns) == (4, 2.0, 1)
    assert run.kind_rate(0) == 2 / 0.004
    assert run.rate("1") == 1 / 0.0015
    assert measured([run]).latency_milliseconds.median == 1.0


def test_what_the_recording_tells_no_rows_of_is_held_against_the_baseline_statement_by_statement(tmp_path: Path) -> None:
    # The same sum of rows, but of other statements; one that fails now; one of which the rows are recorded; a write that changes nothing.
    plan = ThreadPlan(array("I", [0, 0, 0, 1, 1]), array("q", [UNKNOWN, UNKNOWN, UNKNOWN, 1, UNKNOWN]), array("i", [UNKNOWN] * 5))
    schedule = Schedule(tmp_path, ["select", "insert"], [plan], [], 1, 0, {}, frozenset())
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 0, 0, 0)

    def sent(*answers: tuple[int, int, int]) -> Sent:
        packed = [ANSWER.pack(1, MILLISECOND, *answer, 1) for answer in answers]
        (tmp_path / "0.answers").write_bytes(head + b"".join(packed))
        return Sent(tmp_path, [read_report(head)])

    first = sent((1, 0, 0), (0, 0, 0), (5, 0, 0), (1, 0, 0), (0, 3, 0))
    assert +tally(schedule, first, 0.5).strayed == {}
    keep_usual(schedule, first)
    assert +tally(schedule, first, 0.5).strayed == {}
    other = tally(schedule, sent((0, 0, 0), (1, 0, 0), (0, 0, 1146), (0, 0, 0), (0, 0, 0)), 0.5)
    assert dict(other.strayed) == {0: 2, 1: 1}
    assert dict(other.differences) == {(0, 1146): 1, (1, 0): 1}


def test_a_recording_tells_errors_where_any_statement_has_one_or_none() -> None:
    def schedule(*errors: int) -> Schedule:
        return Schedule(Path(), [], [ThreadPlan(errors=array("i", errors))], [], 1, 0, {}, frozenset())

    assert not schedule(UNKNOWN, UNKNOWN).tells_errors
    assert schedule(UNKNOWN, 0).tells_errors


def test_what_failed_when_it_was_recorded_and_does_not_here_is_another_answer(tmp_path: Path) -> None:
    plan = ThreadPlan(array("I", [0, 0, 0]), array("q", [0, 0, 0]), array("i", [1062, 0, 1969]))
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 0, 0, 0)
    (tmp_path / "0.answers").write_bytes(head + b"".join(ANSWER.pack(1, MILLISECOND, 0, 1, 0, sent) for sent in (1, 1, 0)))
    run = tally(Schedule(tmp_path, ["insert"], [plan], [], 1, 0, {}, frozenset()), Sent(tmp_path, [read_report(head)]), 0.5)
    assert dict(run.differences) == {(0, TAKEN): 1}
    assert (run.rows_equal, run.unconnected) == (2, 1)


def test_an_insert_that_added_no_row_failed_though_the_recording_tells_no_error(tmp_path: Path) -> None:
    plan = ThreadPlan(array("I", [0, 0, 0]), array("q", [0, 0, 0]), array("i", [UNKNOWN] * 3), changed=array("q", [NONE_INSERTED, NONE_INSERTED, 1]))
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 0, 0, 0)
    answers = [(0, 0, 1062), (0, 1, 0), (0, 0, 1062)]
    (tmp_path / "0.answers").write_bytes(head + b"".join(ANSWER.pack(1, MILLISECOND, *answer, 1) for answer in answers))
    run = tally(Schedule(tmp_path, ["insert"], [plan], [], 1, 0, {}, frozenset()), Sent(tmp_path, [read_report(head)]), 0.5)
    assert dict(run.differences) == {(0, 0): 1, (0, 1062): 1}


def test_a_write_that_finds_none_where_it_changed_rows_is_another_answer(tmp_path: Path) -> None:
    # Recorded: how many rows it changed. Here: how many, and whether it found rows that were as it would have them.
    cases = [(1, 0, 1), (1, 2, 1), (0, 0, 1), (0, 1, 1), (1, 0, 3), (0, 0, 3), (UNKNOWN, 0, 1), (UNKNOWN, 5, 1)]
    zeros = [0] * len(cases)
    plan = ThreadPlan(array("I", range(len(cases))), array("q", zeros), array("i", [UNKNOWN] * len(cases)), changed=array("q", [case[0] for case in cases]))
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 0, 0, 0)
    (tmp_path / "0.answers").write_bytes(head + b"".join(ANSWER.pack(1, MILLISECOND, 0, affected, 0, sent) for _, affected, sent in cases))
    run = tally(Schedule(tmp_path, [f"kind {number}" for number in range(len(cases))], [plan], [], 1, 0, {}, frozenset()), Sent(tmp_path, [read_report(head)]), 0.5)
    assert dict(run.differences) == {(0, 0): 1, (3, 0): 1}
    assert run.examples == {(0, 0): (1, 0), (3, 0): (0, 1)}
    assert (run.rows_equal, run.rows_differ) == (6, 2)


def test_a_statement_that_failed_here_gave_no_rows_and_one_that_was_not_seen_those_of_the_recording() -> None:
    event = Event(1, 0, None, None, b"SELECT 1", rows_sent=7)
    assert [rows_answered([5, UNKNOWN - 1146, UNKNOWN], place, event) for place in range(3)] == [5, 0, 7]
