"""What the kernel recorded, as statements: a begin and an end of one thread, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.probing.executions import Executions
from myisam_advisor.workload.probing.parameters import NotDecodedError
from myisam_advisor.workload.probing.place import Command
from myisam_advisor.workload.probing.program import (
    ABOUT,
    BEGIN,
    COMMON,
    END,
    LARGEST_TEXT_BYTES,
    SCHEMA_AT,
    SCHEMA_BYTES,
    SUSPENDED,
    TEXT_AT,
)
from myisam_advisor.workload.probing.ring import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading
from myisam_exporter.declaring.lean_dataclasses import dataclass

PREPARED = "prepared: where this server counts its statements was not found"
BULK = "prepared, with arrays of values"
LONG_SCHEMA = f"in a database whose name has more than {SCHEMA_BYTES} bytes"
TOO_LONG = f"longer than {LARGEST_TEXT_BYTES} bytes"
UNREADABLE = "not in the server's memory when it was looked at"
_ENDS = frozenset((Command.QUIT, Command.CHANGE_USER, Command.RESET_CONNECTION))
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
        counted: how many statements its connection had prepared, where it prepares one.
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
    counted: int
    text: bytes

    @property
    def whole(self) -> bytes | None:
        """Its text, where all of it was seen."""
        return None if self.failed or len(self.text) < self.length else self.text


@dataclass(frozen=True, slots=True)
class _Open:
    """One that has not ended: with its text, or why it has none."""

    begun: Begun
    text: bytes
    left_out: str | None


def begun(record: Record) -> Begun:
    """What a record of a begin says."""
    session, command, length, connection, schema_bytes, failed, counted = ABOUT.unpack_from(record.raw, COMMON.size)
    database = record.raw[SCHEMA_AT : SCHEMA_AT + min(schema_bytes, SCHEMA_BYTES)] if schema_bytes else None
    text = record.raw[TEXT_AT : TEXT_AT + length] if length <= LARGEST_TEXT_BYTES else b""
    return Begun(record.time, session, command, length, connection, database, schema_bytes, bool(failed), counted, text)


class Decoder:
    """Statements of records.

    Args:
        since: microseconds since 1970 when the clock of the records was 0.
        executions: of prepared statements; None where their numbers are not known.
    """

    def __init__(self, since: int, executions: Executions | None = None) -> None:
        self._since, self._executions = since, executions
        # By their threads; and by their sessions those that wait without one.
        self._open: dict[int, _Open] = {}
        self._suspended: dict[int, _Open] = {}

    def events(self, records: Iterable[Record], reading: Reading) -> Iterator[Event]:
        """Each statement when it has ended; those that go on, at the end and without a duration."""
        yield from self.ended(records, reading)
        for one in (*self._open.values(), *self._suspended.values()):
            yield from self._told(one, None, reading)

    def ended(self, records: Iterable[Record], reading: Reading) -> Iterator[Event]:
        """Each statement when it has ended; those that go on are kept for the records to come."""
        for record in records:
            former = self._open.pop(record.thread, None)
            if record.kind == SUSPENDED and former is not None:
                self._suspended[former.begun.session] = former
            elif former is not None:
                yield from self._told(former, record.time if record.kind == END else None, reading)
            if record.kind == BEGIN:
                yield from self._begins(record, reading)

    def going_on(self) -> Iterator[Event]:
        """Those that have not ended, without a duration."""
        for one in (*self._open.values(), *self._suspended.values()):
            if one.left_out is None:
                yield self._event(one, None)

    def _begins(self, record: Record, reading: Reading) -> Iterator[Event]:
        """It is one that waited, in whichever thread it goes on; where that one's end was lost, another."""
        new = begun(record)
        waited = self._suspended.pop(new.session, None)
        if waited is not None and (waited.begun.command, waited.begun.text) == (new.command, new.text):
            self._open[record.thread] = waited
            return
        if waited is not None:
            yield from self._told(waited, None, reading)
        # What it says of later ones counts from now on, in whichever threads those are.
        self._open[record.thread] = self._opened(new)

    def _told(self, statement: _Open, end: int | None, reading: Reading) -> Iterator[Event]:
        reading.entries += 1
        if statement.left_out is not None:
            reading.left_out[statement.left_out] += 1
            return
        yield self._event(statement, end)

    def _event(self, statement: _Open, end: int | None) -> Event:
        about = statement.begun
        return Event(
            about.connection,
            self._since + about.time // _NANOSECONDS,
            None if end is None else (end - about.time) // _NANOSECONDS,
            about.database,
            statement.text,
            prepared=about.command == Command.EXECUTE,
        )

    def _opened(self, statement: Begun) -> _Open:
        text, reason = statement.text, _unusable(statement)
        if statement.command != Command.QUERY:
            text, reason = b"", ADMINISTRATOR
            try:
                text = self._prepared(statement)
                if statement.command == Command.EXECUTE:
                    reason = LONG_SCHEMA if statement.schema_bytes > SCHEMA_BYTES else None
            except NotDecodedError as error:
                reason = error.reason
        return _Open(statement, text, reason)

    def _prepared(self, statement: Begun) -> bytes:
        """What a prepared one is when it is executed; what else is done with those is remembered. Raises NotDecodedError."""
        connection, command, packet = statement.connection, statement.command, statement.whole
        if self._executions is None:
            if command in (Command.EXECUTE, Command.BULK_EXECUTE):
                raise NotDecodedError(PREPARED)
        elif command == Command.EXECUTE:
            return self._executions.executed(connection, packet)
        elif command == Command.PREPARE:
            self._executions.prepared(connection, statement.counted, packet)
        elif command == Command.LONG_DATA:
            self._executions.long_data(connection, packet)
        elif command == Command.BULK_EXECUTE:
            # It may tell types, which later ones need not repeat.
            self._executions.forget_types(connection)
            raise NotDecodedError(BULK)
        elif command == Command.CLOSE and packet is not None:
            self._executions.closed(connection, packet)
        elif command == Command.RESET and packet is not None:
            self._executions.reset(connection, packet)
        elif command in _ENDS:
            self._executions.forget(connection)
        return b""


def _unusable(statement: Begun) -> str | None:
    """Why it is no statement that was seen whole, where it is not."""
    if statement.length > LARGEST_TEXT_BYTES:
        return TOO_LONG
    if statement.schema_bytes > SCHEMA_BYTES:
        return LONG_SCHEMA
    return UNREADABLE if statement.whole is None else None


def begun_sessions(records: Iterable[Record]) -> Iterator[tuple[int, bytes]]:
    """The address of each statement's session, and its text: what is learned from."""
    for record in records:
        if record.kind == BEGIN:
            statement = begun(record)
            yield statement.session, statement.text
