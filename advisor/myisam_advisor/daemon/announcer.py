"""Findings that come, go or get worse, restarts of the server and a clock that is set, as lines of the log: one each, and never a flood.

A finding that comes and goes is told twice, and then no more until it has stayed away; many of one rule are counted; and a server has
a number of lines an hour.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import groupby

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.history.memory import (
    BACK,
    CAME,
    CLOCK_STEP_SECONDS,
    EPISODE_GAP_SECONDS,
    STAYED_AWAY,
    STILL,
    WENT,
    WORSE,
    Clocks,
    Turn,
    Turns,
)
from myisam_advisor.judging.past import Episode
from myisam_advisor.texts.moments import moment_in_words
from myisam_advisor.texts.templates import count, duration, printable
from myisam_exporter.declaring.lean_dataclasses import dataclass

LINES_OF_A_RULE = 3
LINES_AN_HOUR = 60
SECONDS_AN_HOUR = 3600.0
# A finding that holds is worth a warning, as a service sees it; one that says what could be better is not.
_LEVELS = {"critical": logging.WARNING, "warning": logging.WARNING}
_KINDS = (CAME, WORSE, BACK, STILL, WENT, STAYED_AWAY)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Lines:
    """When lines about one server were written within the last hour, and how many were not."""

    written: deque[float] = field(default_factory=deque)
    left_out: int = 0


@dataclass(slots=True)
class Announcer:
    """Tells the log, in the thread of each look."""

    _lines: dict[str, _Lines] = field(default_factory=dict)
    _clocks: Clocks | None = None

    def announce(self, label: str, turns: Turns, clocks: Clocks) -> None:
        """What changed at this look at a server."""
        self._tell_of_clock(clocks)
        self._clocks = clocks
        lines: list[tuple[int, str]] = []
        if turns.restarted_at is not None:
            lines.append(
                (logging.INFO, f"the server was started at {moment_in_words(turns.restarted_at, clocks.wall)}")
            )
        for _, group in groupby(sorted(turns.turns, key=_order), key=_order):
            lines += _told(list(group), clocks.wall)
        self._write(label, lines, clocks.monotonic)

    def forget(self, label: str) -> None:
        """Drop what is kept of a server that is watched no more."""
        self._lines.pop(label, None)

    def _tell_of_clock(self, clocks: Clocks) -> None:
        before = self._clocks
        if before is None:
            return
        step = (clocks.wall - before.wall) - (clocks.monotonic - before.monotonic)
        if abs(step) > CLOCK_STEP_SECONDS:
            way = "ahead" if step > 0 else "back"
            _log.warning(
                "the clock was set %s by %s: earlier findings keep the times of the former clock",
                way,
                duration(abs(step)),
            )

    def _write(self, label: str, lines: Sequence[tuple[int, str]], now: float) -> None:
        book = self._lines.setdefault(label, _Lines())
        while book.written and book.written[0] <= now - SECONDS_AN_HOUR:
            book.written.popleft()
        room = LINES_AN_HOUR - len(book.written)
        if room > 0 and book.left_out and lines:
            _log.warning("%s: %s lines about findings were left out", printable(label), count(book.left_out))
            book.left_out = 0
        for level, line in lines[: max(room, 0)]:
            _log.log(level, "%s: %s", printable(label), printable(line))
            book.written.append(now)
        if len(lines) > room:
            if not book.left_out:
                _log.warning(
                    "%s: %s lines about findings within an hour are enough: more are counted, and left out",
                    printable(label), count(LINES_AN_HOUR),
                )  # fmt: skip
            book.left_out += len(lines) - max(room, 0)


def _order(turn: Turn) -> tuple[int, int, str]:
    """What came before what went, and the worst first; those of one rule together."""
    severity = turn.episode.severity
    return _KINDS.index(turn.kind), SEVERITIES.index(severity) if severity in SEVERITIES else 0, turn.episode.rule


def _told(turns: Sequence[Turn], now: float) -> Iterable[tuple[int, str]]:
    """Those of one kind and one rule."""
    worth_telling = [turn for turn in turns if _is_worth_telling(turn)]
    for turn in worth_telling[:LINES_OF_A_RULE]:
        yield _level(turn), _sentence(turn, now)
    more = len(worth_telling) - LINES_OF_A_RULE
    if more > 0:
        first = worth_telling[0]
        yield _level(first), f"{_VERBS[first.kind]}: {count(more)} more of {first.episode.rule}"


_VERBS = {
    CAME: "found",
    WORSE: "got worse",
    BACK: "found again",
    STILL: "still found",
    WENT: "gone",
    STAYED_AWAY: "gone",
}


def _is_worth_telling(turn: Turn) -> bool:
    """The first absence of an episode is told, and the first return, which says that no more will be; then its end."""
    if turn.kind == BACK:
        return turn.episode.pauses == 1
    return turn.kind != WENT or turn.episode.pauses == 0


def _level(turn: Turn) -> int:
    return _LEVELS.get(turn.episode.severity, logging.INFO) if turn.kind in (CAME, WORSE, BACK, STILL) else logging.INFO


def _sentence(turn: Turn, now: float) -> str:
    one = turn.episode
    about = f" {one.object}" if one.object else ""
    title = f": {turn.title}" if turn.title else ""
    named = f"{one.severity} {one.rule}{about}{title}"
    if turn.kind == CAME:
        return f"found: {named}"
    if turn.kind == WORSE:
        return f"got worse, found since {_since(one, now)}: {named}"
    if turn.kind == STILL:
        return f"still found, since {_since(one, now)}: {named}"
    if turn.kind == BACK:
        quiet = duration(EPISODE_GAP_SECONDS)
        return f"found again after {duration(one.away_seconds)}: {named}. It comes and goes: it is logged again once it has been gone for {quiet}"
    return f"gone: {named}; it held {one.in_words('gone', now)}"


def _since(one: Episode, now: float) -> str:
    return moment_in_words(one.first_seen, now) + ("" if one.begin_seen else " or before")
