"""The history's samples have the time of the clock that it was given."""

from pathlib import Path

import pytest

from myisam_advisor.history.reader import samples_of_target
from myisam_advisor.history.writer import History
from tests.support.moved_clock import MovedClock

from .test_history_damage import LABEL, facts, look


def moments(path: Path) -> list[float]:
    return [moment for moment, *_ in samples_of_target(path, LABEL, 0, 1e11)]


def look_again_a_day_later(path: Path, clock: MovedClock, days: float) -> None:
    """After two days without a daemon: a day later what is too old goes."""
    for further in (2 * 86_400, 86_400):
        clock.move(further)
        history = History(path, days=days, clock=clock)  # a daemon prunes at its first sample
        look(history, facts(1000.0 + clock.ahead_seconds, ("default",)))
        history.close()


def test_what_is_older_than_the_days_kept_goes(tmp_path: Path) -> None:
    path, clock = tmp_path / "h.sqlite", MovedClock()
    clock.move(-3 * 86_400)
    history = History(path, days=1, clock=clock)
    began = clock.time()
    look(history, facts(1000.0, ("default",)))
    history.close()
    (first,) = moments(path)
    assert began <= first <= clock.time()
    look_again_a_day_later(path, clock, days=1)
    assert min(moments(path)) - first >= 2 * 86_400


def test_a_clock_that_was_not_set_yet_loses_nothing(tmp_path: Path) -> None:
    """A machine without a clock of its own begins years ago, until the network tells the time: the first look then took a week's history."""
    path, clock = tmp_path / "h.sqlite", MovedClock()
    history = History(path, days=1, clock=clock)
    look(history, facts(1000.0, ("default",)))
    history.close()
    before = moments(path)
    for back in (-3000 * 86_400, 3000 * 86_400):
        clock.move(back)
        history = History(path, days=1, clock=clock)  # a daemon prunes at its first sample
        look(history, facts(1000.0, ("default",)))
        history.close()
        assert set(before) < set(moments(path))
    clock.move(86_400)
    history = History(path, days=1, clock=clock)
    look(history, facts(1000.0, ("default",)))
    history.close()
    assert min(moments(path)) >= before[0]  # what the wrong clock wrote is too old now


@pytest.mark.parametrize("days_ahead", [8, 365, 3650])
def test_a_clock_that_was_ahead_for_less_than_a_day_loses_nothing(tmp_path: Path, days_ahead: int) -> None:
    """A machine whose battery is old, or an administrator who mistypes the year: the next look took a week's history, and all that was noted beside it."""
    path, clock = tmp_path / "h.sqlite", MovedClock()

    def looked(uptime: float, minutes: int) -> None:
        history = History(path, clock=clock)  # a daemon prunes at its first sample
        for _ in range(minutes):
            look(history, facts(uptime, ("default",)))
            clock.move(60)
        history.close()

    looked(100_000.0, 3)
    before = moments(path)
    clock.move(days_ahead * 86_400)
    looked(100.0, 10)
    assert set(before) < set(moments(path))
    clock.move(-days_ahead * 86_400)
    looked(100_000.0, 3)
    assert len(moments(path)) == 6  # what the wrong clock wrote lies too far ahead
    assert set(before) < set(moments(path))
