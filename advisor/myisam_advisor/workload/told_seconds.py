"""In which second the statements of MariaDB's slow log ended: what it tells is that only of some.

Its `SET timestamp=` has the second in which a statement ended (10.5), or the one in which it began (10.11.19, 11.4 and 11.8), and where a session has set `timestamp`
itself, what that has set. Entries follow each other by their ends, so those around it tell when an entry ended, and a long one which of the two the log tells.
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event

_MICROSECONDS = 1_000_000
_SET = b"set"
_SETS_TIMESTAMP = re.compile(rb"set\s(?:.*?[\s,.`])??(?:@@)?timestamp`?\s*:?=\s*([^\s,;]+)", re.IGNORECASE | re.DOTALL)
# What gives a session the server's clock again.
_SERVERS_CLOCK = frozenset((b"default", b"0"))


class ToldSeconds:
    """What one log tells of its seconds, entry by entry."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._are_begins = False
        self._own_clocks: set[int] = set()

    def ended(self, told: int, event: Event) -> int:
        """The second in which the event ended, of which the log tells this one."""
        last = told if self._last is None else self._last
        # Of what sets the clock, the one before and the one behind may be told.
        if (event.statement[:3].lower() == _SET and self._takes(event)) or event.connection in self._own_clocks:
            return last
        seconds = (event.duration_microseconds or 0) // _MICROSECONDS
        # Entries that end at once come in any order: one second says nothing.
        self._are_begins |= told + 1 < last <= told + seconds + 1
        end = told + seconds if self._are_begins else told
        # It may have ended in the second behind that: fractions are not told.
        self._last = last if end + 1 == last else end
        return self._last

    def _takes(self, event: Event) -> bool:
        """Whether the statement sets its session's clock: whose that is from here on is kept."""
        sets = _SETS_TIMESTAMP.match(event.statement)
        if sets is None:
            return False
        if sets[1].lower() in _SERVERS_CLOCK:
            self._own_clocks.discard(event.connection)
        else:
            self._own_clocks.add(event.connection)
        return True
