"""What a statement writes beyond what its first words tell: it is found out, or the statement is left out by name."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from myisam_advisor.trial.statements import prepared_texts
from myisam_advisor.trial.statements.schedule import DEFINES, UNTOLD, Schedule, write_schedule
from myisam_advisor.trial.statements.survey import Judging, TableUse, survey
from myisam_advisor.workload.events import Event
from myisam_exporter.facts.columns import TableName
from tests.support.workloads import event

LOG = ("shop", "log")


def missing(table: TableName) -> str:
    return "" if table in (LOG, ("shop", "words")) else f"{table[1]} is missing"


def scheduled(folder: Path, *statements: bytes | Event) -> Schedule:
    events: Sequence[Event] = [event(1, at, one) if isinstance(one, bytes) else one for at, one in enumerate(statements)]
    judging = Judging()
    return write_schedule(events, survey(events, judging), judging, folder / "s", frozenset({"shop"}), missing)


@pytest.mark.parametrize(
    "statement",
    [
        b"SET STATEMENT max_statement_time=1 FOR INSERT INTO log VALUES (1)", b"SET STATEMENT max_statement_time=1 FOR DELETE FROM log", b'INSERT INTO "log" VALUES (1)',
        b'DELETE FROM "shop"."log"', b"EXECUTE IMMEDIATE 'INSERT INTO log VALUES (\\'a\\', \"b\")'", b'EXECUTE IMMEDIATE "UPDATE log SET a = ?" USING @x',
    ],
)  # fmt: skip
def test_a_write_in_other_words_counts_as_one(statement: bytes, tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, statement)
    assert (schedule.total, schedule.written) == (1, frozenset((LOG,)))
    assert survey([event(1, 0, statement)], Judging()).tables == {LOG: TableUse(0, 1)}


@pytest.mark.parametrize(
    "statement",
    [
        b"BEGIN NOT ATOMIC INSERT INTO log VALUES (1); END", b"EXECUTE IMMEDIATE CONCAT('INSERT INTO ', @t)", b"EXECUTE s", b'INSERT IGNORE "log" VALUES (1)',
        b"IF 1 THEN DELETE FROM log; END IF",
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_left_out_by_name(statement: bytes, tmp_path: Path) -> None:
    assert scheduled(tmp_path, b"BEGIN", statement).left_out == {UNTOLD: 1}


@pytest.mark.parametrize("again", [b"PREPARE/**/s FROM @text", "PREPARE `\u015b` FROM 'DELETE FROM log'".encode(), b"PREPARE \"s\" FROM 'DELETE FROM log'", b"/* */ PREPARE s FROM @text"])
def test_a_name_that_may_be_prepared_anew_tells_nothing_any_more(again: bytes, tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, b"PREPARE s FROM 'SELECT * FROM words'", b"EXECUTE s", again, b"EXECUTE s")
    assert schedule.left_out == {UNTOLD: 1}


@pytest.mark.parametrize("statement", [b"SET STATEMENT max_statement_time=1 FOR DROP TABLE log", b"EXECUTE IMMEDIATE 'DROP TABLE log'"])
def test_definitions_in_other_words_are_left_out_too(statement: bytes, tmp_path: Path) -> None:
    assert scheduled(tmp_path, b"BEGIN", statement).left_out == {DEFINES: 1}


def test_execute_does_what_was_prepared_on_its_connection(tmp_path: Path) -> None:
    schedule = scheduled(
        tmp_path, b"PREPARE s FROM 'INSERT INTO log VALUES (?)'", b"PREPARE `S2` FROM 'DROP TABLE log'", b"PREPARE s3 FROM 'SELECT * FROM kept'", b"PREPARE s4 FROM @text",
        b"EXECUTE s USING @a", b"EXECUTE s2", b"EXECUTE s3", b"EXECUTE s4", b"DEALLOCATE PREPARE s", event(2, 99, b"EXECUTE s"),
    )  # fmt: skip
    assert schedule.left_out == {DEFINES: 1, UNTOLD: 2, "kept is missing": 2}
    assert (schedule.written, schedule.writes) == (frozenset((LOG,)), [1])


def test_what_was_prepared_before_by_the_name_is_not_taken_for_what_is_there_now(tmp_path: Path) -> None:
    again = b"SET STATEMENT max_statement_time=1 FOR PREPARE s FROM 'INSERT INTO log VALUES (1)'"
    first = b"PREPARE s FROM 'SELECT 1 FROM log'"
    assert scheduled(tmp_path, first, again, b"EXECUTE s", first, b"EXECUTE s", again, b"EXECUTE s").left_out == {UNTOLD: 2}


def test_comments_stand_before_what_is_prepared(tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, b"/* c */ PREPARE s FROM 'INSERT INTO log VALUES (1)'", b"# c\nEXECUTE s", b"/* c */ DEALLOCATE PREPARE s", b"EXECUTE s")
    assert (schedule.left_out, schedule.writes) == ({UNTOLD: 1}, [1])


@pytest.mark.parametrize("name", ["MAXIMUM_NAMES", "MAXIMUM_KEPT_BYTES"])
def test_where_there_is_no_room_the_oldest_is_forgotten(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_texts, name, 1)
    prepares = [b"PREPARE s FROM 'INSERT INTO log VALUES (1)'", b"PREPARE other FROM 'INSERT INTO log VALUES (1)'"]
    schedule = scheduled(tmp_path, *prepares, b"EXECUTE s", b"EXECUTE other")
    assert (schedule.left_out, schedule.writes) == ({UNTOLD: 1}, [1])


def test_names_are_bounded_and_one_that_is_prepared_again_is_no_further_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_texts, "MAXIMUM_NAMES", 1)
    often = [b"PREPARE s FROM 'INSERT INTO log VALUES (1)'", b"EXECUTE s"] * 3
    schedule = scheduled(tmp_path, *often, b"PREPARE other FROM 'INSERT INTO log VALUES (1)'", b"EXECUTE other", *often)
    assert (schedule.left_out, schedule.writes) == ({}, [7])


def test_what_makes_a_temporary_table_may_be_prepared(tmp_path: Path) -> None:
    schedule = scheduled(
        tmp_path, b"PREPARE s FROM 'CREATE TEMPORARY TABLE own SELECT * FROM log'", b"EXECUTE s", b"INSERT INTO own VALUES (1)", b"DROP TEMPORARY TABLE own",
    )  # fmt: skip
    assert (schedule.total, schedule.left_out, schedule.written) == (4, {}, frozenset())


def test_statements_that_differ_in_quoted_names_are_not_taken_for_alike(tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, b'INSERT INTO "log" VALUES (1)', b'INSERT INTO "words" VALUES (1)', b'INSERT INTO "kept" VALUES (1)')
    assert schedule.written == {LOG, ("shop", "words")}
    assert schedule.left_out == {"kept is missing": 1}


def test_a_text_is_refused_as_what_it_is_and_so_is_all_that_uses_it(tmp_path: Path) -> None:
    """`""` between other quotes was read as one: from there on the text was a string."""
    text = b"PREPARE s FROM 'SET @a=\"\", GLOBAL sort_buffer_size=262144'"
    schedule = scheduled(tmp_path, text, b"EXECUTE s", b"DEALLOCATE PREPARE s", b"PREPARE s FROM 'SELECT * FROM log'", b"EXECUTE s", b"DEALLOCATE PREPARE s")
    assert (schedule.left_out, schedule.total) == ({"SET GLOBAL": 3}, 3)


def test_a_text_behind_other_words_is_not_remembered_as_its_kind(tmp_path: Path) -> None:
    words = b"SET STATEMENT max_statement_time=1 FOR EXECUTE IMMEDIATE "
    assert scheduled(tmp_path, b"BEGIN", words + b"'SET GLOBAL a=1'", words + b"'SELECT 1'").left_out == {"SET GLOBAL": 1, UNTOLD: 1}
