"""The rows of an answer, read off the connection's own buffer: the library needs three times as long for each.

A scrape has 1,200 rows of SHOW STATUS and SHOW VARIABLES, and is done every 15 seconds for each target. Everything else (login, statements,
the descriptions of columns, the end of an answer, errors) is the library's. Source: MySQL internals, "Protocol::ResultsetRow"; MariaDB
knowledge base, "Result Set Packets".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from myisam_exporter.server.wire import TooMuchError

# The longest row: names have 64 letters, and grants a line each.
MAXIMUM_ROW_BYTES = 1 << 20
SERVER_LOST = 2013
NULL, ERROR, END = 0xFB, 0xFF, 0xFE
LONGEST_END_BYTES = 8
# Lengths beyond 250 take 2, 3 or 8 bytes more.
_LENGTH_BYTES = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def read_rows(library: Any, result: Any, columns: int) -> Iterator[tuple[str | None, ...]]:
    """Row by row, as text; at the end the result is as if the library had read it.

    Raises TooMuchError for a row beyond MAXIMUM_ROW_BYTES, ValueError for what is no row, and as the library does.
    """
    from pymysql.err import OperationalError
    from pymysql.protocol import MysqlPacket

    read = library._rfile.read

    def exactly(count: int) -> bytes:
        try:
            data: bytes = read(count)
        except OSError as error:
            raise OperationalError(SERVER_LOST, type(error).__name__) from None
        if len(data) < count:
            raise OperationalError(SERVER_LOST, "the connection ended within an answer")
        return data

    while True:
        head = exactly(4)
        length, number = head[0] | head[1] << 8 | head[2] << 16, head[3]
        if number != library._next_seq_id:
            if number == 0:  # how MariaDB says that it shuts down
                raise OperationalError(SERVER_LOST, "the server ended the connection")
            raise ValueError(f"packet {number} where {library._next_seq_id} was due")
        library._next_seq_id = (number + 1) & 0xFF
        if length > MAXIMUM_ROW_BYTES:
            raise TooMuchError(f"a row of more than {MAXIMUM_ROW_BYTES >> 20} MiB")
        data = exactly(length)
        first = data[0] if data else ERROR
        if first == ERROR or (first == END and length <= LONGEST_END_BYTES):
            result.unbuffered_active = False
            packet = MysqlPacket(data, "utf-8")
            packet.raise_for_error() if first == ERROR else result._check_packet_is_eof(packet)
            result.connection = result.rows = None
            return
        yield _row(data, columns)


def _row(data: bytes, columns: int) -> tuple[str | None, ...]:
    """The values of a row. Raises ValueError for a packet that is not exactly so many."""
    values: list[str | None] = []
    place, size = 0, len(data)
    for _ in range(columns):
        length = data[place] if place < size else ERROR
        place += 1
        if length > 250:
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
