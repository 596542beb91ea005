"""How large a table becomes, and how long its ALTER lasts: from its header and definition.

An ALTER that changes the engine copies row by row. The clustered index is filled nearly whole where rows come in the order of its key;
the others are filled by halves of split pages. What was measured, and how far it holds: docs/guide/migrate.md.

Source: InnoDB's row format (manual, "InnoDB Row Formats"), storage/innobase/include/rem0rec.ic; MyISAM's headers of rows, storage/myisam/
mi_dynrec.c.
"""

from __future__ import annotations

from dataclasses import dataclass

from myisam_advisor.migrate.row_size import HEADER_BYTES, ROW_ID_BYTES, TRANSACTION_BYTES, is_fixed, stored
from myisam_advisor.migrate.server_kind import INNODB
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Structure

# Measured: MariaDB 10.11 and MySQL 9.7, tables of 20 to 200 MB, everything in memory.
FULL_PAGES, ORDERED_PAGES = 0.93, 0.80
SPLIT_PAGES = {"mariadb": 0.68, "mysql": 0.47}
LEAST_FILE_BYTES, EXTENTS_BYTES = 98_304, 4 << 20
DYNAMIC_HEADER_BYTES = 4
POINTER_BYTES = 6
SHARE_OF_INNER_PAGES = 0.01
LEAST_ARIA_BYTES = 16_384.0  # of an empty table: one page of rows, one of the index's header
ARIA_LOW, ARIA_HIGH = 0.95, 1.35
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a table holds now, all its partitions together."""

    rows: int
    data_bytes: int
    index_bytes: int
    free_bytes: int
    row_format: str

    @property
    def total_bytes(self) -> int:
        """Rows and indexes."""
        return self.data_bytes + self.index_bytes

    @property
    def row_bytes(self) -> float:
        """Of one row, its header in the file included."""
        return max(self.data_bytes - self.free_bytes, 0) / self.rows if self.rows else 0.0


def bytes_after(structure: Structure, contents: Contents, to: str, flavour: str) -> Range:
    """Between which sizes the table's file or files will be."""
    if to != INNODB:
        return (
            max(ARIA_LOW * contents.total_bytes, LEAST_ARIA_BYTES),
            max(ARIA_HIGH * contents.total_bytes, LEAST_ARIA_BYTES),
        )
    split = SPLIT_PAGES["mariadb" if flavour == "mariadb" else "mysql"]
    columns = list(stored(structure))
    values = _value_bytes(columns, contents)
    fill = _fill(columns, values)
    row = values + _row_overhead(structure, columns)
    low = _tree(contents.rows, row, FULL_PAGES)
    high = _tree(contents.rows, row, ORDERED_PAGES if _in_order(structure) else split)
    key = _clustered_key_bytes(structure, fill)
    for index in structure.indexes:
        if index.kind != types.BTREE or index is structure.primary:
            continue
        entry = (
            HEADER_BYTES
            + key
            + sum(_average(structure.columns[part.column], part.length, fill) for part in index.parts)
        )
        low += _tree(contents.rows, entry, FULL_PAGES)
        high += _tree(contents.rows, entry, split)
    words = len(structure.of_kind(types.FULLTEXT)) * contents.data_bytes
    return LEAST_FILE_BYTES + low + words * 0.3, LEAST_FILE_BYTES + high + words * 2.0 + (
        EXTENTS_BYTES if high > EXTENTS_BYTES else 0
    )


def _tree(rows: int, entry: float, filled: float) -> float:
    return rows * entry / filled * (1 + SHARE_OF_INNER_PAGES)


def _value_bytes(columns: list[Column], contents: Contents) -> float:
    """What the values of one row take, without headers and bits for NULL."""
    fixed = sum(column.maximum_bytes for column in columns if is_fixed(column))
    if contents.row_format == "fixed":
        return float(sum(column.maximum_bytes for column in columns))
    nulls = (sum(column.nullable for column in columns) + 7) // 8
    return max(contents.row_bytes - DYNAMIC_HEADER_BYTES - nulls, fixed * 0.5)


def _fill(columns: list[Column], values: float) -> float:
    """Which share of its room a column of variable length takes on average."""
    fixed = sum(column.maximum_bytes for column in columns if is_fixed(column))
    room = sum(min(column.maximum_bytes, types.BLOB_BYTES[types.BLOB]) for column in columns if not is_fixed(column))
    return min(max((values - fixed) / room, 0.02), 1.0) if room else 1.0


def _row_overhead(structure: Structure, columns: list[Column]) -> float:
    lengths = sum(1 if column.maximum_bytes <= 255 else 2 for column in columns if not is_fixed(column))
    nulls = (sum(column.nullable for column in columns) + 7) // 8
    own_key = 0 if _clustered(structure) else ROW_ID_BYTES
    return HEADER_BYTES + TRANSACTION_BYTES + nulls + lengths + own_key


def _clustered(structure: Structure) -> Index | None:
    """The index that the rows are kept in."""
    if structure.primary is not None:
        return structure.primary
    plain = (index for index in structure.indexes if index.unique and index.kind == types.BTREE)
    return next(
        (
            index
            for index in plain
            if not any(part.prefix or structure.columns[part.column].nullable for part in index.parts)
        ),
        None,
    )


def _in_order(structure: Structure) -> bool:
    """Whether rows are likely to come in the order of that index: it counts, or there is none."""
    index = _clustered(structure)
    return index is None or structure.columns[index.parts[0].column].auto_increment


def _clustered_key_bytes(structure: Structure, fill: float) -> float:
    index = _clustered(structure)
    if index is None:
        return ROW_ID_BYTES
    return sum(_average(structure.columns[part.column], part.length, fill) for part in index.parts)


def _average(column: Column, length: int, fill: float) -> float:
    return float(length) if is_fixed(column) else min(float(length), max(column.maximum_bytes * fill, 2.0)) + 1


# Bytes a second that an ALTER writes into the new engine, by flavour: lowest and highest of what was measured on a busy machine of two
# processors, the highest doubled for an idle one. Into Aria: as a rebuild of MyISAM (rules/evidence.json), halved and doubled.
RATES: dict[tuple[str, bool], Range] = {
    ("mariadb", True): (7e6, 40e6), ("mysql", True): (1.5e6, 15e6), ("mariadb", False): (20e6, 80e6), ("mysql", False): (20e6, 80e6),
}  # fmt: skip
SHORTEST_SECONDS = 0.01


def seconds(after: Range, to: str, flavour: str, available_bytes: float | None) -> Range | None:
    """Between which times the ALTER lasts; None where the table does not fit memory: that was not measured."""
    if available_bytes is not None and after[1] > available_bytes:
        return None
    slow, fast = RATES["mariadb" if flavour == "mariadb" else "mysql", to == INNODB]
    return max(after[0] / fast, SHORTEST_SECONDS), max(after[1] / slow, 20 * SHORTEST_SECONDS)
