"""Values as clients send them: exactly what was sent, or left out by name."""

import contextlib
import struct

import pytest

from myisam_advisor.workload.probing.parameters import (
    MALFORMED,
    TYPES_BEFORE,
    NotDecodedError,
    Style,
    decimal_literal,
    real_literal,
    text_literal,
    values_of,
)

STYLE = Style()
HEAD = struct.pack("<IBI", 1, 0, 1)
WITH_COUNT = struct.pack("<IBI", 1, 8, 1)
LONG, STRING = b"\3\0", b"\xfe\0"


def told(packet: bytes, number: int, types: tuple[int, ...] | None = None, style: Style = STYLE) -> tuple[bytes, ...]:
    return values_of(packet, number, types, {}, style).literals


def test_values_with_their_types_and_without() -> None:
    packet = HEAD + b"\2\1" + LONG + LONG + STRING + struct.pack("<i", -5) + b"\2it"
    sent = values_of(packet, 3, None, {}, STYLE)
    assert (sent.literals, sent.types, sent.remembered) == ((b"-5", b"NULL", b"'it'"), (3, 3, 254), False)
    again = values_of(HEAD + b"\0\0" + struct.pack("<ii", 1, 2) + b"\0", 3, sent.types, {}, STYLE)
    assert (again.literals, again.remembered) == ((b"1", b"2", b"''"), True)


def test_a_long_value_is_in_no_packet() -> None:
    packet = HEAD + b"\0\1" + b"\xfc\0" + LONG + struct.pack("<i", 5)
    assert values_of(packet, 2, None, {0: b"a'b"}, STYLE).literals == (b"'a\\'b'", b"5")


def test_attributes_beside_the_values_are_passed_over() -> None:
    # MySQL 8.0.23 and later: the number of all, names with the types, and more values than the statement has.
    packet = WITH_COUNT + b"\2\0\1" + LONG + b"\0" + STRING + b"\4name" + struct.pack("<i", 7) + b"\5value"
    assert told(packet, 1) == (b"7",)
    assert told(WITH_COUNT + b"\1\0\1" + STRING + b"\4name" + b"\5value", 0) == ()
    # Names without the flag.
    assert told(HEAD + b"\0\1" + LONG + b"\0" + struct.pack("<i", 7), 1) == (b"7",)
    assert told(HEAD, 0) == ()


def test_times_have_their_types_where_the_server_writes_them() -> None:
    packet = HEAD + b"\0\1" + b"\x0a\0" + b"\4" + struct.pack("<HBB", 2026, 2, 3)
    assert told(packet, 1, style=Style(has_typed_times=True)) == (b"DATE'2026-02-03'",)
    assert told(packet, 1) == (b"'2026-02-03'",)


@pytest.mark.parametrize(
    ("packet", "number", "reason"),
    [
        (HEAD[:8], 0, MALFORMED), (HEAD + b"\0\0" + b"\1\0\0\0", 1, TYPES_BEFORE), (HEAD + b"\0\1" + LONG + b"\1\0\0", 1, MALFORMED), (HEAD + b"\0\1" + LONG + b"\1\0\0\0\0", 1, MALFORMED),
        (HEAD + b"\0\1" + b"\x09\0" + b"\1\0\0\0", 1, MALFORMED), (HEAD + b"\0\1" + STRING + b"\xfb", 1, MALFORMED), (HEAD + b"\0\1" + STRING + b"\xfc\xff\xff", 1, MALFORMED),
        (HEAD + b"\0\1" + b"\x0c\0" + b"\5abcde", 1, MALFORMED), (HEAD + b"\0\1" + b"\x0b\0" + b"\5abcde", 1, MALFORMED), (HEAD + b"\0\1" + b"\5\0" + struct.pack("<d", float("nan")), 1, MALFORMED),
        (HEAD + b"\0\1" + b"\xf6\0" + b"\3abc", 1, MALFORMED), (WITH_COUNT + b"\xfe" + b"\xff" * 8, 1, MALFORMED),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_left_out_by_name(packet: bytes, number: int, reason: str) -> None:
    with pytest.raises(NotDecodedError) as error:
        values_of(packet, number, None, {}, STYLE)
    assert error.value.reason == reason


def test_no_packet_does_harm() -> None:
    whole = HEAD + b"\0\1" + STRING + b"\x0c\0" + b"\xf6\0" + b"\3abc" + b"\x0b" + struct.pack("<HBBBBBI", 2026, 1, 2, 3, 4, 5, 6) + b"\0041.50"
    assert told(whole, 3) == (b"'abc'", b"'2026-01-02 03:04:05.000006'", b"1.50")
    for at in range(len(whole)):
        for value in (0, 0x7F, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF):
            for packet in (whole[:at], whole[:at] + bytes([value]) + whole[at + 1 :]):
                with contextlib.suppress(NotDecodedError):
                    told(packet, 3, (3, 3, 3))


def test_reals_are_written_as_servers_do() -> None:
    written = {-0.0: b"0", 1.0: b"1", -2.5: b"-2.5", 1e14: b"100000000000000", 1e15: b"1e15", 123456789012345678.0: b"1.2345678901234568e17", 1e-5: b"0.00001", 1.5e-15: b"0.0000000000000015", 1e-16: b"1e-16"}  # fmt: skip
    assert {value: real_literal(value) for value in written} == written


def test_decimals_have_no_exponent() -> None:
    assert [decimal_literal(text) for text in (b".5", b"0012.50", b"1e3", b"-0.0", b"+7")] == [b"0.5", b"12.50", b"1000", b"0.0", b"7"]


def test_backslashes_escape_or_are_letters() -> None:
    assert text_literal(b"a'b\\c\0", STYLE) == b"'a\\'b\\\\c\\0'"
    assert text_literal(b"a'b\\c\0", Style(escapes=False)) == b"'a''b\\c\0'"
