"""What a probe noted, summed up: each statement counts once, its time where it went on, and what was lost is told."""

from collections.abc import Sequence

from myisam_advisor.workload.kinds.noted import HELD, Noted, PreparedTexts
from myisam_advisor.workload.kinds.seen import MyisamTables, SeenStatements
from myisam_advisor.workload.probing.executions import MAYBE_LOST
from myisam_advisor.workload.probing.parameters import Style
from myisam_advisor.workload.probing.program import ABOUT, BEGIN, COMMON, END
from myisam_advisor.workload.probing.ring import Record

SECOND = 10**9
POSTS = MyisamTables([("shop", "posts")])
SCAN = b"SELECT COUNT(*) FROM posts"
PREPARE, EXECUTE, LONG_DATA, PING = 22, 23, 24, 14
OURS = 1009


def begin(time: float, thread: int, text: bytes = SCAN, command: int = 3) -> Record:
    head = COMMON.pack(int(time * SECOND), thread, BEGIN)
    about = ABOUT.pack(77, command, len(text), thread + 1000, 4, 0, 0)
    return Record(int(time * SECOND), thread, BEGIN, head + about + b"shop".ljust(64, b"?") + text)


def end(time: float, thread: int) -> Record:
    return Record(int(time * SECOND), thread, END, COMMON.pack(int(time * SECOND), thread, END))


def noted(began: float = 100.0, texts: PreparedTexts | None = None) -> Noted:
    return Noted(texts, {OURS}, int(began * SECOND))


def told(one: Noted, moment: float) -> SeenStatements:
    gathered, seconds, notes = one.span(int(moment * SECOND))
    return gathered.seen("a test", seconds, POSTS, notes)


def took(seen: SeenStatements) -> tuple[int, float]:
    return sum(kind.sums.count for kind in seen.kinds), round(sum(kind.sums.seconds for kind in seen.kinds), 6)


def spans(one: Noted, *parts: tuple[Sequence[Record], float]) -> list[tuple[int, float]]:
    found = []
    for records, moment in parts:
        one.add(records, 0, 0)
        found.append(took(told(one, moment)))
    return found


def test_a_statement_over_several_spans_counts_once_and_its_time_where_it_went_on() -> None:
    one = noted()
    assert spans(one, ([begin(101, 1)], 110), ([], 120), ([end(123, 1)], 130), ([], 140)) == [(0, 9.0), (0, 10.0), (1, 3.0), (0, 0.0)]


def test_of_one_that_ended_early_in_a_span_only_that_part_is_taken() -> None:
    # Begun 8 s before the look, and ended 2 s behind it: 10 s, of which 2 belong to the second span.
    assert spans(noted(), ([begin(102, 1)], 110), ([end(112, 1)], 120)) == [(0, 8.0), (1, 2.0)]
    # What went on before it was begun to watch is not of this span either.
    assert spans(noted(), ([begin(50, 1), end(103, 1)], 110)) == [(1, 3.0)]


def test_one_that_began_or_ended_while_it_was_looked_is_in_no_span_twice() -> None:
    assert spans(noted(), ([begin(109, 1), end(110.5, 1), begin(110.25, 2)], 110), ([end(111, 2)], 120)) == [(1, 1.5), (1, 0.75)]


def test_several_portions_are_of_one_span() -> None:
    one = noted()
    one.add([begin(101, 1), end(102, 1), begin(103, 1)], 0, 0)
    one.add([end(105, 1), begin(105, OURS - 1000), end(109, OURS - 1000)], 0, 0)
    assert took(told(one, 110)) == (2, 3.0)


def test_what_was_lost_is_told_and_nobody_holds_for_ever() -> None:
    one = noted()
    one.add([begin(101, 1), begin(101, 2), end(102, 2)], 5, 3)
    seen = told(one, 110)
    assert took(seen) == (1, 1.0)
    assert seen.unknown.count == 5
    assert seen.notes == (
        HELD, "5 statements came faster than they were read: no kind has them.",
        "Of 3 statements the end came faster than it was read: 1 of those that had begun by then are told no further.",
    )  # fmt: skip
    one.add([begin(111, 1)], 5, 3)
    seen = told(one, 120)
    assert took(seen) == (0, 9.0)
    assert seen.notes == (HELD,)


def test_administrators_commands_are_no_statements_of_no_kind() -> None:
    one = noted(texts=PreparedTexts(Style()))
    one.add([begin(101, 1, b"", PING), end(102, 1), begin(103, 1, b"DO ?", PREPARE), end(104, 1), begin(105, 1, b"\7\0\0\0" + b"\0" * 6, EXECUTE), end(106, 1)], 0, 0)
    seen = told(one, 110)
    assert seen.notes == (HELD, "Of no kind: 1 statement (prepared before they were watched, with a text that is not known).")
    assert (seen.unknown.count, seen.others.count) == (1, 0)


def test_an_execution_is_of_the_text_that_was_prepared_and_no_value_is_kept() -> None:
    texts = PreparedTexts(Style())
    one = noted(texts=texts)
    records = [begin(101, 1, SCAN + b" WHERE body = ?", PREPARE), end(101, 1)]
    for _ in range(50):
        records += [begin(102, 1, b"\1\0\0\0\0\0" + b"x" * 60_000, LONG_DATA), end(102, 1)]
    one.add([*records, begin(103, 1, b"\1\0\0\0" + b"\0" * 6, EXECUTE), end(105, 1)], 0, 0)
    seen = told(one, 110)
    assert [kind.fingerprint for kind in seen.kinds] == ["select count(*) from posts where body = ?"]
    assert took(seen) == (1, 2.0)
    assert sum(statement.bytes for statement in texts._statements.values()) < 10_000


def test_where_something_was_lost_the_last_that_was_prepared_is_not_known() -> None:
    packet = b"\xff\xff\xff\xff" + b"\0" * 6
    one = noted(texts=PreparedTexts(Style()))
    one.add([begin(101, 1, SCAN, PREPARE), end(101, 1), begin(102, 1, packet, EXECUTE), end(103, 1)], 0, 0)
    assert took(told(one, 110)) == (1, 1.0)
    one.add([begin(112, 1, packet, EXECUTE), end(113, 1)], 1, 0)
    seen = told(one, 120)
    assert took(seen) == (0, 0.0)
    assert f"Of no kind: 1 statement ({MAYBE_LOST})." in seen.notes
