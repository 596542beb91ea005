"""What is said of kinds of statements: which locks they take, what is not told, and where there is more."""

import pytest

from myisam_advisor.reports.seen_statements import (
    HEADINGS,
    SHOWN_CHARACTERS,
    SHOWN_KINDS,
    TOGETHER,
    heading,
    headings,
    locks_of,
    remarks,
    shortened,
    shown_kinds,
)
from myisam_advisor.workload.kinds.seen import SeenKind, SeenStatements, Sums, not_told


def kind(fingerprint: str, writes: tuple[str, ...] = ("forum.posts",), reads: tuple[str, ...] = (), number: int = 0) -> SeenKind:
    return SeenKind(f"{number:016x}", fingerprint, Sums(1, 1.0), reads, writes, is_whole=True)


@pytest.mark.parametrize(
    "fingerprint",
    [
        "insert into posts values(?+) on duplicate key update a = ?", "insert low_priority into posts values(?+)", "insert high_priority into posts values(?+)",
        "replace into posts values(?+)", "update posts set a = ?",
    ],
)  # fmt: skip
def test_what_may_change_rows_locks_out_who_reads(fingerprint: str) -> None:
    assert locks_of(kind(fingerprint)) == "writes forum.posts: whoever reads or writes waits"


def test_an_insert_lets_others_read_where_there_are_no_holes() -> None:
    said = "inserts into forum.posts: others who write wait, and who reads where the table has holes"
    assert locks_of(kind("insert into posts values(?+)")) == said
    assert locks_of(kind("insert ignore into posts select * from users", reads=("forum.users",))) == f"{said}; reads forum.users: whoever writes waits, but for inserts at the end"


@pytest.mark.parametrize("begin", ["lock tables", "lock table"])
def test_locks_that_last_are_said_to_be_in_no_time(begin: str) -> None:
    said = locks_of(kind(f"{begin} posts write, users read", reads=("forum.users",)))
    assert said == "locks forum.posts, forum.users until UNLOCK TABLES: its own time is the wait for the lock; how long it held the lock is not known"


def test_further_kinds_are_where_the_reader_can_look() -> None:
    seen = SeenStatements("a test", 10.0, tuple(kind("delete from posts", number=number) for number in range(SHOWN_KINDS + 2)))
    assert remarks(seen)[0] == "2 further kinds held locks for 20 % together."
    assert remarks(seen, " (there)")[0] == "2 further kinds held locks for 20 % together (there)."


def test_what_began_just_now_or_could_not_be_told_is_not_none() -> None:
    assert heading(SeenStatements("a test", 0.0)) == "Statements on MyISAM tables: watched since just now, reported by a test"
    seen = not_told("lost the server.")
    assert heading(seen) == "Statements on MyISAM tables: not known"
    assert remarks(seen) == ["The statements could not be read: lost the server."]


def test_what_a_share_is_of_is_said_where_there_is_one() -> None:
    assert any(line.startswith("Shares are of the time watched") for line in remarks(SeenStatements("x", 10.0, (kind("select 1 from t"),))))
    assert not any(line.startswith("Shares") for line in remarks(SeenStatements("x", 10.0)))


def test_lock_tables_is_shown_however_short_its_own_time_is() -> None:
    kinds = (*(kind("delete from posts", number=number) for number in range(SHOWN_KINDS + 2)), kind("lock tables posts write", number=99))
    seen = SeenStatements("a test", 10.0, kinds)
    assert [one.fingerprint for one in shown_kinds(seen)][-1] == "lock tables posts write"
    assert len(shown_kinds(seen)) == SHOWN_KINDS + 1
    assert remarks(seen)[0] == "2 further kinds held locks for 20 % together."


def test_time_is_not_called_held_where_nobody_tells_how_much_of_it_was_waiting() -> None:
    assert headings(SeenStatements("a probe", 10.0, (kind("delete from posts"),)))[0] == TOGETHER
    told = SeenKind("1", "delete from posts", Sums(1, 1.0, 0.5), (), ("forum.posts",), is_whole=True)
    assert headings(SeenStatements("digests", 10.0, (told, kind("delete from posts")))) == HEADINGS


def test_of_a_statement_with_hundreds_of_columns_its_begin_and_its_end_are_shown() -> None:
    long = f"select {', '.join(f't.column_{number}' for number in range(200))} from posts t where id = ?"
    assert shortened(long).startswith("select t.column_0, ")
    assert shortened(long).endswith(" from posts t where id = ?")
    assert len(shortened(long)) <= SHOWN_CHARACTERS + 3
    assert shortened("select 1 from posts") == "select 1 from posts"
