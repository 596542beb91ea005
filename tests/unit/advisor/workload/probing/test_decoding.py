"""Records of the kernel as statements; what was not seen whole is left out by name."""

from myisam_advisor.workload.probing.decoding import (
    BULK,
    LONG_SCHEMA,
    PREPARED,
    TOO_LONG,
    UNREADABLE,
    Decoder,
    begun_sessions,
)
from myisam_advisor.workload.probing.executions import CUT_OFF, NOT_SEEN, Executions
from myisam_advisor.workload.probing.parameters import Style
from myisam_advisor.workload.probing.program import ABOUT, BEGIN, COMMON, END, SUSPENDED
from myisam_advisor.workload.probing.ring import Record
from myisam_advisor.workload.sources.base import ADMINISTRATOR, Reading


def begin(time: int, thread: int, text: bytes, command: int = 3, length: int | None = None, schema: bytes = b"shop", failed: int = 0, counted: int = 0, session: int = 77) -> Record:
    head = COMMON.pack(time, thread, BEGIN)
    about = ABOUT.pack(session, command, len(text) if length is None else length, session + 924 if session > 77 else thread + 1000, len(schema), failed, counted)
    # Behind a text stands what the ring had there before.
    return Record(time, thread, BEGIN, head + about + schema[:64].ljust(64, b"?") + text + (b"?" * 20 if length is None else b""))


def end(time: int, thread: int, kind: int = END) -> Record:
    return Record(time, thread, kind, COMMON.pack(time, thread, kind))


def decoded(*records: Record, executions: Executions | None = None) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    reading = Reading()
    events = list(Decoder(1_000_000, executions).events(records, reading))
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
    assert decoded(begin(1000, 1, b"SELECT ?", 22), begin(2000, 1, b"", 23), begin(3000, 1, b"", 14)) == ([], {PREPARED: 1, ADMINISTRATOR: 2})


def test_lost_ends_and_begins_do_not_mix_statements_up() -> None:
    told, _ = decoded(end(500, 1), begin(1000, 1, b"SELECT 1"), begin(2000, 1, b"SELECT 2"), end(3000, 1), begin(4000, 1, b"SELECT 3"))
    assert [(event[2], event[4]) for event in told] == [(None, b"SELECT 1"), (1, b"SELECT 2"), (None, b"SELECT 3")]


def test_what_waits_without_a_thread_is_one_statement_in_whichever_thread_it_ends() -> None:
    commit = begin(1000, 1, b"COMMIT", session=80)
    parts = [commit, end(2000, 1, SUSPENDED), begin(2500, 1, b"SELECT 1", session=90), end(3500, 1), begin(4000, 2, b"COMMIT", session=80), end(9000, 2)]
    assert decoded(*parts) == ([(1014, 1_000_002, 1, b"shop", b"SELECT 1"), (1004, 1_000_001, 8, b"shop", b"COMMIT")], {})
    # It waits still; its further call was lost; it is the same again, when it has ended.
    assert [(event[2], event[4]) for event in decoded(*parts[:2])[0]] == [(None, b"COMMIT")]
    told, _ = decoded(*parts[:2], begin(4000, 2, b"SELECT 2", session=80), end(5000, 2))
    assert [(event[2], event[4]) for event in told] == [(None, b"COMMIT"), (1, b"SELECT 2")]
    told, _ = decoded(*parts, begin(10_000, 2, b"COMMIT", session=80), end(11_000, 2))
    assert [(event[2], event[4]) for event in told] == [(1, b"SELECT 1"), (8, b"COMMIT"), (1, b"COMMIT")]
    decoder = Decoder(1_000_000)
    assert list(decoder.ended(parts[:2], Reading())) == []
    assert [event.statement for event in decoder.going_on()] == [b"COMMIT"]


def test_sessions_are_told_with_their_texts() -> None:
    assert list(begun_sessions([begin(1, 1, b"SELECT 1"), end(2, 1)])) == [(77, b"SELECT 1")]


def test_an_execution_is_its_statement_with_its_values() -> None:
    packet = b"\1\0\0\0\0\1\0\0\0" + b"\0\1\xfe\0\2it"
    number = packet[:4]
    records = [begin(1, 1, b"DO ?", 22), end(2, 1), begin(3, 1, packet, 23), begin(4, 2, packet, 23), begin(5, 1, packet, 250), begin(6, 1, number + b"\0\0long", 24)]
    records += [begin(7, 1, packet[:-3], 23), begin(8, 1, number, 26), begin(9, 1, number, 25), begin(10, 1, packet, 23)]
    told, left_out = decoded(*records, executions=Executions(Style()))
    assert [event[4] for event in told] == [b"DO 'it'", b"DO 'long'"]
    assert left_out == {ADMINISTRATOR: 4, NOT_SEEN: 2, BULK: 1}
    for command in (1, 17, 31):
        told, left_out = decoded(begin(1, 1, b"DO ?", 22), begin(2, 1, b"", command), begin(3, 1, packet, 23), executions=Executions(Style()))
        assert (told, left_out) == ([], {ADMINISTRATOR: 2, NOT_SEEN: 1})
    # Too long for a record, and in a database whose name is not whole.
    _, left_out = decoded(begin(1, 1, b"DO ?", 22), begin(2, 1, packet, 23, schema=b"x" * 65), begin(3, 1, b"", 23, length=70_000), executions=Executions(Style()))
    assert left_out == {ADMINISTRATOR: 1, LONG_SCHEMA: 1, CUT_OFF: 1}
