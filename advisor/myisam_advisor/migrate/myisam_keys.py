"""What B-trees take in a .MYI: of numbers alone that is known, and what it is more than that tells how its entries came.

Sources: storage/myisam/mi_write.c (_mi_split_page: a page that is full is halved, unless entries come at the end), mi_check.c
(sort_insert_key: pages are filled), myisamdef.h. A key points to its row by six bytes, unless myisam_data_pointer_size says otherwise.
"""

from __future__ import annotations

from myisam_advisor.migrate.row_size import is_fixed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure

ROOM_BYTES, POINTER_BYTES = 1024 - 2, 6
# How full the pages are of what came in any order, and of what was sorted or came in order: a full page first gives entries to its
# neighbours (_mi_balance_page), so two thirds are the least, not half. Measured on thirteen tables: 0.836 to 0.844, and 0.967 to 0.99.
AT_RANDOM, IN_ORDER = 0.84, 0.98
VARYING_AT_RANDOM = 0.69  # entries of various lengths have no such help: a full page is halved, which leaves ln 2
# Words that come again are worse off: each entry of a word comes behind those it has, so that of a page's halves only the second one grows.
# Measured of texts put in by rows: 0.50 to 0.56, and 0.70 where no word comes again.
WORDS_BY_ROW = 0.53
# A box has four numbers. Its tree is never sorted (mi_test_if_sort_rep), and a page is divided where boxes are apart, a third at least
# (rt_split.c): 0.54 where rows come from west to east, 0.61 to 0.63 of others.
BOX_BYTES, BOXES_FULL = 32.0, 0.6
LEAST_TEXT_BYTES = 4.0  # a text in an index, where nothing else is known of it; neighbours share what they begin with


def of_numbers(structure: Structure, index: Index) -> bool:
    """Whether every entry has one length: no texts, which are packed."""
    columns = [structure.columns[part.column] for part in index.parts]
    return index.kind == types.BTREE and all(is_fixed(column) and column.type != types.STRING for column in columns)


def full_bytes(structure: Structure, index: Index, rows: int) -> float:
    """What the entries take in full pages; of texts what they take at least."""
    entry = float(POINTER_BYTES)
    for part in index.parts:
        column = structure.columns[part.column]
        entry += column.nullable + (
            part.length if is_fixed(column) and column.type != types.STRING else LEAST_TEXT_BYTES
        )
    return rows * entry * (1 + entry / ROOM_BYTES)


def boxes_bytes(structure: Structure, rows: int) -> float:
    """What SPATIAL indexes take."""
    return len(structure.of_kind(types.SPATIAL)) * rows * (BOX_BYTES + POINTER_BYTES) / BOXES_FULL


def came_at_random(structure: Structure, clustered: Index, rows: int, index_bytes: int) -> bool:
    """Whether rows came in another order than this key's: the pages are emptier than they are where all other keys came so, and this one not.

    Where texts are in an index, or values that may be NULL, the pages tell nothing.
    """
    columns = [structure.columns[part.column] for index in structure.indexes for part in index.parts]
    if any(column.nullable for column in columns) or not all(
        of_numbers(structure, index) for index in structure.indexes
    ):
        return False
    own = full_bytes(structure, clustered, rows)
    others = sum(full_bytes(structure, index, rows) for index in structure.indexes) - own
    return index_bytes > others / AT_RANDOM + own * (1 / AT_RANDOM + 1 / IN_ORDER) / 2
