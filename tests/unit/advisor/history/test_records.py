"""What an entry of a history may hold, what its checksum tells apart, and which errors tell of damage."""

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.history.records import (
    MAXIMUM_TEXT_CHARACTERS,
    PASSING,
    Cell,
    Records,
    Table,
    checksum_of,
    is_damage,
)
from myisam_exporter.outside.numbers import LATEST_MOMENT

KINDS = Table("kinds", {"taken_at": "moment", "much": "number?", "which": "id", "words": "text?", "packed": "blob?"}, ", PRIMARY KEY (which)")
SOUND = (5.0, 2.5, 7, "words", b"bytes")


def with_value(place: int, value: Any) -> tuple[Any, ...]:
    return (*SOUND[:place], value, *SOUND[place + 1 :])


@pytest.mark.parametrize(
    ("place", "value", "is_sound"),
    [
        (0, 0, True), (0, LATEST_MOMENT, True), (0, -0.001, False), (0, LATEST_MOMENT + 1, False), (0, math.nan, False), (0, "5", False), (0, None, False),
        (1, -1e300, True), (1, None, True), (1, math.inf, False), (1, b"5", False), (2, -3, True), (2, 7.0, False), (2, None, False),
        (3, "", True), (3, None, True), (3, "x" * MAXIMUM_TEXT_CHARACTERS, True), (3, "x" * (MAXIMUM_TEXT_CHARACTERS + 1), False), (3, b"words", False),
        (4, b"", True), (4, None, True), (4, "bytes", False),
    ],
    ids=lambda value: repr(value)[:20],
)  # fmt: skip
def test_each_value_has_the_form_of_its_column(place: int, value: Any, is_sound: bool) -> None:
    row = with_value(place, value)
    assert KINDS.is_sound(row, None) == is_sound
    assert KINDS.is_sound(row, checksum_of("kinds", row)) == is_sound


def test_a_checksum_is_of_its_table_and_of_each_value_with_its_type() -> None:
    assert not KINDS.is_sound(SOUND, checksum_of("kinds", SOUND) + 1)
    rows: list[tuple[Cell, ...]] = [(1,), ("1",), (b"1",), (None,), ("",), ("ab", "c"), ("a", "bc"), ("abc",), (b"n",), (2, 1), (1, 2)]
    assert len({checksum_of(table, row) for table in ("kinds", "sorts") for row in rows}) == 2 * len(rows)
    assert checksum_of("kinds", (1,)) == checksum_of("kinds", (1.0,)), "SQLite gives back a whole number as either"


@pytest.mark.parametrize("word", PASSING)
def test_what_passes_is_no_damage_of_the_file(word: str) -> None:
    assert not is_damage(sqlite3.OperationalError(f"Database is {word.upper()} now"))
    assert is_damage(sqlite3.DatabaseError(f"database is {word}"))


def test_what_tells_of_the_content_is_damage() -> None:
    assert is_damage(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "locked"))
    assert is_damage(sqlite3.OperationalError("no such column: a"))
    assert is_damage(sqlite3.DatabaseError("database disk image is malformed"))
    assert not is_damage(sqlite3.InterfaceError("no"))
    assert not is_damage(ValueError("no"))


@pytest.fixture
def records() -> Any:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(KINDS.definition)
        yield Records(database)


def test_entries_come_back_as_they_went_in(records: Records) -> None:
    rows = [with_value(2, 1), (6.0, None, 2, None, None), (4.0, -0.5, 3, "ä\n", b"\0\xff")]
    records.put(KINDS, rows)
    assert list(records.rows(KINDS)) == rows
    assert list(records.rows(KINDS, order="taken_at")) == [rows[2], rows[0], rows[1]]
    assert list(records.rows(KINDS, "taken_at > ?", (4.5,))) == rows[:2]
    assert (records.damaged, records.torn) == (set(), False)
    records.put(KINDS, [(9.0, None, 2, None, None)])
    assert sorted(row[0] for row in records.rows(KINDS)) == [4.0, 5.0, 9.0], "one with the same key is replaced"


def test_what_sqlite_cannot_hold_is_written_as_it_can(records: Records) -> None:
    records.put(KINDS, [(5.0, math.inf, 1, "a\udcff", None), (5.0, math.nan, 2, None, None)])
    assert list(records.rows(KINDS)) == [(5.0, None, 1, "a\\udcff", None), (5.0, None, 2, None, None)]
    assert records.damaged == set()


def test_a_changed_entry_is_skipped_and_counted(records: Records) -> None:
    records.put(KINDS, [with_value(2, number) for number in (1, 2, 3)])
    records.database.execute("UPDATE kinds SET words = 'other' WHERE which = 2")
    assert [row[2] for row in records.rows(KINDS)] == [1, 3]
    assert records.damaged == {("kinds", 2)}
    unsealed = Records(records.database, sealed=False)
    assert [row[2] for row in unsealed.rows(KINDS)] == [1, 2, 3]


def test_a_file_has_the_tables_that_it_has(records: Records) -> None:
    assert records.has(KINDS)
    assert not records.has(Table("others", {"which": "id"}, ""))
    columns = {row[1]: (row[2], bool(row[3])) for row in records.database.execute("PRAGMA table_info(kinds)")}
    assert columns == {"taken_at": ("REAL", True), "much": ("REAL", False), "which": ("INTEGER", True), "words": ("TEXT", False), "packed": ("BLOB", False), "checksum": ("INTEGER", False)}


def test_a_fault_that_is_not_of_the_file_is_not_kept_quiet(records: Records) -> None:
    records.database.set_progress_handler(lambda: 1, 1)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        list(records.rows(KINDS))
    assert not records.torn


def test_what_lies_before_and_behind_a_damaged_page_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "torn.sqlite"
    numbers = range(1, 201)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA page_size = 4096")
        database.execute(KINDS.definition)
        Records(database).put(KINDS, [(float(number), None, number, None, bytes(1000)) for number in numbers])
    content = bytearray(path.read_bytes())
    middle = len(content) // 4096 // 2 * 4096
    content[middle : middle + 4096] = bytes(4096)
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as database:
        records = Records(database)
        found = [row[2] for row in records.rows(KINDS)]
    assert records.torn
    assert len(found) == len(set(found))
    assert {1, 2, 3, 198, 199, 200} < set(found) < set(numbers)
    assert len(found) > 190
