"""Rows that MySQL 5.6 does not take because of its redo log: what of a row lies outside of its page may be a tenth of all log files together (error 1118).

Source: row_ins_index_entry_big_rec and btr_store_big_rec_extern_fields of MySQL 5.6.20 and later (btr/btr0cur.cc). Tried on 5.6.24 with one BLOB and with two;
5.5, 8.0 and 9.7 and MariaDB 10.5 to 11.8 take such rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.row_size import OLD_PREFIX_BYTES, stored
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.widths import LEAST_ROW_BYTES, PACKED
from myisam_advisor.texts.templates import size
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

SHARE_OF_LOG = 10
# Of a long row what is its headers: each block of 16 MB has 20 bytes.
MOST_OF_HEADERS = 0.01


def rows_beyond_log(structure: Structure, contents: Contents | None, here: ServerKind) -> Iterator[Refusal]:
    """What is refused for sure: the mean of the rows is longer, so one is."""
    allowed = here.redo_bytes / SHARE_OF_LOG
    if not allowed or contents is None or not contents.rows or contents.row_format == PACKED:
        return
    blobs = _blobs(structure)
    within = sum(column.maximum_bytes for column in stored(structure) if not column.is_blob)
    outside = contents.row_bytes * (1 - MOST_OF_HEADERS) - within - len(blobs) * OLD_PREFIX_BYTES
    if blobs and outside > allowed:
        yield Refusal(
            1118,
            f"its rows have {size(contents.row_bytes)} on average, and this version takes no row with more than {size(allowed)} outside of its page: a tenth of the redo log",
            _larger_log(here),
        )


def long_rows(structure: Structure, contents: Contents | None, here: ServerKind, table: Sql) -> Iterator[Change]:
    """What may be there: the file is long enough for one such row beside all others."""
    allowed = here.redo_bytes / SHARE_OF_LOG
    blobs = _blobs(structure)
    if not allowed or contents is None or not contents.rows or sum(one.maximum_bytes for one in blobs) <= allowed:
        return
    longest = contents.data_bytes - contents.free_bytes - LEAST_ROW_BYTES * (contents.rows - 1)
    if longest <= allowed and contents.row_format != PACKED:
        return
    yield Change(
        "row-beyond-log",
        f"Error 1118: a row with more than {size(allowed)} of BLOB and TEXT stops the copy (a tenth of the redo log is the most). {_larger_log(here)}",
        statement("SELECT MAX({}) FROM {};", _lengths(blobs), table),
    )


def _blobs(structure: Structure) -> list[Column]:
    return [column for column in stored(structure) if column.is_blob]


def _larger_log(here: ServerKind) -> str:
    return f"Make innodb_log_file_size larger ({size(here.redo_bytes)} are all log files now), and restart."


def _lengths(blobs: list[Column]) -> Sql:
    """How long all of them are together."""
    return sql_list((statement("COALESCE(LENGTH({}), 0)", quote_identifier(one.name)) for one in blobs), " + ")
