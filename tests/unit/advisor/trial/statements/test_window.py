"""How much of a recording fits into a budget, and what of the whole is not in it."""

from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest

from myisam_advisor.trial.statements.records import ANSWER, THREAD, read_report
from myisam_advisor.trial.statements.schedule import Schedule, ThreadPlan
from myisam_advisor.trial.statements.sender import Sent
from myisam_advisor.trial.statements.survey import Judging, Survey, survey
from myisam_advisor.trial.statements.window import Allowance, Pace, allowance, choose, corrected, ends_of, window_of
from myisam_advisor.workload.events import Event
from tests.support.workloads import event

MILLISECOND = 1_000_000
# A hundred statements, one answered each 10 ms.
STEADY = Pace(0.1, 0.0, [number / 100 for number in range(1, 101)])


def of_kinds(*statements: bytes) -> Survey:
    return survey([event(1, number, statement) for number, statement in enumerate(statements)], Judging())


def sent(judging: Judging, events: Sequence[Event], nameless: Sequence[int] = ()) -> Schedule:
    """A schedule that has these."""
    kinds = survey(events, judging).kinds
    return Schedule(Path(), list(judging.kinds), [], [], 1, 0, {}, frozenset(), len(events), kinds, frozenset(nameless))


def test_a_budget_is_shared_out_among_rounds_and_ways() -> None:
    assert allowance(None, None, 2) is None
    assert allowance(240.0, None, 2) == Allowance(3.0, 20.0)
    assert allowance(240.0, 4, 2) == Allowance(30.0, 30.0)


def test_a_window_is_what_a_run_sends_within_its_time() -> None:
    found = of_kinds(*[b"SELECT 1"] * 100)
    assert choose(STEADY, Allowance(0.6, 1.1), found) == 50
    # However little there is, something is sent.
    assert choose(STEADY, Allowance(0.01, 0.02), found) == 10
    assert choose(Pace(0.0, 0.0, [9.0]), Allowance(0.6, 1.1), found) == 1


def test_something_is_sent_however_many_statements_are_left_out_before_it() -> None:
    found = of_kinds(*[b"SELECT 1"] * 100)
    slow = Pace(0.1, 0.0, [0.0] * 40 + [5.0] * 60)
    assert choose(slow, Allowance(0.6, 1.1), found) == 41
    assert corrected(41, 5.0, slow, Allowance(0.6, 1.1), 100) == 41


def test_where_much_is_around_a_run_fewer_rounds_are_longer() -> None:
    found = of_kinds(*[b"SELECT 1"] * 100)
    assert choose(Pace(0.5, 0.0, STEADY.ends), Allowance(0.6, 1.1), found) == 50
    assert choose(Pace(0.9, 0.0, STEADY.ends), Allowance(0.6, 1.205), found) == 30


def test_it_is_longer_for_a_kind_of_weight_where_fewer_rounds_say_enough() -> None:
    found = of_kinds(*[b"SELECT 1"] * 70, *[b"SELECT a FROM t"] * 30)
    assert choose(STEADY, Allowance(0.6, 1.1), found) == 71
    assert choose(STEADY, Allowance(0.6, 0.7), found) == 50


@pytest.mark.parametrize(("took", "statements"), [(0.6, 50), (0.75, 50), (1.1, 25), (0.35, 100), (0.2, 100)])
def test_a_window_that_took_much_longer_or_shorter_is_chosen_again(took: float, statements: int) -> None:
    assert corrected(50, took, STEADY, Allowance(0.6, 1.2), 100) == statements


def test_what_came_before_the_stop_tells_how_far_a_run_comes(tmp_path: Path) -> None:
    # Two threads; the second was stopped before the fourth statement of the recording; the third is left out.
    plans = [ThreadPlan(positions=array("I", [0, 4])), ThreadPlan(positions=array("I", [1, 3]))]
    head = THREAD.pack(0, 2 * 10**9, 0, 10**9, 0, 0, 0, 0)
    answers: list[list[tuple[int, int] | None]] = [[(5 * MILLISECOND, 4 * MILLISECOND), (20 * MILLISECOND, 1)], [(0, MILLISECOND), None]]
    for number, of_thread in enumerate(answers):
        packed = [
            ANSWER.pack(one[0], one[1], 0, 0, 0, 1) if one else ANSWER.pack(0, 0, 0, 0, 0, 0) for one in of_thread
        ]
        (tmp_path / f"{number}.answers").write_bytes(head + b"".join(packed))
    schedule = Schedule(tmp_path, ["select"], plans, [], 2, 0, {}, frozenset(), 5)
    assert list(ends_of(schedule, Sent(tmp_path, [read_report(head)] * 2))) == [0.009, 0.009, 0.009]


def test_kinds_that_are_not_in_the_window_or_weigh_otherwise_in_it_are_told() -> None:
    judging = Judging()
    events = [
        event(1, 0, b"SELECT 1", duration=100),
        *(event(1, number, b"SELECT a FROM t", duration=10) for number in range(1, 41)),
        event(1, 99, b"SELECT b FROM t", duration=500),
    ]
    whole = survey(events, judging)
    window = window_of(whole, survey(events[:2], judging), sent(judging, events[:2]))
    assert (window.statements, window.recorded_statements, window.is_whole) == (2, 42, False)
    assert window.time_share == pytest.approx(0.11)
    assert [(one.fingerprint, one.recorded_share, one.window_share) for one in window.absent] == [
        ("select b from t", 0.5, 0.0)
    ]
    assert [one.fingerprint for one in window.shifted] == ["select ?", "select a from t"]
    everything = window_of(whole, whole, sent(judging, events))
    assert (everything.absent, everything.left_out, everything.sent_share, everything.proves) == ((), (), 1.0, True)


def test_a_kind_of_weight_that_is_not_sent_is_told_and_nothing_is_proved() -> None:
    judging = Judging()
    small = [event(1, number, b"SELECT a FROM small", duration=9) for number in range(50)]
    big = [event(1, 50 + number, b"SELECT a FROM big", duration=91) for number in range(50)]
    whole = survey([*small, *big], judging)
    window = window_of(whole, whole, sent(judging, small))
    assert [(one.fingerprint, one.recorded_share) for one in window.left_out] == [("select a from big", 0.91)]
    assert (window.absent, window.sent_share, window.proves) == ((), 0.09, False)
    # Most of it is enough, and what has no weight may stay out.
    assert window_of(whole, whole, sent(judging, [*small, *big[:30]])).proves
    assert window_of(whole, whole, sent(judging, [*big, *small[:40]])).proves


def test_without_times_each_kind_that_is_not_sent_is_told_but_for_administration_that_names_no_table() -> None:
    judging = Judging()
    events = [event(1, number, text, duration=0) for number, text in enumerate([b"SELECT 1"] * 98 + [b"SELECT a FROM big", b"SHOW STATUS"])]
    whole = survey(events, judging)
    window = window_of(whole, whole, sent(judging, events[:98], nameless=[judging.kinds["show status"]]))
    assert [one.fingerprint for one in window.left_out] == ["select a from big"]
    assert not window.proves
    assert window_of(whole, whole, sent(judging, events[:99], nameless=[judging.kinds["show status"]])).proves


def test_without_times_each_kind_that_is_absent_is_told_and_a_part_proves_nothing() -> None:
    # As a general log has it: look-ups first, and what takes nearly all of the time at the end.
    judging = Judging()
    lookups = [event(1, number, b"SELECT a FROM t WHERE id = 1", duration=0) for number in range(3_000)]
    joins = [event(1, 5_000 + number, b"SELECT COUNT(*) FROM t x, t y", duration=0) for number in range(60)]
    whole = survey([*lookups, *joins], judging)
    assert not whole.tells_times
    window = window_of(whole, survey(lookups[:150], judging), sent(judging, lookups[:150]))
    assert [one.fingerprint for one in window.absent] == ["select count(*) from t x, t y"]
    assert (window.tells_times, window.proves) == (False, False)
    # All kinds are in it, but how much of the time these are is not known.
    most = window_of(whole, survey([*lookups, *joins[:1]], judging), sent(judging, [*lookups, *joins[:1]]))
    assert (most.absent, most.proves) == ((), False)
    assert window_of(whole, whole, sent(judging, [*lookups, *joins])).proves


def test_without_times_a_window_reaches_for_every_kind() -> None:
    events = [event(1, number, b"SELECT 1", duration=0) for number in range(99)]
    events.insert(70, event(1, 70, b"SELECT a FROM t", duration=0))
    assert choose(STEADY, Allowance(0.6, 1.1), survey(events, Judging())) == 71
