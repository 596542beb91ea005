"""Findings of a real server under a load in bursts: episodes, not flickers, and a log that stays short. How long a pause may be was chosen by this series."""

import logging
from itertools import groupby
from pathlib import Path

import pytest

from myisam_advisor.daemon.announcer import Announcer
from myisam_advisor.history import memory as history_memory
from myisam_advisor.history.memory import Clocks, Memory
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import Key, Silence

SERIES = Path(__file__).with_name("bursts.txt")
NOW = 1_763_816_400.0
Look = tuple[float, set[str], set[str]]


def series() -> tuple[dict[str, Key], list[Look]]:
    """What the letters stand for; of each look the second, what was found, what was seen not to hold."""
    names: dict[str, Key] = {}
    looks: list[Look] = []
    for line in SERIES.read_text().splitlines():
        words = line.split()
        if words[0] != "#":
            looks.append((float(words[0]), set(words[1]) - {"-"}, set(words[2]) - {"-"}))
        elif len(words[1]) == 1 and words[1].islower():
            names[words[1]] = (words[2], words[3] if len(words) > 3 else "")
    return names, looks


def finding(key: Key) -> Finding:
    return Finding(key[0], "Title", "warning", "likely", "table", key[1], None, "words", (), "", "", "", "", "", ())


def replayed(every: int = 1) -> tuple[Memory, Announcer, int]:
    """The memory after the looks, and how often something came or went."""
    names, looks = series()
    memory, announcer, turns = Memory("db", 5.0 * every), Announcer(), 0
    for second, held, gone in looks[::every]:
        clocks = Clocks(NOW + second, second)
        hidden = frozenset(key for letter, key in names.items() if letter not in held | gone)
        silence = Silence(frozenset(names[letter][0] for letter in held | gone), hidden)
        turned = memory.look([finding(names[letter]) for letter in sorted(held)], silence, clocks)
        announcer.announce("db", turned, clocks)
        turns += len(turned.turns)
    return memory, announcer, turns


def test_the_series_flickers() -> None:
    names, looks = series()
    runs = sum(holds for letter in names for holds, _ in groupby(letter in held for _, held, _ in looks))
    assert (len(looks), len(names), runs) == (466, 9, 147)


@pytest.mark.parametrize(("every", "episodes"), [(1, 10), (6, 9), (12, 8)])
def test_it_is_told_as_an_episode_a_finding(every: int, episodes: int) -> None:
    memory, _, _ = replayed(every)
    assert len(memory.past().episodes) == episodes
    pauses = {one.key: one.pauses for one in memory.past().episodes}
    assert pauses["recovery-disabled", ""] == 0
    assert pauses["key-buffer-too-small", "default"] > 0


def test_a_shorter_pause_would_tear_it_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_memory, "EPISODE_GAP_SECONDS", 60.0)
    assert len(replayed()[0].past().episodes) > 60
    monkeypatch.setattr(history_memory, "EPISODE_GAP_SECONDS", 300.0)
    assert len(replayed()[0].past().episodes) == 10


def test_the_log_stays_short(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    _, _, turns = replayed()
    assert turns > 250
    assert len(caplog.records) < 30
