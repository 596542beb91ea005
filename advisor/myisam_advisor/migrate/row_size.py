"""How long a row can become in a page of InnoDB: what the server counts when it makes the table, and what a full row takes.

Sources: dict_index_too_big_for_tree (storage/innobase/dict/dict0dict.cc, MySQL 5.6 to 9.7), dict_index_t::rec_potentially_too_big
(MariaDB 10.5 and later), page_zip_empty_size (page/page0zip.cc). The counts were tried column by column on MySQL 5.6 and 9.7 and MariaDB
10.11: how many columns of TEXT, of VARCHAR(40) to (256), CHAR(100), CHAR(10) in utf8mb4 and DOUBLE a table may have before the ALTER is
refused, in each row format and size of compressed pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from myisam_advisor.migrate.innodb_words import hidden_column_bytes
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Index, Structure

# Of a page of 16 kB that holds nothing 16,252 bytes are left, 16,246 in REDUNDANT; and a page holds two rows at least.
PAGE_OVERHEAD_BYTES, OLD_PAGE_OVERHEAD_BYTES = 132, 138
LARGEST_PAGE_BYTES, LARGEST_ROW_BYTES = 65_536, 16_383
HEADER_BYTES, ROW_ID_BYTES, TRANSACTION_BYTES = 5, 6, 13
OLD_HEADER_BYTES, OLD_FIELD_BYTES = 6, 2  # of a row, and of each of its fields, in REDUNDANT
POINTER_BYTES = 4
# What of a compressed page no row has: header, transaction, end of the log; and of each row the entry in the page's directory.
COMPRESSED_OVERHEAD_BYTES, COMPRESSED_HEADER_BYTES = 106, 2
ZLIB_OVERHEAD_BYTES = 13  # compressBound of the few bytes that describe the fields
REFERENCE_BYTES = 20
ALWAYS_LOCAL_BYTES = 40  # MySQL: a column up to this length stays in the row
SHORT_BYTES = 255  # MariaDB: one that can be longer may leave the row
OLD_PREFIX_BYTES = 768  # COMPACT and REDUNDANT keep so much of a long value in the row
LONGEST_FIXED_BYTES = 768
OLD_FORMATS = frozenset({"COMPACT", "REDUNDANT"})


@dataclass(frozen=True, slots=True)
class Counted:
    """What the server counts for the longest entry of one tree, `index` is "" where that is the rows' own; `allowed` is too much already."""

    index: str
    counted: int
    allowed: int


@dataclass(frozen=True, slots=True)
class _Pages:
    """How entries lie in their pages; of those that are not compressed `compressed_bytes` is 0."""

    kind: ServerKind
    row_format: str
    compressed_bytes: int


@dataclass(frozen=True, slots=True)
class _Field:
    """A column in a tree; `prefix` is how many bytes of it, where not all."""

    column: Column
    prefix: int = 0


def limit_bytes(kind: ServerKind, row_format: str = "DYNAMIC") -> int:
    """A row must be shorter than this, in a page that is not compressed."""
    if kind.page_bytes == LARGEST_PAGE_BYTES:
        return LARGEST_ROW_BYTES
    overhead = OLD_PAGE_OVERHEAD_BYTES if row_format == "REDUNDANT" else PAGE_OVERHEAD_BYTES
    return (kind.page_bytes - overhead) // 2


def counted_trees(
    structure: Structure,
    kind: ServerKind,
    row_format: str,
    compressed_bytes: int = 0,
    indexes: Sequence[Index] | None = None,
) -> Iterator[Counted]:
    """Of the rows, and then of each index: the longest entry of their leaves, and that of the pages above them; `indexes` are those that are trees in InnoDB."""
    pages, key = _Pages(kind, row_format, compressed_bytes), row_identity(structure)
    own = _of_parts(structure, key) if key else []
    whole = [field.column for field in own if not field.prefix]
    rest = [_Field(column) for column in stored(structure) if column not in whole]
    document = hidden_column_bytes(structure)
    hidden = TRANSACTION_BYTES + (0 if key else ROW_ID_BYTES) + document
    yield from _tree("", own, rest, (hidden, (2 if key else 3) + bool(document)), pages)
    for index in structure.of_kind(types.BTREE) if indexes is None else indexes:
        if index != key:
            parts = _of_parts(structure, index)
            behind = [field for field in own if field not in parts]
            yield from _tree(index.name, [*parts, *behind], [], (0, 0) if key else (ROW_ID_BYTES, 1), pages)


def _tree(
    name: str, unique: Sequence[_Field], rest: Sequence[_Field], hidden: tuple[int, int], pages: _Pages
) -> Iterator[Counted]:
    count = len(unique) + len(rest) + hidden[1]
    allowed = limit_bytes(pages.kind, pages.row_format)
    if pages.compressed_bytes:
        described = 2 * (count + 1) + ZLIB_OVERHEAD_BYTES
        allowed = max(pages.compressed_bytes - COMPRESSED_OVERHEAD_BYTES - described, 0) - 1
    head = _head([*unique, *rest], count, pages)
    key = head + sum(_counted(field, pages, rows=not name) for field in unique)
    whole = key + hidden[0] + sum(_counted(field, pages, rows=True) for field in rest)
    yield Counted(name, whole, allowed)
    # Above the leaves of an index stand whole entries, above those of the rows their keys.
    yield Counted(name, (whole if name else key) + POINTER_BYTES, allowed // 2 if pages.compressed_bytes else allowed)


def _head(fields: Sequence[_Field], count: int, pages: _Pages) -> int:
    if pages.row_format == "REDUNDANT":
        return OLD_HEADER_BYTES + OLD_FIELD_BYTES * count
    nullable = sum(field.column.nullable for field in fields)
    return (COMPRESSED_HEADER_BYTES if pages.compressed_bytes else HEADER_BYTES) + (nullable + 7) // 8


def _of_parts(structure: Structure, index: Index) -> list[_Field]:
    """A UNIQUE index that MyISAM keeps by a hash does not say that its parts are prefixes."""
    found = [(structure.columns[part.column], part) for part in index.parts]
    return [
        _Field(column, part.length if part.prefix or part.length < column.maximum_bytes else 0)
        for column, part in found
    ]


def full_row_bytes(structure: Structure, row_format: str) -> int:
    """What a row with every column full takes within its page."""
    prefix = OLD_PREFIX_BYTES if row_format in OLD_FORMATS else 0
    return _overhead(structure) + sum(_full(column, prefix) for column in stored(structure))


def stored(structure: Structure) -> Iterable[Column]:
    """The columns that are in the row."""
    return (column for column in structure.columns if column.generated != types.VIRTUAL)


def is_fixed(column: Column, longest: int = LONGEST_FIXED_BYTES) -> bool:
    """Whether all values have one length in InnoDB: a CHAR of several bytes a character has not."""
    if column.is_blob or column.type in types.VARIABLE:
        return False
    if column.type != types.STRING:
        return True
    _, least, most = character_set(column.collation)
    return least == most and column.maximum_bytes <= longest


def _overhead(structure: Structure) -> int:
    nullable = sum(column.nullable for column in stored(structure))
    key = 0 if has_row_identity(structure) else ROW_ID_BYTES
    return HEADER_BYTES + (nullable + 7) // 8 + key + TRANSACTION_BYTES + hidden_column_bytes(structure)


def has_row_identity(structure: Structure) -> bool:
    """Whether rows are kept by a key of the table's own."""
    return row_identity(structure) is not None


def has_whole_key(structure: Structure) -> bool:
    """Whether some unique index tells each row from all others: none of its columns may be NULL."""
    return any(
        index.unique and not any(structure.columns[part.column].nullable for part in index.parts)
        for index in structure.indexes
    )


def row_identity(structure: Structure) -> Index | None:
    """The key by which rows are kept: the primary, else a unique one without NULL and prefixes."""
    if structure.primary is not None:
        return structure.primary
    return next((index for index in structure.of_kind(types.BTREE) if _identifies(structure, index)), None)


def _identifies(structure: Structure, index: Index) -> bool:
    return index.unique and not any(part.prefix or structure.columns[part.column].nullable for part in index.parts)


def _counted(field: _Field, pages: _Pages, *, rows: bool) -> int:
    """Of one field; only what is in the `rows` themselves may leave its page."""
    column, kind = field.column, pages.kind
    longest = column.maximum_bytes
    if _is_fixed_in(column, pages):
        return field.prefix or longest
    redundant = pages.row_format == "REDUNDANT"  # it counts no length bytes with the fields
    length_bytes = 0 if redundant else 1 if longest <= SHORT_BYTES else 2
    if field.prefix:
        return _counted_prefix(field, pages)
    if not rows:
        return longest + length_bytes
    if pages.row_format in OLD_FORMATS and kind.since((5, 7), (10, 2)):
        # It has no length for BLOB and TEXT, however short: TINYTEXT counts as the longest does.
        prefix = OLD_PREFIX_BYTES + REFERENCE_BYTES
        return prefix + 2 * (not redundant) if column.is_blob else min(longest, prefix) + length_bytes
    if kind.is_mariadb:
        leaves = column.is_blob or longest > SHORT_BYTES
        return REFERENCE_BYTES + (not redundant) if leaves else longest + length_bytes
    return ALWAYS_LOCAL_BYTES + (not redundant) if longest > ALWAYS_LOCAL_BYTES else longest + length_bytes


def _counted_prefix(field: _Field, pages: _Pages) -> int:
    """Of a prefix. A BLOB or TEXT has no length to InnoDB, however short: a TINYTEXT counts as declared, in MySQL with the two bytes of a long one's length.

    MariaDB counts the bytes that the prefix's own length takes, MySQL those of the column's.
    """
    column = field.column
    prefix = field.prefix if column.is_blob else min(field.prefix, column.maximum_bytes)
    if pages.row_format == "REDUNDANT":
        return prefix
    is_short = (
        prefix <= SHORT_BYTES if pages.kind.is_mariadb else not column.is_blob and column.maximum_bytes <= SHORT_BYTES
    )
    return prefix + (1 if is_short else 2)


def _is_fixed_in(column: Column, pages: _Pages) -> bool:
    """As InnoDB counts it: REDUNDANT keeps each CHAR at its length, and MySQL 5.6 also what is longer than 768 bytes."""
    longest = LONGEST_FIXED_BYTES if pages.kind.since((5, 7), (10, 2)) else column.maximum_bytes
    if pages.row_format == "REDUNDANT" and column.type == types.STRING:
        return column.maximum_bytes <= longest
    return is_fixed(column, longest)


def _full(column: Column, prefix: int) -> int:
    longest = column.maximum_bytes
    if is_fixed(column):
        return longest
    may_leave = column.is_blob or longest > SHORT_BYTES
    if may_leave and longest > max(prefix, ALWAYS_LOCAL_BYTES) + REFERENCE_BYTES:
        return prefix + REFERENCE_BYTES + 2
    return longest + (1 if longest <= SHORT_BYTES else 2)
