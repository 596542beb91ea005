"""A day of curves: what is unknown stays so, what is of the future or older than a day goes."""

from myisam_advisor.daemon.board import FACTS, DayOfCurves
from myisam_advisor.reports.page.view import CURVE_SECONDS

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
