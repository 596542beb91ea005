"""What FULLTEXT indexes take in InnoDB: six tables of words for each index, five more for the table, a number for each row.

MyISAM keeps an entry for each word of each row: the word, its weight, where the row is. InnoDB gathers the words in a cache; when that is
full, each word in it becomes a row, with a list of documents and places behind it. A copying ALTER does so row by row, in the thread that
copies (fts_add_doc_from_tuple): the same texts become the same pages each time, to the byte, on MariaDB 10.11 and MySQL 9.7 alike. How many
rows there are is decided by how often words come again while the cache fills. No header tells that: pages of the index do (sampled_words.py), and
where these cannot be read, both ends are told, as here.

Sources: storage/innobase/include/fts0fts.h (FTS_NUM_AUX_INDEX, FTS_NUM_AUX_COMMON), fts0fts.cc (fts_create_one_index_table: word,
first_doc_id, last_doc_id, doc_count, ilist; fts_tokenizer_word_get and fts_cache_node_add_positions: what the cache is reckoned to hold),
fts0types.h, storage/myisam/ft_update.c, sort_ft_key_write in mi_check.c. The cache was followed word by word for 60,000 pieces of manual
pages and as many texts by Zipf's law: as many rows were foreseen as the servers made, 257,044 and 1,426,544.
"""

from __future__ import annotations

from math import ceil

from myisam_advisor.catalogue.innodb_pages import Filling, file_bytes, free_extents, tree_pages
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure

TABLES_OF_WORDS, COMMON_TABLES = 6, 5
DOCUMENT_BYTES = 8  # FTS_DOC_ID, a column of its own, and an index over it
DOCUMENT_COLUMN = "FTS_DOC_ID"
WORD_BYTES = 8
# A word's row beside the word and its list: header, transaction, first and last document, their number, two lengths.
ROW_BYTES = 5 + 13 + 8 + 8 + 4 + 2
# MyISAM's entry where words come again: weight, place, and what is left of a word whose neighbours begin alike, in full pages. 12.4 to 12.8
# were measured of four sorts of texts; 19.6 of texts in which no word comes again.
ENTRY_BYTES, OWN_ENTRY_BYTES = 12.6, 19.6
# InnoDB takes words of three letters, too (innodb_ft_min_token_size), and has 36 stopwords where MyISAM has 543: 1.36 and 1.39 times as many
# entries of the two languages below. Of made-up words fewer.
FEWEST_ENTRIES, MOST_ENTRIES = 1.2, 1.4
# In the cache a new word takes its node in a tree (40 bytes), its text, a vector of four nodes (40 + 4 * 56), one of these (56), its own
# structure (32) and the first 16 bytes of its list; one that comes again only what its list grows by.
CACHED_WORD_BYTES, CACHED_PLACE_BYTES = 32 + 40 + 40 + 4 * 56 + 56 + 16 + WORD_BYTES, 5.0
# The share of innodb_ft_cache_size that is written at once: a fifth where the copying thread does it (MySQL 8.0, MariaDB 10.3), before that a
# tenth (by another thread), and all of it in MySQL 5.6.
COPYING_SHARE, SHARE, OLD_SHARE = 1 / 5, 1 / 10, 1.0
COPYING_SINCE, SHARE_SINCE = ((8, 0), (10, 3)), ((5, 7), (10, 0))
# A cache is written in the order of words, again and again through all of the tree, and InnoDB takes neighbours for a sequence: it splits a
# page where the last word was put. Followed page by page: 0.52 to 0.57 of languages, 0.65 where no word comes again.
WRITTEN_WORDS, WRITTEN_ONCE = Filling(0.55), Filling(0.65)
# From so many entries a row on a text is long: a place in it takes two bytes, and it is language, no list of names.
LONG_TEXT_ENTRIES = 10
SHORT_PLACE_BYTES, LONG_PLACE_BYTES, NEXT_DOCUMENT_BYTES, FIRST_DOCUMENT_BYTES = 1.0, 1.8, 1.2, 3.0
# Words are divided by their first letter's weight (fts_select_index_by_range): 9, 65, 70, 75, 80, 85. The Unicode collation algorithm gives
# Latin letters 14 to 16, or 28 and more: all words are in one table. Five are of letters, one is of digits, where numbers are among the words.
LETTER_TABLES = 5
ONE_TABLE_COLLATIONS = (range(192, 216), range(224, 248), range(255, 324), range(2048, 1 << 16))


@dataclass(frozen=True, slots=True)
class _Text:
    """A sort of texts: how many different words there are among so many (scale * number ** power, as Heaps' law says of languages).

    `entries` are those of InnoDB for each that MyISAM's bytes would be of words that come again, `letters` the tables that are filled;
    `last`: what is in the cache at the end counts, as it is written when the server stops.
    """

    scale: float
    power: float
    entries: float
    letters: int
    last: bool
    filling: Filling = WRITTEN_WORDS

    def different(self, words: float) -> float:
        """Different words among so many."""
        return float(min(self.scale * words**self.power, words))


# Terms of a list; the poorest language, of manual pages; the richest, drawn out of 60,000 words by Zipf's law; words that do not come again.
TERMS = _Text(300.0, 0.0, FEWEST_ENTRIES, LETTER_TABLES, False)
POOR = _Text(8.0, 0.61, FEWEST_ENTRIES, LETTER_TABLES, False)
RICH = _Text(4.5, 0.75, MOST_ENTRIES, LETTER_TABLES + 1, True)
ONCE = _Text(1.0, 1.0, ENTRY_BYTES / OWN_ENTRY_BYTES, LETTER_TABLES + 1, True, WRITTEN_ONCE)


def hidden_column_bytes(structure: Structure) -> int:
    """What a row has more where the table has words in an index, and no such number of its own."""
    if not structure.of_kind(types.FULLTEXT) or any(column.name == DOCUMENT_COLUMN for column in structure.columns):
        return 0
    return DOCUMENT_BYTES


def words_bytes(
    structure: Structure, rows: int, myisam_bytes: float, here: ServerKind, least_file: float
) -> tuple[float, float]:
    """All of these tables, at least and at most, where MyISAM has its words in so many bytes."""
    indexes = structure.of_kind(types.FULLTEXT)
    if not indexes:
        return 0.0, 0.0
    empty = (COMMON_TABLES + TABLES_OF_WORDS * len(indexes)) * least_file
    known = max(myisam_bytes, 0.0) / ENTRY_BYTES / len(indexes)
    if not known:
        return empty, empty
    cache = written_at_once(here) / len(indexes)
    is_long = known > rows * LONG_TEXT_ENTRIES
    free = free_extents(here.is_mariadb, here.version)
    found = []
    for text in (POOR if is_long else TERMS, RICH, ONCE):
        entries = known * text.entries
        words = _rows_of_words(entries, text, cache)
        row = ROW_BYTES + WORD_BYTES + _list_bytes(entries, words, is_long) / max(words, 1.0)
        total = empty
        for index in indexes if words else ():
            tables = _tables_filled(structure, index, text.letters)
            pages = tree_pages(ceil(words / tables), row, WORD_BYTES, text.filling)
            total += tables * (file_bytes(pages, free, least_file) - least_file)
        found.append(total)
    return min(found), max(found)


def written_at_once(here: ServerKind) -> float:
    """How many bytes of the cache are written at once."""
    share = COPYING_SHARE if here.since(*COPYING_SINCE) else SHARE if here.since(*SHARE_SINCE) else OLD_SHARE
    return here.words_cache_bytes * share


def _rows_of_words(entries: float, text: _Text, cache: float) -> float:
    """How many rows: as many in each writing as there are different words in the cache."""
    least, most = 1.0, cache
    for _ in range(40):
        middle = (least + most) / 2
        taken = text.different(middle) * CACHED_WORD_BYTES + middle * CACHED_PLACE_BYTES
        least, most = (middle, most) if taken < cache else (least, middle)
    if entries >= least:
        return entries / least * text.different(least)
    return text.different(entries) if text.last else 0.0


def _list_bytes(entries: float, words: float, is_long: bool) -> float:
    """All lists: of each document how far behind the last it is, the first its whole number; its places, and a zero behind them."""
    place = 1 + (LONG_PLACE_BYTES if is_long else SHORT_PLACE_BYTES)
    return entries * (place + NEXT_DOCUMENT_BYTES) + words * (FIRST_DOCUMENT_BYTES - NEXT_DOCUMENT_BYTES)


def _tables_filled(structure: Structure, index: Index, letters: int) -> int:
    return 1 if in_one_table(structure, index) else letters


def in_one_table(structure: Structure, index: Index) -> bool:
    """Whether all words of letters are in one table; Han characters and Hangul are none."""
    collation = structure.columns[index.parts[0].column].collation
    return any(collation in some for some in ONE_TABLE_COLLATIONS)
