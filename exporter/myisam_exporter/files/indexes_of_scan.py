"""The rows of a scan's indexes: those of the scan before, of the same generation, where no table is defined anew, whatever was written."""

from __future__ import annotations

from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.index_rows import IndexRows
from myisam_exporter.files.table_file import TableFile


def indexes_of(after: DataDirectoryScan, before: DataDirectoryScan | None = None) -> IndexRows:
    """One row an index."""
    known = None if before is None else before.memo.indexes
    if after.memo.indexes is None and before is not None and known is not None and _all_defined_alike(after, before):
        after.memo.indexes = known
    if after.memo.indexes is None:
        after.memo.indexes = IndexRows(after.groups())
    return after.memo.indexes


def _all_defined_alike(one: DataDirectoryScan, other: DataDirectoryScan) -> bool:
    changed = one.changed_since(other)
    if changed is not None:
        now, then = one.groups(), other.groups()
        return all(_defined_alike(*pair) for name in changed for pair in zip(now[name], then[name], strict=True))
    return len(one.files) == len(other.files) and all(map(_defined_alike, one.files, other.files))


def _defined_alike(one: TableFile, other: TableFile) -> bool:
    if one is other:
        return True
    if (one.schema_name, one.table_name, one.partition) != (other.schema_name, other.table_name, other.partition):
        return False
    return one.indexes == other.indexes
