"""Told by the kernel which directories something changed in, so that the others need not be looked at: inotify(7).

Each directory is watched for one event only: what a busy server writes after that costs it nothing. The queue (fs.inotify.max_queued_events, 16,384
by default) takes two entries a directory: that it changed, and that the watch is over. Where the queue overflows, all are taken for changed.
"""

from __future__ import annotations

import ctypes
import os
import struct
import weakref

IN_MODIFY, IN_ATTRIB, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
IN_DELETE_SELF, IN_MOVE_SELF, IN_Q_OVERFLOW = 0x400, 0x800, 0x4000
IN_ONLYDIR, IN_DONT_FOLLOW, IN_ONESHOT = 0x0100_0000, 0x0200_0000, 0x8000_0000
NAMES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
CONTENTS = NAMES | IN_MODIFY | IN_ATTRIB
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 20


class DirectoryWatch:
    """Directories by path. Raises OSError where the kernel gives no watch at all."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        # Whoever forgets it gives the watches back: a watch of a target ends while its last look may be under way.
        self._closing = weakref.finalize(self, os.close, self._descriptor)
        self._paths: dict[int, str] = {}

    def arm(self, path: str, *, contents: bool) -> bool:
        """Watch for the next change: of names, and of the files' contents too where wanted. False where there is no watch to be had.

        There is none of a database that is a link: another place may take the place of the one it leads to, and nobody would be told.
        """
        mask = (CONTENTS | IN_DONT_FOLLOW if contents else NAMES) | IN_ONLYDIR | IN_ONESHOT
        number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), ctypes.c_uint32(mask))
        if number < 0:
            return False
        self._paths[number] = path
        return True

    def changed(self) -> set[str]:
        """The directories in which something changed since they were armed; they are no longer watched."""
        found: set[str] = set()
        while True:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return found
            found |= self._told(data)

    def _told(self, data: bytes) -> set[str]:
        """The directories of these events: all that are watched where the kernel had no room for some events."""
        found: set[str] = set()
        place = 0
        while place < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, place)
            place += _EVENT.size + length
            if mask & IN_Q_OVERFLOW:
                found.update(self._paths.values())
                self._paths.clear()
                continue
            path = self._paths.pop(number, None)  # the event, and once more that the watch is over
            if path is not None:
                found.add(path)
        return found

    def close(self) -> None:
        """Give all watches up."""
        self._closing()
