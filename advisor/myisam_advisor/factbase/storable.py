"""What a fact may be: a number that SQLite and arithmetic can hold, or text that can be written. Facts come from servers and files of anybody's.

Whole numbers end at 2**63 - 1 there (sqlite.org/datatype3.html); a larger one is kept as the nearest floating-point number. Infinity and NaN
are no numbers that anybody counted: unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows

LARGEST_INTEGER = (1 << 63) - 1
MAXIMUM_TEXT_CHARACTERS = 4096
# Every value of a table of so many rows is looked at. Of larger ones SQLite tells by itself which it does not take.
SMALL_TABLE_ROWS = 1000


def storable(value: Value) -> Value:
    """The value as a database and a report can hold it; None where it is no number."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        try:
            return float(value)
        except OverflowError:
            return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def total(values: Iterable[Value]) -> Value:
    """The sum, unknown where one of them is."""
    summed: int | float = 0
    for value in values:
        if not isinstance(value, int | float):
            return None
        summed += value
    return storable(summed)


def storable_rows(rows: FactRows) -> FactRows:
    """The same rows where all of their values are storable already; of a large table those are looked at when it is filled in."""
    if len(rows.rows) > SMALL_TABLE_ROWS:
        return rows
    return rows.once("storable", all_storable)


def all_storable(rows: FactRows) -> FactRows:
    """The rows with every value made storable."""
    if all(map(_are_storable, zip(*rows.rows, strict=True))):
        return rows
    return FactRows(rows.columns, [[storable(value) for value in row] for row in rows.rows])


def _are_storable(column: tuple[Value, ...]) -> bool:
    """Whether `storable` would give the same of each value of a column: asked of every fact of every look, it makes nothing."""
    kinds = set(map(type, column))
    if int in kinds:
        whole = [value for value in column if isinstance(value, int)]
        if not -LARGEST_INTEGER <= min(whole) <= max(whole) <= LARGEST_INTEGER:
            return False
    if float in kinds and not all(math.isfinite(value) for value in column if isinstance(value, float)):
        return False
    return str not in kinds or all(map(_is_storable_text, (value for value in column if isinstance(value, str))))


def _is_storable_text(value: str) -> bool:
    return len(value) <= MAXIMUM_TEXT_CHARACTERS and (value.isascii() or storable(value) == value)


def _text(value: str) -> str:
    """Text of bounded length, with halves of characters written as escapes: no database, terminal or file takes them."""
    if len(value) > MAXIMUM_TEXT_CHARACTERS:
        value = value[: MAXIMUM_TEXT_CHARACTERS - 1] + "…"
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value
