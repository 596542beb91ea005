"""Records of the kernel as statements: parts are put together, what was not seen whole is left out by name."""

import struct

from myisam_advisor.workload.probing.decoding import LONG_SCHEMA, PART_LOST, PREPARED, Decoder, begun_sessions
from myisam_advisor.workload.probing.definitions import Defined
from myisam_advisor.workload.probing.rings import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading

BEGIN = Defined("begin", 300, {"session": (16, 8), "length": (24, 4), "command": (28, 4), "connection": (32, 4), "schema_bytes": (36, 4), "schema": (40, 64), "text0": (104, 512), "text1": (616, 512)})
FURTHER = Defined("further0", 301, {"text2": (16, 512), "text3": (528, 512)})
END = Defined("end", 302, {})
LONG = bytes(range(256)) * 8


def begin(time: int, thread: int, text: bytes, command: int = 3, length: int | None = None, schema: bytes = b"shop") -> Record:
    about = struct.pack("<H6xQQIIII", BEGIN.number, 0, 77, len(text) if length is None else length, command, thread + 1000, len(schema))
    return Record(time, thread, about + schema[:64].ljust(64, b"?") + text[:1024].ljust(1024, b"?"))


def further(time: int, thread: int, text: bytes) -> Record:
    return Record(time, thread, struct.pack("<H14x", FURTHER.number) + text[1024:2048].ljust(1024, b"?"))


def end(time: int, thread: int) -> Record:
    return Record(time, thread, struct.pack("<H30x", END.number))


def decoded(*rings: list[Record]) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    reading = Reading()
    events = list(Decoder([BEGIN, FURTHER, END], 2048, 1_000_000).events(rings, reading))
    return [tuple(event[:5]) for event in events], dict(reading.left_out)


def test_threads_that_change_processors_keep_their_statements() -> None:
    told, left_out = decoded([begin(1000, 1, b"SELECT 1"), end(9000, 2)], [begin(2000, 2, b"SELECT 2", schema=b""), end(5000, 1)])
    assert told == [(1001, 1_000_001, 4, b"shop", b"SELECT 1"), (1002, 1_000_002, 7, None, b"SELECT 2")]
    assert left_out == {}


def test_a_long_text_is_put_together_and_timed_from_its_last_part() -> None:
    told, _ = decoded([begin(1000, 1, LONG), end(9000, 1)], [further(3000, 1, LONG)])
    assert told == [(1001, 1_000_001, 6, b"shop", LONG)]
    assert decoded([begin(1000, 1, LONG[:1025]), further(3000, 1, LONG), end(4000, 1)])[0][0][4] == LONG[:1025]


def test_what_was_not_seen_whole_is_left_out_by_name() -> None:
    assert decoded([begin(1000, 1, LONG), end(9000, 1)]) == ([], {PART_LOST: 1})
    assert decoded([begin(1000, 1, LONG, length=2049), further(2000, 1, LONG), end(9000, 1)]) == ([], {"longer than 2048 bytes": 1})
    assert decoded([begin(1000, 1, b"SELECT 1", schema=b"x" * 65), end(9000, 1)]) == ([], {LONG_SCHEMA: 1})
    assert decoded([begin(1000, 1, b"SELECT ?", 22), begin(2000, 1, b"\1\0\0\0", 23), begin(3000, 1, b"", 14)]) == ([], {PREPARED: 2, ADMINISTRATOR: 1})


def test_lost_ends_and_begins_do_not_mix_statements_up() -> None:
    told, _ = decoded([end(500, 1), begin(1000, 1, b"SELECT 1"), begin(2000, 1, b"SELECT 2"), further(2500, 1, LONG), end(3000, 1), begin(4000, 1, b"SELECT 3")])
    assert [(event[2], event[4]) for event in told] == [(None, b"SELECT 1"), (0, b"SELECT 2"), (None, b"SELECT 3")]


def test_sessions_are_told_with_their_texts() -> None:
    assert [(address, text[:8]) for address, text in begun_sessions(BEGIN, [begin(1, 1, b"SELECT 1"), end(2, 1)])] == [(77, b"SELECT 1")]
