"""What the kernel recorded, as statements: a begin, further parts of a long text, an end, all of one thread and in their order."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.probing.definitions import SCHEMA_BYTES, Defined
from myisam_advisor.workload.probing.rings import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading

PREPARED = "prepared: the probe does not read its values"
LONG_SCHEMA = f"in a database whose name has more than {SCHEMA_BYTES} bytes"
PART_LOST = "of which a part was lost"
# include/my_command.h; the same numbers in MySQL and MariaDB.
_QUERY = 3
_PREPARED_COMMANDS = frozenset((22, 23, 24, 25, 26, 28))
_NANOSECONDS = 1000


@dataclass(slots=True)
class _Statement:
    """One that has begun. How long it took is told from where the last part of its text was fetched: that took time of its own."""

    begun: int
    connection: int
    database: bytes | None
    length: int
    command: int
    fetched: int
    parts: list[bytes] = field(default_factory=list)
    is_schema_long: bool = False


class Decoder:
    """Statements of the records of all processors.

    Args:
        events: as they were defined.
        text_bytes: how much of a text is fetched.
        since: microseconds since 1970 when the clock of the records was 0.
    """

    def __init__(self, events: Sequence[Defined], text_bytes: int, since: int) -> None:
        self._by_number: Mapping[int, Defined] = {event.number: event for event in events}
        self._spans = {event.number: _text_span(event) for event in events}
        self._begin = next(event for event in events if event.name == "begin")
        self._fields = self._begin.fields
        self._further = {
            event.number: place + 1
            for place, event in enumerate(each for each in events if each.name.startswith("further"))
        }
        self._text_bytes, self._since = text_bytes, since
        self._open: dict[int, _Statement] = {}

    def events(self, rings: Sequence[Iterable[Record]], reading: Reading) -> Iterator[Event]:
        """Each statement when it has ended; those that go on, at the end and without a duration."""
        for record in heapq.merge(*rings):
            number = int.from_bytes(record.raw[:2], "little")
            if number == self._begin.number:
                yield from self._ended(record.thread, None, reading)
                self._open[record.thread] = self._begun(record)
            elif number in self._further:
                self._continued(record, number)
            elif number in self._by_number:
                yield from self._ended(record.thread, record.time, reading)
        for thread in list(self._open):
            yield from self._ended(thread, None, reading)

    def _begun(self, record: Record) -> _Statement:
        schema_bytes = self._number(record, "schema_bytes")
        at, size = self._fields["schema"]
        statement = _Statement(
            record.time,
            self._number(record, "connection"),
            record.raw[at : at + min(schema_bytes, size)] if schema_bytes else None,
            self._number(record, "length"),
            self._number(record, "command"),
            record.time,
            is_schema_long=schema_bytes > size,
        )
        begin, end = self._spans[self._begin.number]
        statement.parts.append(record.raw[begin:end])
        return statement

    def _continued(self, record: Record, number: int) -> None:
        statement = self._open.get(record.thread)
        # Where one before it was lost, this one has another place.
        if statement is not None and len(statement.parts) == self._further[number]:
            begin, end = self._spans[number]
            held = sum(map(len, statement.parts))
            statement.parts.append(record.raw[begin : min(end, begin + max(statement.length - held, 0))])
            statement.fetched = record.time

    def _ended(self, thread: int, end: int | None, reading: Reading) -> Iterator[Event]:
        statement = self._open.pop(thread, None)
        if statement is None:
            return
        reading.entries += 1
        reason = self._unusable(statement)
        if reason is not None:
            reading.left_out[reason] += 1
            return
        yield Event(
            statement.connection,
            self._since + statement.begun // _NANOSECONDS,
            None if end is None else (end - statement.fetched) // _NANOSECONDS,
            statement.database,
            b"".join(statement.parts)[: statement.length],
        )

    def _unusable(self, statement: _Statement) -> str | None:
        """Why it is no statement that was seen whole, where it is not."""
        if statement.command in _PREPARED_COMMANDS:
            return PREPARED
        if statement.command != _QUERY:
            return ADMINISTRATOR
        if statement.length > self._text_bytes:
            return longer_than(self._text_bytes)
        if statement.is_schema_long:
            return LONG_SCHEMA
        return PART_LOST if sum(map(len, statement.parts)) < statement.length else None

    def _number(self, record: Record, name: str) -> int:
        at, size = self._fields[name]
        return int.from_bytes(record.raw[at : at + size], "little")


def longer_than(text_bytes: int) -> str:
    """Why a text is left out of which not all was fetched."""
    return f"longer than {text_bytes} bytes"


def begun_sessions(event: Defined, records: Iterable[Record]) -> Iterator[tuple[int, bytes]]:
    """The address of each statement's session, and the begin of its text: what is learned from."""
    begin, end = _text_span(event)
    at, size = event.fields["session"]
    for record in records:
        if int.from_bytes(record.raw[:2], "little") == event.number:
            yield int.from_bytes(record.raw[at : at + size], "little"), record.raw[begin:end]


def _text_span(event: Defined) -> tuple[int, int]:
    """Where its parts of the text begin and end: they lie one behind the other."""
    parts = [place for name, place in event.fields.items() if name.startswith("text")]
    return (min(at for at, _ in parts), max(at + size for at, size in parts)) if parts else (0, 0)
