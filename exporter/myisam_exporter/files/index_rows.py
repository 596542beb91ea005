"""The rows of all indexes as a sequence that is worked out while it is read: a server may have a hundred thousand, and few differ.

Kept are the tables and the definitions that they share. What SQLite will hold of the rows is bounded: beyond that, tables are left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from math import inf
from typing import overload

from myisam_exporter.facts.columns import ColumnwiseRows, RowMaker, SharedRows, TableName, Value
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.myi_definition import Definition, Key
from myisam_exporter.files.table_groups import TableGroups

MAXIMUM_TEXT_BYTES = 192 << 20
# What a row takes in SQLite beside its names and description, and what a description has for a column: measured.
ROW_BYTES, PART_BYTES = 60, 28
_SHAPES_AT_HAND = 256
TABLES_ALIKE = 4  # of each shape, on average: from there on it pays to tell the shapes once
# Of the columns: those that a table's indexes share and that stand first, what a definition tells, and the name of the index, which none does.
SHARED = ("schema_name", "table_name")
DEFINED = RowMaker((
    "index_number", "index_name", "algorithm", "is_unique", "is_packed", "is_variable_length", "binary_search",
    "binary_search_without_packing", "page_bytes", "maximum_key_bytes", "key_parts", "key_description", "is_enabled",
    "duplicate_of", "is_left_prefix_of",
))  # fmt: skip
COLUMNS = (*SHARED, *DEFINED.columns)
NAME_PLACE = COLUMNS.index("index_name")
Row = tuple[Value, ...]


class IndexRows(ColumnwiseRows):
    """One row an index, in the order of the tables. `tables_left_out` had no room: here, or among the definitions."""

    def __init__(self, tables: TableGroups) -> None:
        # Which tables they are of, in their order. Four bytes are enough for each number: there is no room for so many rows.
        self._places, self._tables = tables.places, array("i")
        # What there is of definitions with their enabled indexes, in the order in which they come, and which of them each table has.
        self._shapes: list[tuple[Definition, int]] = []
        self._shape_of = array("i")
        self.tables_left_out = 0
        self.generation = new_generation()
        sizes: dict[int, float] = {}  # of a definition, by its id
        shapes: dict[tuple[int, int], int] = {}
        room: float = MAXIMUM_TEXT_BYTES
        for place, (definition, enabled) in enumerate(tables.indexes_of_each()):
            if definition is None:
                continue
            number = id(definition)
            size = sizes.get(number)
            if size is None:
                size = sizes[number] = _text_bytes(definition)
            if size > room:
                self.tables_left_out += 1
                continue
            room -= size
            shape = shapes.get((number, enabled))
            if shape is None:
                shape = shapes[number, enabled] = len(shapes)
                self._shapes.append((definition, enabled))
            self._tables.append(place)
            self._shape_of.append(shape)
        self._keys = [len(_keys(definition)) for definition, _ in self._shapes]
        self._ends = array("i", accumulate(map(self._keys.__getitem__, self._shape_of)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _names(self) -> Iterator[TableName]:
        return self._places.names_at(self._tables)

    def __iter__(self) -> Iterator[Row]:
        known: dict[int, list[Row]] = {}
        for name, shape in zip(self._names(), self._shape_of, strict=True):
            described = known.get(shape)
            if described is None:
                if len(known) >= _SHAPES_AT_HAND:
                    known.clear()
                described = known[shape] = list(_described(*self._shapes[shape]))
            for index in described:
                yield name + index

    def column(self, place: int) -> Iterator[Value]:
        """Names of tables and indexes are known without the definitions; the latter never."""
        if place == NAME_PLACE:
            yield from repeat(None, len(self))
        elif place < len(SHARED):
            for name, shape in zip(self._names(), self._shape_of, strict=True):
                yield from repeat(name[place], self._keys[shape])
        else:
            yield from (row[place] for row in self)

    def knows(self, place: int) -> bool:
        """Whether any row knows this column: as any definition does, of which there are few."""
        if place < len(SHARED) or place == NAME_PLACE:
            return place != NAME_PLACE and len(self) > 0
        return any(row[place - len(SHARED)] is not None for shape in self._shapes for row in _described(*shape))

    def shared(self) -> SharedRows | None:
        """Each table with the number of its shape, and the rows of each shape; None where hardly two tables are alike."""
        if len(self._shapes) * TABLES_ALIKE > len(self._tables):
            return None
        names = ((*name, shape) for name, shape in zip(self._names(), self._shape_of, strict=True))
        return SharedRows(names, [list(_described(*shape)) for shape in self._shapes])

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        whole = range(len(self))[place]
        table = bisect_right(self._ends, whole)
        shape = self._shape_of[table]
        number = whole - self._ends[table] + self._keys[shape]
        return self._places.name_at(self._tables[table]) + _index(number + 1, *self._shapes[shape])


def _keys(definition: Definition) -> tuple[Key, ...]:
    return definition.keys or ()


def _text_bytes(definition: Definition) -> float:
    """What its rows take; more than there is room for where the definition itself found none."""
    if definition.keys is None:
        return inf
    return sum(ROW_BYTES + PART_BYTES * key.part_count for key in definition.keys)


def _described(definition: Definition, enabled: int) -> Iterator[Row]:
    return (_index(number, definition, enabled) for number in range(1, len(_keys(definition)) + 1))


def _index(number: int, definition: Definition, enabled: int) -> Row:
    key = _keys(definition)[number - 1]
    other = next((one for one in definition.redundant if one.index == number), None)
    return DEFINED.row(
        {
            "index_number": number,
            "index_name": None,
            "algorithm": key.kind,
            "is_unique": int(key.unique),
            "is_packed": int(key.packed),
            "is_variable_length": int(key.variable_length),
            "binary_search": int(key.binary_search),
            "binary_search_without_packing": int(key.binary_search_without_packing),
            "page_bytes": key.page_bytes,
            "maximum_key_bytes": key.maximum_bytes,
            "key_parts": key.part_count,
            "key_description": key.description(),
            "is_enabled": enabled >> (number - 1) & 1,
            "duplicate_of": other.by if other and other.is_duplicate else None,
            "is_left_prefix_of": other.by if other and not other.is_duplicate else None,
        }
    )
