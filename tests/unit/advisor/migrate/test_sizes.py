"""Sizes as they are told, held against what servers made of the same tables: `script/bench migrate` measured these."""

from dataclasses import replace

import pytest

from myisam_advisor.catalogue.innodb_pages import (
    PAGE_BYTES,
    ROWS_IN_ORDER,
    SORTED_INDEX,
    SORTED_ROWS,
    file_bytes,
    tree_pages,
)
from myisam_advisor.migrate.aria_pages import HEAD_FREE, ROOM_BYTES, _index_bytes, _placed
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.sizes import Contents, Range, bytes_after
from myisam_advisor.migrate.widths import widths_of
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Structure

from .test_migrate import LATIN1, index, integer, table, text

SORTING = of_variables("mariadb", (10, 11), {"innodb_alter_copy_bulk": "ON"})
NEW, OLD = by_default("mysql", (9, 7)), by_default("mysql", (5, 6))
UTF8MB3 = 33


def wide(name: str, *, counts: bool = False, nullable: bool = False) -> Column:
    return Column(name, types.LONGLONG, 8, LATIN1, nullable, auto_increment=counts)


def key(*parts: tuple[int, int], name: str = "PRIMARY") -> Index:
    return index(*parts, name=name, unique=True)


COUNTER = table(
    wide("team_id", counts=True),
    replace(text("name"), nullable=True),
    wide("program_id", nullable=True),
    indexes=(key((0, 8)),),
)
NAMED = table(
    text("id", 20), text("name", 30), replace(text("comments"), nullable=True), Column("sql", types.BLOB, 65_535, LATIN1, True), replace(text("group", 20), nullable=True),
    indexes=(key((0, 20)),),
)  # fmt: skip
NUMBERS = table(
    wide("id", counts=True),
    wide("alarm"),
    Column("value", types.FLOAT, 4, 63, False),
    Column("run", types.TIMESTAMP2, 4, 63, False),
    indexes=(key((0, 8)),),
)
TWO_TEXTS = table(
    integer(auto_increment=True), text("object", 96, UTF8MB3), text("title", 765, UTF8MB3), text("uri", 96, UTF8MB3),
    indexes=(key((0, 4)), key((1, 96), name="object"), key((3, 96), name="uri")),
)  # fmt: skip
HELD = {
    "counter": (COUNTER, Contents(53_054, 11_318_028, 766_976, 0, "dynamic")),
    "named": (NAMED, Contents(41_128, 8_795_876, 739_328, 0, "dynamic")),
    "numbers": (NUMBERS, Contents(599_720, 14_993_000, 8_648_704, 0, "fixed")),
    "two texts": (TWO_TEXTS, Contents(81_723, 5_156_300, 6_702_080, 0, "dynamic")),
}


@pytest.mark.parametrize(
    ("name", "to", "here", "became"),
    [
        ("counter", "InnoDB", SORTING, 15_728_640), ("counter", "InnoDB", NEW, 20_971_520), ("counter", "InnoDB", OLD, 22_020_096), ("counter", "Aria", SORTING, 13_205_504),
        ("named", "InnoDB", SORTING, 12_582_912), ("named", "InnoDB", NEW, 24_117_248), ("named", "InnoDB", OLD, 25_165_824), ("named", "Aria", SORTING, 10_076_160),
        ("numbers", "InnoDB", SORTING, 32_505_856), ("numbers", "InnoDB", NEW, 37_748_736), ("numbers", "InnoDB", OLD, 37_748_736),
        ("two texts", "InnoDB", SORTING, 13_631_488), ("two texts", "InnoDB", NEW, 23_068_672), ("two texts", "InnoDB", OLD, 24_117_248), ("two texts", "Aria", SORTING, 10_248_192),
    ],
)  # fmt: skip
def test_what_is_told_is_what_became_of_it(name: str, to: str, here: ServerKind, became: int) -> None:
    low, high = bytes_after(*HELD[name], to, here)
    assert low <= became <= high
    if to == "InnoDB":  # indexes of Aria pack texts by how much these begin alike, which no header tells
        assert (low + high) / 2 == pytest.approx(became, rel=0.1)


def width(ends: Range) -> float:
    return ends[1] / ends[0]


def test_a_key_that_may_come_in_any_order_is_told_with_both_ends() -> None:
    structure, contents = HELD["numbers"]
    unordered = replace(structure, columns=(wide("id"), *structure.columns[1:]))
    ends = bytes_after(unordered, contents, "InnoDB", NEW)
    assert width(ends) > 1.35
    assert width(bytes_after(structure, contents, "InnoDB", NEW)) < 1.1
    assert width(bytes_after(unordered, contents, "InnoDB", SORTING)) < 1.1, (
        "a copy that is sorted does not ask for the order"
    )


def test_zeros_and_nulls_that_no_header_counts_widen_the_range() -> None:
    narrow = table(integer(auto_increment=True), text("v"), indexes=(key((0, 4)),))
    many = table(
        integer(auto_increment=True),
        text("v"),
        *(replace(integer(f"n{number}"), nullable=True) for number in range(20)),
        indexes=(key((0, 4)),),
    )
    contents = Contents(200_000, 20_000_000, 2_000_000, 0, "dynamic")
    assert width(bytes_after(many, contents, "InnoDB", SORTING)) > width(
        bytes_after(narrow, contents, "InnoDB", SORTING)
    )


def test_rows_of_one_length_are_known_to_the_byte() -> None:
    low, high = widths_of(NUMBERS, 25, "fixed")
    assert low.values == high.values == 24


def test_pages_and_extents() -> None:
    # 16,256 bytes a page, a sixteenth of it free: 66 rows of 228.5 bytes.
    assert tree_pages(65 * 20, 228.0, 8, SORTED_ROWS) in range(20, 24)
    ordered, sorted_pages = (tree_pages(1_000_000, 100.0, 4, filling) for filling in (ROWS_IN_ORDER, SORTED_ROWS))
    assert sorted_pages == ordered + 5 * 64, "a large segment is five extents ahead, unless its pages come in order"
    small, small_sorted = (tree_pages(100_000, 100.0, 4, filling) for filling in (ROWS_IN_ORDER, SORTED_ROWS))
    assert small_sorted > small * 1.1, "a small one is filled to seven eighths"
    assert tree_pages(10, 100.0, 4, SORTED_ROWS) == 1, "what fits a page has its root alone"
    assert tree_pages(1_000_000, 100.0, 4, SORTED_INDEX) < sorted_pages
    assert file_bytes(10, 0) == 13 * PAGE_BYTES
    assert file_bytes(100, 0) == 2 << 20
    assert file_bytes(100, 5.5) == 8 << 20
    assert file_bytes(40 * 64, 0) == 44 << 20, "large files grow by four extents"


def test_words_and_a_table_without_a_key() -> None:
    structure, contents = HELD["counter"]
    words = replace(structure, indexes=(*structure.indexes, index((1, 255), name="words", kind=types.FULLTEXT)))
    many = replace(contents, index_bytes=contents.index_bytes + 10_000_000)
    low, high = bytes_after(words, many, "InnoDB", NEW)
    alone = bytes_after(structure, contents, "InnoDB", NEW)
    assert low > alone[1] + 8_000_000
    assert high > low * 1.5, "how many words come again, no header tells"
    assert bytes_after(words, many, "InnoDB", OLD)[1] < high, "an older server merges more of them"
    larger = of_variables("mysql", (9, 7), {"innodb_ft_cache_size": "80000000"})
    assert bytes_after(words, many, "InnoDB", larger)[1] < high, "and so does a larger cache"
    keyless = Structure("MyISAM", LATIN1, "", (), False, structure.columns, ())
    assert bytes_after(keyless, contents, "InnoDB", NEW)[0] >= bytes_after(structure, contents, "InnoDB", NEW)[0]


DOCUMENTS = table(
    integer(auto_increment=True), Column("x", types.BLOB, 65_535, LATIN1, False),
    indexes=(key((0, 4)), index((1, 0), name="words", kind=types.FULLTEXT)),
)  # fmt: skip
LANGUAGE = Contents(60_000, 22_083_864, 15_626_240, 0, "dynamic")  # paragraphs of manual pages
BY_ROW = Contents(60_001, 22_083_884, 27_504_640, 0, "dynamic", never_sorted=True)  # the same, one after another
DRAWN = Contents(60_000, 30_509_928, 28_408_832, 0, "dynamic")  # 60 words each, of 60,000, by Zipf's law
DRAWN_MORE = Contents(150_000, 76_277_656, 70_579_200, 0, "dynamic")
ONCE = Contents(100_000, 9_049_084, 16_732_160, 0, "dynamic")  # words of which each is there once


@pytest.mark.parametrize(
    ("contents", "to", "here", "became"),
    [
        (LANGUAGE, "InnoDB", SORTING, 32_505_856 + 91_553_792), (BY_ROW, "InnoDB", SORTING, 32_505_856 + 91_553_792), (LANGUAGE, "InnoDB", NEW, 37_748_736 + 91_799_552),
        (LANGUAGE, "InnoDB", OLD, 37_748_736 + 72_843_264), (DRAWN, "InnoDB", SORTING, 41_943_040 + 220_594_176), (DRAWN_MORE, "InnoDB", SORTING, 96_468_992 + 440_795_136),
        (ONCE, "InnoDB", SORTING, 17_825_792 + 126_156_800), (ONCE, "InnoDB", NEW, 22_020_096 + 126_402_560),
        (LANGUAGE, "Aria", SORTING, 14_893_056 + 24_068_096), (BY_ROW, "Aria", SORTING, 14_893_056 + 24_068_096), (ONCE, "Aria", SORTING, 15_319_040 + 10_190_848),
    ],
)  # fmt: skip
def test_what_became_of_words_is_between_the_ends(contents: Contents, to: str, here: ServerKind, became: int) -> None:
    low, high = bytes_after(DOCUMENTS, contents, to, here)
    assert low <= became <= high
    assert (low + high) / 2 == pytest.approx(became, rel=0.1 if to == "Aria" else 0.3)


@pytest.mark.parametrize(("here", "became"), [(SORTING, 802_816), (NEW, 1_392_640)])
def test_an_empty_table_with_words_has_eleven_more_files(here: ServerKind, became: int) -> None:
    assert bytes_after(DOCUMENTS, Contents(0, 0, 1024, 0, "dynamic"), "InnoDB", here) == (became, became)


def test_few_words_stay_in_the_cache_until_the_server_stops() -> None:
    """20 and 300 paragraphs, on MariaDB 10.11."""
    for contents, became in ((Contents(20, 6_500, 11_220, 0, "dynamic"), 819_200), (Contents(300, 110_000, 90_444, 0, "dynamic"), 950_272)):
        low, high = bytes_after(DOCUMENTS, contents, "InnoDB", SORTING)
        assert low <= became <= high


AREAS = table(
    integer(auto_increment=True), Column("g", types.GEOMETRY, 4_294_967_295, 63, False), text("name", 40),
    indexes=(key((0, 4)), index((1, 32), name="g", kind=types.SPATIAL)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("data_bytes", "index_bytes", "became"),
    [(5_159_668, 8_052_736, 7_143_424 + 5_783_552), (5_159_656, 7_184_384, 6_963_200 + 5_783_552), (17_930_432, 7_032_832, 5_627_904 + 19_750_912)],
    ids=["from west to east", "clusters", "polygons"],
)  # fmt: skip
def test_boxes_in_aria_are_no_fuller_than_in_myisam(data_bytes: int, index_bytes: int, became: int) -> None:
    """100,000 shapes, on MariaDB 10.11."""
    low, high = bytes_after(AREAS, Contents(100_000, data_bytes, index_bytes, 0, "dynamic"), "Aria", SORTING)
    assert low <= became <= high
    assert (low + high) / 2 == pytest.approx(became, rel=0.06)


def test_a_char_is_no_fuller_than_the_row_has_room_for_it() -> None:
    """11,000,000 posts of a forum, whose CHAR(32) may have 96 bytes in a row of 48: 1.5 GB on MariaDB 10.11."""
    medium = Column("n", types.INT24, 3, 63, False)
    posts = table(
        replace(medium, auto_increment=True), medium, Column("forum", types.SHORT, 2, 63, False), medium, integer("time"), Column("ip", types.STRING, 96, 83, False),
        text("name", 75, UTF8MB3), integer("edited"), Column("edits", types.SHORT, 2, 63, False), Column("attached", types.TINY, 1, 63, False), Column("reported", types.TINY, 1, 63, False),
        indexes=(key((0, 3)), *(index(*parts, name=f"k{number}") for number, parts in enumerate((((1, 3),), ((3, 3),), ((4, 4),), ((2, 2), (4, 4)))))),
    )  # fmt: skip
    low, high = bytes_after(posts, Contents(11_000_000, 527_779_824, 551_429_120, 0, "dynamic"), "InnoDB", SORTING)
    assert low <= 1_514_143_744 <= high
    assert (low + high) / 2 == pytest.approx(1_514_143_744, rel=0.03)


def test_a_text_is_no_shorter_in_its_index_than_rows_tell() -> None:
    """59,630 regions of chromosomes, whose names begin alike in groups, so that MyISAM packs their index, on MariaDB 10.11."""
    regions = table(
        integer(auto_increment=True), text("name", 255), integer("system"), integer("length"),
        indexes=(key((0, 4)), key((1, 255), (2, 4), name="name"), index((2, 4), name="system")),
    )  # fmt: skip
    low, high = bytes_after(regions, Contents(59_630, 12_607_684, 3_597_312, 0, "dynamic"), "InnoDB", SORTING)
    assert low <= 37_748_736 <= high
    assert width((low, high)) < 1.1


def test_what_is_null_has_room_in_rows_of_one_length_only() -> None:
    nullable = table(integer(auto_increment=True), *(replace(integer(f"n{number}"), nullable=True) for number in range(3)), indexes=(key((0, 4)),))
    low, high = widths_of(nullable, 17, "fixed")
    assert (low.values, high.values) == (10, 16)


def test_rows_as_short_as_they_can_be_may_hold_less() -> None:
    short = table(integer(), text("handle", 20), indexes=(key((0, 4)),))
    low, high = widths_of(short, 20.0, "dynamic")
    assert high.values - low.values >= 8
    low, high = widths_of(short, 30.0, "dynamic")
    assert high.values - low.values < 1


def test_words_of_the_unicode_algorithm_are_all_in_one_table() -> None:
    def words(collation: int) -> float:
        wordy = table(integer(auto_increment=True), text("v", 255, collation), indexes=(key((0, 4)), index((1, 255), name="w", kind=types.FULLTEXT)))
        return sum(bytes_after(wordy, Contents(20_000, 4_000_000, 1_500_000, 0, "dynamic"), "InnoDB", NEW))

    unicode_ci, general_ci = 224, 45
    assert words(general_ci) > words(unicode_ci) + 10_000_000, "each table that is filled row by row keeps extents free"


@pytest.mark.parametrize(("here", "became"), [(SORTING, (65_536, 81_920)), (OLD, (98_304, 114_688)), (NEW, (114_688, 131_072))])
def test_empty_tables_have_a_page_for_each_index(here: ServerKind, became: tuple[int, int]) -> None:
    one = table(integer(auto_increment=True), indexes=(key((0, 4)),))
    two = replace(one, indexes=(*one.indexes, index((0, 4), name="g", kind=types.SPATIAL)))
    nothing = Contents(0, 0, 1024, 0, "dynamic")
    assert tuple(bytes_after(structure, nothing, "InnoDB", here)[0] for structure in (one, two)) == became


ID, NUMBER, WORDS = (0, 4), (1, 4), (2, 20)


@pytest.mark.parametrize(
    ("indexes", "pages"),
    [
        ((), 0),
        ((index(ID),), 1),
        ((key(NUMBER, name="n"),), 1),  # it may be NULL
        ((index((2, 10), unique=True, prefix=True),), 1),
        ((key(ID, NUMBER, name="both"),), 1),
        ((key(ID, name="id"),), 0),
        ((key(NUMBER, name="n"), key(ID, name="id")), 1),
        ((key(ID, name="id"), key(WORDS)), 1),
        ((key(NUMBER, name="n"), index(ID)), 2),
    ],
)
def test_rows_are_kept_in_the_first_key_that_is_whole_and_never_null_or_beside_all_indexes(indexes: tuple[Index, ...], pages: int) -> None:
    """Tried with MariaDB 10.11, MySQL 5.6 and 9.7: files of empty tables."""
    structure = table(integer(), replace(integer("n"), nullable=True), text("t", 20), indexes=indexes)
    low, high = bytes_after(structure, Contents(0, 0, 1024, 0, "dynamic"), "InnoDB", NEW)
    assert low == high == 114_688 + pages * PAGE_BYTES


def test_pages_of_myisam_tell_in_which_order_rows_came() -> None:
    structure, contents = HELD["numbers"]
    unordered = replace(structure, columns=(wide("id"), *structure.columns[1:]))
    full = replace(contents, rows=600_000, index_bytes=8_700_000)
    emptier = replace(full, index_bytes=10_200_000)
    assert width(bytes_after(unordered, full, "InnoDB", NEW)) > 1.35
    assert width(bytes_after(unordered, emptier, "InnoDB", NEW)) < 1.15, "no sorted pages are that empty"


@pytest.mark.parametrize(
    ("bytes_", "pages"),
    [(58, 159), (109, 295), (510, 1334), (1510, 5000), (3510, 20_000), (6010, 20_000), (9012, 22_620), (20_012, 60_130)],
)
def test_rows_of_one_length_are_placed_as_aria_places_them(bytes_: int, pages: int) -> None:
    """20,000 rows of one text each, on MariaDB 10.11."""
    placed = _placed(bytes_, 0.0) if bytes_ > 500 else 1 / (int((ROOM_BYTES - HEAD_FREE[-1]) / bytes_) + 1)
    assert placed * 20_000 == pytest.approx(pages, rel=0.02)


@pytest.mark.parametrize(("column", "index_bytes"), [(integer(), 917_504), (wide("a"), 1_318_912), (Column("a", types.TINY, 1, 63, False), 614_400)])
def test_an_index_of_numbers_is_known_to_the_page_in_aria(column: Column, index_bytes: int) -> None:
    """100,000 entries, on MariaDB 10.11."""
    structure = table(column, indexes=(index((0, column.maximum_bytes)),))
    assert _index_bytes(structure, 100_000, 0) == (index_bytes, index_bytes)


@pytest.mark.parametrize("said", ["0", "-1", "", "many", "9" * 19, "9" * 400, "9" * 5000, "1e400"])
def test_sizes_that_no_server_has_are_the_usual_ones(said: str) -> None:
    usual = by_default("mariadb", (10, 11))
    lying = of_variables("mariadb", (10, 11), {"innodb_page_size": said, "innodb_ft_cache_size": said})
    assert (lying.page_bytes, lying.words_cache_bytes) == (usual.page_bytes, usual.words_cache_bytes)


def test_sizes_that_a_server_has_are_its_own() -> None:
    kind = of_variables("mysql", (9, 7), {"innodb_page_size": "65536", "innodb_ft_cache_size": "80000000"})
    assert (kind.page_bytes, kind.words_cache_bytes) == (65_536, 80_000_000)
