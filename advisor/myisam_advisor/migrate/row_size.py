"""How long a row can become in a page of InnoDB: what the server counts when it makes the table, and what a full row takes.

Sources: dict_index_too_big_for_tree (storage/innobase/dict/dict0dict.cc, MySQL 5.6 to 9.7), dict_index_t::rec_potentially_too_big
(MariaDB 10.5 and later). The counts were tried column by column on MySQL 5.6 and 9.7 and MariaDB 10.11: how many columns of TEXT, of
VARCHAR(40) to (256), CHAR(100) and CHAR(10) in utf8mb4 a table may have before the ALTER is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Structure

PAGE_OVERHEAD_BYTES = 132  # of a page of 16 kB that holds nothing 16,252 are left, and a page holds two rows at least
HEADER_BYTES, ROW_ID_BYTES, TRANSACTION_BYTES = 5, 6, 13
REFERENCE_BYTES = 20
ALWAYS_LOCAL_BYTES = 40  # MySQL: a column up to this length stays in the row
SHORT_BYTES = 255  # MariaDB: one that can be longer may leave the row
OLD_PREFIX_BYTES = 768  # COMPACT and REDUNDANT keep so much of a long value in the row
LONGEST_FIXED_BYTES = 768


def limit_bytes(kind: ServerKind) -> int:
    """A row must be shorter than this."""
    return (kind.page_bytes - PAGE_OVERHEAD_BYTES) // 2


def counted_bytes(structure: Structure, kind: ServerKind, row_format: str) -> int:
    """What the server counts for the longest row; it refuses, or warns of, `limit_bytes` or more."""
    whole_prefix = row_format in ("COMPACT", "REDUNDANT") and kind.since((5, 7), (10, 2))
    return _overhead(structure) + sum(_counted(column, kind, whole_prefix) for column in stored(structure))


def full_row_bytes(structure: Structure, row_format: str) -> int:
    """What a row with every column full takes within its page."""
    prefix = OLD_PREFIX_BYTES if row_format in ("COMPACT", "REDUNDANT") else 0
    return _overhead(structure) + sum(_full(column, prefix) for column in stored(structure))


def stored(structure: Structure) -> Iterable[Column]:
    """The columns that are in the row."""
    return (column for column in structure.columns if column.generated != types.VIRTUAL)


def is_fixed(column: Column) -> bool:
    """Whether all values have one length in InnoDB: a CHAR of several bytes a character has not."""
    if column.is_blob or column.type in types.VARIABLE:
        return False
    if column.type != types.STRING:
        return True
    _, least, most = character_set(column.collation)
    return least == most and column.maximum_bytes <= LONGEST_FIXED_BYTES


def _overhead(structure: Structure) -> int:
    nullable = sum(column.nullable for column in stored(structure))
    key = 0 if has_row_identity(structure) else ROW_ID_BYTES
    return HEADER_BYTES + (nullable + 7) // 8 + key + TRANSACTION_BYTES


def has_row_identity(structure: Structure) -> bool:
    """Whether rows are kept by a key of the table's own: the primary, or a unique one without NULL and prefixes."""
    return any(
        index.unique
        and index.kind == types.BTREE
        and not any(part.prefix or structure.columns[part.column].nullable for part in index.parts)
        for index in structure.indexes
    )


def _counted(column: Column, kind: ServerKind, whole_prefix: bool) -> int:
    longest = column.maximum_bytes
    if is_fixed(column):
        return longest
    length_bytes = 1 if longest <= SHORT_BYTES else 2
    if whole_prefix and longest > OLD_PREFIX_BYTES + REFERENCE_BYTES:
        return OLD_PREFIX_BYTES + REFERENCE_BYTES + 2
    if whole_prefix and not column.is_blob:
        return longest + length_bytes
    if kind.is_mariadb:
        leaves = column.is_blob or longest > SHORT_BYTES
        return REFERENCE_BYTES + 1 if leaves else longest + length_bytes
    return ALWAYS_LOCAL_BYTES + 1 if longest > ALWAYS_LOCAL_BYTES else longest + length_bytes


def _full(column: Column, prefix: int) -> int:
    longest = column.maximum_bytes
    if is_fixed(column):
        return longest
    may_leave = column.is_blob or longest > SHORT_BYTES
    if may_leave and longest > max(prefix, ALWAYS_LOCAL_BYTES) + REFERENCE_BYTES:
        return prefix + REFERENCE_BYTES + 2
    return longest + (1 if longest <= SHORT_BYTES else 2)
