"""A day of curves: what is unknown stays so, what is of the future or older than a day goes, and so does what was read for a look before."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from myisam_advisor.daemon.board import FACTS, Board, DayOfCurves
from myisam_advisor.history.writer import History
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.view import CURVE_SECONDS
from tests.support.moved_clock import MovedClock
from tests.unit.advisor.history.test_history_damage import LABEL, facts
from tests.unit.advisor.history.test_history_damage import look as history_look

FIRST, *OTHERS = FACTS


def test_unknown_is_no_number_and_zero_is_one() -> None:
    curves = DayOfCurves()
    curves.add(10.0, {FIRST: 0.0})
    curves.add(20.0, {FIRST: None})
    found = curves.by_fact()
    assert found[FIRST] == [(10.0, 0.0), (20.0, None)]
    assert all(found[fact] == [(10.0, None), (20.0, None)] for fact in OTHERS)


def test_a_clock_that_is_set_back_takes_its_future_with_it() -> None:
    curves = DayOfCurves()
    for moment in (10.0, 20.0, 30.0, 15.0):
        curves.add(moment, {FIRST: moment})
    assert curves.by_fact()[FIRST] == [(10.0, 10.0), (15.0, 15.0)]


def test_it_is_a_day() -> None:
    curves = DayOfCurves()
    for moment in (0.0, 10.0, CURVE_SECONDS + 5.0):
        curves.add(moment, {FIRST: moment})
    assert [moment for moment, _ in curves.by_fact()[FIRST]] == [10.0, CURVE_SECONDS + 5.0]
    assert DayOfCurves().by_fact()[FIRST] == []


def test_curves_of_a_table_are_kept_of_the_last_look_alone(tmp_path: Path) -> None:
    """A page that stays open asks at each look; 64 of a day of one active table are 93 MB."""
    path, clock = tmp_path / "h.sqlite", MovedClock()
    clock.move(-600)
    history = History(path, clock=clock)
    for _ in range(10):
        clock.move(60)
        history_look(history, facts())
    history.close()
    board, now = Board(path), clock.time()
    for moment in (now - 120, now - 60, now):
        read = board.table_curves(LABEL, look_of(moment), ("s", "t"))
        assert len(read["write_statements_per_second"]) > 1
    read = board.table_curves(LABEL, look_of(now), ("s", "t"))
    assert board.table_curves(LABEL, look_of(now), ("s", "t")) is read
    board.table_curves("another", look_of(now - 5), ("s", "t"))
    assert {(label, moment) for label, moment, _ in board._table_curves} == {(LABEL, now), ("another", now - 5)}


def look_of(moment: float) -> Look:
    return cast("Look", SimpleNamespace(taken_at=moment))
