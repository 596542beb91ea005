"""Sizes of tables that were made for one thing each, so that nothing else hides it, held against the files of MariaDB 10.11."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.server_kind import by_default
from myisam_advisor.migrate.sizes import Contents, bytes_after
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure

from .test_migrate import LATIN1, UTF8MB4, index, integer, table, text
from .test_sizes import HELD, NEW, SORTING, key

COUNTER = integer(auto_increment=True)
BLOB = Column("t", types.BLOB, 65_535, LATIN1, False)
SMALL = [Column(f"n{number}", types.TINY, 1, 63, True) for number in range(9)]
ALL_SMALL = index(*((place, 2) for place in range(1, 10)))
TWO_SMALL = (replace(SMALL[0], nullable=False), replace(SMALL[1], nullable=False))


def eight(length: int, collation: int = LATIN1) -> Structure:
    """A counter and eight texts."""
    return table(COUNTER, *(text(f"v{number}", length, collation) for number in range(8)), indexes=(key((0, 4)),))


LAYOUTS = {
    "eight texts of 150 letters": (eight(300), Contents(37_500, 45_659_424, 387_072, 0, "dynamic"), 58_720_256),
    "eight texts of 10 letters": (eight(255), Contents(150_000, 14_620_388, 1_541_120, 0, "dynamic"), 20_971_520),
    "eight of 10 that may be long": (eight(1020, UTF8MB4), Contents(150_000, 14_624_480, 1_541_120, 0, "dynamic"), 20_971_520),
    "a number of its own for each text": (
        table(COUNTER, BLOB, indexes=(key((0, 4)), index((1, 0), name="t", kind=types.FULLTEXT))),
        Contents(150_000, 3_000_000, 1_544_192, 0, "dynamic"), 12_255_232,
    ),
    "two texts as the key of the rows": (
        table(
            text("a", 40), text("b", 40), integer("n"),
            indexes=(key((0, 40), (1, 40)), index((1, 40), name="b"), index((2, 4), name="n"), index((1, 3), name="pb", prefix=True)),
        ),
        Contents(150_000, 10_729_448, 24_691_712, 0, "dynamic"), 58_720_256,
    ),
    "nine numbers that may be NULL, and an index of all": (
        table(COUNTER, *SMALL, indexes=(key((0, 4)), ALL_SMALL)), Contents(150_000, 2_250_000, 5_317_632, 0, "fixed"), 11_534_336,
    ),
    "no key": (table(*TWO_SMALL, indexes=(index((0, 1)),)), Contents(150_000, 1_050_000, 1_069_056, 0, "fixed"), 9_437_184),
    "two numbers as the key of the rows": (
        table(integer("a"), integer("b"), integer("c"), indexes=(key((0, 4), (1, 4)),)), Contents(150_000, 1_950_000, 2_523_136, 0, "fixed"), 6_291_456,
    ),
    "points": (
        table(COUNTER, Column("g", types.GEOMETRY, 4_294_967_295, 63, False), indexes=(key((0, 4)), index((1, 32), name="g", kind=types.SPATIAL))),
        Contents(100_000, 4_000_000, 7_079_936, 0, "dynamic", never_sorted=True), 23_068_672,
    ),
    "the beginning of a TEXT as the key of the rows": (
        table(BLOB, integer("n"), indexes=(replace(key((0, 40)), parts=index((0, 40), prefix=True).parts),)),
        Contents(150_000, 6_239_524, 8_363_008, 0, "dynamic"), 16_777_216,
    ),
    "the beginnings of two texts as the key of the rows": (
        table(text("t", 60), text("u", 60), integer("n"), indexes=(replace(key((0, 40)), parts=index((0, 40), (1, 40), prefix=True).parts), index((2, 4), name="n"))),
        Contents(75_000, 7_236_784, 9_695_232, 0, "dynamic"), 26_214_400,
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_part_of_a_layout_is_reckoned_with(layout: str) -> None:
    structure, contents, became = LAYOUTS[layout]
    low, high = bytes_after(structure, contents, "InnoDB", SORTING)
    assert (low + high) / 2 == pytest.approx(became, rel=0.06)
    assert low <= became <= high


def test_rows_whose_key_is_a_text_come_in_no_order() -> None:
    """Row by row, on MySQL 9.7."""
    structure, _, _ = LAYOUTS["the beginning of a TEXT as the key of the rows"]
    low, high = bytes_after(structure, Contents(100_000, 4_159_660, 5_558_272, 0, "dynamic"), "InnoDB", NEW)
    assert (low + high) / 2 == pytest.approx(22_020_096, rel=0.1)


def test_the_room_of_deleted_rows_is_not_copied() -> None:
    structure, contents = HELD["two texts"]
    half_deleted = replace(contents, data_bytes=contents.data_bytes * 2, free_bytes=contents.data_bytes)
    assert bytes_after(structure, half_deleted, "InnoDB", SORTING) == bytes_after(structure, contents, "InnoDB", SORTING)


def test_the_dictionary_is_in_every_file_from_mysql_8_0_on() -> None:
    nothing = Contents(0, 0, 1024, 0, "dynamic")
    first = by_default("mysql", (8, 0))
    assert bytes_after(table(COUNTER, indexes=(key((0, 4)),)), nothing, "InnoDB", first) == (114_688, 114_688)
