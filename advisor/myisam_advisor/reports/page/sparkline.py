"""A curve of a day, small enough for a line of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from myisam_exporter.declaring.lean_dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 200, 36, 2
BUCKETS = 100
GAP_PAUSES = 3.5
Point = tuple[float, float | None]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """An SVG path (one stroke for each stretch without a gap), and the numbers beside it; it begins at the moment `begin`."""

    path: str
    latest: float | None
    lowest: float
    highest: float
    hours: float
    begin: float


def sparkline(points: Sequence[Point], end: float, seconds: float) -> Sparkline | None:
    """The curve over the seconds before `end`, from 0 up; None where nothing is known of it."""
    begin = end - seconds
    known = [(moment, value) for moment, value in points if value is not None and begin <= moment <= end]
    if not known:
        return None
    # Where the clock was set back, points of before may be of the future.
    begin = max(begin, min(moment for moment, _ in points if begin <= moment <= end))
    values = [value for _, value in known]
    lowest, highest = min(values), max(values)
    path = "".join(_stroke(_buckets(stretch, begin, end), highest) for stretch in _stretches(known))
    return Sparkline(path, points[-1][1], lowest, highest, (end - begin) / 3600, begin)


def _stretches(known: Sequence[tuple[float, float]]) -> Iterable[list[tuple[float, float]]]:
    """Points without a gap between them: one that is several times as long as usual."""
    pauses = [after[0] - before[0] for before, after in pairwise(known)]
    usual = median(pauses) if pauses else 0.0
    stretch = [known[0]]
    for pause, point in zip(pauses, known[1:], strict=True):
        if pause > GAP_PAUSES * usual:
            yield stretch
            stretch = []
        stretch.append(point)
    yield stretch


def _buckets(stretch: Iterable[tuple[float, float]], begin: float, end: float) -> list[tuple[int, float]]:
    """The mean of each hundredth of the time, where there is one."""
    width = max(end - begin, 1.0) / BUCKETS
    gathered: dict[int, list[float]] = {}
    for moment, value in stretch:
        gathered.setdefault(min(int((moment - begin) / width), BUCKETS - 1), []).append(value)
    return [(bucket, sum(values) / len(values)) for bucket, values in sorted(gathered.items())]


def _stroke(stretch: Sequence[tuple[int, float]], highest: float) -> str:
    scale = (HEIGHT - 2 * MARGIN) / highest if highest > 0 else 0.0
    step = (WIDTH - 2 * MARGIN) / (BUCKETS - 1)
    points = [f"{MARGIN + bucket * step:.0f} {HEIGHT - MARGIN - value * scale:.1f}" for bucket, value in stretch]
    # A single point would leave no stroke.
    return f"M{points[0]}" + ("h1" if len(points) == 1 else "L" + " ".join(points[1:]))
