"""What the kernel recorded, as statements: a begin and an end of one thread, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.probing.place import QUERY
from myisam_advisor.workload.probing.program import (
    ABOUT,
    BEGIN,
    COMMON,
    END,
    LARGEST_TEXT_BYTES,
    SCHEMA_AT,
    SCHEMA_BYTES,
    TEXT_AT,
)
from myisam_advisor.workload.probing.ring import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading

PREPARED = "prepared: the probe does not read its values"
LONG_SCHEMA = f"in a database whose name has more than {SCHEMA_BYTES} bytes"
TOO_LONG = f"longer than {LARGEST_TEXT_BYTES} bytes"
UNREADABLE = "not in the server's memory when it was looked at"
_PREPARED_COMMANDS = frozenset((22, 23, 24, 25, 26, 28))
_NANOSECONDS = 1000


@dataclass(frozen=True, slots=True)
class Begun:
    """A statement that has begun.

    Attributes:
        time: when, in nanoseconds.
        session: the address of its THD.
        command: by its number.
        length: of its text.
        connection: the server's number of it.
        database: the default one.
        schema_bytes: how long that one's name is.
        failed: something of it could not be read.
        text: as much as was kept.
    """

    time: int
    session: int
    command: int
    length: int
    connection: int
    database: bytes | None
    schema_bytes: int
    failed: bool
    text: bytes


def begun(record: Record) -> Begun:
    """What a record of a begin says."""
    session, command, length, connection, schema_bytes, failed, _ = ABOUT.unpack_from(record.raw, COMMON.size)
    database = record.raw[SCHEMA_AT : SCHEMA_AT + min(schema_bytes, SCHEMA_BYTES)] if schema_bytes else None
    text = record.raw[TEXT_AT : TEXT_AT + length]
    return Begun(record.time, session, command, length, connection, database, schema_bytes, bool(failed), text)


class Decoder:
    """Statements of records.

    Args:
        since: microseconds since 1970 when the clock of the records was 0.
    """

    def __init__(self, since: int) -> None:
        self._since = since
        self._open: dict[int, Begun] = {}

    def events(self, records: Iterable[Record], reading: Reading) -> Iterator[Event]:
        """Each statement when it has ended; those that go on, at the end and without a duration."""
        for record in records:
            if record.kind == BEGIN:
                yield from self._ended(record.thread, None, reading)
                self._open[record.thread] = begun(record)
            elif record.kind == END:
                yield from self._ended(record.thread, record.time, reading)
        for thread in list(self._open):
            yield from self._ended(thread, None, reading)

    def _ended(self, thread: int, end: int | None, reading: Reading) -> Iterator[Event]:
        statement = self._open.pop(thread, None)
        if statement is None:
            return
        reading.entries += 1
        reason = _unusable(statement)
        if reason is not None:
            reading.left_out[reason] += 1
            return
        yield Event(
            statement.connection,
            self._since + statement.time // _NANOSECONDS,
            None if end is None else (end - statement.time) // _NANOSECONDS,
            statement.database,
            statement.text,
        )


def _unusable(statement: Begun) -> str | None:
    """Why it is no statement that was seen whole, where it is not."""
    if statement.command in _PREPARED_COMMANDS:
        return PREPARED
    if statement.command != QUERY:
        return ADMINISTRATOR
    if statement.length > LARGEST_TEXT_BYTES:
        return TOO_LONG
    if statement.schema_bytes > SCHEMA_BYTES:
        return LONG_SCHEMA
    return UNREADABLE if statement.failed or len(statement.text) < statement.length else None


def begun_sessions(records: Iterable[Record]) -> Iterator[tuple[int, bytes]]:
    """The address of each statement's session, and its text: what is learned from."""
    for record in records:
        if record.kind == BEGIN:
            statement = begun(record)
            yield statement.session, statement.text
