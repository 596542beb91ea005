"""The files that `sending.lua` reads and fills: one of records and one of answers for each thread, and one that all share.

A record is a header, its tickets, and a text with a NUL behind it, filled up to a multiple of eight bytes. A ticket says: you are this write of this
table, and so many of its writes must be done before you begin. In the shared file each table has a counter (it moves when a write is done: who waits sleeps
on it), and each write a byte that says that it is done. All numbers are the machine's own (native order): writer and reader are on one machine.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.errors import TrialError
from myisam_exporter.declaring.lean_dataclasses import dataclass

STATEMENT, OPEN, CLOSE, USE, UNLOCK = range(5)
RECORD, TICKET = struct.Struct("=IBBHIIQ"), struct.Struct("=IIII")
THREAD, ANSWER = struct.Struct("=8Q"), struct.Struct("=4Q2I")
# What an answer says where an UPDATE changed none of the rows that it found.
FOUND_ALIKE = 3
# The moment of the beginning, that of the last turn that was lost, how many were lost, how many tables are written, a flag for each thread; then a counter for
# each table, where its writes' bytes begin behind all that, and these.
MOST_THREADS_READY = 512
SHARED = struct.Struct(f"=QQQII{MOST_THREADS_READY}I")
NANOSECONDS_PER_MICROSECOND, NANOSECONDS_PER_SECOND = 1000, 1_000_000_000
# The longest that anything in a run can have taken: what is more is no time.
MAXIMUM_NANOSECONDS = 86_400 * NANOSECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class ThreadReport:
    """What one thread says of its run: when it began and ended, the process's CPU time then, and what went wrong.

    `waited_seconds` is the time that it waited for turns, `lost` how many turns did not come, `late` how many records it came to a
    millisecond or more after their moment, `unconnected` how many connections the server refused.
    """

    begun_seconds: float
    ended_seconds: float
    cpu_begun_seconds: float
    cpu_ended_seconds: float
    waited_seconds: float
    lost: int
    late: int
    unconnected: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one statement. `found_alike`: an UPDATE, which found rows that were already as it would have them."""

    begun_nanoseconds: int
    duration_nanoseconds: int
    rows: int
    affected: int
    error: int
    was_sent: bool
    found_alike: bool = False


def write_record(
    file: BinaryIO, action: int, handle: int, at_nanoseconds: int, text: bytes = b"",
    tickets: Sequence[tuple[int, int, int]] = (), is_large: bool = False,
) -> None:  # fmt: skip
    """Append one record; each ticket is a table's number, which of its writes this is, and how many are to be done before."""
    file.write(RECORD.pack(len(text), action, is_large, handle, len(tickets), 0, at_nanoseconds))
    for counter, number, before in tickets:
        file.write(TICKET.pack(counter, number, before, 0))
    file.write(text)
    file.write(bytes(8 - len(text) % 8))


def prepare_answers(folder: Path, statements: Sequence[int], writes: Sequence[int]) -> None:
    """Empty files for the answers of a run, of so many statements for each thread, and for tables that are written so often."""
    for number, count in enumerate(statements):
        _make_empty(folder / f"{number}.answers", THREAD.size + count * ANSWER.size)
    numbers = struct.Struct(f"={max(len(writes), 1)}I")
    _make_empty(folder / "shared", SHARED.size + 2 * numbers.size + sum(writes))
    with (folder / "shared").open("r+b") as file:
        file.write(SHARED.pack(0, 0, 0, 0, len(writes), *([0] * MOST_THREADS_READY)))
        if writes:
            file.seek(numbers.size, os.SEEK_CUR)
            file.write(numbers.pack(*accumulate(writes[:-1], initial=0)))


def _make_empty(path: Path, length: int) -> None:
    with path.open("wb") as file:
        file.truncate(length)


def read_report(data: bytes) -> ThreadReport:
    """The head of a file of answers. Raises TrialError for times that cannot be."""
    begun, ended, cpu_begun, cpu_ended, waited, lost, late, unconnected = THREAD.unpack_from(data)
    if (
        not 0 <= begun <= ended <= MAXIMUM_NANOSECONDS
        or not cpu_begun <= cpu_ended <= begun + MAXIMUM_NANOSECONDS * 512
    ):
        raise TrialError("the sender did not come to its end: a thread tells no time.")
    second = NANOSECONDS_PER_SECOND
    return ThreadReport(
        begun / second, ended / second, cpu_begun / second, cpu_ended / second, waited / second, lost, late, unconnected
    )


def read_answers(data: bytes) -> Iterator[Answer]:
    """The answers behind the head."""
    for begun, duration, rows, affected, error, sent in ANSWER.iter_unpack(data[THREAD.size :]):
        yield Answer(begun, min(duration, MAXIMUM_NANOSECONDS), rows, affected, error, sent != 0, sent == FOUND_ALIKE)
