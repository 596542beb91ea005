"""At which length of rows the redo log of MySQL 5.6 refuses them, to the byte."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.redo_log import long_rows, rows_beyond_log
from myisam_advisor.migrate.server_kind import of_variables
from myisam_advisor.migrate.sizes import Contents
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column
from myisam_exporter.server.sql import quote_table

from .test_migrate import LATIN1, MYSQL, integer, table

HERE = of_variables("mysql", (5, 6), {"version": "5.6.24-log", "innodb_log_file_size": str(48 << 20), "innodb_log_files_in_group": "2"})
LONG, SHORT = Column("b", types.LONG_BLOB, types.LARGEST_BLOB, 63, True), Column("c", types.TINY_BLOB, 255, 63, True)
BLOBS = table(integer(), LONG, SHORT)
# A tenth of 96 MiB is 10,066,329.6 bytes. 4 of a number, and 768 of each long value, are in the page; a hundredth is headers.
LONGEST_MEAN = 10_169_565
TABLE = quote_table("s", "t")


def held(rows: int, data_bytes: int, free_bytes: int = 0, row_format: str = "dynamic") -> Contents:
    return Contents(rows, data_bytes, 1024, free_bytes, row_format)


@pytest.mark.parametrize(
    ("contents", "refused"),
    [
        (held(1, LONGEST_MEAN), False), (held(1, LONGEST_MEAN + 1), True), (held(2, 2 * LONGEST_MEAN + 7, 7), False), (held(2, 2 * LONGEST_MEAN + 9, 7), True),
        (held(0, LONGEST_MEAN * 2), False), (held(1, LONGEST_MEAN * 2, row_format="compressed"), False), (None, False),
    ],
)  # fmt: skip
def test_the_mean_row_is_held_to_a_tenth_of_the_log(contents: Contents | None, refused: bool) -> None:
    assert [one.code for one in rows_beyond_log(BLOBS, contents, HERE)] == [1118] * refused
    assert list(rows_beyond_log(BLOBS, contents, MYSQL)) == []


def test_only_long_values_lie_outside_and_what_no_row_has_lies_nowhere() -> None:
    contents = held(1, LONGEST_MEAN + 1)
    assert list(rows_beyond_log(table(integer(), Column("v", types.STRING, 65_000, LATIN1, False)), contents, HERE)) == []
    wider = table(integer(), LONG, SHORT, Column("s", types.STRING, 200, LATIN1, False))
    assert list(rows_beyond_log(wider, contents, HERE)) == []
    assert len(list(rows_beyond_log(wider, held(1, LONGEST_MEAN + 204), HERE))) == 1
    virtual = replace(SHORT, generated=types.VIRTUAL)
    assert len(list(rows_beyond_log(table(integer(), LONG, virtual), held(1, LONGEST_MEAN - 774), HERE))) == 1
    assert list(rows_beyond_log(table(integer(), LONG, virtual), held(1, LONGEST_MEAN - 777), HERE)) == []


def test_a_refusal_says_how_long_they_are_and_what_to_do() -> None:
    (refusal,) = rows_beyond_log(BLOBS, held(2, 40 << 20), HERE)
    assert refusal.why == "its rows have 20 MiB on average, and this version takes no row with more than 9.6 MiB outside of its page: a tenth of the redo log"
    assert refusal.mend == "Make innodb_log_file_size larger (96 MiB are all log files now), and restart."


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        # All others have 20 bytes at least.
        (held(3, 10_066_330 + 40 + 100, 100), True), (held(3, 10_066_329 + 40 + 100, 100), False), (held(1, 10_066_330), True), (held(1, 10_066_329), False),
        # Of packed rows the file does not tell.
        (held(1, 100, row_format="compressed"), True), (held(0, 20_000_000), False), (None, False),
    ],
)  # fmt: skip
def test_one_row_may_have_all_that_the_others_leave(contents: Contents | None, told: bool) -> None:
    assert len(list(long_rows(BLOBS, contents, HERE, TABLE))) == told
    assert list(long_rows(BLOBS, contents, MYSQL, TABLE)) == []


@pytest.mark.parametrize(("most", "told"), [(10_066_329, False), (10_066_330, True)])
def test_values_that_are_never_so_long_are_not_asked_for(most: int, told: bool) -> None:
    columns = table(integer(), replace(LONG, maximum_bytes=most - 255), SHORT)
    assert len(list(long_rows(columns, held(1, 20_000_000), HERE, TABLE))) == told


def test_what_to_ask_is_how_long_they_are_together() -> None:
    (change,) = long_rows(BLOBS, held(1, 20_000_000), HERE, TABLE)
    assert str(change.statement) == "SELECT MAX(COALESCE(LENGTH(`b`), 0) + COALESCE(LENGTH(`c`), 0)) FROM `s`.`t`;"


@pytest.mark.parametrize(("more", "told"), [(0, False), (1, True)])
def test_a_tenth_to_the_byte_is_allowed(more: int, told: bool) -> None:
    here = of_variables("mysql", (5, 6), {"version": "5.6.24", "innodb_log_file_size": str(50 << 20), "innodb_log_files_in_group": "2"})
    assert len(list(long_rows(BLOBS, held(1, (10 << 20) + more), here, TABLE))) == told
    columns = table(integer(), replace(LONG, maximum_bytes=(10 << 20) + more - 255), SHORT)
    assert len(list(long_rows(columns, held(1, 20_000_000), here, TABLE))) == told
