"""Numbers in the servers' output."""

from __future__ import annotations

import math


def parse_number(text: str | None) -> int | float | str | None:
    """The number that TEXT is, else TEXT itself; None stays None. "inf" and "nan" are words here, not numbers."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
