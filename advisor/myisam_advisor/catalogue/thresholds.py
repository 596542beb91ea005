"""Values of thresholds, in the unit that the rule declares."""

from __future__ import annotations

import re

from myisam_exporter.outside.quantities import seconds_in, size_in

_PLAIN = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(%?)", re.ASCII)
_ANY = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*[A-Za-z%]*", re.ASCII)
LARGEST = 1e18


def threshold_value(value: object, unit: str) -> int | float:
    """A parameter's value in its own unit. Raises ValueError, which says what to write, for a value of another unit or type."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a number")
    number, form = _read(value.strip(), unit) if isinstance(value, str) else (float(value), _form(unit))
    if number is None:
        raise ValueError(f"{value!r} is not a {form}")
    if not 0 <= number <= (1 if unit == "ratio" else LARGEST):
        raise ValueError(f"{value!r} is not a {form}" if unit == "ratio" else f"{value!r} is out of range")
    return int(number) if number == int(number) else number


def _read(text: str, unit: str) -> tuple[float | None, str]:
    """What the text means in this unit, if anything, and what is to be written there."""
    if not _ANY.fullmatch(text):
        return None, "number with a unit"
    if unit.startswith("bytes"):
        return size_in(text), _form(unit)
    if unit == "seconds":
        return seconds_in(text.lower()), _form(unit)
    return _plain(text, "%" if unit == "ratio" else ""), _form(unit)


def _form(unit: str) -> str:
    if unit.startswith("bytes"):
        return "size: write 67108864 or 64M"
    return {"ratio": "ratio: write 0.2 or 20%", "seconds": "duration: write 300 or 5min"}.get(
        unit, f"plain number of {unit}"
    )


def _plain(text: str, mark: str) -> float | None:
    """A number without a unit, or with this mark behind it: hundredths."""
    found = _PLAIN.fullmatch(text)
    if found is None or found[2] not in ("", mark):
        return None
    return float(found[1]) * (0.01 if found[2] else 1.0)
