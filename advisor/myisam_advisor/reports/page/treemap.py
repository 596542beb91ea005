"""Rectangles whose areas stand for weights, each as nearly square as can be.

The algorithm is "Squarified Treemaps" (Bruls, Huizing, van Wijk, 2000). PyPI's squarify does the same and is in no Debian release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Rectangle(NamedTuple):
    """Left upper corner and extent."""

    x: float
    y: float
    width: float
    height: float


def treemap(weights: Sequence[float], place: Rectangle) -> list[Rectangle]:
    """One rectangle for each weight, in their order, together filling the place. Weights are positive and fall."""
    total = sum(weights)
    if not total or place.width <= 0 or place.height <= 0:
        return [Rectangle(place.x, place.y, 0.0, 0.0)] * len(weights)
    areas = [weight * place.width * place.height / total for weight in weights]
    placed: list[Rectangle] = []
    begin = 0
    while begin < len(areas):
        end = _row_end(areas, begin, min(place.width, place.height))
        row, place = _lay(areas[begin:end], place)
        placed += row
        begin = end
    return placed


def _row_end(areas: Sequence[float], begin: int, side: float) -> int:
    """How far a row along the shorter side goes: until one more would make its worst rectangle longer."""
    end, total = begin + 1, areas[begin]
    while end < len(areas):
        more = total + areas[end]
        if _worst(areas[begin], areas[end], more, side) > _worst(areas[begin], areas[end - 1], total, side):
            break
        end, total = end + 1, more
    return end


def _worst(largest: float, smallest: float, total: float, side: float) -> float:
    """The greatest ratio of sides in a row."""
    if not smallest or not side:
        return float("inf")
    thickness = total / side
    return max(thickness**2 / smallest, largest / thickness**2)


def _lay(areas: Sequence[float], place: Rectangle) -> tuple[list[Rectangle], Rectangle]:
    """A row along the shorter side, and what is left: nothing where that side has no length."""
    x, y, width, height = place
    total = sum(areas)
    row = []
    if width >= height:
        thickness = min(total / height, width) if height else 0.0
        for area in areas:
            extent = area / thickness if thickness else 0.0
            row.append(Rectangle(x, y, thickness, extent))
            y += extent
        return row, Rectangle(x + thickness, place.y, width - thickness, height)
    thickness = min(total / width, height) if width else 0.0
    for area in areas:
        extent = area / thickness if thickness else 0.0
        row.append(Rectangle(x, y, extent, thickness))
        x += extent
    return row, Rectangle(place.x, y + thickness, width, height - thickness)
