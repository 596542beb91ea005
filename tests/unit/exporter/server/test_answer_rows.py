"""Rows of an answer, however its bytes arrive."""

from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysql.err import OperationalError

from myisam_exporter.server.answer_rows import MAXIMUM_ROW_BYTES, read_rows
from myisam_exporter.server.wire import TooMuchError

BUFFER_BYTES = 64
END_OF_ANSWER = b"\xfe\0\0\x02\0"
Row = tuple[str | None, ...]


class Arriving(RawIOBase):
    """Bytes that come in pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self.pieces:
            return 0
        some, rest = self.pieces[0][: len(buffer)], self.pieces[0][len(buffer) :]
        self.pieces[:1] = [rest] if rest else []
        buffer[: len(some)] = some
        return len(some)


@dataclass
class Library:
    """The part of the library that is read from; `_next_seq_id` is the number of the next packet."""

    _rfile: BufferedReader
    _next_seq_id: int = 6
    ends: list[bytes] = field(default_factory=list)

    def rows(self, columns: int) -> list[Row]:
        def is_end(packet: object) -> bool:
            self.ends.append(packet.get_all_data())  # type: ignore[attr-defined]
            return True

        result = SimpleNamespace(unbuffered_active=True, connection=self, rows=(), _check_packet_is_eof=is_end)
        rows = list(read_rows(self, result, columns))
        assert (result.unbuffered_active, result.connection) == (False, None)
        return rows


def value(text: str | None) -> bytes:
    if text is None:
        return b"\xfb"
    data = text.encode()
    return (bytes([len(data)]) if len(data) <= 250 else b"\xfc" + len(data).to_bytes(2, "little")) + data


def packets(*contents: bytes, first: int = 6) -> bytes:
    return b"".join(len(one).to_bytes(3, "little") + bytes([number & 0xFF]) + one for number, one in enumerate(contents, first))


def library(data: bytes, cuts: list[int] | None = None) -> Library:
    places = [0, *sorted({cut % (len(data) + 1) for cut in cuts or ()}), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places) if end > start]
    return Library(BufferedReader(Arriving(pieces), BUFFER_BYTES))


TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
ROWS = st.integers(1, 4).flatmap(lambda columns: st.tuples(st.just(columns), st.lists(st.tuples(*[TEXT] * columns), max_size=8)))


@given(ROWS, st.lists(st.integers(0, 5000), max_size=20))
def test_rows_are_those_that_were_sent_in_whatever_pieces_they_come(told: tuple[int, list[Row]], cuts: list[int]) -> None:
    columns, rows = told
    # An empty first value and nothing behind it would be no row: the server's has a byte for each value.
    sent = packets(*(b"".join(map(value, row)) for row in rows), END_OF_ANSWER) + b"of the next answer"
    reading = library(sent, cuts)
    assert reading.rows(columns) == rows
    assert reading.ends == [END_OF_ANSWER]
    assert reading._next_seq_id == (6 + len(rows) + 1) & 0xFF
    assert reading._rfile.read() == b"of the next answer"


@pytest.mark.parametrize(("sent", "error", "says"), [
    (packets(value("a") + value("b")), OperationalError, "ended within an answer"),
    (packets(value("a") + value("b"))[:7], OperationalError, "ended within an answer"),
    (packets(value("a")), ValueError, "ends early"),
    (packets(value("a") + value("b") + b"c"), ValueError, "more than its columns"),
    (packets(b"\x03a" + value("b")), ValueError, "ends early"),
    (packets(value("a") + b"\xfd\xff"), ValueError, "ends early"),
    (packets(value("a") + value("b"), first=8), ValueError, "packet 8 where 6 was due"),
    (packets(b"", first=0), OperationalError, "the server ended the connection"),
    # It begins as the end of an answer does, and is longer than any: a value of 2 ** 63 bytes.
    (packets(b"\xfe" + b"\xff" * 8, END_OF_ANSWER), ValueError, "ends early"),
    (packets(b"\xff\x69\x04#HY000gone"), OperationalError, "gone"),
    ((MAXIMUM_ROW_BYTES + 1).to_bytes(3, "little") + b"\x06", TooMuchError, "a row of more than 1 MiB"),
])  # fmt: skip
@pytest.mark.parametrize("is_in_pieces", [False, True])
def test_what_is_no_row_is_refused(sent: bytes, error: type[Exception], says: str, is_in_pieces: bool) -> None:
    reading = library(sent, list(range(len(sent))) if is_in_pieces else None)
    with pytest.raises(error, match=says):
        reading.rows(2)
