"""Page-cache lookups and insertions by file, from two kernel tracepoints and plain perf_event_open(2): no eBPF, no kprobes.

`filemap:mm_filemap_get_pages` (Linux 6.12) tells which pages a buffered read asks for, `filemap:mm_filemap_add_to_page_cache` which
are put into the page cache because they were not there. Both name device and inode. Sources: perf_event_open(2), mm/filemap.c,
and the tracepoints' own format files, from which the offsets are taken.

What it costs is bounded: every event costs the reading process about half a microsecond and us about one. Events are taken in short
windows, and the pauses between them grow until our share of a core is within the budget. Counts are those of the windows; their
ratio needs no more.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError, shortened
from myisam_exporter.kernel.perf_events import (
    RING_PAGES,
    events_folder,
    online_cpus,
    open_on,
    tracepoint,
    why_not,
)

_log = logging.getLogger(__name__)
LOOKUP, INSERTION = "mm_filemap_get_pages", "mm_filemap_add_to_page_cache"
LOOKUP_FIELDS = ("i_ino", "s_dev", "index", "last_index", "common_pid")
INSERTION_FIELDS = ("i_ino", "s_dev", "order")
IOC_ENABLE, IOC_DISABLE, IOC_SET_OUTPUT, IOC_SET_FILTER = 0x2400, 0x2401, 0x2405, 0x40082406
RECORD_LOST, RECORD_SAMPLE = 2, 9
HEAD, TAIL = 1024, 1032  # of struct perf_event_mmap_page
WINDOW_SECONDS, READ_EVERY_SECONDS = 0.5, 0.05
LONGEST_PAUSE_SECONDS = 30.0
DEFAULT_BUDGET = 0.01  # of one core
# Beyond that the filter costs every read of the machine more than it saves.
FILES_IN_FILTER = 24
_KERNEL_MINOR_BITS = 20  # of a dev_t inside the kernel, and in the events

File = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the start: pages by file (device, inode) of those that are followed, how long the windows were, what it cost, and events that were lost."""

    lookups: Mapping[File, int]
    insertions: Mapping[File, int]
    observed_seconds: float
    cpu_seconds: float
    lost: int
    lost_lately: int = 0


class PageCacheTracer:
    """Counts while it runs. Raises UserError with the remedy where that is not possible."""

    def __init__(self, budget: float = DEFAULT_BUDGET) -> None:
        folder = events_folder()
        self._lookup, self._insertion = tracepoint(folder / LOOKUP), tracepoint(folder / INSERTION)
        self._lookup_fields = [self._lookup.field(name) for name in LOOKUP_FIELDS]
        self._insertion_fields = [self._insertion.field(name) for name in INSERTION_FIELDS]
        self._budget = budget
        self._lock = threading.Lock()
        self._followed: dict[Following, frozenset[File]] = {}
        self._wanted: frozenset[File] = frozenset()
        self._lookups: dict[File, int] = {}
        self._insertions: dict[File, int] = {}
        self._observed = self._cpu = 0.0
        self._lost = 0
        self._last_read: dict[int, tuple[int, int, int]] = {}
        self._stop = threading.Event()
        self._failure = ""
        # From here on the thread's alone.
        self._descriptors: list[int] = []
        self._rings: list[mmap.mmap] = []
        self._filtered_by = b""
        try:
            self._open_all()
        except OSError as error:
            self._close_all()
            raise why_not(error) from None
        self._thread = threading.Thread(target=self._run, name="tracer", daemon=True)
        self._thread.start()

    def following(self) -> Following:
        """For one more target: which of its files are counted, and what came of it."""
        return Following(self)

    def follow(self, follower: Following, files: frozenset[File]) -> None:
        """Count these files for a follower, until told otherwise."""
        with self._lock:
            if self._followed.get(follower) != files:
                self._followed[follower] = files
                self._narrow()

    def forget(self, follower: Following) -> None:
        """Count nothing more for a follower."""
        with self._lock:
            if self._followed.pop(follower, None) is not None:
                self._narrow()

    def counts(self) -> Counts:
        """What was counted so far. Raises UserError where the kernel lets nothing be counted any more."""
        with self._lock:
            if self._failure:
                raise UserError(self._failure)
            return Counts(dict(self._lookups), dict(self._insertions), self._observed, self._cpu, self._lost)

    def close(self) -> None:
        """Stop counting."""
        self._stop.set()
        self._thread.join()
        self._close_all()

    def _open_all(self) -> None:
        for cpu in online_cpus():
            self._open_on(cpu)

    def _open_on(self, cpu: int) -> None:
        lookup = open_on(self._lookup.identifier, cpu)
        self._descriptors.append(lookup)
        self._rings.append(mmap.mmap(lookup, (1 + RING_PAGES) * mmap.PAGESIZE))
        insertion = open_on(self._insertion.identifier, cpu)
        self._descriptors.append(insertion)
        fcntl.ioctl(insertion, IOC_SET_OUTPUT, lookup)

    def _close_all(self) -> None:
        for ring in self._rings:
            ring.close()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._rings, self._descriptors = [], []

    def _narrow(self) -> None:
        """Count what somebody follows. Counts of other files are dropped: a dropped table's would be kept for ever, and its inode's next owner would have them."""
        self._wanted = frozenset().union(*self._followed.values())
        for counted in (self._lookups, self._insertions):
            for file in counted.keys() - self._wanted:
                del counted[file]

    def _filter(self, text: bytes) -> None:
        """Let the kernel tell of what fits this text alone. It takes one filter for each event (EEXIST for another), so for another all are opened anew."""
        if text == self._filtered_by:
            return
        if self._filtered_by:
            self._close_all()
            self._open_all()
        for descriptor in self._descriptors:
            fcntl.ioctl(descriptor, IOC_SET_FILTER, bytearray(text), True)
        self._filtered_by = text

    def _run(self) -> None:
        """Windows and pauses, until told to stop. Whatever ends them is told: counts that no longer grow look as if nobody read."""
        try:
            self._take_turns()
        except OSError as error:
            self._failure = str(why_not(error))
        except Exception as error:
            _log.exception("Page-cache lookups are no longer counted")
            self._failure = f"precise page-cache counts have ended by a fault: {shortened(repr(error))}."

    def _take_turns(self) -> None:
        while not self._stop.is_set():
            wanted = self._wanted
            if not wanted:
                self._stop.wait(READ_EVERY_SECONDS)
                continue
            self._filter(_filter_text(wanted))
            used = self._window()
            pause = min(max(used / self._budget - WINDOW_SECONDS, 0.0), LONGEST_PAUSE_SECONDS)
            self._stop.wait(pause)

    def _window(self) -> float:
        """One window; the CPU seconds that it took us."""
        before, started = time.thread_time(), time.monotonic()
        self._switch(IOC_ENABLE)
        end = started + WINDOW_SECONDS
        while (now := time.monotonic()) < end and not self._stop.is_set():
            self._stop.wait(min(READ_EVERY_SECONDS, end - now))
            self._drain()
            if time.thread_time() - before > WINDOW_SECONDS / 2:
                break  # a flood: the pause that follows makes up for it
        self._switch(IOC_DISABLE)
        observed = time.monotonic() - started
        self._drain()
        self._last_read.clear()
        used = time.thread_time() - before
        with self._lock:
            self._observed += observed
            self._cpu += used
        return used

    def _switch(self, request: int) -> None:
        for descriptor in self._descriptors:
            fcntl.ioctl(descriptor, request, 0)

    def _drain(self) -> None:
        for ring in self._rings:
            head, tail = struct.unpack_from("=QQ", ring, HEAD)
            if head == tail:
                continue
            size = RING_PAGES * mmap.PAGESIZE
            begin, end = mmap.PAGESIZE + tail % size, mmap.PAGESIZE + head % size
            data = ring[begin:end] if begin < end else ring[begin : mmap.PAGESIZE + size] + ring[mmap.PAGESIZE : end]
            with self._lock:
                self._count(data)
            struct.pack_into("=Q", ring, TAIL, head)

    def _count(self, data: bytes) -> None:
        """Add up the records. Each sample is a header of 8 bytes, a length of 4, and the event as its format file has it."""
        header, kind = struct.Struct("=IHH").unpack_from, struct.Struct("=12xH").unpack_from
        lookup = [field.unpack_from for field in self._lookup_fields]
        insertion = [field.unpack_from for field in self._insertion_fields]
        position, wanted = 0, self._wanted
        while position < len(data):
            record, _, length = header(data, position)
            if record == RECORD_SAMPLE and kind(data, position)[0] == self._lookup.identifier:
                inode, device, first, last, thread = (unpack(data, position + 12)[0] for unpack in lookup)
                file = (_device(device), inode)
                if file in wanted:
                    self._add_lookup(file, thread, first, last)
            elif record == RECORD_SAMPLE:
                inode, device, order = (unpack(data, position + 12)[0] for unpack in insertion)
                file = (_device(device), inode)
                if file in wanted:
                    self._insertions[file] = self._insertions.get(file, 0) + (1 << order)
            elif record == RECORD_LOST:
                self._lost += int.from_bytes(data[position + 16 : position + 24], "little")
            position += length

    def _add_lookup(self, file: File, thread: int, first: int, last: int) -> None:
        """Pages of one call. A long read asks again for the rest of its range: that is counted already."""
        previous = self._last_read.get(thread)
        self._last_read[thread] = (file[1], last, first)
        if previous is None or previous[:2] != (file[1], last) or first <= previous[2]:
            self._lookups[file] = self._lookups.get(file, 0) + max(last - first, 0) + 1


def _filter_text(files: frozenset[File]) -> bytes:
    """In the kernel's words: these files, at least one, where they are few, else their file systems."""
    by_device: dict[int, list[int]] = {}
    for device, inode in sorted(files):
        by_device.setdefault(device, []).append(inode)
    parts = []
    for device, inodes in by_device.items():
        number = os.major(device) << _KERNEL_MINOR_BITS | os.minor(device)
        exact = " || ".join(f"i_ino == {inode}" for inode in inodes) if len(files) <= FILES_IN_FILTER else ""
        parts.append(f"(s_dev == {number} && ({exact}))" if exact else f"s_dev == {number}")
    return " || ".join(parts).encode() + b"\0"


class Following:
    """What one target has counted by the tracer that all share. Whoever made it ends it, or its files are counted for ever."""

    def __init__(self, tracer: PageCacheTracer) -> None:
        self._tracer = tracer
        self._lost_told = 0

    def follow(self, files: frozenset[File]) -> None:
        """Count these files, until told otherwise."""
        self._tracer.follow(self, files)

    def counts(self) -> Counts:
        """What was counted so far; `lost_lately` is since the last time that this was asked here. Raises UserError as the tracer does."""
        counts = self._tracer.counts()
        lately, self._lost_told = counts.lost - self._lost_told, counts.lost
        return replace(counts, lost_lately=lately)

    def end(self) -> None:
        """Count nothing more of it."""
        self._tracer.forget(self)


def _device(number: int) -> int:
    return os.makedev(number >> _KERNEL_MINOR_BITS, number & ((1 << _KERNEL_MINOR_BITS) - 1))
