"""Records of the kernel as statements; what was not seen whole is left out by name."""

from myisam_advisor.workload.probing.decoding import (
    LONG_SCHEMA,
    PREPARED,
    TOO_LONG,
    UNREADABLE,
    Decoder,
    begun_sessions,
)
from myisam_advisor.workload.probing.program import ABOUT, BEGIN, COMMON, END
from myisam_advisor.workload.probing.ring import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading


def begin(time: int, thread: int, text: bytes, command: int = 3, length: int | None = None, schema: bytes = b"shop", failed: int = 0) -> Record:
    head = COMMON.pack(time, thread, BEGIN)
    about = ABOUT.pack(77, command, len(text) if length is None else length, thread + 1000, len(schema), failed, 0)
    # Behind a text stands what the ring had there before.
    return Record(time, thread, BEGIN, head + about + schema[:64].ljust(64, b"?") + text + (b"?" * 20 if length is None else b""))


def end(time: int, thread: int) -> Record:
    return Record(time, thread, END, COMMON.pack(time, thread, END))


def decoded(*records: Record) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    reading = Reading()
    events = list(Decoder(1_000_000).events(records, reading))
    return [tuple(event[:5]) for event in events], dict(reading.left_out)


def test_threads_are_told_apart() -> None:
    told, left_out = decoded(begin(1000, 1, b"SELECT 1"), begin(2000, 2, b"SELECT\0002", schema=b""), end(5000, 1), end(9000, 2))
    assert told == [(1001, 1_000_001, 4, b"shop", b"SELECT 1"), (1002, 1_000_002, 7, None, b"SELECT\0002")]
    assert left_out == {}


def test_what_was_not_seen_whole_is_left_out_by_name() -> None:
    assert decoded(begin(1000, 1, b"", length=65_537), end(9000, 1)) == ([], {TOO_LONG: 1})
    assert decoded(begin(1000, 1, b"SELECT 1", failed=-14), end(9000, 1)) == ([], {UNREADABLE: 1})
    assert decoded(begin(1000, 1, b"SELECT", length=7), end(9000, 1)) == ([], {UNREADABLE: 1})
    assert decoded(begin(1000, 1, b"SELECT 1", schema=b"x" * 65), end(9000, 1)) == ([], {LONG_SCHEMA: 1})
    assert decoded(begin(1000, 1, b"SELECT ?", 22), begin(2000, 1, b"", 23), begin(3000, 1, b"", 14)) == ([], {PREPARED: 2, ADMINISTRATOR: 1})


def test_lost_ends_and_begins_do_not_mix_statements_up() -> None:
    told, _ = decoded(end(500, 1), begin(1000, 1, b"SELECT 1"), begin(2000, 1, b"SELECT 2"), end(3000, 1), begin(4000, 1, b"SELECT 3"))
    assert [(event[2], event[4]) for event in told] == [(None, b"SELECT 1"), (1, b"SELECT 2"), (None, b"SELECT 3")]


def test_sessions_are_told_with_their_texts() -> None:
    assert list(begun_sessions([begin(1, 1, b"SELECT 1"), end(2, 1)])) == [(77, b"SELECT 1")]
