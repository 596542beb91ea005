"""Statements prepared by name whose text a log does not have: they, and what is done with them, cannot be sent again.

MySQL 9.7 writes `PREPARE name FROM...` and no more into its slow log. EXECUTE and DEALLOCATE of what was prepared so, or before the
recording, would end with error 1243.
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.tokens import behind_comments

TEXTLESS = "PREPARE without its text"
NOT_PREPARED = "of a PREPARE that is not recorded"
AS_WHAT_IT_RAN = "EXECUTE, kept as what it ran"
# Of all that tells statements, a probe alone has of EXECUTE no more than that.
WITHOUT_WHAT_RAN = "probe"
_MAXIMUM_NAMES = 100_000
NAME = rb"(`[^`]{1,256}`|[^\s`;]{1,256})"
_SUSPECT = re.compile(rb"\s*(?:/\*|#|--|(?:prepare|execute|deallocate|drop)\b)", re.IGNORECASE)
_IS_OF_PREPARED = re.compile(rb"\s*(?:prepare|execute|(?:deallocate|drop)\s+prepare)\b", re.IGNORECASE)
_PREPARE = re.compile(rb"\s*prepare\s+%s\s+from\s*(\.\.\.\s*(?:;\s*)?\Z)?" % NAME, re.IGNORECASE)
# MariaDB's, which has its text with it: its logs have what that ran as well, before it or behind it.
IMMEDIATE = re.compile(rb"\s*execute\s+immediate\b", re.IGNORECASE)
_USED = re.compile(rb"\s*(execute|deallocate\s+prepare|drop\s+prepare)\s+%s" % NAME, re.IGNORECASE)


def is_of_prepared(statement: bytes) -> bool:
    """Whether it is PREPARE, EXECUTE or DEALLOCATE PREPARE, also behind a comment."""
    return _SUSPECT.match(statement) is not None and _IS_OF_PREPARED.match(behind_comments(statement)) is not None


class Prepared:
    """The names that each connection has prepared with a text. `source` is the name of what tells them, as in a workload."""

    def __init__(self, source: str = "") -> None:
        self._has_what_ran = source != WITHOUT_WHAT_RAN
        self._names: set[tuple[int, bytes]] = set()
        # With more names than are kept nothing is left out that may have been prepared.
        self._knows_all = True

    def refused(self, event: Event) -> str | None:
        """What it is, where it cannot be sent again."""
        if not is_of_prepared(event.statement):
            return None
        statement = behind_comments(event.statement)
        if (made := _PREPARE.match(statement)) is not None:
            return self._made((event.connection, plain(made[1])), made[2] is None)
        if IMMEDIATE.match(statement):
            return AS_WHAT_IT_RAN if self._has_what_ran else None
        used = _USED.match(statement)
        if used is None:
            return None
        key, word = (event.connection, plain(used[2])), used[1].split()[0].decode().upper()
        if key not in self._names and self._knows_all:
            return f"{word if word != 'DROP' else 'DEALLOCATE'} {NOT_PREPARED}"
        if word != "EXECUTE":
            self._names.discard(key)
        return None

    def _made(self, key: tuple[int, bytes], has_text: bool) -> str | None:
        if not has_text:
            self._names.discard(key)
            return TEXTLESS
        if len(self._names) < _MAXIMUM_NAMES:
            self._names.add(key)
        else:
            self._knows_all = False
        return None


def plain(name: bytes) -> bytes:
    """A name as servers compare it."""
    return name.strip(b"`").lower()
