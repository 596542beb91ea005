"""Values of thresholds, in the unit that the rule declares."""

from __future__ import annotations

import re

_VALUE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z%]*)")
_SIZES = {"": 1.0, "k": 1.0 * (1 << 10), "m": 1.0 * (1 << 20), "g": 1.0 * (1 << 30), "t": 1.0 * (1 << 40)}
_SECONDS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
LARGEST = 1e18


def threshold_value(value: object, unit: str) -> int | float:
    """A parameter's value in its own unit. Raises ValueError, which says what to write, for a value of another unit or type."""
    number, suffix = _parts(value)
    if unit == "ratio":
        factors, form = {"": 1.0, "%": 0.01}, "ratio: write 0.2 or 20%"
    elif unit.startswith("bytes"):
        suffix = suffix.removesuffix("ib").removesuffix("b")
        factors, form = _SIZES, "size: write 67108864 or 64M"
    elif unit == "seconds":
        factors, form = _SECONDS, "duration: write 300 or 5min"
    else:
        factors, form = {"": 1.0}, f"plain number of {unit}"
    if suffix not in factors:
        raise ValueError(f"{value!r} is no {form}")
    number *= factors[suffix]
    if not 0 <= number <= (1 if unit == "ratio" else LARGEST):
        raise ValueError(f"{value!r} is no {form}" if unit == "ratio" else f"{value!r} is out of range")
    return int(number) if number == int(number) else number


def _parts(value: object) -> tuple[float, str]:
    """A number and its unit, in lower case."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is no number")
    if not isinstance(value, str):
        return float(value), ""
    found = _VALUE.fullmatch(value.strip())
    if found is None:
        raise ValueError(f"{value!r} is no number with a unit")
    return float(found[1]), found[2].lower()
