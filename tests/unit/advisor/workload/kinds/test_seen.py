"""Kinds of statements, held against the MyISAM tables that are there: what they locked, for how long, and never a value."""

import io
import json
from typing import Any

from rich.console import Console

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.reports.seen_statements import SCANS, is_scan, remarks, statements_document, statements_in_words
from myisam_advisor.workload.kinds.seen import (
    MAXIMUM_KINDS,
    Gathered,
    MyisamTables,
    SeenStatements,
    Sums,
    myisam_tables,
)

TABLES = MyisamTables([("forum", "Posts"), ("forum", "users")])


def seen(*statements: tuple[bytes, Sums], seconds: float = 10.0, tables: MyisamTables = TABLES) -> SeenStatements:
    gathered = Gathered()
    for statement, sums in statements:
        gathered.add(statement, b"forum", sums)
    return gathered.seen("a test", seconds, tables, ["A note."])


def told(found: SeenStatements) -> str:
    written = io.StringIO()
    Console(file=written, width=140).print(*statements_in_words(found), sep="\n")
    return written.getvalue()


def test_a_kind_is_its_statements_together_and_names_its_myisam_tables() -> None:
    found = seen(
        (b"SELECT * FROM posts WHERE id = 1", Sums(1, 0.5)),
        (b"SELECT * FROM POSTS WHERE id = 2", Sums(2, 0.25, 0.5, 3, 4000, 2)),
        (b"UPDATE posts, users SET posts.body = 'secret' WHERE posts.author = users.id", Sums(1, 4.0, 1.0)),
        (b"SELECT * FROM elsewhere", Sums(7, 3.0)),
        (b"COMMIT", Sums(1, 0.1)),
    )
    write, read = found.kinds
    assert (write.writes, write.reads, write.held_seconds) == (("forum.Posts",), ("forum.users",), 3.0)
    assert (read.writes, read.reads, read.sums.count) == ((), ("forum.Posts",), 3)
    assert (found.others.count, round(found.others.seconds, 3)) == (8, 3.1)
    assert "secret" not in told(found) + json.dumps(statements_document(found))


def test_tables_are_named_as_sql_takes_them() -> None:
    (kind,) = seen((b"UPDATE `od``d name` SET a = 1", Sums(1, 0.5)), tables=MyisamTables([("forum", "od`d name")])).kinds
    assert kind.writes == ("forum.`od``d name`",)


def test_the_one_that_held_locks_longest_is_first_and_waiting_is_no_holding() -> None:
    found = seen(
        (b"UPDATE posts SET a = 1", Sums(5, 9.0, 8.9)),
        (b"SELECT COUNT(*) FROM posts", Sums(1, 2.0, 0.0, 1, 60_000, 1)),
    )
    assert [kind.fingerprint.split()[0] for kind in found.kinds] == ["select", "update"]
    assert [is_scan(kind) for kind in found.kinds] == [True, False]
    text = told(found)
    assert SCANS.strip() in text
    assert "89 %" in text
    assert "writes forum.Posts: whoever reads or writes waits" in text


def test_what_a_source_does_not_tell_is_unknown_and_no_zero() -> None:
    found = seen((b"INSERT INTO posts VALUES (1)", Sums(4, 1.0)))
    document: Any = statements_document(found)
    (kind,) = document["kinds"]
    assert (kind["lock_wait_seconds"], kind["rows_examined"], kind["without_index"]) == (None, None, None)
    assert "inserts into forum.Posts" in told(found)
    assert "A note." in remarks(found)


def test_nothing_seen_is_said_so() -> None:
    assert "none in 10 s, reported by a test" in told(seen())


def test_kinds_beyond_the_bound_are_counted_together_and_nothing_is_said_of_their_tables() -> None:
    gathered = Gathered()
    for number in range(MAXIMUM_KINDS + 3):
        gathered.add(b"SELECT a FROM posts", b"d%d" % number, Sums(1, 0.001))
    found = gathered.seen("a test", 1.0, TABLES)
    assert (found.others.count, found.unknown.count) == (MAXIMUM_KINDS, 3)
    assert found.kinds == ()


def test_what_does_not_name_its_tables_is_not_said_to_use_none() -> None:
    found = seen((b"CALL tidy_up()", Sums(2, 1.0)), (b"EXECUTE stored", Sums(3, 1.0)), (b"SELECT 1", Sums(4, 0.5)), (b"PREPARE SELECT a FROM posts", Sums(1)))
    assert (found.unknown.count, found.unknown.seconds, found.others.count) == (5, 2.0, 5)
    text = told(found)
    assert "none known in 10 s" in text
    assert "Tables not known: 5 statements, 20 % of the time." in text
    assert "Naming no MyISAM table: 5 statements, 5 % of the time, ours among them." in text
    document: Any = statements_document(found)
    assert (document["unknown"]["count"], document["tables_unknown"]) == (5, None)


def test_where_the_tables_are_not_known_none_is_not_said() -> None:
    found = seen((b"SELECT * FROM posts", Sums(2, 1.0)), (b"SELECT * FROM elsewhere", Sums(3, 1.0)), (b"COMMIT", Sums(5, 0.5)), tables=MyisamTables([("forum", "posts")], "files are out of sight."))
    assert (len(found.kinds), found.unknown.count, found.others.count) == (1, 3, 5)
    text = told(found)
    assert "Not all MyISAM tables are known: files are out of sight." in text
    assert "none known in 10 s" in told(seen(tables=MyisamTables([], "files are out of sight")))
    document: Any = statements_document(found)
    assert document["tables_unknown"] == "files are out of sight."


def test_a_text_that_is_cut_may_name_more_than_is_seen_of_it() -> None:
    gathered = Gathered()
    gathered.add(b"SELECT * FROM posts JOIN ...", b"forum", Sums(1, 1.0), is_whole=False)
    gathered.add(b"SELECT a, b, ...", b"forum", Sums(7, 1.0), is_whole=False)
    found = gathered.seen("a test", 10.0, TABLES)
    assert [(kind.reads, kind.is_whole) for kind in found.kinds] == [(("forum.Posts",), False)]
    assert (found.unknown.count, found.others.count) == (7, 0)
    assert "its text was not seen whole, and may name more" in " ".join(told(found).split())


def test_all_tables_are_known_where_somebody_could_count_them() -> None:
    row = {"schema_name": "forum", "table_name": "posts", "data_bytes": 1}
    facts = facts_from_document({"schema": 1, "tables": [row], "totals": {"myisam_tables": 1}})
    assert myisam_tables(facts) == MyisamTables({("forum", "posts")})
    partial = facts_from_document({"schema": 1, "tables": [row]})
    found = myisam_tables(partial)
    assert (found.names, found.why_partial) == ({("forum", "posts")}, "not in the facts file")


def test_a_kind_that_is_hostile_does_nothing_to_the_terminal() -> None:
    text = told(seen((b"SELECT 1 AS `\x1b[2J` FROM posts", Sums(1, 1.0))))
    assert "\x1b[2J" not in text
