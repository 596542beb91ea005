"""Numbers in the servers' output."""

from __future__ import annotations

import math
from collections.abc import Iterable

SQLITE_INTEGER_END = 1 << 63


def parse_number(text: str | None) -> int | float | str | None:
    """The number that TEXT is, else TEXT itself; None stays None. "inf" and "nan" are words here, not numbers.

    Whole numbers beyond SQLite's (2**63 - 1), such as the default of myisam_mmap_size, become floating-point ones.
    """
    if text is None:
        return None
    try:
        whole = int(text)
    except ValueError:
        pass
    else:
        return whole if abs(whole) < SQLITE_INTEGER_END else float(whole)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def bounded_sum(numbers: Iterable[int]) -> int:
    """The sum of whole numbers of 0 and above, at most the largest that SQLite can hold: what files say of themselves may be made up."""
    return min(sum(numbers), SQLITE_INTEGER_END - 1)
