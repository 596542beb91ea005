"""A finding that gets worse while it holds is told of once, and one that changes its severity from look to look not each time."""

import logging
from dataclasses import replace

import pytest

from myisam_advisor.daemon.announcer import Announcer
from myisam_advisor.history.memory import CAME, EPISODE_GAP_SECONDS, STILL, WENT, WORSE, Clocks, Memory
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.past import Episode, Silence, worth_remembering

NOW, LOOK = 1_763_816_400.0, 60.0
QUIET = Silence(frozenset({"disk-nearly-full"}), frozenset())
FULL = Finding("disk-nearly-full", "The disk is nearly full", "warning", "confirmed", "server", "/data", None, "words", (), "", "", "", "", "", ())


class Watched:
    """A server that is looked at each minute, and its log."""

    def __init__(self) -> None:
        self.memory, self.announcer, self.now = Memory("db", LOOK), Announcer(), NOW

    def look(self, severity: str | None = None) -> list[str]:
        clocks = Clocks(self.now, self.now)
        turns = self.memory.look([replace(FULL, severity=severity)] if severity else [], QUIET, clocks)
        self.announcer.announce("db", turns, clocks)
        self.now += LOOK
        return [turn.kind for turn in turns.turns]


def test_each_step_up_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = Watched()
    told = [server.look(one) for one in (None, "info", "info", "warning", "info", "warning", "critical", "warning", "critical")]
    assert told == [[], [CAME], [], [WORSE], [], [], [WORSE], [], []]
    assert [(record.levelname, record.getMessage().split(":")[1].split(",")[0]) for record in caplog.records] == [("INFO", " found"), ("WARNING", " got worse"), ("WARNING", " got worse")]
    assert caplog.records[-1].getMessage().endswith(": critical disk-nearly-full /data: The disk is nearly full")


def test_one_that_comes_back_worse_is_told_though_it_comes_and_goes(caplog: pytest.LogCaptureFixture) -> None:
    """The third return is told of no more, and what was a warning is critical by then."""
    server = Watched()
    for _ in range(3):
        server.look("warning")
        server.look()
    caplog.clear()
    assert server.look("critical") == [WORSE]
    assert "got worse" in caplog.text
    assert server.look() == [WENT]


def test_a_new_episode_begins_with_what_it_is() -> None:
    server = Watched()
    server.look("critical")
    for _ in range(int(EPISODE_GAP_SECONDS / LOOK) + 2):
        server.look()
    assert server.look("warning") == [CAME]
    assert server.look("critical") == [WORSE]


def test_what_is_remembered_is_the_worst_of_it_and_a_return_is_told_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """A disk that was full for an hour and is a notice for the last minute was no notice: the page left it out of the day's findings."""
    caplog.set_level(logging.INFO)
    server = Watched()
    for severity in ("info", "critical", "info", None):
        server.look(severity)
    assert [one.severity for one in server.memory.past().former] == ["critical"]
    caplog.clear()
    server.look("info")
    assert ": info disk-nearly-full" in caplog.text


@pytest.mark.parametrize(("severity", "kind"), [("warning", STILL), ("info", STILL), ("critical", WORSE)])
def test_a_daemon_that_begins_knows_how_bad_it_was_last(severity: str, kind: str) -> None:
    server = Watched()
    server.memory.recall([Episode("db", FULL.rule, FULL.object, "warning", NOW - 600, NOW - 60, "words", True)], NOW)
    assert server.look(severity) == [kind]


@pytest.mark.parametrize(("rule", "confidence", "interval_seconds", "noted"), [
    ("table-cache-too-small", "suspected", None, False), ("insufficient-sample", "confirmed", None, False),
    ("table-cache-too-small", "suspected", 60.0, True), ("insufficient-sample", "confirmed", 60.0, True),
    ("recovery-disabled", "confirmed", None, True), ("table-crashed", "likely", None, True),
])  # fmt: skip
def test_what_was_counted_since_the_start_is_no_finding_of_now(rule: str, confidence: str, interval_seconds: float | None, noted: bool) -> None:
    """A daemon's first look has no interval: what it suspects was said to be found, and a look later to be gone."""
    one = replace(FULL, rule=rule, confidence=confidence)
    assert list(worth_remembering(Judgement([one]), interval_seconds)) == ([one] if noted else [])
