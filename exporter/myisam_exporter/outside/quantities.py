"""Sizes and lengths of time as people write them, in options, in configurations and in facts files."""

from __future__ import annotations

import re

SIZE_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SECONDS_OF = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b)?", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|m|h|d)?", re.ASCII)


def size_in(text: str) -> float | None:
    """Bytes: 64M, 64MB and 64 MiB are the same, and a bare number is bytes; None where it is no size. It may be infinite."""
    found = _SIZE.fullmatch(text.strip())
    return None if found is None else float(found[1]) * SIZE_FACTORS[found[2].lower()]


def seconds_in(text: str) -> float | None:
    """Seconds: 10s, 500ms, 5min or 5m, 2h, 1d, and a bare number is seconds; None where it is none of these. It may be infinite."""
    found = _TIME.fullmatch(text.strip())
    return None if found is None else float(found[1]) * SECONDS_OF[found[2] or ""]
