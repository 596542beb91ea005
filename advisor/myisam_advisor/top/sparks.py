"""A curve of the last moments as one line of text."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.texts.bars import BARS

NOT_KNOWN = " "


def spark(points: Sequence[float | None], width: int, highest: float | None = None) -> str:
    """The last `width` points as bars from 0 up to `highest`, the largest of them where none is given; what was not known is a gap."""
    shown = list(points)[-width:] if width > 0 else []
    top = highest or max((point for point in shown if point is not None), default=0.0)
    return "".join(_bar(point, top) for point in shown).rjust(width, NOT_KNOWN)


def _bar(point: float | None, top: float) -> str:
    if point is None:
        return NOT_KNOWN
    level = min(max(point / top, 0.0), 1.0) if top > 0 else 0.0
    # Nothing at all is the lowest bar alone: a little must differ from it.
    return BARS[0] if level <= 0 else BARS[max(1, round(level * (len(BARS) - 1)))]
