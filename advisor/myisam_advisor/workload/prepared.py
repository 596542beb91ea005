"""Statements prepared by name whose text a log does not have: they, and what is done with them, cannot be sent again.

MySQL 9.7 writes `PREPARE name FROM...` and no more into its slow log. EXECUTE and DEALLOCATE of what was prepared so, or before the
recording, would end with error 1243.
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event

TEXTLESS = "PREPARE without its text"
NOT_PREPARED = "of a PREPARE that is not recorded"
_MAXIMUM_NAMES = 100_000
_NAME = rb"(`[^`]{1,256}`|[^\s`;]{1,256})"
_SUSPECT = re.compile(rb"\s*(?:prepare|execute|deallocate|drop\s+prepare)\b", re.IGNORECASE)
_PREPARE = re.compile(rb"\s*prepare\s+%s\s+from\s*(\.\.\.\s*(?:;\s*)?\Z)?" % _NAME, re.IGNORECASE)
_USED = re.compile(rb"\s*(execute|deallocate\s+prepare|drop\s+prepare)\s+%s" % _NAME, re.IGNORECASE)


class Prepared:
    """The names that each connection has prepared with a text."""

    def __init__(self) -> None:
        self._names: set[tuple[int, bytes]] = set()
        # With more names than are kept nothing is left out that may have been prepared.
        self._knows_all = True

    def refused(self, event: Event) -> str | None:
        """What it is, where it cannot be sent again."""
        if not _SUSPECT.match(event.statement):
            return None
        if (made := _PREPARE.match(event.statement)) is not None:
            return self._made((event.connection, _plain(made[1])), made[2] is None)
        used = _USED.match(event.statement)
        if used is None:
            return None
        key, word = (event.connection, _plain(used[2])), used[1].split()[0].decode().upper()
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


def _plain(name: bytes) -> bytes:
    return name.strip(b"`").lower()
