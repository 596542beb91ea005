"""How long a row may become: the largest tables that MySQL 5.6 and 9.7 and MariaDB 10.11 still took when their columns were made one by one."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.innodb_formats import compressed_page_bytes, effective_row_format
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.row_size import (
    counted_trees,
    full_row_bytes,
    has_row_identity,
    is_fixed,
    limit_bytes,
)
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.sizes import Contents, bytes_after
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure

from .test_migrate import LATIN1, MARIADB, MYSQL, OLD, index, integer, table, text

BARRACUDA = of_variables("mysql", (5, 6), {"innodb_file_format": "Barracuda", "innodb_strict_mode": "ON"})
SMALL, LARGE = (replace(MYSQL, page_bytes=size) for size in (4096, 32_768))


def counted_bytes(structure: Structure, kind: ServerKind, row_format: str) -> int:
    """Of the rows."""
    return next(counted_trees(structure, kind, row_format)).counted


def words(count: int, kind: int = types.BLOB, longest: int = 65_535) -> list[Column]:
    return [Column(f"w{number}", kind, longest, LATIN1, False) for number in range(count)]


def numbers(count: int) -> list[Column]:
    return [Column(f"n{number}", types.DOUBLE, 8, 63, True) for number in range(count)]


@pytest.mark.parametrize(
    ("structure", "kind", "codes"),
    [
        (table(integer(), *words(43), indexes=(index((0, 4), name="PRIMARY", unique=True),), KEY_BLOCK_SIZE=1), MARIADB, [1118]),
        (table(integer(), *words(31), indexes=(index((0, 4), name="PRIMARY", unique=True),), KEY_BLOCK_SIZE=1), MARIADB, []),
        (table(integer(), text("a", 440), indexes=(index((1, 440)),), KEY_BLOCK_SIZE=1), MARIADB, [1118]),
        (table(integer(), text("a", 400), indexes=(index((1, 400)),), KEY_BLOCK_SIZE=1), MARIADB, []),
        (table(text("a", 900), indexes=(index((0, 900)),), KEY_BLOCK_SIZE=2), replace(BARRACUDA, large_prefix=True), []),
        (table(*words(190), row_format="COMPRESSED"), MYSQL, [1118]),
        (table(*words(190), row_format="COMPRESSED"), MARIADB, []),
        (table(*words(190), row_format="COMPRESSED"), replace(BARRACUDA, strict_innodb=False), [1118]),
        (table(*words(190), row_format="COMPRESSED"), replace(MYSQL, strict_innodb=False), []),
        (table(*numbers(940), row_format="REDUNDANT"), MYSQL, [1118]),
        (table(*numbers(940), row_format="DYNAMIC"), MYSQL, []),
        (table(*words(10, types.TINY_BLOB, 255), row_format="COMPACT"), MARIADB, []),
        (table(*words(11, types.TINY_BLOB, 255), row_format="COMPACT"), MARIADB, [1118]),
        (table(*words(344), indexes=(index((0, 500), (1, 400), name="PRIMARY", unique=True, prefix=True),)), MARIADB, [1118]),
        (table(*words(344)), MARIADB, []),
        (table(*words(1), indexes=(index((0, 1200), unique=True, kind=types.LONG_UNIQUE),)), MARIADB, []),
        (table(KEY_BLOCK_SIZE=8), SMALL, [1031]),
        (table(row_format="COMPRESSED"), LARGE, [1031]),
        (table(*[Column(f"c{n}", types.STRING, 800, 60, False) for n in range(11)]), replace(OLD, strict_innodb=True), [1118]),
    ],
)  # fmt: skip
def test_what_is_too_long_for_its_page(structure: object, kind: object, codes: list[int]) -> None:
    assert [one.code for one in refusals(structure, "InnoDB", kind) if not one.may] == codes  # type: ignore[arg-type]


@pytest.mark.parametrize(("row_format", "allowed"), [("DYNAMIC", 8126), ("COMPACT", 8126), ("REDUNDANT", 8123)])
def test_two_rows_have_room_in_a_page(row_format: str, allowed: int) -> None:
    """As the server says when it refuses: "Row size too large (> 8126)"."""
    assert limit_bytes(MARIADB, row_format) == allowed


def test_pages_are_compressed_to_half_where_nothing_else_is_said() -> None:
    assert compressed_page_bytes(table(row_format="COMPRESSED"), MYSQL) == 8192
    assert compressed_page_bytes(table(KEY_BLOCK_SIZE=16), MYSQL) == 0
    assert effective_row_format(table(KEY_BLOCK_SIZE=4), MYSQL) == "COMPRESSED"
    assert effective_row_format(table(KEY_BLOCK_SIZE=3), MYSQL) == effective_row_format(table(), MYSQL) == "DYNAMIC"
    assert effective_row_format(table(KEY_BLOCK_SIZE=4), by_default("mysql", (5, 6))) == "COMPACT"


def test_the_rows_of_pages_of_64_kb_are_as_long_as_those_of_32() -> None:
    wide = replace(MYSQL, page_bytes=65_536)
    assert next(counted_trees(table(), wide, "DYNAMIC")).allowed == 16_383


@pytest.mark.parametrize(("kind", "row_format", "more"), [(MARIADB, "DYNAMIC", 8), (MYSQL, "DYNAMIC", 8), (MYSQL, "REDUNDANT", 8 + 2)])
def test_a_row_of_a_table_with_words_has_the_number_of_its_document(kind: ServerKind, row_format: str, more: int) -> None:
    plain = table(integer(), text("x", 4))
    with_words = replace(plain, indexes=(index((1, 0), kind=types.FULLTEXT),))
    assert counted_bytes(with_words, kind, row_format) == counted_bytes(plain, kind, row_format) + more
    assert full_row_bytes(with_words, row_format) == full_row_bytes(plain, row_format) + 8
    own = replace(plain, columns=(Column("FTS_DOC_ID", types.LONGLONG, 8, 63, False, unsigned=True), *plain.columns))
    own_words = replace(own, indexes=(index((2, 0), kind=types.FULLTEXT),))
    assert counted_bytes(own_words, kind, row_format) == counted_bytes(own, kind, row_format)


def test_a_uuid_is_sixteen_bytes_and_identifies_rows() -> None:
    uuid = Column("u", types.FIXED_BINARY, 16, 63, False)
    made = table(uuid, indexes=(index((0, 16), unique=True),))
    assert has_row_identity(made)
    assert is_fixed(uuid)
    assert counted_bytes(made, MARIADB, "DYNAMIC") == counted_bytes(table(indexes=(index((0, 4), unique=True),)), MARIADB, "DYNAMIC") + 12
    low, high = bytes_after(table(uuid, replace(uuid, name="v"), integer()), Contents(2_000_000, 74_000_000, 1024, 0, "fixed"), "InnoDB", MARIADB)
    assert high < 200_000_000, "two of them and an INT; as texts of 36 letters each they were told to take more"
    assert high / low < 1.2


@pytest.mark.parametrize(
    ("longest", "dynamic", "old"),
    [(60, 61, 61), (255, 256, 256), (256, 20 + 2, 258), (788, 20 + 2, 790), (789, 20 + 2, 768 + 20 + 2)],
)
def test_what_of_a_full_row_stays_in_its_page_ends_at_a_byte(longest: int, dynamic: int, old: int) -> None:
    """Header, number of the row and transaction are 24 bytes; a long value leaves 20 of them, and in old formats its first 768."""
    made = table(text("x", longest))
    assert [full_row_bytes(made, name) - 24 for name in ("DYNAMIC", "COMPACT", "REDUNDANT")] == [dynamic, old, old]


def test_mariadb_counts_a_text_whole_to_255_bytes() -> None:
    assert [counted_bytes(table(text("x", longest)), MARIADB, "DYNAMIC") - 24 for longest in (255, 256)] == [256, 21]


def test_compact_counts_768_bytes_of_a_long_text_and_its_reference() -> None:
    assert [counted_bytes(table(text("x", longest)), MARIADB, "COMPACT") - 24 for longest in (700, 788, 1000)] == [702, 790, 790]


def test_a_long_char_is_fixed_to_768_bytes() -> None:
    assert [is_fixed(Column("c", types.STRING, longest, LATIN1, False)) for longest in (768, 769)] == [True, False]


def test_indexes_that_are_no_trees_in_innodb_are_not_counted() -> None:
    keyed = table(integer(), text("x", 4), indexes=(index((0, 4), unique=True), index((1, 4), name="of_x")))
    assert [one.index for one in counted_trees(keyed, MYSQL, "DYNAMIC")] == ["", "", "of_x", "of_x"]
    assert [one.index for one in counted_trees(keyed, MYSQL, "DYNAMIC", indexes=())] == ["", ""]


@pytest.mark.parametrize(("last", "is_told"), [(164, False), (165, True)])
def test_a_row_that_may_become_full_is_told_from_the_byte_on_that_is_too_much(last: int, is_told: bool) -> None:
    made = table(*(text(f"w{number}") for number in range(31)), text("last", last))
    assert (full_row_bytes(made, "DYNAMIC") >= limit_bytes(MYSQL)) == is_told
    assert [(one.code, one.may) for one in refusals(made, "InnoDB", MYSQL)] == ([(1118, True)] if is_told else [])


@pytest.mark.parametrize(
    ("bytes_each", "unsigned", "says"),
    [(1, False, "no further than 127:"), (1, True, "no further than 255:"), (2, False, "no further than 32,767:"), (3, True, "no further than 16,777,215:"), (4, False, "whole table then. Or")],
)
def test_how_far_a_counter_comes_that_was_large_enough_within_a_group(bytes_each: int, unsigned: bool, says: str) -> None:
    counter = replace(integer("b", auto_increment=True), maximum_bytes=bytes_each, unsigned=unsigned)
    (found,) = refusals(table(integer("a"), counter, indexes=(index((0, 4), (1, bytes_each)),)), "InnoDB", MYSQL)
    assert (found.code, says in found.mend) == (1075, True), found.mend


@pytest.mark.parametrize("row_format", ["DYNAMIC", "REDUNDANT"])
def test_an_entry_ends_in_the_primary_key_or_in_the_number_of_its_row(row_format: str) -> None:
    """One field more either way: an INT of 4 bytes, or DB_ROW_ID of 6."""
    own, primary = index((1, 100), name="of_a"), index((0, 4), name="PRIMARY", unique=True)
    without, with_key = (
        next(one.counted for one in counted_trees(table(integer(), text("a", 100), indexes=indexes), MYSQL, row_format) if one.index == "of_a") for indexes in ((own,), (primary, own))
    )
    assert without - with_key == 6 - 4
