"""Numbers in the servers' output."""

from __future__ import annotations

import math

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
