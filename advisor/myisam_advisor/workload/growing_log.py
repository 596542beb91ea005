"""The length of a log that a server appends to while we wait: one that became shorter was cut off by somebody, and is written from its beginning on.

Source: logrotate(8), copytruncate. MySQL and MariaDB append (O_APPEND), so what is in it afterwards begins at 0 (logging.cc, log.cc).
"""

from __future__ import annotations

import os

CUT = "somebody cut the log off while it was written (as logrotate's copytruncate does): what stood in it until then is not in the recording"
REMOVED = "somebody removed the log while it was written: what the server wrote into a new one is not in the recording"


class GrowingLog:
    """A log, open; `look` at it often: one that is longer again when it is looked at was not seen to be cut.

    Attributes:
        begin: where what is written from now on begins.
        was_cut: whether it became shorter.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.begin = self._seen = os.fstat(descriptor).st_size
        self.was_cut = False

    def look(self) -> int:
        """How long it is now."""
        length = os.fstat(self._descriptor).st_size
        if length < self._seen:
            self.begin, self.was_cut = 0, True
        self._seen = length
        return length

    @property
    def was_removed(self) -> bool:
        """Whether it has no name any more."""
        return not os.fstat(self._descriptor).st_nlink
