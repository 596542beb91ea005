"""A curve as a line of bars, for a terminal: a sparkline."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import TextIO

BARS = "▁▂▃▄▅▆▇█"
PLAIN_BARS = "_.-~=*%#"
WIDTH = 60
Points = Sequence[tuple[float, float | None]]


def bars_for(reader: TextIO | None) -> str:
    """The bars that a stream's encoding has; a file's text has them all."""
    encoding = "utf8" if reader is None else (reader.encoding or "")
    return BARS if encoding.lower().replace("-", "") == "utf8" else PLAIN_BARS


def sparkline(points: Points, begin: float, end: float, bars: str = BARS, width: int = WIDTH) -> str:
    """The curve as bars over [begin, end], no more than there are samples: the mean of what falls into each, a blank where nothing is known."""
    width = min(width, len(points))
    if not width:
        return ""
    buckets: list[list[float]] = [[] for _ in range(width)]
    first = first_shown(points, begin)
    span = max(end - first, 1.0)
    for moment, value in points:
        if value is not None and first <= moment <= end:
            buckets[min(int((moment - first) / span * width), width - 1)].append(value)
    means = [fsum(values) / len(values) if values else None for values in buckets]
    known = [mean for mean in means if mean is not None]
    low, high = min([0.0, *known]), max(known, default=0.0)
    return "".join(" " if mean is None else bars[_height(mean, low, high, len(bars))] for mean in means)


def first_shown(points: Points, begin: float) -> float:
    """When the line begins: a curve that is younger than `begin` begins with its first point."""
    return max(begin, points[0][0]) if points else begin


def _height(value: float, low: float, high: float, heights: int) -> int:
    return 0 if high <= low else min(int((value - low) / (high - low) * heights), heights - 1)
