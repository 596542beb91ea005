"""Numbers in the servers' output: the one place where text from a server becomes a number.

A server may say anything: 2**64 - 1, NaN, a thousand digits. What is made of it here always fits where it goes on to: SQLite's integers,
Prometheus's and JSON's floating-point numbers, and sums of a thousand of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from sys import float_info
from typing import TypeGuard

SQLITE_INTEGER_END = 1 << 63
# The largest that any server counts to; what is beyond it is no number of a server's.
LARGEST_COUNTER = (1 << 64) - 1
# Beyond it floating-point numbers skip whole ones, and a sum of a thousand would leave SQLite's integers. 9 PB; 285 years at a million a second.
LARGEST_WHOLE = (1 << 53) - 1
# The year 9999: what time.localtime can say.
LATEST_MOMENT = 253_402_300_799.0
_FEW_DIGITS = 18  # so many are fewer than SQLite's integers have
_BEGINNINGS = frozenset("+-.0123456789")  # of a number
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_REAL = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)


def whole_number(said: str | int | float | None, largest: int = LARGEST_WHOLE) -> int | None:
    """What a server said as a count or a size; None where it said none, a negative one, or one beyond `largest`. A fraction is cut off."""
    if isinstance(said, str) and _WHOLE.fullmatch(said):
        whole = int(said)
    else:
        number = finite_number(said)
        if number is None:
            return None
        whole = int(number)
    return whole if 0 <= whole <= largest else None


def finite_number(said: str | int | float | None) -> int | float | None:
    """What a server said as a number; None where it said none, infinity, NaN, or one beyond 2**64. Whole ones stay whole below 2**63."""
    if said is None:
        return None
    number: int | float
    if isinstance(said, int | float):
        number = said
    elif len(said) <= _FEW_DIGITS and said.isascii() and said.isdecimal():
        return int(said)  # nearly every number that a server says: this takes a third of the time
    elif said[:1] not in _BEGINNINGS:
        return None
    elif _WHOLE.fullmatch(said):
        number = int(said)
    elif _REAL.fullmatch(said):
        number = float(said)
    else:
        return None
    # Not the other way round: NaN is in no range.
    if abs(number) <= LARGEST_COUNTER:
        return float(number) if abs(number) >= SQLITE_INTEGER_END else number
    return None


def is_number(value: object, largest: float = float_info.max) -> TypeGuard[int | float]:
    """Whether a value of a document is a number: neither true nor false, nor infinite, nor NaN, which are floats to YAML and JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= largest


def is_moment(value: object) -> TypeGuard[int | float]:
    """Whether a value of a document is a moment: seconds since 1970, as late as LATEST_MOMENT."""
    return is_number(value) and 0 <= value <= LATEST_MOMENT


def parse_number(text: str | None) -> int | float | str | None:
    """The number that TEXT is, else TEXT itself; None stays None. "inf" and "nan" are words here, not numbers.

    Whole numbers beyond SQLite's (2**63 - 1), such as the default of myisam_mmap_size, become floating-point ones.
    """
    number = finite_number(text)
    return text if number is None else number


def bounded_sum(numbers: Iterable[int]) -> int:
    """The sum of whole numbers of 0 and above, at most the largest that SQLite can hold: what files say of themselves may be made up."""
    return min(sum(numbers), SQLITE_INTEGER_END - 1)
