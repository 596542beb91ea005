"""The unit of a fact, told from the end of its column's name: every column names its unit (facts/columns.py)."""

from __future__ import annotations

from myisam_advisor.texts.templates import with_unit

# The longer before the shorter that it ends with.
UNITS = (
    ("_seconds_per_second", "seconds per second"),
    ("_bytes_per_second", "bytes per second"),
    ("per_second", "per second"),
    ("_bytes", "bytes"),
    ("_seconds_ago", "seconds"),
    ("_seconds", "seconds"),
    ("_ratio", "ratio"),
)


def unit_of(column: str) -> str:
    """Its unit, as `with_unit` knows it; `number` where the name tells none."""
    return next((unit for ending, unit in UNITS if column.endswith(ending)), "number")


def in_words(column: str, value: object) -> str:
    """A value of this column for a person: sizes, rates and shares with their units."""
    return with_unit(value, unit_of(column))
