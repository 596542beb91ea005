"""Reading records of 103 bytes from a file: a call for each, a buffer of 128 KiB, asynchronous reads, mapped windows.

No server takes part: this is the machine's own disk and page cache. Every way looks at one byte of each record, at the speed of slicing
and sum(). A call for each record carries Python's own cost of a call as well: that of the cheapest system call there is (getppid) is
taken off each, which is rather too much than too little, so the way with a call for each record looks no worse than it is.

A file larger than memory is stood in for by one that the page cache does not hold (posix_fadvise DONTNEED, checked by cachestat or
mincore): a pass from begin to end over a file larger than memory finds nothing of it there either.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.bench import Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import comparison_of, times
from myisam_advisor.trial.experiments.base import SOURCE_2014, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_exporter.kernel.residency import Prober

RECORD_BYTES = 103
BUFFER_BYTES = (128 << 10) // RECORD_BYTES * RECORD_BYTES
# The smallest span that is whole records and whole pages.
WINDOW_BYTES = RECORD_BYTES * 4096 * 4
RECORDS_PER_SECOND_OF_RUN = 1_500_000
CALL, BUFFER, ASYNCHRONOUS, MAPPED = (
    "a call for each record",
    "buffer of 128 KiB",
    "asynchronous, 2 x 128 KiB",
    "mapped windows",
)
CACHED, EVICTED = "file in the page cache", "file not in the page cache"
MOSTLY_EVICTED = 0.05
Read = Callable[[Path], int]


def workloads(bench: Bench) -> Iterable[Workload]:
    """The same file, cached and not."""
    path = bench.folder / "records"
    records = max(
        WINDOW_BYTES // RECORD_BYTES, round(bench.options.seconds * RECORDS_PER_SECOND_OF_RUN) // 16384 * 16384
    )
    bench.listener.doing(f"writing {records:,} records")
    expected = _write(path, records)
    ways: dict[str, Read] = {BUFFER: by_buffer, CALL: by_call, MAPPED: by_windows}
    if can_read_asynchronously():
        ways[ASYNCHRONOUS] = by_asynchronous_reads
    else:
        bench.skipped[ASYNCHRONOUS] = "it is coded for 64-bit glibc"
    call_seconds = _call_seconds()
    note = f"{call_seconds * 1e9:.0f} ns, what the cheapest system call costs Python, are taken off each record read by a call of its own"
    taken_off = {way: call_seconds * records if way == CALL else 0.0 for way in ways}
    for name, ready in ((CACHED, _warm), (EVICTED, evict)):
        try:
            ready(path)
            by_buffer(path)  # the disk's first answer is often its slowest
        except TrialError as error:
            bench.skipped[name] = str(error)
            continue
        yield Workload(
            name, "records", {way: partial(_measured, path, ready, read, records, expected, taken_off[way]) for way, read in ways.items()}, note
        )  # fmt: skip


def _write(path: Path, records: int) -> int:
    """The file; returns the sum of the records' first bytes, which every way of reading must find."""
    block = b"".join(bytes([number % 251]) + b"r" * (RECORD_BYTES - 1) for number in range(4096))
    with path.open("wb") as file:
        for _ in range(records // 4096):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return sum(block[::RECORD_BYTES]) * (records // 4096)


def _measured(
    path: Path, ready: Callable[[Path], None], read: Read, records: int, expected: int, taken_off: float
) -> Run:
    ready(path)
    clock, started = time.process_time(), time.perf_counter()
    found = read(path)
    seconds, client = time.perf_counter() - started, time.process_time() - clock
    if found != expected:
        raise TrialError(f"reading {path.name} gave other bytes than were written: {found}, not {expected}.")
    return Run(max(seconds - taken_off, 1e-6), records, client_cpu_seconds=client)


def _over(data: bytearray | bytes | mmap.mmap, length: int) -> int:
    """The first byte of each record, added up."""
    return sum(data[0:length:RECORD_BYTES])


def _call_seconds() -> float:
    """What it costs Python to make the cheapest system call, most of which is Python."""
    count = 200_000
    started = time.perf_counter()
    for _ in range(count):
        os.getppid()
    return (time.perf_counter() - started) / count


def by_call(path: Path) -> int:
    """One read call for each record."""
    buffer, total, position = bytearray(RECORD_BYTES), 0, 0
    descriptor, read = os.open(path, os.O_RDONLY), os.preadv
    try:
        buffers = [buffer]
        while read(descriptor, buffers, position):
            total += buffer[0]
            position += RECORD_BYTES
    finally:
        os.close(descriptor)
    return total


def by_buffer(path: Path) -> int:
    """One read call for 128 KiB of records."""
    buffer, total, position = bytearray(BUFFER_BYTES), 0, 0
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while length := os.preadv(descriptor, [buffer], position):
            total += _over(buffer, length)
            position += length
    finally:
        os.close(descriptor)
    return total


def by_windows(path: Path) -> int:
    """Mapped, a window at a time."""
    total, size = 0, path.stat().st_size
    with path.open("rb") as file:
        for position in range(0, size, WINDOW_BYTES):
            length = min(WINDOW_BYTES, size - position)
            with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=position) as window:
                window.madvise(mmap.MADV_SEQUENTIAL)
                total += _over(window, length)
    return total


class _ControlBlock(ctypes.Structure):
    """struct aiocb of 64-bit glibc: /usr/include/aio.h."""

    _fields_ = (
        ("descriptor", ctypes.c_int), ("opcode", ctypes.c_int), ("priority", ctypes.c_int), ("buffer", ctypes.c_void_p),
        ("length", ctypes.c_size_t), ("signal_value", ctypes.c_void_p), ("signal_number", ctypes.c_int), ("notify", ctypes.c_int),
        ("signal_padding", ctypes.c_char * 48), ("next", ctypes.c_void_p), ("absolute_priority", ctypes.c_int), ("policy", ctypes.c_int),
        ("error_code", ctypes.c_int), ("returned", ctypes.c_ssize_t), ("offset", ctypes.c_int64), ("reserved", ctypes.c_char * 32),
    )  # fmt: skip


NOTIFY_NONE = 1  # SIGEV_NONE


def can_read_asynchronously() -> bool:
    """Whether this C library's POSIX AIO is the one that is described here."""
    return platform.libc_ver()[0] == "glibc" and sys.maxsize > 2**32


def by_asynchronous_reads(path: Path) -> int:
    """POSIX AIO: a thread of the C library fills one buffer while the other is gone over (aio(7))."""
    library = _asynchronous_library()
    size, total = path.stat().st_size, 0
    descriptor = os.open(path, os.O_RDONLY)
    buffers = [bytearray(BUFFER_BYTES) for _ in range(2)]
    addresses = [ctypes.addressof((ctypes.c_char * BUFFER_BYTES).from_buffer(buffer)) for buffer in buffers]
    blocks = [_ControlBlock(), _ControlBlock()]

    def begin(turn: int, position: int) -> None:
        ctypes.memset(ctypes.byref(blocks[turn]), 0, ctypes.sizeof(_ControlBlock))
        block = blocks[turn]
        block.descriptor, block.length, block.offset, block.notify = descriptor, BUFFER_BYTES, position, NOTIFY_NONE
        block.buffer = addresses[turn]
        if library.aio_read(ctypes.byref(block)) != 0:
            raise TrialError(f"aio_read failed: {os.strerror(ctypes.get_errno())}.")

    def finish(turn: int) -> int:
        waited = (ctypes.POINTER(_ControlBlock) * 1)(ctypes.pointer(blocks[turn]))
        while library.aio_error(ctypes.byref(blocks[turn])) != 0:
            library.aio_suspend(waited, 1, None)
        return int(library.aio_return(ctypes.byref(blocks[turn])))

    try:
        begin(0, 0)
        for number, position in enumerate(range(0, size, BUFFER_BYTES)):
            turn = number % 2
            length = finish(turn)
            if position + BUFFER_BYTES < size:
                begin(1 - turn, position + BUFFER_BYTES)
            total += _over(buffers[turn], length)
    finally:
        os.close(descriptor)
    return total


def _asynchronous_library() -> ctypes.CDLL:
    for name in ("libc.so.6", "librt.so.1"):  # librt until glibc 2.34
        library = ctypes.CDLL(name, use_errno=True)
        if hasattr(library, "aio_read"):
            library.aio_return.restype = ctypes.c_ssize_t
            return library
    raise TrialError("this C library has no aio_read.")


def _warm(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def evict(path: Path) -> None:
    """Take the file out of the page cache. Raises TrialError where it stays."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
    pages = Prober().probe(os.fspath(path))
    size = path.stat().st_size
    if pages is None or pages.resident is None:
        raise TrialError("whether the file left the page cache cannot be seen here")
    if pages.resident * mmap.PAGESIZE > MOSTLY_EVICTED * size:
        raise TrialError("the file does not leave the page cache (a file system in memory?)")


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """Whether anything beats the plain buffer, cached and not."""
    parts = []
    for result in results:
        said = [f"{way} {times(one)}" for way in (CALL, ASYNCHRONOUS, MAPPED) if (one := comparison_of(result, way))]
        parts.append(f"{result.name}: {', '.join(said)}")
    return f"Against a buffer of 128 KiB, {'; '.join(parts)}."


EXPERIMENT = Experiment(
    "Reading records: calls, buffers, asynchronous reads, mapped windows",
    workloads,
    conclude,
    runs_a_round=8,
    published=(
        Published(CACHED, CALL, "one system call for each record is the slowest", SOURCE_2014),
        Published(CACHED, ASYNCHRONOUS, "close to the buffer", SOURCE_2014),
        Published(CACHED, MAPPED, "close to the buffer", SOURCE_2014),
        Published(EVICTED, CALL, "larger than memory, all are equal", SOURCE_2014),
        Published(EVICTED, MAPPED, "larger than memory, all are equal", SOURCE_2014),
    ),
    needs_server=False,
)  # fmt: skip
