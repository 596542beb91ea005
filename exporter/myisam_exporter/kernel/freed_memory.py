"""Memory that was given up, given back to the system: malloc(3) keeps what lies below something that is still used. Source: malloc_trim(3)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache


def give_back() -> bool:
    """Give back what is free; whether anything was. Takes some milliseconds; where the C library has no malloc_trim (musl), nothing is done."""
    trim = _malloc_trim()
    return trim is not None and trim(0) == 1


@lru_cache(maxsize=1)
def _malloc_trim() -> Callable[[int], int] | None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim.argtypes, trim.restype = (ctypes.c_size_t,), ctypes.c_int
    found: Callable[[int], int] | None = trim
    return found
