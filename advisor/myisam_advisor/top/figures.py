"""Numbers as a column has room for them: three digits and a unit; what is not known is a dash, never 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

UNKNOWN = "-"
_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
Say = Callable[[float | None], str]


def figure(value: float | None) -> str:
    """A number: 0.25, 7, 12.3k, 1.71M."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if abs(value) < 1:
        return f"{value:.2f}" if abs(value) >= 0.005 else "0"
    digits, unit = _scaled(float(value), 1000, _THOUSANDS)
    return f"{digits}{unit}"


def share(value: float | None) -> str:
    """A ratio as a percentage; what is less than all is never called all of it."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if 0.995 <= value < 1:
        return f"{math.floor(value * 1000) / 10:.1f} %"
    return f"{value * 100:.0f} %" if value >= 0.1 or value < 0.0005 else f"{value * 100:.1f} %"


def octets(value: float | None) -> str:
    """Bytes with a binary unit: 640 B, 1.25 GiB."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    digits, unit = _scaled(float(value), 1024, _BINARY)
    return f"{digits} {unit}"


def octets_per_second(value: float | None) -> str:
    """Bytes in each second."""
    said = octets(value)
    return said if said == UNKNOWN else f"{said}/s"


def each_second(value: float | None) -> str:
    """How often in each second."""
    said = figure(value)
    return said if said == UNKNOWN else f"{said}/s"


def _scaled(value: float, step: int, units: Sequence[str]) -> tuple[str, str]:
    """Three digits, and the unit they are in."""
    place = 0
    # 999.6 would be written with four digits.
    while abs(value) >= 999.5 and place < len(units) - 1:
        value, place = value / step, place + 1
    decimals = 0 if abs(value) >= 99.95 or value == int(value) else 1 if abs(value) >= 9.995 else 2
    return f"{value:.{decimals}f}", units[place]
