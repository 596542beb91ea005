"""`myisam-advisor history`: curves of facts as sparklines, and the findings on record."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from myisam_advisor.history.reader import Curve, curves, recorded_episodes, recorded_facts
from myisam_advisor.texts.bars import BARS, sparkline
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.templates import count, duration, printable, size
from myisam_exporter.errors import UserError

MOST_CURVES = 20


def curves_in_words(path: Path, fact: str, seconds: float, bars: str = BARS) -> str:
    """A sparkline of these bars for each object of the fact. Raises UserError for a fact that is not on record."""
    now = time.time()
    found = curves(path, fact, now - seconds)
    if not found:
        known = recorded_facts(path)
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
        lines += [printable(title), f"  {sparkline(curve.points, now - seconds, now, bars)}  {_summary(curve)}"]
    if len(found) > MOST_CURVES:
        lines.append(f"... and {len(found) - MOST_CURVES} more with lower peaks")
    return "\n".join(lines)


def facts_in_words(path: Path) -> str:
    """The facts on record."""
    return "\n".join(printable(name) for name in recorded_facts(path))


def episodes_in_words(path: Path) -> str:
    """The findings on record, with when they were seen."""
    now = time.time()
    lines: list[str] = []
    found = recorded_episodes(path, now)
    several = len({one.episode.target for one in found}) > 1
    for one in found:
        episode = one.episode
        about = f" {episode.object}" if episode.object else ""
        server = f"{episode.target}  " if several else ""
        lines += [
            f"{server}{episode.in_words(one.standing, now)}",
            f"    {episode.severity}  {episode.rule}{about}: {episode.message}",
        ]
    return "\n".join(map(printable, lines)) or "no finding is on record"


def _summary(curve: Curve) -> str:
    known = _known(curve)
    if not known:
        return "unknown"
    say = size if "_bytes" in curve.name else count
    last = curve.points[-1][1]
    return f"min {say(min(known))} · median {say(statistics.median(known))} · max {say(max(known))} · last {say(last)}"


def _known(curve: Curve) -> Sequence[float]:
    return [value for _, value in curve.points if value is not None]
