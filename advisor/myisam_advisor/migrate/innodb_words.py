"""What FULLTEXT indexes take in InnoDB: six tables of words for each index, five more for the table, a number for each row.

MyISAM keeps an entry for each word of each row: the word, its weight, where the row is. InnoDB keeps each word once for each time that its
cache was written, with a list of rows and places behind it. So what is decided by how often words come again is decided by no header: ends
are every word once, and each in every row.

Sources: storage/innobase/include/fts0fts.h (FTS_NUM_AUX_INDEX, FTS_NUM_AUX_COMMON), fts0fts.cc (fts_create_one_index_table: word,
first_doc_id, last_doc_id, doc_count, ilist; fts_cache_node_add_positions), storage/myisam/ft_update.c, sort_ft_key_write in mi_check.c.
"""

from __future__ import annotations

from math import ceil

from myisam_advisor.catalogue.innodb_pages import INDEX_AT_RANDOM, INDEX_OF_FEW, file_bytes, free_extents, tree_pages
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure

TABLES_OF_WORDS, COMMON_TABLES = 6, 5
DOCUMENT_BYTES = 8  # FTS_DOC_ID, a column of its own, and an index over it
DOCUMENT_COLUMN = "FTS_DOC_ID"
# A word's row: header, transaction, first and last document, their number, lengths; then the word, and four bytes or five for each row that has it.
WORD_ROW_BYTES, WORD_BYTES, PLACE_BYTES = 5 + 13 + 8 + 8 + 4 + 3, 7, 4.5
# MyISAM's entry: weight and place, before them what is left of the word, as sorted neighbours share its beginning.
ENTRY_BYTES, ENTRY_WORD_BYTES = 10, 3
# The cache is written whenever a tenth of innodb_ft_cache_size is in it (fts_add_doc_by_id): some 14,000 words of 8 MB. So many of these
# are met there for the first time; of words drawn by Zipf's law out of 60,000 it was 0.55. MySQL 5.6 waits until all of it is full.
NEW, NEW_OF_OLD = (0.15, 1.0), (0.05, 0.6)
FIRST_TENTH = (5, 7)
# Words are divided by their first letter's weight (fts_select_index_by_range): 9, 65, 70, 75, 80, 85. The Unicode collation algorithm gives
# Latin letters 14 to 16, or 28 and more: all words are in one table.
LETTER_TABLES = 5
ONE_TABLE_COLLATIONS = (range(192, 216), range(224, 248), range(255, 324), range(2048, 1 << 16))


def hidden_column_bytes(structure: Structure) -> int:
    """What a row has more where the table has words in an index, and no such number of its own."""
    if not structure.of_kind(types.FULLTEXT) or any(column.name == DOCUMENT_COLUMN for column in structure.columns):
        return 0
    return DOCUMENT_BYTES


def words_bytes(structure: Structure, myisam_bytes: float, here: ServerKind, least_file: float) -> tuple[float, float]:
    """All of these tables, at least and at most, where MyISAM has its words in so many bytes."""
    indexes = structure.of_kind(types.FULLTEXT)
    count = len(indexes)
    if not count:
        return 0.0, 0.0
    tables = sum(_tables_filled(structure, index) for index in indexes)
    entries = max(myisam_bytes, 0.0) / (ENTRY_BYTES + ENTRY_WORD_BYTES) / tables
    empty = (COMMON_TABLES + TABLES_OF_WORDS * count) * least_file
    found = []
    old = not here.is_mariadb and here.version < FIRST_TENTH
    for new, filling in zip(NEW_OF_OLD if old else NEW, (INDEX_AT_RANDOM, INDEX_OF_FEW), strict=True):
        row = WORD_ROW_BYTES + WORD_BYTES + PLACE_BYTES / new
        pages = tree_pages(ceil(entries * new), row, WORD_BYTES, filling)
        found.append(
            empty + tables * (file_bytes(pages, free_extents(here.is_mariadb, here.version), least_file) - least_file)
        )
    return min(found), max(found)


def _tables_filled(structure: Structure, index: Index) -> int:
    collation = structure.columns[index.parts[0].column].collation
    return 1 if any(collation in some for some in ONE_TABLE_COLLATIONS) else LETTER_TABLES
