"""A SUM that never overflows, for queries whose sum does: damaged headers, or a facts file, may hold whole numbers near 2**63.

SQLite's own SUM of whole numbers ends with "integer overflow" beyond 2**63 - 1 (sqlite.org/lang_aggfunc.html), and with it the whole query. One
in Python takes 0.5 microseconds a row, and SQLite never has its own again where one of that name was defined: so it is defined in a copy of the
database, and only for a query that has failed.
"""

from __future__ import annotations

import re
import sqlite3

from myisam_advisor.factbase.storable import storable
from myisam_exporter.facts.columns import Value

INTEGER_OVERFLOW = "integer overflow"
_SUM = "sum"
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,19})\s*", re.ASCII)
_BEGINS_AS_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)


def copy_that_sums_without_end(database: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory where SUM gives the nearest floating-point number for what no whole number of SQLite's can be. Raises sqlite3.Error."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.backup(copy)
    if hasattr(copy, "create_window_function"):  # since Python 3.11; before it SUM(...) OVER is refused here
        copy.create_window_function(_SUM, 1, EndlessSum)
    else:
        copy.create_aggregate(_SUM, 1, EndlessSum)  # type: ignore[arg-type]  # it takes more than the stubs say
    return copy


class EndlessSum:
    """SUM as SQLite has it: NULL of no values, a whole number of whole ones, else a floating-point number. Texts are what they begin with."""

    def __init__(self) -> None:
        self._whole = 0
        self._others: list[float] = []
        self._values = 0

    def step(self, value: Value | bytes) -> None:
        """One more value."""
        if value is None:
            return
        number = _number(value)
        self._values += 1
        if isinstance(number, int):
            self._whole += number
        else:
            self._others.append(number)

    def inverse(self, value: Value | bytes) -> None:
        """One value less: it left the window."""
        if value is None:
            return
        number = _number(value)
        self._values -= 1
        if isinstance(number, int):
            self._whole -= number
        else:
            self._others.remove(number)

    def value(self) -> Value:
        """The sum so far."""
        if not self._values:
            return None
        return storable(sum(self._others, float(self._whole)) if self._others else self._whole)

    finalize = value


def _number(value: float | str | bytes) -> int | float:
    """A text or bytes as SQLite takes them in a sum: the number that they are or begin with, else 0."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(value)):
        return int(whole[1])
    found = _BEGINS_AS_NUMBER.match(value if isinstance(value, str) else value.decode("utf-8", "replace"))
    return float(found[1]) if found else 0.0
