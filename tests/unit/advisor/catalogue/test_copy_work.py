"""What a copy has to do is counted from the header; each way to copy has seconds for its pieces."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.copy_work import (
    ARIA,
    BY_ROW,
    BY_ROW_OF_DICTIONARY,
    PART_WORDS,
    PARTS_POWER,
    SECONDS,
    SORTED,
    WORDS,
    CopyWork,
    copy_work,
    pieces,
    reference_seconds,
    way_of,
)
from myisam_exporter.files.fulltext_pages import FINEST, IndexWords
from myisam_exporter.files.myi_definition import (
    ALGORITHM_BTREE,
    KEY_FULLTEXT,
    KEY_NOSAME,
    SEGMENT_NULL,
    Definition,
    Key,
)

WORK = CopyWork(1_000_000, 80_000_000, 20_000_000, 5, "counter", 1, 0, 0, 1, 0, 0, 0, None)
INT, VARCHAR, BINARY = 4, 15, 2


def key(*parts: tuple[int, int, int], flag: int = 0) -> Key:
    """Parts: type, flag, length."""
    packed = bytes([ALGORITHM_BTREE]) + flag.to_bytes(2, "big") + (1024).to_bytes(2, "big") + (100).to_bytes(2, "big")
    return Key(packed + b"".join(bytes([kind]) + own.to_bytes(2, "big") + length.to_bytes(2, "big") for kind, own, length in parts))


def counted(*keys: Key, counter: int = 0) -> CopyWork:
    definition = Definition(1 << 40, 1 << 40, 60, 5, 0, False, 1 << 31 if counter else None, counter, (), keys)
    found = copy_work(definition, 10, 1000, 500)
    assert found is not None
    return found


def test_rows_lie_in_the_first_index_where_it_is_unique_and_never_null() -> None:
    number, text = (INT, 0, 4), (VARCHAR, 0, 90)
    assert counted(key(number, flag=KEY_NOSAME), counter=1).clustered == "counter"
    assert counted(key(number, flag=KEY_NOSAME), counter=2).clustered == "numbers"
    assert counted(key(text, number, flag=KEY_NOSAME)).clustered == "texts"
    assert counted(key((INT, SEGMENT_NULL, 4), flag=KEY_NOSAME)).clustered == ""
    assert counted(key(number)).clustered == ""


def test_other_indexes_are_counted_by_what_they_are_of() -> None:
    number, text, byte = (INT, 0, 4), (VARCHAR, 0, 90), (BINARY, 0, 1)
    found = counted(
        key(number, number, flag=KEY_NOSAME), key(text, flag=KEY_NOSAME), key((INT, SEGMENT_NULL, 4), flag=KEY_NOSAME), key(byte, number), key(number, text), key(text, flag=KEY_FULLTEXT)
    )
    # Two texts of 90 bytes, one of them first; that of the FULLTEXT index is none of them.
    assert found == CopyWork(10, 1000, 500, 5, "numbers", 2, 1, 1, 1, 1, 2, 25, None, 180, 90)


@pytest.mark.parametrize(("way", "by_all", "by_first"), [(ARIA, True, False), (BY_ROW_OF_DICTIONARY, True, False), (SORTED, False, True), (BY_ROW, False, False)])
def test_long_texts_take_longer_where_entries_are_sorted_or_searched_at_their_length(way: str, *, by_all: bool, by_first: bool) -> None:
    numbers = replace(WORK, plain_texts=1)
    seconds = reference_seconds(numbers, way)
    assert (reference_seconds(replace(numbers, text_bytes=765), way) > 1.05 * seconds) == by_all
    assert (reference_seconds(replace(numbers, first_text_bytes=765), way) > 1.05 * seconds) == by_first


def test_words_take_what_trees_leave_and_half_of_it_in_pages_that_were_never_sorted() -> None:
    definition = Definition(1 << 40, 1 << 40, 60, 5, 0, False, None, 0, (), (key((INT, 0, 4), flag=KEY_NOSAME), key((VARCHAR, 0, 90), flag=KEY_FULLTEXT)))
    found = [copy_work(definition, 1000, 100_000, 100_000, never_sorted=one) for one in (False, True)]
    assert [one.word_bytes for one in found if one] == [87_500, 47_250]


@pytest.mark.parametrize(("beside", "word_bytes"), [((VARCHAR, 0, 90), 62_500), ((VARCHAR, 0, 30), 80_000), ((INT, 0, 4), 87_500), ((BINARY, 0, 900), 62_500)])
def test_texts_beside_words_are_shorter_than_they_may_be(beside: tuple[int, int, int], word_bytes: int) -> None:
    definition = Definition(1 << 40, 1 << 40, 60, 5, 0, False, None, 0, (), (key(beside), key((VARCHAR, 0, 90), flag=KEY_FULLTEXT)))
    found = copy_work(definition, 1000, 100_000, 100_000)
    assert found is not None
    assert found.word_bytes == word_bytes


def test_words_are_counted_by_parts_where_pages_of_their_indexes_tell_and_by_bytes_elsewhere() -> None:
    definition = Definition(1 << 40, 1 << 40, 60, 5, 0, False, None, 0, (), (key((VARCHAR, 0, 90), flag=KEY_FULLTEXT), key((VARCHAR, 0, 90), flag=KEY_FULLTEXT)))
    words = IndexWords(5000.0, 8.0, tuple(100.0 * power for power in range(FINEST + 1)), (), (), 1.0)
    told = copy_work(definition, 1000, 100_000, 100_000, words=(words, words))
    by_bytes = copy_work(definition, 1000, 100_000, 100_000)
    assert told is not None
    assert by_bytes is not None
    assert (told.part_words, by_bytes.part_words) == (2 * 100 * PARTS_POWER, None)
    assert replace(told, part_words=None) == by_bytes
    for way, seconds in SECONDS.items():
        assert not {WORDS} & pieces(told, way).keys()
        assert not {PART_WORDS} & pieces(by_bytes, way).keys()
        more = replace(told, part_words=2 * (told.part_words or 0))
        assert reference_seconds(more, way) - reference_seconds(told, way) == pytest.approx(seconds[PART_WORDS] * (told.part_words or 0))
        assert reference_seconds(by_bytes, way) - reference_seconds(replace(by_bytes, word_bytes=0), way) == pytest.approx(seconds[WORDS] * by_bytes.word_bytes)


def test_where_indexes_are_not_known_nothing_is_counted() -> None:
    assert copy_work(Definition(1 << 40, 1 << 40, 60, 5, 0, False, None, 0, (), None), 10, 1000, 500) is None


@pytest.mark.parametrize(
    ("product", "version", "engine", "sorts", "way"),
    [
        ("MySQL", "5.6.51", "InnoDB", False, BY_ROW), ("MySQL", "8.0.36", "InnoDB", False, BY_ROW_OF_DICTIONARY), ("MySQL", "9.7", "InnoDB", False, BY_ROW_OF_DICTIONARY),
        ("MariaDB", "10.11.9", "InnoDB", False, BY_ROW), ("MariaDB", "10.11.14", "InnoDB", True, SORTED), ("MariaDB", "10.11.14", "Aria", True, ARIA), ("", "", "InnoDB", False, BY_ROW),
    ],
)  # fmt: skip
def test_servers_copy_in_four_ways(product: str, version: str, engine: str, sorts: bool, way: str) -> None:
    assert way_of(product, version, engine, sorts=sorts) == way


@pytest.mark.parametrize("way", SECONDS)
def test_more_of_anything_lasts_longer(way: str) -> None:
    least = reference_seconds(WORK, way)
    assert set(SECONDS[way]) <= {*pieces(WORK, way), *pieces(replace(WORK, part_words=1), way)}
    assert 0.5 < least < 60
    more: tuple[dict[str, Any], ...] = ({"rows": 2_000_000}, {"data_bytes": 800_000_000}, {"plain_numbers": 3}, {"plain_texts": 2}, {"unique_texts": 1})
    for changed in more:
        assert reference_seconds(replace(WORK, **changed), way) > least * 1.02, changed
