"""The ring that the kernel writes records into, and the file that they are moved to while it lasts; nobody is woken for a record, it is emptied by the clock.

The kernel maps the ring twice, one behind the other, so that no record is cut. A record that is not finished has a mark, and holds up those behind it.

Sources: Documentation/bpf/ringbuf.rst; kernel/bpf/ringbuf.c.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from myisam_advisor.workload.probing.program import COMMON

_UNFINISHED, _LENGTH_BITS = 1 << 31, (1 << 30) - 1
_HEAD = struct.Struct("<II")


class Record(NamedTuple):
    """One event: when, in nanoseconds of the monotonic clock, in which thread, of which kind, and what was fetched."""

    time: int
    thread: int
    kind: int
    raw: bytes


class Ring:
    """An open ring. Use it as a context manager."""

    def __init__(self, descriptor: int, size: int, file: BinaryIO) -> None:
        self._mask, self._file = size - 1, file
        self._ours = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._theirs = mmap.mmap(descriptor, mmap.PAGESIZE + 2 * size, prot=mmap.PROT_READ, offset=mmap.PAGESIZE)
        # Each number is read and written at once, by one instruction; x86 keeps the order of what another processor wrote.
        self._tail, self._head = memoryview(self._ours)[:8].cast("Q"), memoryview(self._theirs)[:8].cast("Q")
        self._data = memoryview(self._theirs)[mmap.PAGESIZE :]
        self._words = self._data.cast("I")
        self.bytes = 0

    def __enter__(self) -> Ring:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for view in (self._words, self._data, self._tail, self._head):
            view.release()
        self._ours.close()
        self._theirs.close()

    def empty(self) -> None:
        """Move what is finished into the file, as it is."""
        words, mask = self._words, self._mask
        begin: int = self._tail[0]
        end, head = begin, self._head[0]
        while end < head and not (word := words[(end & mask) >> 2]) & _UNFINISHED:
            end += _padded(word)
        if end > begin:
            self._file.write(self._data[begin & mask : (begin & mask) + end - begin])
            self.bytes += end - begin
            self._tail[0] = end


class Records:
    """The records of a file, in their order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[Record]:
        self._file.seek(0)
        while len(head := self._file.read(_HEAD.size)) == _HEAD.size:
            size, _ = _HEAD.unpack(head)
            raw = self._file.read(_padded(size) - _HEAD.size)
            if len(raw) < COMMON.size:
                return
            time, thread, kind = COMMON.unpack_from(raw)
            yield Record(time, thread, kind, raw)


def _padded(word: int) -> int:
    """What a record takes in the ring, with its head."""
    return (word & _LENGTH_BITS) + _HEAD.size + 7 & ~7
