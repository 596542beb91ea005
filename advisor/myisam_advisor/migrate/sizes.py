"""How large a table becomes in another engine: from its header and definition.

An ALTER that changes the engine copies row by row. What a row takes in InnoDB is worked out of its format, how pages are filled of the way
in which the server copies; both ends are told where a header leaves something open. How far it holds: docs/guide/migrate-measured.md.

Source: InnoDB's row format (manual, "InnoDB Row Formats"), storage/innobase/include/rem0rec.ic.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.catalogue.copy_work import CopyWork
from myisam_advisor.catalogue.innodb_pages import (
    EXTENT_PAGES,
    INDEX_AT_RANDOM,
    INDEX_IN_ORDER,
    INDEX_OF_BOXES,
    INDEX_OF_FEW,
    LEAST_FILE_BYTES,
    PAGE_BYTES,
    ROWS_AT_RANDOM,
    ROWS_IN_ORDER,
    ROWS_WORST,
    SORTED_INDEX,
    SORTED_ROWS,
    Filling,
    file_bytes,
    free_extents,
    tree_pages,
)
from myisam_advisor.migrate.aria_pages import aria_bytes
from myisam_advisor.migrate.innodb_words import hidden_column_bytes, words_bytes
from myisam_advisor.migrate.myisam_keys import (
    AT_RANDOM,
    VARYING_AT_RANDOM,
    WORDS_BY_ROW,
    boxes_bytes,
    came_at_random,
    full_bytes,
)
from myisam_advisor.migrate.row_size import (
    HEADER_BYTES,
    ROW_ID_BYTES,
    TRANSACTION_BYTES,
    is_fixed,
    row_identity,
    stored,
)
from myisam_advisor.migrate.sampled_words import sampled_words_bytes, with_popular
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.widths import Widths, key_bytes, part_bytes, text_bytes, widths_of, within_index
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.fulltext_pages import IndexWords
from myisam_exporter.files.structure import Index, Structure

BOX_BYTES = 33  # what a SPATIAL index has of a shape: four corners, and their length
TEXTS = types.VARIABLE | {types.STRING}
# What the reckoning itself is wrong by, where everything is known: rows of uneven length, and an extent more or less of a file that has any.
MARGIN, EXTENT_BYTES = 0.03, EXTENT_PAGES * PAGE_BYTES
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a table holds now, all its partitions together."""

    rows: int
    data_bytes: int
    index_bytes: int
    free_bytes: int
    row_format: str
    # Nothing ever sorted its indexes: no statistics were ever made of them, and whatever sorts makes some.
    never_sorted: bool = False
    # Of its FULLTEXT indexes what their pages tell; () where these tell nothing.
    words: tuple[IndexWords, ...] = ()
    # What a copy of it has to do; None where headers do not tell.
    work: CopyWork | None = None

    @property
    def total_bytes(self) -> int:
        """Rows and indexes."""
        return self.data_bytes + self.index_bytes

    @property
    def row_bytes(self) -> float:
        """Of one row, its header in the file included."""
        return max(self.data_bytes - self.free_bytes, 0) / self.rows if self.rows else 0.0


def bytes_after(structure: Structure, contents: Contents, to: str, here: ServerKind) -> Range:
    """Between which sizes the table's file or files will be."""
    if to != INNODB:
        return aria_bytes(
            structure, contents.rows, contents.row_bytes, contents.index_bytes, contents.row_format,
            never_sorted=contents.never_sorted,
        )  # fmt: skip
    if not contents.rows:
        _, least = _room_to_keep(structure, here)
        words, _ = words_bytes(structure, 0, 0.0, here, _least_file(here))
        return least + words, least + words
    narrow, wide = within_index(
        structure, contents.rows, contents.index_bytes, widths_of(structure, contents.row_bytes, contents.row_format)
    )
    low, high = (_file(structure, contents, here, widths, most=widths is wide) for widths in (narrow, wide))
    low, high = min(low, high), max(low, high)
    return low - _wrong_by(low), high + _wrong_by(high)


def _wrong_by(file: float) -> float:
    return max(file * MARGIN, EXTENT_BYTES if file > EXTENT_BYTES else 0.0)


def _file(structure: Structure, contents: Contents, here: ServerKind, widths: Widths, *, most: bool) -> float:
    is_sorted = _is_sorted(structure, here)
    pages = sum(_trees(structure, contents, is_sorted, widths, most))
    free, least = _room_to_keep(structure, here)
    trees = sum(full_bytes(structure, index, contents.rows) for index in structure.indexes if index.kind == types.BTREE)
    # At most they are what the others leave where those are full, and at least what they leave where those are not.
    others = contents.index_bytes - boxes_bytes(structure, contents.rows)
    myisam = others - trees if most else (others - trees / AT_RANDOM) * VARYING_AT_RANDOM
    if contents.never_sorted:
        myisam = (others - trees) * VARYING_AT_RANDOM if most else (others - trees / AT_RANDOM) * WORDS_BY_ROW
    if contents.words:
        texts = [text_bytes(structure, index, widths) for index in structure.of_kind(types.FULLTEXT)]
        told = with_popular(contents.words, others - (trees if most else trees / AT_RANDOM))
        words = sampled_words_bytes(structure, contents.rows, texts, told, here, _least_file(here))
    else:
        words = words_bytes(structure, contents.rows, myisam, here, _least_file(here))
    return file_bytes(pages, free, least) + words[most]


def _is_sorted(structure: Structure, here: ServerKind) -> bool:
    return here.sorts_copies and not structure.of_kind(types.SPATIAL)


def _room_to_keep(structure: Structure, here: ServerKind) -> tuple[float, float]:
    """How many extents are kept free, and how large an empty table's file is: each index but the first has a page of its own."""
    free = 0.0 if _is_sorted(structure, here) else free_extents(here.is_mariadb, here.version)
    hidden = bool(hidden_column_bytes(structure))
    trees = (
        sum(index.kind != types.FULLTEXT for index in structure.indexes) + hidden + (row_identity(structure) is None)
    )
    return free, _least_file(here) + max(trees - 1, 0) * PAGE_BYTES


def _least_file(here: ServerKind) -> float:
    """An empty table of one index."""
    return LEAST_FILE_BYTES["mariadb" if here.is_mariadb else "dictionary" if here.keeps_dictionary else "old"]


def _trees(structure: Structure, contents: Contents, is_sorted: bool, widths: Widths, most: bool) -> Iterator[int]:
    clustered = row_identity(structure)
    key = ROW_ID_BYTES if clustered is None else key_bytes(structure, clustered, widths)
    hidden = hidden_column_bytes(structure)
    row = widths.values + _row_overhead(structure) + _prefixes(structure, clustered, widths) + hidden
    yield tree_pages(contents.rows, row, key, _rows_filling(structure, contents, is_sorted, most))
    if hidden:
        document = hidden + key + HEADER_BYTES
        yield tree_pages(contents.rows, document, hidden, SORTED_INDEX if is_sorted else INDEX_IN_ORDER)
    filling = SORTED_INDEX if is_sorted else INDEX_OF_FEW if most else INDEX_AT_RANDOM
    for index in structure.indexes:
        if index.kind == types.SPATIAL:
            yield tree_pages(contents.rows, BOX_BYTES + key + HEADER_BYTES, BOX_BYTES, INDEX_OF_BOXES)
        if index.kind == types.BTREE and index is not clustered:
            entry = key_bytes(structure, index, widths) + _behind(structure, clustered, index, widths)
            yield tree_pages(contents.rows, entry + HEADER_BYTES + _nulls(structure, index), entry, filling)


def _rows_filling(structure: Structure, contents: Contents, is_sorted: bool, most: bool) -> Filling:
    """Rows come in the order of a key that counts, and of one that InnoDB makes itself; texts come in none.

    Of other keys MyISAM's own pages may tell: full ones were sorted or came in order, but none is full whose entries came in any.
    """
    index = row_identity(structure)
    if is_sorted:
        return SORTED_ROWS
    if index is None:
        return ROWS_IN_ORDER
    first = structure.columns[index.parts[0].column]
    at_random = (
        first.is_blob or first.type in TEXTS or came_at_random(structure, index, contents.rows, contents.index_bytes)
    )
    if first.auto_increment or not (most or at_random):
        return ROWS_IN_ORDER
    return ROWS_WORST if most else ROWS_AT_RANDOM


def _row_overhead(structure: Structure) -> float:
    columns = list(stored(structure))
    lengths = sum(not is_fixed(column) for column in columns)  # most texts are shorter than 128 bytes
    nulls = (sum(column.nullable for column in columns) + 7) // 8
    own_key = 0 if row_identity(structure) else ROW_ID_BYTES
    return HEADER_BYTES + TRANSACTION_BYTES + nulls + lengths + own_key


def _prefixes(structure: Structure, clustered: Index | None, widths: Widths) -> float:
    """What the key of the rows has of columns only in part: these stand behind it as a whole."""
    parts = clustered.parts if clustered else ()
    return sum(part_bytes(structure.columns[part.column], part.length, widths) for part in parts if part.prefix)


def _nulls(structure: Structure, index: Index) -> int:
    return (sum(structure.columns[part.column].nullable for part in index.parts) + 7) // 8


def _behind(structure: Structure, clustered: Index | None, index: Index, widths: Widths) -> float:
    """The columns of the clustered key that the index has not itself."""
    if clustered is None:
        return ROW_ID_BYTES
    own = {part.column for part in index.parts if not part.prefix}
    return sum(
        part_bytes(structure.columns[part.column], part.length, widths)
        for part in clustered.parts
        if part.column not in own
    )
