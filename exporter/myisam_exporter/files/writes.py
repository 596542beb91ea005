"""What was written to tables between two scans, by what their headers count.

A header's update_count counts write statements, but of the open handle of the table that wrote last (mi_locking.c: ++info->this_loop):
one connection's statements are counted exactly, those of several at once too low.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.files.table_groups import grouped

UPDATE_COUNT_MODULUS = 2**32


class Written(NamedTuple):
    """What was written to a table: statements, None while its handles hide some, and rows added."""

    statements: int | None
    rows_added: int


NOTHING_WRITTEN = Written(0, 0)


def written_between(
    tables: Mapping[TableName, Sequence[TableFile]], before: Mapping[TableName, Sequence[TableFile]]
) -> dict[TableName, Written]:
    """What was written to each table in the interval; a table that was made or remade in between is left out."""
    written = ((name, _written(before[name], files)) for name, files in tables.items() if name in before)
    return {name: found for name, found in written if found is not None}


def statements_between(before: Iterable[TableFile], after: Iterable[TableFile]) -> dict[TableName, int]:
    """Write statements by table, of those that have any: where a file is the one of the scan before, nobody wrote to it."""
    former, present = list(before), list(after)
    unchanged = {id(file) for file in former}
    names = {(file.schema_name, file.table_name) for file in present if id(file) not in unchanged}
    now, earlier = (
        grouped([file for file in files if (file.schema_name, file.table_name) in names]) for files in (present, former)
    )
    return statements_of(written_between(now, earlier))


def statements_of(written: Mapping[TableName, Written]) -> dict[TableName, int]:
    """Write statements by table, of those that have any."""
    return {name: found.statements for name, found in written.items() if found.statements}


def _written(before: Sequence[TableFile], files: Sequence[TableFile]) -> Written | None:
    earlier = {file.partition: file for file in before}
    statements: int | None = 0
    added = 0
    for file in files:
        former = earlier.get(file.partition)
        if former is not None and former.has_header and former.has_header_of(file):
            continue
        old, new = None if former is None else former.header, file.header
        if old is None or new is None:
            return None
        grown = (new.update_count - old.update_count) % UPDATE_COUNT_MODULUS
        if grown > UPDATE_COUNT_MODULUS // 2 or old.writer != new.writer:
            statements = (
                None  # it went backwards, or another handle wrote: the table was made anew, or its handle opened anew
            )
        elif statements is not None:
            statements += grown
        added += new.rows - old.rows
    return NOTHING_WRITTEN if statements == 0 and not added else Written(statements, added)
