"""The history's samples have the time of the clock that it was given."""

from pathlib import Path

from myisam_advisor.history.reader import samples_of_target
from myisam_advisor.history.writer import History
from tests.support.moved_clock import MovedClock

from .test_history_damage import LABEL, facts, look


def moments(path: Path) -> list[float]:
    return [moment for moment, *_ in samples_of_target(path, LABEL, 0, 1e11)]


def test_what_is_older_than_the_days_kept_goes(tmp_path: Path) -> None:
    path, clock = tmp_path / "h.sqlite", MovedClock()
    clock.move(-3 * 86_400)
    history = History(path, days=1, clock=clock)
    began = clock.time()
    look(history, facts(1000.0, ("default",)))
    history.close()
    (first,) = moments(path)
    assert began <= first <= clock.time()
    clock.move(2 * 86_400)
    history = History(path, days=1, clock=clock)  # a daemon prunes at its first sample
    look(history, facts(1000.0 + 2 * 86_400, ("default",)))
    history.close()
    (second,) = moments(path)
    assert second - first >= 2 * 86_400


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
    assert len(moments(path)) == 2  # what the wrong clock wrote is too old now
