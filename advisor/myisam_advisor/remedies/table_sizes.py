"""How large a table and its indexes would be after a change of engine or of packing.

InnoDB: measured, 1.1 x (data + indexes) + 45 bytes a row, within 20 % for rows of 8 to 350 bytes on MySQL 5.6, 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of

COPY_FACTOR, ROW_OVERHEAD_BYTES = 1.1, 45
PAGE_FILL = 0.67  # manual, "MyISAM key space": pages filled at random
PAGE_POINTER_BYTES = 4


def innodb_size(row: Mapping[str, Value]) -> int | None:
    """What the table will take in InnoDB; None when its size is not known."""
    data, index, rows = (number_of(row.get(name)) for name in ("data_bytes", "index_bytes", "rows"))
    if data is None or rows is None:
        return None
    return int(COPY_FACTOR * (data + (index or 0)) + ROW_OVERHEAD_BYTES * rows)


def grown_index_bytes(rows: Value, indexes: Iterable[Row]) -> int | None:
    """The size that all indexes of a table can reach unpacked; None when not known."""
    sizes = [grown_bytes(rows, index) for index in indexes]
    known = [size for size in sizes if size is not None]
    return int(sum(known)) if sizes and len(known) == len(sizes) else None


def grown_bytes(rows: Value, index: Row) -> float | None:
    """One index unpacked, at most: rows x (key length + 4) / 0.67."""
    length = index["maximum_key_bytes"]
    if not isinstance(rows, int | float) or not isinstance(length, int | float):
        return None
    return rows * (length + PAGE_POINTER_BYTES) / PAGE_FILL
