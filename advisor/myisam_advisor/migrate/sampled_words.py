"""What FULLTEXT indexes take in InnoDB where pages of MyISAM's told how often words come again (fulltext_pages.py).

The cache is written when it holds so many bytes; so many parts the rows are cut into, and each word of a part becomes a row with its list. Which
part a word is in was counted, so texts that speak of one thing for a while are reckoned with as they lie. What MyISAM's index has not is
estimated: words of three letters and its stopwords, by how much of the texts its words leave over (a list leaves nothing, language half and
more), and how often a word is in one text, by the same.

Sources: as in innodb_words.py; fts0vlc (fts_encode_int: seven bits a byte), FTS_ILIST_MAX_SIZE, btr0cur (a list longer than half a page gets
pages of its own, and for these no extents are kept free).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, exp, log2
from typing import NamedTuple

from myisam_advisor.catalogue.innodb_pages import PAGE_BYTES, Filling, file_bytes, free_extents, tree_pages
from myisam_advisor.migrate.fulltext_settings import NGRAM, SEQUENCE, FulltextSettings
from myisam_advisor.migrate.innodb_words import (
    CACHED_PLACE_BYTES,
    CACHED_WORD_BYTES,
    COMMON_TABLES,
    COPYING_SINCE,
    LETTER_TABLES,
    ROW_BYTES,
    TABLES_OF_WORDS,
    in_one_table,
    written_at_once,
)
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.fulltext_pages import IndexWords
from myisam_exporter.files.structure import Structure

# Of language MyISAM's index has six tenths of the bytes, each word as often as it is there; of what it leaves over, words of three letters
# and stopwords make 1.18 to 1.31 times as many entries (nine sorts of texts in four languages), and half as many more rows.
LANGUAGE_SHARE, MOST_MORE_ENTRIES, MORE_ROWS = 0.62, 0.3, 0.5
SHORT_WORD_BYTES, TAKEN = 4.0, 0.3
MOST_TIMES = 6.0
# The parser ngram makes a sequence of each place in a text, and MyISAM keeps it once. Characters of two bytes and more are of languages that put
# no spaces between words; elsewhere a quarter of the places is at one.
WIDE_CHARACTER_BYTES, PLACES_BESIDE_SPACES = 1.5, 0.75
# Sequences without 'a' and 'i', which are stopwords of InnoDB's: 0.85 of random letters, and 0.7 of English.
BESIDE_STOPWORDS = 0.7
# How full pages are at most and at least: of words that come again in many writings (0.51 to 0.66), and of those that hardly do (0.64 to 0.7).
COMING_AGAIN, COMING_ONCE = (Filling(0.66), Filling(0.54)), (Filling(0.71), Filling(0.59))
MANY_WRITINGS = 1.5
# The first document of a list is told as a number of its own: more than how far one is behind another.
FIRST_DOCUMENT_BYTES, SEVEN_BITS = 2.0, 128.0
LONGEST_LIST_BYTES, LONGEST_ROW_BYTES, PART_OF_EXTENT = 65_536, PAGE_BYTES / 2, 0.5
# An entry of a word that has a tree of its own: weight and place, and its share of pages that are not full. By so many times their number in
# the sample may be wrong; and the number of such words is known less well, as each stands for many rows.
POPULAR_ENTRY_BYTES, MOST_WRONG, POPULAR_MARGIN = 11.0, 4.0, 0.08
# How far the estimate of what MyISAM's index has not is wrong, of the number of rows.
MARGIN = 0.04


@dataclass(frozen=True, slots=True)
class _Texts:
    """What is in one index, as InnoDB takes it: `entries`, a text's bytes, how often a word of it is there, how many words there are for each of MyISAM's."""

    entries: float
    bytes: float
    times: float
    more: float


class _Place(NamedTuple):
    """Where words go: how much of the cache is written at once, how many writings may be behind, what a file has at least and keeps free."""

    cache: float
    behind: int
    free: float
    least_file: float


def sampled_words_bytes(
    structure: Structure, rows: int, text_bytes: Sequence[float], words: Sequence[IndexWords], here: ServerKind, least_file: float
) -> tuple[float, float]:  # fmt: skip
    """All tables of words, at least and at most. `text_bytes` are those of a row's columns in each index; `with_popular` told the entries."""
    indexes = structure.of_kind(types.FULLTEXT)
    least = most = (COMMON_TABLES + TABLES_OF_WORDS * len(indexes)) * least_file
    # What is in the cache at the end is written when the server stops; where another thread writes, it may be one behind.
    behind = 0 if here.since(*COPYING_SINCE) else 1
    free = free_extents(here.is_mariadb, here.version)
    place = _Place(written_at_once(here) / len(indexes), behind, free, least_file)
    for index, one, bytes_ in zip(indexes, words, text_bytes, strict=True):
        in_one = in_one_table(structure, index)
        few = many = _texts(one, rows, bytes_)
        if index.parser.lower() == NGRAM:
            few, many = _sequences(one, rows, bytes_, here.fulltext)
        least += _tables(one, few, rows, place, in_one=in_one, most=False)
        most += _tables(one, many, rows, place, in_one=in_one, most=True)
    return least, most


def _tables(words: IndexWords, texts: _Texts, rows: int, place: _Place, *, in_one: bool, most: bool) -> float:
    """The tables of one index, at least or at most."""
    writings = _writings(words, texts, place.cache)
    different = _different(words, writings) * texts.more
    wrong = MARGIN + (POPULAR_MARGIN if words.popular else 0.0) + (words.stands_for * texts.more / different) ** 0.5
    counted = different * (1 + wrong)
    if not most:
        counted = different * (1 - wrong) * max(int(writings) - place.behind, 0) / max(writings, 1.0)
    entry = _entry_bytes(texts, rows * different / max(writings, 1.0) / texts.entries)
    again = _different(words, writings) > MANY_WRITINGS * words.different[0]
    filling = (COMING_AGAIN if again else COMING_ONCE)[most]
    found = 0.0
    for own, entries in _by_table(words, texts, in_one):
        lists = texts.entries * entries * entry / (different * own) + FIRST_DOCUMENT_BYTES if own else 0.0
        found += _file(counted * own, ROW_BYTES + words.word_bytes, lists, filling, place.free, place.least_file)
    return found


def with_popular(words: Sequence[IndexWords], myisam_bytes: float) -> list[IndexWords]:
    """The same with as many entries in trees of popular words as the indexes' bytes leave for them: of the few that have most, none may be in a sample."""
    sampled = sum(one.popular for one in words)
    if not sampled:
        return list(words)
    used = myisam_bytes * sum(one.full for one in words) / len(words)
    told = (used - sum(one.used_bytes for one in words)) / POPULAR_ENTRY_BYTES / sampled
    times = min(max(told, 1 / MOST_WRONG), MOST_WRONG)
    return [replace(one, entries=one.entries + (times - 1) * one.popular) for one in words]


def _texts(words: IndexWords, rows: int, text_bytes: float) -> _Texts:
    entries = words.entries / rows
    told = min(entries * (words.word_bytes + 1) / text_bytes, 1.0) if text_bytes else 1.0
    left = (1 - told) * text_bytes / SHORT_WORD_BYTES / entries
    more = min(left * TAKEN, MOST_MORE_ENTRIES)
    times = min(max(LANGUAGE_SHARE / told, 1.0), MOST_TIMES)
    return _Texts(words.entries * (1 + more), text_bytes, times, 1 + more * MORE_ROWS)


def _sequences(words: IndexWords, rows: int, text_bytes: float, settings: FulltextSettings) -> tuple[_Texts, _Texts]:
    """Of an index WITH PARSER ngram, at least and at most: no least length comes between; a sequence that holds a stopword is left out."""
    characters = settings.sequence or SEQUENCE
    character = words.word_bytes / characters
    is_narrow = character < WIDE_CHARACTER_BYTES
    places = (text_bytes / character - (characters - 1)) * (PLACES_BESIDE_SPACES if is_narrow else 1.0)
    many = _Texts(words.entries, text_bytes, max(places * rows / words.entries, 1.0), 1.0)
    if not is_narrow or settings.innodb_stopwords is False:
        return many, many
    return replace(many, entries=many.entries * BESIDE_STOPWORDS, more=BESIDE_STOPWORDS), many


def _by_table(words: IndexWords, texts: _Texts, in_one: bool) -> list[tuple[float, float]]:
    """Which shares of the words and of the entries go into each table; those that MyISAM has not are spread evenly over the tables of letters.

    Where all letters are in one table, Han characters and Hangul have another.
    """
    if in_one:
        own, entries = words.ideograph_words, words.ideograph_entries
        return [(1 - own, 1 - entries), (own, entries)]
    words_known, entries_known = min(1 / texts.more, 1.0), min(words.entries / texts.entries, 1.0)
    found = []
    for number, (own, entries) in enumerate(zip(words.words_by_letter, words.entries_by_letter, strict=True)):
        even = 1 / LETTER_TABLES if number else 0.0
        found.append(
            (own * words_known + even * (1 - words_known), entries * entries_known + even * (1 - entries_known))
        )
    return found


def _different(words: IndexWords, parts: float) -> float:
    """How many different words so many parts have, added up: between what was counted of 1, 2, 4 and so on."""
    power = min(max(log2(max(parts, 1.0)), 0.0), len(words.different) - 1.001)
    before, behind = words.different[int(power)], words.different[int(power) + 1]
    return float(before ** (1 - power % 1) * behind ** (power % 1))


def _writings(words: IndexWords, texts: _Texts, cache: float) -> float:
    """How often the cache is full; 0 where it never is."""
    least, most = 1.0, 2.0 ** (len(words.different) - 1)

    def taken(parts: float) -> float:
        return (_different(words, parts) * texts.more * CACHED_WORD_BYTES + texts.entries * CACHED_PLACE_BYTES) / parts

    if taken(1.0) < cache:
        return 0.0
    for _ in range(40):
        middle = (least * most) ** 0.5
        least, most = (middle, most) if taken(middle) > cache else (least, middle)
    return most


def _entry_bytes(texts: _Texts, documents_apart: float) -> float:
    """What an entry takes in its list: how far its document is behind the last one, how far each place is behind the last one, a zero."""
    places = _number_bytes(texts.bytes) + (texts.times - 1) * _number_bytes(texts.bytes / texts.times)
    return 1 + exp(-SEVEN_BITS / max(documents_apart, 1.0)) + places + 1


def _number_bytes(most: float) -> float:
    """Of a number up to so many, on average: seven bits a byte."""
    if most <= SEVEN_BITS:
        return 1.0
    return _number_bytes(most / SEVEN_BITS) + 1 - SEVEN_BITS / most


def _file(words: float, row: float, lists: float, filling: Filling, free: float, least_file: float) -> float:
    """One table of words, beside what it takes when it is empty. `lists` is what one takes."""
    if words < 1:
        return 0.0
    if row + lists <= LONGEST_ROW_BYTES:
        pages = tree_pages(ceil(words), row + lists, row - ROW_BYTES, filling)
    else:
        words *= max(lists / LONGEST_LIST_BYTES, 1.0)
        pages = tree_pages(ceil(words), row, row - ROW_BYTES, filling) + ceil(
            words * (min(lists, LONGEST_LIST_BYTES) / PAGE_BYTES + 0.5)
        )
        free = PART_OF_EXTENT
    return max(file_bytes(pages, free, least_file) - least_file, 0.0)
