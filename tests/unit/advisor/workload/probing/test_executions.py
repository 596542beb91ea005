"""Which statement an execution is of: by the session's own count, never guessed."""

import struct

import pytest

from myisam_advisor.workload.probing.executions import CUT_OFF, MAYBE_LOST, NOT_SEEN, TOO_MANY, Executions
from myisam_advisor.workload.probing.parameters import TYPES_BEFORE, NotDecodedError, Style

LAST = 0xFFFFFFFF


def sent(number: int, value: int | None, types: bool = True) -> bytes:
    packet = struct.pack("<IBI", number, 0, 1)
    return packet if value is None else packet + bytes([0, types]) + (b"\3\0" if types else b"") + struct.pack("<i", value)


def long_part(number: int, part: bytes, place: int = 0) -> bytes:
    return struct.pack("<IH", number, place) + part


def refused(executions: Executions, connection: int, packet: bytes | None) -> str:
    with pytest.raises(NotDecodedError) as error:
        executions.executed(connection, packet)
    return error.value.reason


def test_the_number_is_the_next_of_its_connection() -> None:
    executions = Executions(Style())
    executions.prepared(7, 0, b"DO ?")
    executions.prepared(8, 4, b"DO 1, ?")
    assert executions.executed(7, sent(1, 5)) == b"DO 5"
    assert executions.executed(8, sent(5, 6)) == b"DO 1, 6"
    assert executions.executed(8, sent(5, 7, types=False)) == b"DO 1, 7"
    assert refused(executions, 7, sent(5, 5)) == NOT_SEEN
    assert refused(executions, 9, sent(1, 5)) == NOT_SEEN
    executions.closed(7, struct.pack("<I", 1))
    assert refused(executions, 7, sent(1, 5)) == NOT_SEEN
    executions.forget(8)
    assert refused(executions, 8, sent(5, 6)) == NOT_SEEN


def test_the_last_one_has_no_number() -> None:
    executions = Executions(Style())
    assert refused(executions, 7, sent(LAST, 5)) == NOT_SEEN
    executions.prepared(7, 0, b"DO ?")
    executions.prepared(7, 1, b"DO 2, ?")
    assert executions.executed(7, sent(LAST, 5)) == b"DO 2, 5"


def test_what_was_prepared_before_is_known_without_its_types() -> None:
    executions = Executions(Style(), {(7, 3): b"DO ?", (7, 4): b"DO 4"})
    assert refused(executions, 7, sent(3, 5, types=False)) == TYPES_BEFORE
    assert executions.executed(7, sent(3, 5)) == b"DO 5"
    assert executions.executed(7, sent(3, 6, types=False)) == b"DO 6"
    assert executions.executed(7, sent(4, None)) == b"DO 4"
    executions.forget_types(7)
    assert refused(executions, 7, sent(3, 5, types=False)) == TYPES_BEFORE


def test_long_values_are_of_one_execution() -> None:
    executions = Executions(Style())
    executions.prepared(7, 0, b"DO ?")
    executions.long_data(7, long_part(1, b"one "))
    executions.long_data(7, long_part(1, b"two"))
    blob = struct.pack("<IBI", 1, 0, 1) + b"\0\1\xfc\0"
    assert executions.executed(7, blob) == b"DO 'one two'"
    executions.long_data(7, long_part(1, b"gone"))
    executions.reset(7, struct.pack("<I", 1))
    assert executions.executed(7, blob + b"\4here") == b"DO 'here'"
    executions.long_data(7, None)
    assert refused(executions, 7, blob + b"\4here") == CUT_OFF
    assert executions.executed(7, blob + b"\4here") == b"DO 'here'"
    executions.long_data(7, long_part(1, bytes(17 << 20)))
    assert refused(executions, 7, blob) == CUT_OFF
    executions.long_data(9, long_part(1, b"of none"))


def test_what_was_not_seen_whole_is_left_out_by_name() -> None:
    executions = Executions(Style())
    executions.prepared(7, 0, None)
    assert refused(executions, 7, sent(1, 5)) == CUT_OFF
    executions.prepared(7, 1, b"DO ?")
    assert executions.executed(7, sent(2, 5)) == b"DO 5"
    assert refused(executions, 7, None) == CUT_OFF
    # That one may have told others.
    assert refused(executions, 7, sent(2, 5, types=False)) == TYPES_BEFORE


def test_where_records_were_lost_nothing_is_remembered() -> None:
    executions = Executions(Style(), is_lossy=True)
    executions.prepared(7, 0, b"DO ?")
    assert executions.executed(7, sent(1, 5)) == b"DO 5"
    assert refused(executions, 7, sent(1, 5, types=False)) == MAYBE_LOST
    assert refused(executions, 7, sent(LAST, 5)) == MAYBE_LOST


def test_what_was_used_longest_ago_goes_first() -> None:
    executions = Executions(Style())
    text = b"DO ? /*" + b"x" * 60_000 + b"*/"
    for number in range(500):
        executions.prepared(7, number, text)
        assert executions.executed(7, sent(1, 1)).startswith(b"DO 1")
    assert refused(executions, 7, sent(2, 1)) == TOO_MANY
    assert executions.executed(7, sent(500, 2)).startswith(b"DO 2")
