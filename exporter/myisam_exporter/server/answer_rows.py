"""The rows of an answer, read off the connection's own buffer: the library needs three times as long for each.

A scrape has 1,200 rows of SHOW STATUS and SHOW VARIABLES, and is done every 15 seconds for each target. Everything else (login, statements,
the descriptions of columns, the end of an answer, errors) is the library's. Source: MySQL internals, "Protocol::ResultsetRow"; MariaDB
knowledge base, "Result Set Packets".
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from myisam_exporter.server.wire import TooMuchError

# The longest row: names have 64 letters, and grants a line each.
MAXIMUM_ROW_BYTES = 1 << 20
HEAD_BYTES = 4  # of a packet: its length, and its number within the answer
SERVER_LOST = 2013
NULL, ERROR, END = 0xFB, 0xFF, 0xFE
LONGEST_END_BYTES = 8
PAIR = 2
SHORT = 250  # the longest that has its length in one byte: others take 2, 3 or 8 bytes more
_LENGTH_BYTES = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def read_rows(library: Any, result: Any, columns: int) -> Iterator[tuple[str | None, ...]]:
    """Row by row, as text; at the end the result is as if the library had read it.

    Raises TooMuchError for a row beyond MAXIMUM_ROW_BYTES, ValueError for what is no row, and as the library does.
    """
    from pymysql.protocol import MysqlPacket

    with closing(_packets(library)) as packets:
        for data in packets:
            first = data[0] if data else ERROR
            if first == ERROR or (first == END and len(data) <= LONGEST_END_BYTES):
                break
            yield _row(data, columns)
    result.unbuffered_active = False
    packet = MysqlPacket(data, "utf-8")
    packet.raise_for_error() if first == ERROR else result._check_packet_is_eof(packet)
    result.connection = result.rows = None


def _packets(library: Any) -> Generator[bytes, None, None]:
    """What is in each packet that comes, without end: who has had enough closes this, and what was not taken is there for the next to read.

    Of the buffer whole packets are taken by looking ahead: two reads for each row took longer than the row itself.
    """
    buffer = library._rfile
    while True:
        ahead = _arrived(buffer.peek)
        place, size = 0, len(ahead)
        try:
            while (start := place + HEAD_BYTES) <= size:
                low, middle, high, number = ahead[place:start]
                end = start + (low | middle << 8 | high << 16)
                if end > size:
                    break
                _count(library, number)
                place = end
                yield ahead[start:end]
        finally:
            buffer.read(place)
        # One that is not there whole yet.
        low, middle, high, number = _arrived(buffer.read, HEAD_BYTES)
        _count(library, number)
        length = low | middle << 8 | high << 16
        if length > MAXIMUM_ROW_BYTES:
            raise TooMuchError(f"a row of more than {MAXIMUM_ROW_BYTES >> 20} MiB")
        yield _arrived(buffer.read, length)


def _arrived(read: Callable[[int], bytes], count: int = 1) -> bytes:
    """Bytes that came: so many at least. Raises as the library does when they do not come."""
    from pymysql.err import OperationalError

    try:
        data = read(count)
    except OSError as error:
        raise OperationalError(SERVER_LOST, type(error).__name__) from None
    if len(data) < count:
        raise OperationalError(SERVER_LOST, "the connection ended within an answer")
    return data


def _count(library: Any, number: int) -> None:
    """The next packet has this number. Raises ValueError where another was due, and as the library does where the server ends the connection."""
    if number != library._next_seq_id:
        from pymysql.err import OperationalError

        if number == 0:  # how MariaDB says that it shuts down
            raise OperationalError(SERVER_LOST, "the server ended the connection")
        raise ValueError(f"packet {number} where {library._next_seq_id} was due")
    library._next_seq_id = (number + 1) & 0xFF


def _row(data: bytes, columns: int) -> tuple[str | None, ...]:
    """The values of a row. Raises ValueError for a packet that is not exactly so many."""
    if columns == PAIR and data[0] <= SHORT:
        # A name and its value, nearly all rows that there are: read as they stand.
        middle = data[0] + 1
        if middle < len(data) and data[middle] <= SHORT and middle + 1 + data[middle] == len(data):
            return str(data[1:middle], "utf-8", "replace"), str(data[middle + 1 :], "utf-8", "replace")
    values: list[str | None] = []
    place, size = 0, len(data)
    for _ in range(columns):
        length = data[place] if place < size else ERROR
        place += 1
        if length > SHORT:
            if length == NULL:
                values.append(None)
                continue
            more = _LENGTH_BYTES.get(length)
            if more is None:
                raise ValueError("a row that ends early")
            length = int.from_bytes(data[place : place + more], "little")
            place += more
        end = place + length
        if end > size:
            raise ValueError("a row that ends early")
        values.append(str(data[place:end], "utf-8", "replace"))
        place = end
    if place != size:
        raise ValueError("a row with more than its columns")
    return tuple(values)
