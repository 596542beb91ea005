"""The values of a prepared statement as a client sends them, and as the general log writes them into its text.

Sources: MySQL's "Client/Server Protocol", COM_STMT_EXECUTE and "Binary Protocol Value"; sql/sql_prepare.cc; sql/item.cc
(Item_param::query_val_str); strings/dtoa.c (my_gcvt).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from decimal import Decimal

from myisam_exporter.declaring.lean_dataclasses import dataclass

# What stands before the values: the statement's number, flags, how often.
HEAD_BYTES = 9
_COUNT_IS_SENT = 8
_UNSIGNED = 0x80
_NULL = 6
_INTEGERS = {1: "<b", 2: "<h", 3: "<i", 8: "<q", 244: "<b"}
_REALS = {4: "<f", 5: "<d"}
_DECIMALS = frozenset((0, 246))
_TIMESTAMP, _DATE, _TIME, _DATETIME = 7, 10, 11, 12
_STRINGS = frozenset((15, 16, 242, 245, 247, 248, 249, 250, 251, 252, 253, 254, 255))
_LENGTHS = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_IS_DECIMAL = re.compile(rb"[+-]?(?:\d{1,200}(?:\.\d{0,200})?|\.\d{1,200})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DATE_BYTES, _DATETIME_BYTES, _TIME_BYTES = 4, 7, 8
_LARGEST_TIME = (838, 59, 59)
# From where the server writes an exponent: DBL_DIG.
_LARGEST_POINT = 15
_ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}
_ESCAPED = re.compile(rb"[\x00\n\r\x1a\"'\\]")


class NotDecodedError(Exception):
    """Values that cannot be told: `reason` is what they are left out as."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


MALFORMED = "prepared: its values are not in the form that was expected"
TYPES_BEFORE = "prepared: the types of its values were told before the recording"


@dataclass(frozen=True, slots=True)
class Style:
    """How a server writes values.

    Attributes:
        has_typed_times: a time is written with its type before it: MariaDB.
        escapes: a backslash in a string escapes; not so with NO_BACKSLASH_ESCAPES.
    """

    has_typed_times: bool = False
    escapes: bool = True


@dataclass(frozen=True, slots=True)
class Values:
    """What a client sent.

    Attributes:
        literals: of the statement's parameters, in their order.
        types: of all that was sent, to be remembered: a client need not send them again.
        remembered: the types were not sent with them.
    """

    literals: tuple[bytes, ...]
    types: tuple[int, ...]
    remembered: bool


def values_of(
    packet: bytes, number: int, types: tuple[int, ...] | None, long_data: Mapping[int, bytes | bytearray], style: Style
) -> Values:
    """The values of an execution. Raises NotDecodedError.

    Args:
        packet: all of it behind the command.
        number: how many parameters the statement has.
        types: those that were sent last.
        long_data: what was sent before, by the place of its parameter.
        style: of the server.
    """
    if len(packet) < HEAD_BYTES:
        raise NotDecodedError(MALFORMED)
    if not number and not packet[4] & _COUNT_IS_SENT:
        return Values((), types or (), False)
    # Whether a client sends attributes beside the values is known of its login alone; those that do, say so by a flag.
    first: NotDecodedError | None = None
    for with_names in (True, False) if packet[4] & _COUNT_IS_SENT else (False, True):
        try:
            return _Packet(packet, style).values(number, types, long_data, with_names)
        except NotDecodedError as error:
            first = first or error
    assert first is not None
    raise first


class _Packet:
    """Reads what a client sent, from its begin to its end."""

    def __init__(self, packet: bytes, style: Style) -> None:
        self._packet, self._style, self._at = packet, style, HEAD_BYTES

    def values(
        self, number: int, types: tuple[int, ...] | None, long_data: Mapping[int, bytes | bytearray], with_names: bool
    ) -> Values:
        """All of it; what is left over is a sign that it was read wrongly."""
        count = self._length() if with_names and self._packet[4] & _COUNT_IS_SENT else number
        if not number <= count <= len(self._packet) * 8:
            raise NotDecodedError(MALFORMED)
        empty = self._take((count + 7) // 8)
        are_sent = self._take(1) == b"\1" if count else False
        if are_sent:
            types = self._types(count, with_names)
        elif count and (types is None or len(types) < count):
            raise NotDecodedError(TYPES_BEFORE)
        literals = []
        for place in range(count):
            assert types is not None
            is_empty = empty[place // 8] >> place % 8 & 1
            if place in long_data:
                literals.append(text_literal(bytes(long_data[place]), self._style))
            else:
                literals.append(b"NULL" if is_empty else self._value(types[place]))
        if self._at != len(self._packet):
            raise NotDecodedError(MALFORMED)
        return Values(tuple(literals[:number]), types or (), bool(count) and not are_sent)

    def _types(self, count: int, with_names: bool) -> tuple[int, ...]:
        types = []
        for _ in range(count):
            types.append(int.from_bytes(self._take(2), "little"))
            if with_names:
                self._take(self._length())
        return tuple(types)

    def _value(self, sent: int) -> bytes:
        kind, is_unsigned = sent & 0xFF, bool(sent >> 8 & _UNSIGNED)
        if kind in _INTEGERS:
            form = _INTEGERS[kind]
            return b"%d" % self._number(form.upper() if is_unsigned else form)
        if kind in _REALS:
            return real_literal(self._number(_REALS[kind]))
        if kind in (_DATE, _DATETIME, _TIMESTAMP):
            return self._moment(kind)
        return self._time() if kind == _TIME else self._text(kind)

    def _text(self, kind: int) -> bytes:
        if kind == _NULL:
            return b"NULL"
        if kind not in _STRINGS and kind not in _DECIMALS:
            raise NotDecodedError(MALFORMED)
        text = self._take(self._length())
        return decimal_literal(text) if kind in _DECIMALS else text_literal(text, self._style)

    def _moment(self, kind: int) -> bytes:
        parts = self._take(self._take(1)[0])
        if len(parts) not in (0, _DATE_BYTES, _DATETIME_BYTES, _DATETIME_BYTES + 4):
            raise NotDecodedError(MALFORMED)
        year, month, day, hour, minute, second, micro = struct.unpack("<HBBBBBI", parts.ljust(11, b"\0"))
        told = b"%04d-%02d-%02d" % (year, month, day)
        if kind == _DATE:
            return self._typed(b"DATE", told)
        return self._typed(b"TIMESTAMP", b"%s %s" % (told, _clock(hour, minute, second, micro)))

    def _time(self) -> bytes:
        parts = self._take(self._take(1)[0])
        if len(parts) not in (0, _TIME_BYTES, _TIME_BYTES + 4):
            raise NotDecodedError(MALFORMED)
        is_negative, days, hour, minute, second, micro = struct.unpack("<BIBBBI", parts.ljust(12, b"\0"))
        hour += 24 * days
        if hour > _LARGEST_TIME[0]:
            hour, minute, second = _LARGEST_TIME
        return self._typed(b"TIME", (b"-" if is_negative else b"") + _clock(hour, minute, second, micro))

    def _typed(self, kind: bytes, told: bytes) -> bytes:
        return (kind if self._style.has_typed_times else b"") + b"'" + told + b"'"

    def _number(self, form: str) -> float:
        value: float = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return value

    def _length(self) -> int:
        first = self._take(1)[0]
        if first < 0xFB:
            return first
        if first not in _LENGTHS:
            raise NotDecodedError(MALFORMED)
        return int.from_bytes(self._take(_LENGTHS[first]), "little")

    def _take(self, number: int) -> bytes:
        taken = self._packet[self._at : self._at + number]
        if len(taken) < number:
            raise NotDecodedError(MALFORMED)
        self._at += number
        return taken


def _clock(hour: int, minute: int, second: int, micro: int) -> bytes:
    return b"%02d:%02d:%02d" % (hour, minute, second) + (b".%06d" % micro if micro else b"")


def text_literal(text: bytes, style: Style) -> bytes:
    """Between quotes."""
    if not style.escapes:
        return b"'" + text.replace(b"'", b"''") + b"'"
    return b"'" + _ESCAPED.sub(lambda found: _ESCAPES[found[0][0]], text) + b"'"


def decimal_literal(text: bytes) -> bytes:
    """As the server has it: without an exponent, with one digit before the point at least."""
    if _IS_DECIMAL.fullmatch(text) is None:
        raise NotDecodedError(MALFORMED)
    value = Decimal(text.decode("ascii"))
    return format(value.copy_abs() if value.is_zero() else value, "f").encode("ascii")


def real_literal(value: float) -> bytes:
    """The fewest digits that tell it, with an exponent from 15 digits before the point, or zeros behind it, on."""
    if not math.isfinite(value):
        raise NotDecodedError(MALFORMED)
    sign, all_digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, all_digits)).lstrip("0")
    point = len(digits) + exponent
    digits = digits.rstrip("0") or "0"
    if value == 0:
        told, sign = "0", 0
    elif not -_LARGEST_POINT < point <= _LARGEST_POINT:
        told = f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{point - 1}"
    elif point <= 0:
        told = f"0.{'0' * -point}{digits}"
    else:
        told = f"{digits[:point].ljust(point, '0')}{'.' if digits[point:] else ''}{digits[point:]}"
    return f"{'-' if sign else ''}{told}".encode("ascii")
