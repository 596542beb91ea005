"""The kernel's ring, as it is mapped, and the records in the file that it is moved to."""

import io
import mmap
import os
import struct
from collections.abc import Iterator

import pytest

from myisam_advisor.workload.probing.ring import Record, Records, Ring

SIZE, PAGE = mmap.PAGESIZE, mmap.PAGESIZE
UNFINISHED = 1 << 31


def entry(moment: int, thread: int, more: bytes = b"", mark: int = 0) -> bytes:
    body = struct.pack("<QII", moment, thread, 1) + more
    return struct.pack("<II", len(body) | mark, 0) + body.ljust(-(-len(body) // 8) * 8, b"\0")


class Kernel:
    """Memory as the kernel maps it: a page of ours, a page of its own, the data twice."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("ring")
        os.ftruncate(self.descriptor, 2 * PAGE + 2 * SIZE)
        self.head = 0

    def place(self, at: int) -> None:
        """As if so much had been written and read before."""
        self.head = at
        os.pwrite(self.descriptor, struct.pack("<Q", at), 0)

    def write(self, data: bytes) -> None:
        """At the head, and before its number is moved on."""
        for at, byte in enumerate(data):
            for copy in (0, SIZE):
                os.pwrite(self.descriptor, bytes([byte]), 2 * PAGE + (self.head + at) % SIZE + copy)
        self.head += len(data)
        os.pwrite(self.descriptor, struct.pack("<Q", self.head), PAGE)

    @property
    def tail(self) -> int:
        """What the reader gave back."""
        return int.from_bytes(os.pread(self.descriptor, 8, 0), "little")


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    os.close(made.descriptor)


def test_what_is_finished_is_moved_and_given_back_also_around_the_end(kernel: Kernel) -> None:
    kernel.place(5 * SIZE - 24)
    file = io.BytesIO()
    with Ring(kernel.descriptor, SIZE, file) as ring:
        kernel.write(entry(1000, 7, b"abc") + entry(2000, 8))
        ring.empty()
        ring.empty()
        assert (ring.bytes, kernel.tail) == (56, kernel.head)
    assert [(each.time, each.thread, each.kind, each.raw[16:19]) for each in Records(file)] == [(1000, 7, 1, b"abc"), (2000, 8, 1, b"")]


def test_what_is_not_finished_waits_with_all_behind_it(kernel: Kernel) -> None:
    file = io.BytesIO()
    with Ring(kernel.descriptor, SIZE, file) as ring:
        kernel.write(entry(1000, 7) + entry(2000, 8, mark=UNFINISHED) + entry(3000, 9))
        ring.empty()
        assert [each.time for each in Records(file)] == [1000]
        os.pwrite(kernel.descriptor, struct.pack("<I", 16), 2 * PAGE + 24)
        file.seek(0, io.SEEK_END)
        ring.empty()
    assert [each.time for each in Records(file)] == [1000, 2000, 3000]


def test_a_file_that_is_cut_off_ends_there() -> None:
    whole = entry(1000, 8) * 2
    for length in range(len(whole)):
        assert list(Records(io.BytesIO(whole[:length]))) == [Record(1000, 8, 1, whole[8:24])] * (length // 24)
