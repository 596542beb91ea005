"""Prepared statements of the binary protocol: what was prepared under which number, and what an execution of it is as a statement.

The number of a statement is in the server's answer, which is not seen. It is counted in the session (learning.py says where), and that count is
fetched when a statement is prepared: the next number is its own.

Sources: sql/sql_prepare.cc (Prepared_statement, LAST_STMT_ID, STMT_ID_MASK); MySQL's "Client/Server Protocol", "Prepared Statements".
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import field

from myisam_advisor.workload.probing.parameters import (
    HEAD_BYTES,
    MALFORMED,
    TYPES_BEFORE,
    NotDecodedError,
    Style,
    values_of,
)
from myisam_advisor.workload.probing.placeholders import filled, placeholders
from myisam_exporter.declaring.lean_dataclasses import dataclass

NOT_SEEN = "prepared before the recording, with a text that is not known"
MAYBE_LOST = "prepared, with something told before that may have been lost"
CUT_OFF = "prepared, with a text or a value that is longer than is noted"
TOO_MANY = "prepared among more statements than are kept"
# MariaDB's clients may say: the one that was prepared last.
_LAST, _NUMBER_BITS = 0xFFFFFFFF, 0x7FFFFFFF
_KEPT_BYTES = 24 << 20
_LONG_DATA_BYTES = 16 << 20
# What one takes beside its text.
_ENTRY_BYTES = 600

Key = tuple[int, int]


@dataclass(slots=True)
class _Statement:
    """A prepared one.

    Attributes:
        text: as it was sent; None where it was not seen whole.
        places: where its parameters are.
        types: of what was sent last.
        long_data: what was sent before, by the place of its parameter.
        cut_off: some of that was not seen.
    """

    text: bytes | None
    places: list[int]
    types: tuple[int, ...] | None = None
    long_data: dict[int, bytearray] = field(default_factory=dict)
    cut_off: bool = False

    @property
    def bytes(self) -> int:
        """What it takes, about."""
        return _ENTRY_BYTES + len(self.text or b"") + 40 * len(self.places) + sum(map(len, self.long_data.values()))


class Executions:
    """The prepared statements of all connections.

    Args:
        style: how the server writes values.
        known: what was prepared before, by connection and number.
        is_lossy: what clients sent may be missing here.
    """

    def __init__(self, style: Style, known: Mapping[Key, bytes] | None = None, is_lossy: bool = False) -> None:
        self._style, self._is_lossy = style, is_lossy
        self._statements: OrderedDict[Key, _Statement] = OrderedDict()
        self._last: dict[int, int] = {}
        self._by_connection: dict[int, set[int]] = {}
        self._bytes = 0
        self._is_full = False
        for (connection, number), text in (known or {}).items():
            self._add((connection, number), text)

    def prepared(self, connection: int, counted: int, text: bytes | None) -> None:
        """A statement was prepared; None is a text that was not seen whole."""
        number = (counted + 1) & _NUMBER_BITS
        self._last[connection] = number
        self._add((connection, number), text)

    def executed(self, connection: int, packet: bytes | None) -> bytes:
        """The statement with its values. Raises NotDecodedError."""
        if packet is None:
            # Its types, if it told some, are not known.
            self.forget_types(connection)
            raise NotDecodedError(CUT_OFF)
        if len(packet) < HEAD_BYTES:
            raise NotDecodedError(MALFORMED)
        statement = self._found(connection, packet)
        long_data, cut_off = statement.long_data, statement.cut_off
        self._without_long_data(statement)
        if statement.text is None:
            raise NotDecodedError(CUT_OFF)
        try:
            values = values_of(packet, len(statement.places), statement.types, long_data, self._style)
        except NotDecodedError as error:
            if error.reason != TYPES_BEFORE:
                statement.types = None
            raise
        statement.types = values.types
        if cut_off:
            raise NotDecodedError(CUT_OFF)
        if self._is_lossy and (values.remembered or long_data):
            raise NotDecodedError(MAYBE_LOST)
        return filled(statement.text, statement.places, values.literals)

    def long_data(self, connection: int, packet: bytes | None) -> None:
        """A part of a long value; None is one that was not seen whole."""
        if packet is None or len(packet) < 6:
            # Of which statement it is, is not known.
            for number in self._by_connection.get(connection, ()):
                self._statements[connection, number].cut_off = True
            return
        statement = self._known(connection, packet)
        if statement is None:
            return
        place, part = int.from_bytes(packet[4:6], "little"), packet[6:]
        value = statement.long_data.setdefault(place, bytearray())
        if len(value) + len(part) > _LONG_DATA_BYTES:
            statement.cut_off = True
            return
        value += part
        self._bytes += len(part)
        self._make_room()

    def reset(self, connection: int, packet: bytes) -> None:
        """A statement was reset: its long values are gone."""
        statement = self._known(connection, packet)
        if statement is not None:
            self._without_long_data(statement)

    def closed(self, connection: int, packet: bytes) -> None:
        """A statement was closed."""
        if len(packet) >= 4:
            self._drop((connection, self._number(connection, packet)))

    def forget(self, connection: int) -> None:
        """A connection ended, or began anew."""
        for number in list(self._by_connection.get(connection, ())):
            self._drop((connection, number))
        self._last.pop(connection, None)

    def forget_types(self, connection: int) -> None:
        """Types of a connection's statements were sent in a way that is not read."""
        for number in self._by_connection.get(connection, ()):
            self._statements[connection, number].types = None

    def _found(self, connection: int, packet: bytes) -> _Statement:
        statement = self._known(connection, packet)
        if statement is None:
            raise NotDecodedError(TOO_MANY if self._is_full else NOT_SEEN)
        if self._is_lossy and packet[:4] == b"\xff\xff\xff\xff":
            raise NotDecodedError(MAYBE_LOST)
        return statement

    def _known(self, connection: int, packet: bytes) -> _Statement | None:
        key = (connection, self._number(connection, packet))
        statement = self._statements.get(key)
        if statement is not None:
            self._statements.move_to_end(key)
        return statement

    def _number(self, connection: int, packet: bytes) -> int:
        number = int.from_bytes(packet[:4], "little")
        return self._last.get(connection, 0) if number == _LAST else number

    def _add(self, key: Key, text: bytes | None) -> None:
        self._drop(key)
        statement = _Statement(text, [] if text is None else placeholders(text, self._style.escapes))
        self._statements[key] = statement
        self._by_connection.setdefault(key[0], set()).add(key[1])
        self._bytes += statement.bytes
        self._make_room()

    def _make_room(self) -> None:
        """What was used longest ago goes."""
        while self._bytes > _KEPT_BYTES and len(self._statements) > 1:
            self._is_full = True
            self._drop(next(iter(self._statements)))

    def _without_long_data(self, statement: _Statement) -> None:
        self._bytes -= sum(map(len, statement.long_data.values()))
        statement.long_data, statement.cut_off = {}, False

    def _drop(self, key: Key) -> None:
        statement = self._statements.pop(key, None)
        if statement is None:
            return
        self._bytes -= statement.bytes
        numbers = self._by_connection[key[0]]
        numbers.discard(key[1])
        if not numbers:
            del self._by_connection[key[0]]
