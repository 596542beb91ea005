"""What a workload is made of: one statement that one connection sent."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """A statement as the server had it; None is what the source does not tell.

    Attributes:
        connection: the server's number of the connection.
        start_microseconds: when it began, since 1970-01-01 UTC; where a source tells only the end, the end less the duration.
        duration_microseconds: how long it took.
        database: the default database, as bytes of the server.
        statement: its bytes, without the `;` that a log puts behind it.
        rows_sent: rows of its result.
        rows_examined: rows that it read.
        rows_affected: rows that it changed.
        error: the number of the error that it ended with; 0 is none.
        prepared: it was a prepared one, whose values the log has filled in.
    """

    connection: int
    start_microseconds: int
    duration_microseconds: int | None
    database: bytes | None
    statement: bytes
    rows_sent: int | None = None
    rows_examined: int | None = None
    rows_affected: int | None = None
    error: int | None = None
    prepared: bool = False
