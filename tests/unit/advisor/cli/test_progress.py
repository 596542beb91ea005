"""What a trial shows while it works: what it does, and how long it takes at most."""

import io
import re
import sys
import threading
import time

import pytest

from myisam_advisor.cli import progress
from myisam_advisor.cli.progress import recording_progress, time_left, trial_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "words"), [(0.0, "at most 0:00 left"), (59.6, "at most 1:00 left"), (187.2, "at most 3:07 left")])
def test_time_left_in_words(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def shown(monkeypatch: pytest.MonkeyPatch, budget: float | None, left: float | None, width: int) -> str:
    terminal = Terminal()
    for name, value in (("COLUMNS", str(width)), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", terminal)
    with trial_progress(budget, 8) as listener:
        listener.doing("making [a] table")
        listener.left(left)
        listener.doing("inserts of 100 rows: a cache for each table (round 3), which is quite a lot to say")
        listener.ran()
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", terminal.getvalue())


@pytest.mark.parametrize("width", [80, 120])
def test_the_time_left_is_never_cut(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    text = shown(monkeypatch, 300.0, 65.0, width)
    assert "at most 1:05 left" in text
    assert "inserts of 100 rows" in text
    assert max(map(len, re.split(r"[\r\n]", text))) <= width


def test_rounds_without_a_budget_promise_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, None, None, 100)
    assert "inserts of 100 rows" in text
    assert "at most" not in text


def test_a_recording_shows_what_is_left_of_it_from_its_begin_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    for name, value in (("COLUMNS", "80"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", terminal)
    with recording_progress(60.0) as tick:
        assert terminal.getvalue() == ""
        threads = set(threading.enumerate())
        tick(59.0)
        tick(30.0)
        # One of another test may end meanwhile.
        assert set(threading.enumerate()) <= threads
        text = terminal.getvalue()
        assert "recording" in text
        assert text.index("at most 0:59 left") < text.index("at most 0:30 left")
    assert terminal.getvalue() != text
    terminal.truncate(0)
    with recording_progress(60.0):
        pass
    assert terminal.getvalue() == ""


def test_a_trial_whose_progress_is_piped_writes_a_bounded_number_of_plain_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: moment)
    with trial_progress(300.0) as listener:
        listener.doing("making [a] table")
        listener.left(187.2)
        listener.doing("making another table")
        listener.doing("starting a server")
        for moment in range(2, 2000, 2):
            listener.doing(f"inserts (round {moment // 2})")
            listener.ran()
    out, written = capsys.readouterr()
    lines = written.splitlines()
    assert out == ""
    # Of many short steps not each, and what may take long as soon as it begins.
    assert lines[:3] == ["trial: making [a] table", "trial: starting a server, at most 3:07 left", "trial: inserts (round 1), at most 3:05 left"]
    assert len(lines) == progress.MAXIMUM_LINES
    assert lines[-1].endswith("at most 0:00 left (further steps are not shown)")


def test_a_recording_is_shown_on_a_terminal_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with recording_progress(60.0) as tick:
        tick(5.0)
    assert capsys.readouterr() == ("", "")


def test_a_long_step_takes_no_room_from_the_bar_and_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 80 columns the bar vanished while statements were prepared, and came back afterwards."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with trial_progress(300.0) as listener:
        listener.left(200.0)
        listener.doing("preparing the statements, and finding out how many of them the budget can bear at all")
        time.sleep(0.3)
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).rstrip() for line in re.split(r"[\r\n]", screen.getvalue())]
    shown = [line for line in lines if "preparing" in line]
    assert shown
    assert all("left" in line and line.endswith("…") and len(line) <= 80 for line in shown)
