"""Sizes of tables with words, told by what pages of their index told, held against what MariaDB 10.11 made of the same tables."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.sampled_words import with_popular
from myisam_advisor.migrate.server_kind import of_variables
from myisam_advisor.migrate.sizes import Contents, bytes_after
from myisam_exporter.files import structure as types
from myisam_exporter.files.fulltext_pages import IndexWords
from myisam_exporter.files.structure import Column, Structure

from .test_migrate import LATIN1, index, integer, table

SORTING = of_variables("mariadb", (10, 11), {"innodb_alter_copy_bulk": "ON"})
UTF8MB4_UNICODE = 224
TEXTS = table(
    integer(auto_increment=True), Column("x", types.MEDIUM_BLOB, (1 << 24) - 1, LATIN1, False),
    indexes=(replace(index((0, 4), name="PRIMARY"), unique=True), index((1, 0), name="words", kind=types.FULLTEXT)),
)  # fmt: skip
HELD = {
    "manual pages": (Contents(60000, 11040424, 8218624, 0, "dynamic"),
        IndexWords(588671.0, 7.28, (16519, 19347, 23910, 30887, 39788, 51856, 67055, 89004, 119552, 158585, 209989, 274140, 348322, 410474, 465800, 521088, 562309, 584371, 588482, 588671, 588671),
                   (0.007, 0.344, 0.163, 0.148, 0.303, 0.035), (0.002, 0.368, 0.193, 0.13, 0.248, 0.059), 37.7), 71909376),
    "8 words of 500": (Contents(200000, 14974860, 21813248, 0, "dynamic"),
        IndexWords(1588041.0, 6.91, (394, 788, 1674, 4136, 7582, 15656, 31115, 63313, 127414, 254335, 488976, 814206, 1114327, 1327897, 1454030, 1526107, 1563622, 1580361, 1588041, 1588041, 1588041),
                   (0.0, 0.187, 0.19, 0.18, 0.225, 0.218), (0.0, 0.208, 0.193, 0.177, 0.219, 0.203), 98.5), 81133568),
    "words that come once": (Contents(100000, 10751000, 18131968, 0, "dynamic"),
        IndexWords(799767.0, 11.01, (799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767, 799767),
                   (0.0, 0.192, 0.193, 0.193, 0.192, 0.23), (0.0, 0.192, 0.193, 0.193, 0.192, 0.23), 84.5), 140902400),
    "3 words of 50": (Contents(600000, 21589020, 28104704, 0, "dynamic"),
        IndexWords(1767325.0, 7.13, (58, 110, 232, 463, 927, 1853, 3397, 6465, 13259, 25094, 50736, 102020, 204588, 403807, 729920, 1102058, 1398475, 1587721, 1692152, 1753627, 1767325),
                   (0.0, 0.355, 0.065, 0.161, 0.226, 0.194), (0.0, 0.281, 0.156, 0.26, 0.161, 0.141), 109.6), 67502080),
    "Zipf's law": (Contents(50000, 25926844, 29744128, 0, "dynamic"),
        IndexWords(2302181.0, 8.03, (55784, 108533, 196979, 317652, 462459, 623742, 785169, 948475, 1112648, 1266850, 1422496, 1579443, 1738269, 1895650, 2053175, 2196682, 2302181, 2302181, 2302181, 2302181, 2302181),
                   (0.0, 0.188, 0.217, 0.157, 0.187, 0.25), (0.0, 0.172, 0.197, 0.172, 0.23, 0.229), 144.5), 235274240),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_what_is_told_is_what_became_of_it(name: str) -> None:
    contents, words, became = HELD[name]
    low, high = bytes_after(TEXTS, replace(contents, words=(words,)), "InnoDB", SORTING)
    assert low <= became <= high
    assert (low + high) / 2 == pytest.approx(became, rel=0.06)
    assert high < low * 1.4
    before = bytes_after(TEXTS, contents, "InnoDB", SORTING)
    assert high - low < before[1] - before[0]


def test_a_larger_cache_writes_a_word_fewer_times() -> None:
    contents, words, _ = HELD["Zipf's law"]
    larger = of_variables("mariadb", (10, 11), {"innodb_alter_copy_bulk": "ON", "innodb_ft_cache_size": "80000000"})
    ends = [bytes_after(TEXTS, replace(contents, words=(words,)), "InnoDB", here) for here in (SORTING, larger)]
    assert ends[1][1] < ends[0][0]


def test_entries_of_popular_words_are_told_by_the_bytes_that_they_take() -> None:
    words = IndexWords(900_000.0, 7.0, (1000.0,) * 21, (1.0,) * 6, (1.0,) * 6, 10.0, popular=500_000.0, used_bytes=5e6, full=0.5)
    (more,) = with_popular([words], 30e6)
    assert more.entries == 400_000 + (30e6 * 0.5 - 5e6) / 11
    assert with_popular([replace(words, popular=0.0)], 30e6) == [replace(words, popular=0.0)]
    assert with_popular([words], 0.0)[0].entries == 400_000 + 500_000 / 4


def test_few_texts_stay_in_the_cache_until_the_server_stops() -> None:
    words = IndexWords(600.0, 7.0, (300.0,) + (600.0,) * 20, (0.0, 0.2, 0.2, 0.2, 0.2, 0.2), (0.0, 0.2, 0.2, 0.2, 0.2, 0.2), 1.0)
    contents = Contents(20, 6_500, 11_220, 0, "dynamic", words=(words,))
    low, high = bytes_after(TEXTS, contents, "InnoDB", SORTING)
    assert low <= 819_200 <= high, "20 paragraphs: eleven empty tables"


def test_words_of_the_unicode_algorithm_are_all_in_one_table() -> None:
    contents, words, _ = HELD["8 words of 500"]
    unicode = replace(TEXTS, columns=(TEXTS.columns[0], replace(TEXTS.columns[1], collation=UTF8MB4_UNICODE)))
    five, one = (sum(bytes_after(structure, replace(contents, words=(words,)), "InnoDB", SORTING)) for structure in (TEXTS, unicode))
    assert five > one + 10_000_000, "each table that is filled row by row keeps extents free"


# 6,000 texts of 60 Japanese characters, sequences of two (MySQL 8.0, utf8mb4_0900_ai_ci): 27 MB of Han, 10 MB of kana, 8 MB of rows.
JAPANESE = Contents(6000, 1_126_616, 6_941_696, 0, "dynamic",
    words=(IndexWords(330590.7, 6.0, (71311, 91165, 113821, 136612, 160822, 186246, 209882, 233213, 252966, 271908, 290546, 308441, *[330590] * 9),
                      (0.3, 0.0, 0.0, 0.1, 0.1, 0.5), (0.3, 0.0, 0.0, 0.1, 0.1, 0.5), 35.0, ideograph_words=0.75, ideograph_entries=0.75),),
)  # fmt: skip
DICTIONARY = of_variables("mysql", (8, 0), {"ngram_token_size": "2"})


def ngram(collation: int = 255) -> Structure:
    words = replace(TEXTS.indexes[1], parser="ngram")
    return replace(TEXTS, columns=(TEXTS.columns[0], replace(TEXTS.columns[1], collation=collation)), indexes=(TEXTS.indexes[0], words))


def test_sequences_of_ideographs_and_of_other_letters_are_in_two_tables() -> None:
    low, high = bytes_after(ngram(), JAPANESE, "InnoDB", DICTIONARY)
    assert low <= 47_200_000 <= high
    assert (low + high) / 2 == pytest.approx(47_200_000, rel=0.06)
    (words,) = JAPANESE.words
    in_one = bytes_after(ngram(), replace(JAPANESE, words=(replace(words, ideograph_words=0.0, ideograph_entries=0.0),)), "InnoDB", DICTIONARY)
    assert sum(in_one) / 2 < 42_000_000, "which it was told by before"


def test_long_texts_have_a_sequence_at_more_than_one_place() -> None:
    """Lists hold each place; MyISAM has an entry for a text, however often it has the sequence."""
    longer = replace(JAPANESE, data_bytes=5 * JAPANESE.data_bytes)
    assert bytes_after(ngram(), longer, "InnoDB", DICTIONARY)[0] > bytes_after(ngram(), JAPANESE, "InnoDB", DICTIONARY)[0] + 1_000_000


def test_sequences_with_stopwords_may_be_left_out() -> None:
    """Of Latin letters; no ideograph is one."""
    (words,) = JAPANESE.words
    latin = replace(JAPANESE, words=(replace(words, word_bytes=2.0),))
    for contents, fewer in ((latin, True), (JAPANESE, False)):
        with_stopwords, without = (bytes_after(ngram(), contents, "InnoDB", of_variables("mysql", (8, 0), {"innodb_ft_enable_stopword": word})) for word in ("ON", "OFF"))
        assert with_stopwords[1] == without[1]
        assert (with_stopwords[0] < 0.9 * without[0]) == fewer


@pytest.mark.parametrize("rows", [1, 10**6, 2**63 - 1])
@pytest.mark.parametrize("count", [1.0, 1e9, 1e19])
def test_whatever_a_file_makes_believe_a_size_is_told(rows: int, count: float) -> None:
    words = IndexWords(count, 0.0, (count,) * 21, (1.0,) + (0.0,) * 5, (0.0,) * 5 + (1.0,), count)
    for data_bytes in (0, 2**40, 2**63 - 1):
        low, high = bytes_after(TEXTS, Contents(rows, data_bytes, 2**40, 0, "dynamic", words=(words,)), "InnoDB", SORTING)
        assert 0 <= low <= high
