"""Names of columns and indexes that InnoDB keeps for itself.

Sources: storage/innobase/handler/ha_innodb.cc (create_table_check_doc_id_col, innobase_fts_check_doc_id_index_in_def,
innobase_index_name_is_reserved) of MySQL 5.6 and MariaDB 10.11, ha_innobase::get_extra_columns_and_keys of MySQL 8.0 and later; each was
tried on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myisam_advisor.migrate.refusal import Refusal, drop_index
from myisam_advisor.migrate.row_size import has_row_identity
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier

ROW_NUMBER = "DB_ROW_ID"
RESERVED_COLUMNS = frozenset({ROW_NUMBER, "DB_TRX_ID", "DB_ROLL_PTR"})
# FULLTEXT indexes of InnoDB, and with them the name.
WORDS_SINCE = (5, 6), (10, 0)
# An index over more than the number is another error before: 10.5 and 10.11 were tried, and 10.8 brought indexes that are DESC, of which the same line asks.
LOOKS_AT_PARTS_SINCE = (10, 8)
DOCUMENT_COLUMN, DOCUMENT_INDEX, RESERVED_INDEX = "FTS_DOC_ID", "FTS_DOC_ID_INDEX", "GEN_CLUST_INDEX"


def reserved_names(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Columns whose names are InnoDB's own."""
    new = bool(structure.of_kind(types.FULLTEXT)) and kind.keeps_dictionary
    if not kind.since(*WORDS_SINCE):
        yield from _reserved_columns(structure)
        return
    # What is computed when it is read is no column of InnoDB's, but to MySQL 8.0 and later where there is a FULLTEXT index.
    columns = [column for column in structure.columns if new or column.generated != types.VIRTUAL]
    if not kind.keeps_dictionary or new:
        yield from _document_columns(columns, 1797 if new else 1166)
    later = kind.keeps_dictionary and has_row_identity(structure)
    yield from _reserved_columns(structure, RESERVED_COLUMNS - {ROW_NUMBER} if later else RESERVED_COLUMNS)


def names_of_no_use(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """The names of what InnoDB does not add to this table - a number of the row, where it has a key, and of the document, where it has no FULLTEXT index.

    MySQL 8.0 and later look at them behind the options, as they add columns first.
    """
    if has_row_identity(structure):
        yield from _reserved_columns(structure, frozenset({ROW_NUMBER}))
    if not structure.of_kind(types.FULLTEXT):
        yield from _document_columns([one for one in structure.columns if one.generated != types.VIRTUAL], 1166)


def _reserved_columns(structure: Structure, names: frozenset[str] = RESERVED_COLUMNS) -> Iterator[Refusal]:
    for column in structure.columns:
        if column.name.upper() in names:
            yield Refusal(1166, f"{column.name} is a name that InnoDB keeps for itself", _rename(column))


def _document_columns(columns: Sequence[Column], code: int) -> Iterator[Refusal]:
    for column in columns:
        if column.name.upper() == DOCUMENT_COLUMN and not _is_document_number(column):
            why = f"{column.name} is the name of InnoDB's own number of a document: it must be BIGINT NOT NULL, in capitals"
            yield Refusal(code, why, _rename(column))


def document_index(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """The index of InnoDB's own over the number of a document, where there is a FULLTEXT index."""
    for index in structure.indexes if structure.of_kind(types.FULLTEXT) else ():
        if index.name.upper() != DOCUMENT_INDEX:
            continue
        first = structure.columns[index.parts[0].column].name if index.parts else ""
        fits = index.unique and index.name == DOCUMENT_INDEX and first == DOCUMENT_COLUMN
        if not fits or len(index.parts) > 1 or index.parts[0].descending:
            why = f"{index.name} is the name of InnoDB's own index for FULLTEXT: it must be UNIQUE, over {DOCUMENT_COLUMN} alone, in capitals, and not DESC"
            old = fits and not kind.keeps_dictionary and not kind.since((8, 0), LOOKS_AT_PARTS_SINCE)
            yield Refusal(1280 if old else 1798, why, drop_index(table, index.name))


def reserved_index(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """The name of the tree of rows that have no key of their own."""
    for index in structure.indexes:
        if index.name.upper() == RESERVED_INDEX:
            yield Refusal(1280, f"{index.name} is a name that InnoDB keeps for itself", drop_index(table, index.name))


def document_number(structure: Structure) -> Column | None:
    """The column that InnoDB takes for its own number of a document, where there is a FULLTEXT index."""
    if not structure.of_kind(types.FULLTEXT):
        return None
    return next(filter(_is_document_number, structure.columns), None)


def _is_document_number(column: Column) -> bool:
    return column.name == DOCUMENT_COLUMN and column.type == types.LONGLONG and not column.nullable


def _rename(column: Column) -> str:
    return f"Give {quote_identifier(column.name)} another name."
