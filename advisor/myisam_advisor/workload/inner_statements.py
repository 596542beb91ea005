"""Statements that a trigger or a stored function ran, which general logs have behind the statement that it was for, as if it had been sent.

MySQL 5.6 and MariaDB (whatever log_disabled_statements is) write them; their slow logs do not. They are told by what no client can send: NEW and OLD, parameters and
variables of the program, which the server writes as NAME_CONST('name', value), and SELECT ... INTO a variable of it. One without any of these looks like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from myisam_advisor.workload.statements import touched
from myisam_advisor.workload.tokens import plain_name, tokens

_MAY_BE = re.compile(rb"name_const\s*\(|\b(?:new|old)`?\s*\.|\binto\b", re.IGNORECASE)
_ROWS = (b"new", b"old")
_FILES = (b"outfile", b"dumpfile")


def is_inner(statement: bytes) -> bool:
    """Whether a stored program ran it, and no client sent it."""
    if not _MAY_BE.search(statement):
        return False
    lower = [word.lower().strip(b"`") for word in tokens(statement)]
    if b";" in lower[:-1]:
        # Several that were sent at once: the words of one are not those of another.
        return False
    pairs = list(pairwise(lower))
    if (b"name_const", b"(") in pairs:
        return True
    return _has_row_of_a_trigger(statement, lower, pairs) or _has_variable_of_a_program(lower, pairs)


def _has_row_of_a_trigger(statement: bytes, lower: Sequence[bytes], pairs: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a column of NEW or OLD is in it, where no table, alias or database is called so."""
    columns = sum(one in _ROWS and other == b"." for one, other in pairs)
    behind_database = any(one == b"." and other in _ROWS for one, other in pairs)
    if not columns or behind_database or columns < sum(word in _ROWS for word in lower):
        return False
    found = touched(statement, None)
    names = {(name or "").lower().encode() for table in found.reads | found.writes for name in table}
    return not names & set(_ROWS)


def _has_variable_of_a_program(lower: Sequence[bytes], pairs: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether SELECT writes into a variable without @."""
    if lower[:1] != [b"select"]:
        return False
    return any(one == b"into" and plain_name(other) is not None and other not in _FILES for one, other in pairs)
