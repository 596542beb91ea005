"""Told by the kernel which directories something changed in, so that the others need not be looked at: inotify(7).

Most directories are watched for one event only: what a busy server writes after that costs it nothing. The queue (fs.inotify.max_queued_events, 16,384
by default) takes two entries a directory: that it changed, and that the watch is over. Others stay watched, and it is told which of their files were
written; each write takes an entry then. Where the queue overflows, all are taken for changed.
"""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from contextlib import suppress
from typing import NamedTuple

IN_MODIFY, IN_ATTRIB, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
IN_DELETE_SELF, IN_MOVE_SELF, IN_Q_OVERFLOW, IN_IGNORED = 0x400, 0x800, 0x4000, 0x8000
IN_ONLYDIR, IN_DONT_FOLLOW, IN_ONESHOT = 0x0100_0000, 0x0200_0000, 0x8000_0000
NAMES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
WRITTEN = IN_MODIFY | IN_ATTRIB
CONTENTS = NAMES | WRITTEN
_EVENT = struct.Struct("iIII")
# The queue holds half of that by default; what a server writes while it is read is told the next time.
_READ_BYTES, _READS = 1 << 20, 4


class Changed(NamedTuple):
    """What happened in a directory: the names of the files that were written, None where it may be anything; and how many events told so."""

    files: frozenset[bytes] | None
    events: int


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
        self._staying: set[int] = set()

    def arm(self, path: str, *, contents: bool, stays: bool = False) -> bool:
        """Watch for the next change: of names, and of the files' contents too where wanted. False where there is no watch to be had.

        One that `stays` is for all writes until a name comes or goes, and tells which files they were to.
        There is none of a database that is a link: another place may take the place of the one it leads to, and nobody would be told.
        """
        mask = (CONTENTS | IN_DONT_FOLLOW if contents else NAMES) | IN_ONLYDIR | (0 if stays else IN_ONESHOT)
        number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), ctypes.c_uint32(mask))
        if number < 0:
            return False
        self._paths[number] = path
        if stays:
            self._staying.add(number)
        else:
            self._staying.discard(number)
        return True

    def changed(self) -> dict[str, Changed]:
        """The directories in which something changed since they were armed; those where it may be anything are no longer watched."""
        found: dict[str, Changed] = {}
        with suppress(BlockingIOError):  # the queue is empty
            for _ in range(_READS):
                self._tell(os.read(self._descriptor, _READ_BYTES), found)
        return found

    def _tell(self, data: bytes, found: dict[str, Changed]) -> None:
        """Add what these events tell: all directories that are watched where the kernel had no room for some events."""
        written: dict[int, set[bytes]] = {}
        events: dict[int, int] = {}
        anything: set[int] = set()
        place = 0
        while place < len(data):
            number, mask, _, length = _EVENT.unpack_from(data, place)
            name = data[place + _EVENT.size : place + _EVENT.size + length].rstrip(b"\0")
            place += _EVENT.size + length
            if mask & IN_Q_OVERFLOW:
                anything.update(self._paths)
            elif number in self._paths:
                events[number] = events.get(number, 0) + (mask != IN_IGNORED)  # that the watch is over
                if number in self._staying and name and not mask & ~WRITTEN:
                    written.setdefault(number, set()).add(name)
                else:
                    anything.add(number)
        for number in events.keys() | anything:
            path = self._paths[number]
            before = found.get(path, Changed(frozenset(), 0))
            files = None if number in anything or before.files is None else before.files.union(written[number])
            found[path] = Changed(files, before.events + events.get(number, 0))
            if number in anything:
                self._give_up(number)

    def end(self, path: str) -> None:
        """Tell no more of a directory."""
        for number in [number for number, known in self._paths.items() if known == path]:
            self._give_up(number)

    def _give_up(self, number: int) -> None:
        del self._paths[number]
        if number in self._staying:
            self._staying.discard(number)
            self._libc.inotify_rm_watch(self._descriptor, number)

    def close(self) -> None:
        """Give all watches up."""
        self._closing()
