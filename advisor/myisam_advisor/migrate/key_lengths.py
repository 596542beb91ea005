"""How many bytes an index of InnoDB may hold: of one column, where rows are COMPACT or REDUNDANT, and of all.

Sources: sql/sql_table.cc (prepare_key_column of MySQL 9.7, mysql_prepare_create_table of 5.6 and of MariaDB 10.11), ha_innobase::max_supported_key_length
and max_supported_key_part_length; tried on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8, with pages of 4, 8, 16, 32 and 64 kB.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.innodb_formats import effective_row_format
from myisam_advisor.migrate.refusal import Refusal, drop_index
from myisam_advisor.migrate.row_size import OLD_FORMATS
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Index, Structure
from myisam_exporter.server.sql import Sql, quote_identifier

OLD_PART_BYTES = 767  # of one column in an index, in COMPACT and REDUNDANT rows
# Of one index in pages of each size; MyISAM's own limit is 1,000.
KEY_BYTES = {4096: 768, 8192: 1536}
LARGEST_KEY_BYTES = 3072
# MySQL 8.0 makes no such index, or shortens it; 5.7 was not tried.
NO_LENGTH, LONG_PREFIXES_UNTIL = 1170, (5, 7)
# MySQL 5.6 alone (of 5.5, 5.6, 8.0 and 9.7; 5.7 was not tried): of a TINYTEXT of two bytes a character any ALTER takes so many into an index.
CUTS_WHOLE_TEXTS, DOUBLE_BYTES, CUT_CHARACTERS = (5, 6), 2, 254
SMALLEST_PAGE_BYTES, MARIADB_SMALLEST_KEY_BYTES = 4096, 1173


def short_parts(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """One column of an index that is longer than the server allows before it asks InnoDB; where nothing is unique, and sql_mode not strict, it is cut."""
    if cuts_parts(structure, kind):
        for index, column, length in _long_parts(structure, kind):
            if index.unique or kind.refuses_long_parts:
                yield _too_long_part(index, column, length, kind, 1071)
    for index, column in whole_texts(structure, kind):
        if index.unique or kind.refuses_long_parts:
            why = f"index {index.name} is over all {column.maximum_bytes} characters of {column.name}, of which an ALTER takes {CUT_CHARACTERS}, to MyISAM too"
            again = f"make it again over {quote_identifier(column.name)}({CUT_CHARACTERS})."
            yield Refusal(1071, why, f"{drop_index(table, index.name)} And {again}")


def whole_texts(structure: Structure, kind: ServerKind) -> Iterator[tuple[Index, Column]]:
    """The indexes over 255 characters of a TINYTEXT of two bytes each, of which MySQL 5.6 takes one less in any ALTER, whatever the row format."""
    if kind.is_mariadb or kind.version != CUTS_WHOLE_TEXTS:
        return
    for index in structure.of_kind(types.BTREE):
        for part in index.parts:
            column = structure.columns[part.column]
            is_double = column.type == types.TINY_BLOB and character_set(column.collation)[2] == DOUBLE_BYTES
            if is_double and part.length == DOUBLE_BYTES * column.maximum_bytes:
                yield index, column


def blob_parts(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """A prefix of a TINYTEXT or TINYBLOB of more characters than it holds bytes: to any ALTER of MySQL 5.5 and 5.6 it is the whole column, which has no length."""
    if kind.is_mariadb or kind.version >= LONG_PREFIXES_UNTIL:
        return
    for index in structure.of_kind(types.BTREE):
        for part in index.parts:
            column = structure.columns[part.column]
            if (
                column.type == types.TINY_BLOB
                and part.length // character_set(column.collation)[2] > column.maximum_bytes
            ):
                why = f"index {index.name} is over {part.length} bytes of {column.name}, which holds {column.maximum_bytes}: no ALTER takes such an index"
                characters = column.maximum_bytes // character_set(column.collation)[2]
                again = f"make it again over {quote_identifier(column.name)}({characters})."
                yield Refusal(NO_LENGTH, why, f"{drop_index(table, index.name)} And {again}")


def key_parts(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """One column of an index that is longer than InnoDB allows in rows of this format."""
    if not cuts_parts(structure, kind) and effective_row_format(structure, kind) in OLD_FORMATS:
        for index, column, length in _long_parts(structure, kind):
            yield _too_long_part(index, column, length, kind, 1709)


def cuts_parts(structure: Structure, kind: ServerKind) -> bool:
    """Whether it is the server that knows of the limit. MySQL 8.0 and later look at a format that is asked for, not at the default one."""
    if not kind.keeps_dictionary:
        return not (kind.large_prefix or kind.since((8, 0), (10, 3)))
    return structure.row_format in OLD_FORMATS


def _long_parts(structure: Structure, kind: ServerKind) -> Iterator[tuple[Index, Column, int]]:
    for index in trees_of(structure, kind):
        for part in index.parts:
            if part.length > OLD_PART_BYTES:
                yield index, structure.columns[part.column], part.length


def _too_long_part(index: Index, column: Column, length: int, kind: ServerKind, code: int) -> Refusal:
    why = f"index {index.name} holds {length} bytes of {column.name}, and {OLD_PART_BYTES} are allowed"
    characters = OLD_PART_BYTES // character_set(column.collation)[2]
    dynamic = (
        "." if kind.barracuda and kind.large_prefix else " with innodb_file_format=Barracuda, innodb_large_prefix=ON."
    )
    mend = f"Index {quote_identifier(column.name)}({characters}), or let rows be DYNAMIC: ROW_FORMAT=DYNAMIC{dynamic}"
    return Refusal(code, why, mend)


def key_bytes_allowed(kind: ServerKind) -> int:
    """Of one index. MariaDB lets its own tables of statistics pass in the smallest pages (ha_innodb.cc, max_supported_key_length)."""
    if kind.is_mariadb and kind.page_bytes == SMALLEST_PAGE_BYTES:
        return MARIADB_SMALLEST_KEY_BYTES
    return KEY_BYTES.get(kind.page_bytes, LARGEST_KEY_BYTES)


def trees_of(structure: Structure, kind: ServerKind) -> tuple[Index, ...]:
    """The indexes that are trees in InnoDB. A UNIQUE one that MyISAM keeps by a hash is one, too, where InnoDB holds its columns."""
    allowed = key_bytes_allowed(kind)

    def fits(index: Index) -> bool:
        lengths = [part.length for part in index.parts]
        return all(lengths) and sum(lengths) <= allowed

    return tuple(
        index
        for index in structure.indexes
        if index.kind == types.BTREE or (index.kind == types.LONG_UNIQUE and fits(index))
    )
