"""Rings of the kernel's, as they lie in a file: records of one process, and what was lost."""

import io
import struct

from myisam_advisor.workload.probing.rings import Record, Records, online_processors, ring_bytes


def sample(pid: int, thread: int, moment: int, raw: bytes) -> bytes:
    body = struct.pack("<IIQI", pid, thread, moment, len(raw)) + raw
    return struct.pack("<IHH", 9, 2, 8 + len(body)) + body


def test_records_of_the_process_are_told_and_what_was_lost_is_counted() -> None:
    lost = struct.pack("<IHHQQ", 2, 0, 24, 5, 17)
    file = io.BytesIO(sample(7, 8, 1000, b"abcd") + lost + sample(9, 9, 1500, b"else") + struct.pack("<IHH", 13, 0, 8) + sample(7, 7, 2000, b"efgh"))
    records = Records(file, 7)
    assert list(records) == [Record(1000, 8, b"abcd"), Record(2000, 7, b"efgh")]
    assert records.lost == 17


def test_a_file_that_is_cut_off_ends_there() -> None:
    whole = sample(7, 8, 1000, b"abcd") * 2
    for length in range(len(whole)):
        assert len(list(Records(io.BytesIO(whole[:length]), 7))) == length // (len(whole) // 2)


def test_all_rings_together_are_bounded_and_each_is_a_power_of_two() -> None:
    for processors in (1, 2, 3, 64, 200):
        size = ring_bytes(processors)
        assert size & (size - 1) == 0
        assert size * processors <= 32 << 20


def test_processors_are_read_as_the_kernel_lists_them() -> None:
    assert online_processors("0-3,6\n") == [0, 1, 2, 3, 6]
    assert online_processors("0\n") == [0]
    assert online_processors()
