"""Opening somebody else's files without leaving a trace: no access time, no waiting on a FIFO, nothing inherited."""

from __future__ import annotations

import os


class QuietOpener:
    """Opens files for reading, with O_NOATIME as long as that is allowed: only a file's owner may use it (open(2))."""

    def __init__(self) -> None:
        self._flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOATIME

    def open(self, file: str, directory: int | None = None) -> int:
        """A descriptor; `file` is relative to the open directory where one is given. Raises OSError."""
        try:
            return os.open(file, self._flags, dir_fd=directory)
        except PermissionError:
            if not self._flags & os.O_NOATIME:
                raise
            # One refusal speaks for all files of that owner.
            self._flags &= ~os.O_NOATIME
            return os.open(file, self._flags, dir_fd=directory)
