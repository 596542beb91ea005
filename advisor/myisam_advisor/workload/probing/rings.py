"""Records of events as perf_event_open gives them: one ring for each processor, whichever process is on it.

By thread, as by processor, a statement cost the server some 30 µs (measured, docs/decisions/045); by processor no thread can be missed, and
there are few descriptors. Other processes of the same binary stop at the probe too; theirs is passed over when
the records are read. No record wakes us: in a virtual machine that would cost 16 µs each, so the rings are emptied by the clock. What a
ring has no room for, the kernel counts.

Sources: perf_event_open(2); include/uapi/linux/perf_event.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from myisam_advisor.workload.probing.definitions import INSTEAD
from myisam_exporter.errors import UserError

_PERF_EVENT_OPEN = 298
_CLOSE_ON_EXEC = 8
_SET_OUTPUT = 0x2405
_ATTRIBUTE_BYTES = 120
_TRACEPOINT = 2
# Thread, time, raw data.
_SAMPLE_TYPE = 0x2 | 0x4 | 0x400
_WATERMARK, _USE_CLOCK = 1 << 14, 1 << 25
_CLOCK_MONOTONIC = 1
_LOST, _SAMPLE = 2, 9
_HEAD, _TAIL = 1024, 1032
_RECORD, _SAMPLE_HEAD = struct.Struct("<IHH"), struct.Struct("<IIQI")
_NUMBER = struct.Struct("<Q")
# All rings together, and each.
_MAXIMUM_BYTES, _LARGEST, _SMALLEST = 32 << 20, 8 << 20, 1 << 17
_MAXIMUM_DESCRIPTORS = 100_000


class Record(NamedTuple):
    """One event: when, in nanoseconds of the monotonic clock, in which thread, and what was fetched."""

    time: int
    thread: int
    raw: bytes


class Ring:
    """What one processor has written."""

    def __init__(self, descriptor: int, size: int, file: BinaryIO) -> None:
        self._size = size
        self._map = mmap.mmap(descriptor, mmap.PAGESIZE + size)
        self.file = file
        self.bytes = 0

    def empty(self) -> None:
        """Move what is there into the file. What another processor wrote before it moved the head is seen: x86 keeps that order."""
        head: int = _NUMBER.unpack_from(self._map, _HEAD)[0]
        tail: int = _NUMBER.unpack_from(self._map, _TAIL)[0]
        while tail < head:
            begin = tail % self._size
            part = min(head - tail, self._size - begin)
            self.file.write(memoryview(self._map)[mmap.PAGESIZE + begin : mmap.PAGESIZE + begin + part])
            tail, self.bytes = tail + part, self.bytes + part
        _NUMBER.pack_into(self._map, _TAIL, tail)

    def close(self) -> None:
        """Give the memory back."""
        self._map.close()


class Rings:
    """Events, switched on. Use it as a context manager. Raises UserError where the kernel refuses."""

    def __init__(self, events: Sequence[int], files: Sequence[BinaryIO], processors: Sequence[int]) -> None:
        self._events, self._files, self._processors = events, files, processors
        self._open = contextlib.ExitStack()
        self._rings: list[Ring] = []

    def __enter__(self) -> Rings:
        with self._open as opened:
            _allow_descriptors(len(self._events) * len(self._processors))
            for processor, file in zip(self._processors, self._files, strict=True):
                self._attach(opened, processor, file)
            self._open = opened.pop_all()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._open.close()

    def empty(self) -> None:
        """Move what is there into the files."""
        for ring in self._rings:
            ring.empty()

    @property
    def bytes(self) -> int:
        """How much was moved."""
        return sum(ring.bytes for ring in self._rings)

    def _attach(self, opened: contextlib.ExitStack, processor: int, file: BinaryIO) -> None:
        """All events on a processor; the first one has the ring."""
        first = None
        for event in self._events:
            descriptor = _opened(event, processor)
            opened.callback(os.close, descriptor)
            if first is not None:
                fcntl.ioctl(descriptor, _SET_OUTPUT, first)
                continue
            first = descriptor
            ring = Ring(descriptor, ring_bytes(len(self._processors)), file)
            opened.callback(ring.close)
            self._rings.append(ring)


def ring_bytes(processors: int) -> int:
    """How large each ring is: a power of two."""
    return max(_SMALLEST, min(_LARGEST, 1 << (_MAXIMUM_BYTES // max(processors, 1)).bit_length() - 1))


def online_processors(text: str | None = None) -> list[int]:
    """Their numbers, as the kernel lists them: 0-3,6."""
    listed = Path("/sys/devices/system/cpu/online").read_text("ascii") if text is None else text
    found: list[int] = []
    for part in listed.strip().split(","):
        begin, _, end = part.partition("-")
        found.extend(range(int(begin), int(end or begin) + 1))
    return found


class Records:
    """The records of one file, in their order.

    Attributes:
        lost: how many the ring had no room for.
    """

    def __init__(self, file: BinaryIO, pid: int) -> None:
        self._file, self._pid = file, pid
        self.lost = 0

    def __iter__(self) -> Iterator[Record]:
        self._file.seek(0)
        while len(head := self._file.read(_RECORD.size)) == _RECORD.size:
            kind, _, size = _RECORD.unpack(head)
            body = self._file.read(size - _RECORD.size) if size >= _RECORD.size else b""
            if len(body) != size - _RECORD.size:
                return
            if kind == _LOST:
                self.lost += _NUMBER.unpack_from(body, 8)[0]
            elif kind == _SAMPLE:
                pid, thread, moment, raw_bytes = _SAMPLE_HEAD.unpack_from(body)
                if pid == self._pid:
                    yield Record(moment, thread, body[_SAMPLE_HEAD.size : _SAMPLE_HEAD.size + raw_bytes])


def _allow_descriptors(wanted: int) -> None:
    """Raise our own limit. Raises UserError where that many may not be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + 256
    if needed > min(hard if hard != resource.RLIM_INFINITY else _MAXIMUM_DESCRIPTORS, _MAXIMUM_DESCRIPTORS):
        raise UserError(
            f"this machine has too many processors for the probe ({wanted} descriptors were needed). {INSTEAD}"
        )
    if needed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _opened(event: int, processor: int) -> int:
    """An event of all that runs on a processor."""
    attribute = bytearray(_ATTRIBUTE_BYTES)
    struct.pack_into(
        "<IIQQQQQI",
        attribute,
        0,
        _TRACEPOINT,
        _ATTRIBUTE_BYTES,
        event,
        1,
        _SAMPLE_TYPE,
        0,
        _WATERMARK | _USE_CLOCK,
        1 << 30,
    )
    struct.pack_into("<i", attribute, 92, _CLOCK_MONOTONIC)
    library = ctypes.CDLL(None, use_errno=True)
    at = (ctypes.c_char * _ATTRIBUTE_BYTES).from_buffer(attribute)
    descriptor: int = library.syscall(_PERF_EVENT_OPEN, at, -1, processor, -1, _CLOSE_ON_EXEC)
    if descriptor >= 0:
        return descriptor
    number = ctypes.get_errno()
    raise UserError(f"the kernel refused to watch the server (perf_event_open: {os.strerror(number)}). {INSTEAD}")
