"""`myisam-advisor history`: curves of facts as sparklines, and the findings on record."""

from __future__ import annotations

import re
import statistics
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

from myisam_advisor.history.reader import Curve, curves, recorded_episodes, recorded_facts, targets_of, unwatched
from myisam_advisor.texts.bars import BARS, first_shown, sparkline
from myisam_advisor.texts.moments import moment_in_words, span_in_words
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.templates import count, duration, printable, size, times_more
from myisam_exporter.errors import UserError

MOST_CURVES = 20
MOST_GAPS = 10
NO_SAMPLES = "holds no samples yet: let `myisam-advisor serve` run for a while."
# What a reader of this program's history looks for, in this order: of the server's status the counters that MyISAM moves.
_OF_MYISAM = tuple(
    re.compile(pattern)
    for pattern in (
        r"key_cache\.", r"tables\.", r"totals\.", r"mutex_wait\.", r"mysqld\.",
        r"status\.(?:Key_|Table_locks_|Table_open|Open_|Opened_|Handler_read|Handler_write|Questions|Queries|Select_|Sort_)",
        r"status\.(?:Threads_|Created_tmp|Qcache_|Slow_|Aborted_|Connections)", r"host\.", r"server\.",
    )
)  # fmt: skip


def curves_in_words(path: Path, fact: str, seconds: float, bars: str = BARS) -> str:
    """A sparkline of these bars for each object of the fact. Raises UserError for a fact that is not on record."""
    now = time.time()
    found = curves(path, fact, now - seconds, now)  # later ones are of a clock that was wrong
    if not found:
        known = _on_record(path)
        if fact in known:
            raise UserError(
                f"{fact} is on record, but not within the last {duration(seconds)}: --since reaches further back."
            )
        raise UserError(
            f"{fact} is not on record.{did_you_mean(fact, known)} `myisam-advisor history --list` lists the facts."
        )
    several = len({curve.target for curve in found}) > 1
    lines: list[str] = []
    busiest = sorted(found, key=lambda curve: max(_known(curve), default=0.0), reverse=True)
    for curve in sorted(busiest[:MOST_CURVES], key=lambda one: (one.target, one.name)):
        title = f"{curve.target}  {curve.name}" if several else curve.name
        lines += [printable(title), f"  {_drawn(curve, now - seconds, now, bars)}", f"    {_summary(curve)}"]
    if len(found) > MOST_CURVES:
        lines.append(f"... and {len(found) - MOST_CURVES} more with lower peaks")
    return "\n".join(lines)


def _on_record(path: Path) -> list[str]:
    known = recorded_facts(path)
    if not known:
        raise UserError(f"{path} {NO_SAMPLES}")
    return known


def facts_in_words(path: Path, headings: bool) -> str:
    """The facts on record, those that tell of MyISAM and what it runs on first; with `headings`, for a person."""
    names = _on_record(path)
    own = [name for pattern in _OF_MYISAM for name in names if pattern.match(name)]
    others = [name for name in names if name not in set(own)]
    if not headings:
        return "\n".join(map(printable, own + others))
    lines = ["Of MyISAM and what it runs on:", *(f"  {name}" for name in own)]
    return "\n".join(
        map(printable, lines + (["Of the server besides:", *(f"  {name}" for name in others)] if others else []))
    )


def episodes_in_words(path: Path, width: int | None = None, since_seconds: float | None = None) -> str:
    """The findings on record, with when they were seen; lines of `width` columns for a terminal, else one line for each.

    `since_seconds` leaves out those that nobody saw since then, and times without a look that ended before.
    """
    now = time.time()
    begin = 0.0 if since_seconds is None else now - since_seconds
    lines: list[str] = []
    on_record = recorded_episodes(path, now)
    found = [one for one in on_record if one.episode.last_seen >= begin]
    several = len({one.episode.target for one in on_record}) > 1
    for one in found:
        episode = one.episode
        about = f" {episode.object}" if episode.object else ""
        server = f"{episode.target}  " if several else ""
        lines += [
            f"{server}{episode.in_words(one.standing, now)}",
            f"    {episode.severity}  {episode.rule}{about}: {episode.message}",
        ]
    if not lines:
        lines = [_nothing_found(len(on_record), since_seconds) if targets_of(path) else f"{path} {NO_SAMPLES}"]
    for label, all_gaps in unwatched(path, now):
        gaps = [gap for gap in all_gaps if gap[1] is None or gap[1] > begin]
        if not gaps:
            continue
        named = "; ".join(
            f"since {moment_in_words(begin, now)}" if end is None else span_in_words(begin, end, now)
            for begin, end in gaps[: -MOST_GAPS - 1 : -1]
        )
        more = f"; and {times_more(len(gaps) - MOST_GAPS)}" if len(gaps) > MOST_GAPS else ""
        lines.append(f"{label} was not looked at: {named}{more}. What held then is not known.")
    return "\n".join(wrapped for line in map(printable, lines) for wrapped in _wrapped(line, width))


def _nothing_found(older: int, since_seconds: float | None) -> str:
    """That nothing is on record; with how much is from before, where it was left out."""
    if since_seconds is None:
        return "no finding is on record"
    said = f"no finding is on record of the last {duration(since_seconds)}"
    return f"{said}; {_told_older(older)}: --since reaches further back" if older else said


def _told_older(older: int) -> str:
    """How many there are from before."""
    return "one is older" if older == 1 else f"{count(older)} are older"


def _wrapped(line: str, width: int | None) -> list[str]:
    """The line, broken between words, what goes on as far in as what it goes on from."""
    if width is None:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, max(width, len(indent) + 20), subsequent_indent=indent, break_on_hyphens=False) or [line]


def _drawn(curve: Curve, begin: float, end: float, bars: str) -> str:
    """The bars between the moments at their ends."""
    first = first_shown(curve.points, begin)
    form = (
        "%H:%M"
        if time.strftime("%F", time.localtime(first)) == time.strftime("%F", time.localtime(end))
        else "%m-%d %H:%M"
    )
    left, right = (time.strftime(form, time.localtime(moment)) for moment in (first, end))
    return f"{left} {sparkline(curve.points, begin, end, bars)} {right}"


def _summary(curve: Curve) -> str:
    known = _known(curve)
    if not known:
        return "unknown"
    say = size if "_bytes" in curve.name else count
    last = curve.points[-1][1]
    return f"min {say(min(known))} · median {say(statistics.median(known))} · max {say(max(known))} · last {say(last)}"


def _known(curve: Curve) -> Sequence[float]:
    return [value for _, value in curve.points if value is not None]
