"""Many rows kept as columns, packed: of a hundred thousand tables the rows would take 60 MB as tuples, and so they take 15.

A thousand rows at a time. In such a slice a column is one value, numbers of eight bytes, or one byte a row where few values differ; whatever
fits none of these is kept as it is. Values come out as they went in, of the same type. Rows that change lie beside the slices until they are
many: nothing is packed anew for a few.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, repeat
from typing import Protocol, cast, overload

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import ROWS_AT_ONCE, ColumnwiseRows, Value

SLICE_ROWS = ROWS_AT_ONCE
# Where more than so many rows lie beside, and more than this part of all, their slices are packed anew.
FEWEST_BESIDE, PART_BESIDE = 256, 32
FEW_OF_SLICE = 32  # the part of a slice below which its rows are looked up one by one
_FEW = 128  # of values that a byte tells apart
PackedRow = tuple[Value, ...]


class _Cells(Protocol):
    """One column of a slice."""

    def __getitem__(self, place: int) -> Value: ...

    def __iter__(self) -> Iterator[Value]: ...

    def known(self) -> int:
        """How many rows know it."""


@dataclass(frozen=True, slots=True)
class _Same:
    """The same value in all rows."""

    value: Value
    rows: int

    def __getitem__(self, place: int) -> Value:
        return self.value

    def __iter__(self) -> Iterator[Value]:
        return repeat(self.value, self.rows)

    def known(self) -> int:
        return 0 if self.value is None else self.rows


@dataclass(frozen=True, slots=True)
class _Few:
    """Few values: for each row which."""

    values: Sequence[Value]
    which: bytes

    def __getitem__(self, place: int) -> Value:
        return self.values[self.which[place]]

    def __iter__(self) -> Iterator[Value]:
        return map(self.values.__getitem__, self.which)

    def known(self) -> int:
        return len(self.which) - (self.which.count(self.values.index(None)) if None in self.values else 0)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers of one type, and in which rows there is none."""

    numbers: array[float]  # or of whole ones
    missing: bytes  # for each row 1 where there is none; empty where there always is one

    def __getitem__(self, place: int) -> Value:
        return None if self.missing and self.missing[place] else self.numbers[place]

    def __iter__(self) -> Iterator[Value]:
        if not self.missing:
            return iter(self.numbers)
        return (None if no else number for number, no in zip(self.numbers, self.missing, strict=True))

    def known(self) -> int:
        return len(self.numbers) - self.missing.count(1)


@dataclass(frozen=True, slots=True)
class _Any:
    """Values as they are."""

    values: Sequence[Value]

    def __getitem__(self, place: int) -> Value:
        return self.values[place]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def known(self) -> int:
        return len(self.values) - self.values.count(None)


Slice = tuple[_Cells, ...]


class PackedRows(ColumnwiseRows):
    """Rows of `width` columns, as a sequence of tuples."""

    def __init__(self, rows: Iterable[Sequence[Value]], width: int) -> None:
        self.width = width
        self._length = 0
        self._slices: list[Slice] = []
        self._beside: Mapping[int, PackedRow] = {}
        given = iter(rows)
        while some := list(islice(given, SLICE_ROWS)):
            self._slices.append(_packed(some))
            self._length += len(some)

    @classmethod
    def of_columns(cls, slices: Iterable[Sequence[Sequence[Value]]], width: int) -> PackedRows:
        """Of SLICE_ROWS rows at a time, fewer in the last, by their columns."""
        made = cls((), width)
        for columns in slices:
            made._slices.append(tuple(map(_packed_column, columns)))
            made._length += len(columns[0])
        return made

    def with_rows(self, rows: Mapping[int, Sequence[Value]]) -> PackedRows:
        """The same with other rows in these places."""
        made = PackedRows((), self.width)
        made._length, made._slices = self._length, self._slices
        beside = {**self._beside, **{place: tuple(row) for place, row in rows.items()}}
        if len(beside) > max(FEWEST_BESIDE, self._length // PART_BESIDE):
            made._slices = list(self._slices)
            for number in {place // SLICE_ROWS for place in beside}:
                start = number * SLICE_ROWS
                known = enumerate(zip(*self._slices[number], strict=True), start)
                made._slices[number] = _packed([beside.get(place, row) for place, row in known])
            beside = {}
        made._beside = beside
        return made

    def column(self, place: int) -> Iterable[Value]:
        """The values of one column, row after row."""
        values = chain.from_iterable(cells[place] for cells in self._slices)
        if not self._beside:
            return values
        found = list(values)
        for row, others in self._beside.items():
            found[row] = others[place]
        return found

    def rows_at(self, places: Sequence[int]) -> list[PackedRow]:
        """The rows at these places, in their order: where many are of one slice, it is unpacked once."""
        found = {place: self._beside[place] for place in places if place in self._beside}
        for number, some in groupby(sorted(set(places).difference(found)), key=lambda place: place // SLICE_ROWS):
            of_slice = list(some)
            if len(of_slice) < SLICE_ROWS // FEW_OF_SLICE:
                found.update((place, self._packed_row(place)) for place in of_slice)
            else:
                rows = list(zip(*self._slices[number], strict=True))
                found.update((place, rows[place % SLICE_ROWS]) for place in of_slice)
        return [found[place] for place in places]

    def rows_of(self, columns: Sequence[int]) -> Iterator[PackedRow]:
        """Each row, of these columns alone, at least one."""
        rows = chain.from_iterable(zip(*[cells[place] for place in columns], strict=True) for cells in self._slices)
        if not self._beside:
            return rows
        return (
            tuple([self._beside[place][column] for column in columns]) if place in self._beside else row
            for place, row in enumerate(rows)
        )

    def known_counts(self) -> list[int]:
        """How many rows know each column."""
        counts = [sum(cells.known() for cells in column) for column in zip(*self._slices, strict=True)] or [
            0
        ] * self.width
        for place, row in self._beside.items():
            for column, (then, now) in enumerate(zip(self._packed_row(place), row, strict=True)):
                counts[column] += (now is not None) - (then is not None)
        return counts

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[PackedRow]:
        rows: Iterable[PackedRow] = chain.from_iterable(zip(*cells, strict=True) for cells in self._slices)
        beside = self._beside
        return (beside.get(place, row) for place, row in enumerate(rows)) if beside else iter(rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(_are_equal, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    @overload
    def __getitem__(self, place: int) -> PackedRow: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[PackedRow]: ...

    def __getitem__(self, place: int | slice) -> PackedRow | Sequence[PackedRow]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(self._length))]
        whole = range(self._length)[place]
        beside = self._beside.get(whole)
        return self._packed_row(whole) if beside is None else beside

    def _packed_row(self, place: int) -> PackedRow:
        number, place = divmod(place, SLICE_ROWS)
        return tuple([cells[place] for cells in self._slices[number]])


def _are_equal(one: PackedRow, other: Sequence[Value]) -> bool:
    return one == tuple(other)


def _packed(rows: Sequence[Sequence[Value]]) -> Slice:
    return tuple(map(_packed_column, zip(*rows, strict=True)))


def _packed_column(values: Sequence[Value]) -> _Cells:
    first = values[0]
    if (first is None or isinstance(first, str)) and values.count(first) == len(values):
        return _Same(first, len(values))  # most columns; nothing of another type is equal to these
    kinds = set(map(type, values))
    if len(kinds) == 1 and float not in kinds and values.count(first) == len(values):
        return _Same(first, len(values))
    if float not in kinds and (bool not in kinds or int not in kinds):
        different = set(values)
        if len(different) <= _FEW:
            order = list(different)
            places = {value: place for place, value in enumerate(order)}
            return _Few(order, bytes(map(places.__getitem__, values)))
    if kinds <= {int, type(None)} or kinds <= {float, type(None)}:
        return _packed_numbers(values, "q" if int in kinds else "d")
    return _Any(values)


def _packed_numbers(values: Sequence[Value], kind: str) -> _Cells:
    missing = bytes(value is None for value in values) if None in values else b""
    numbers = cast("Iterable[float]", (0 if value is None else value for value in values) if missing else values)
    try:
        packed = array(kind, numbers)
    except OverflowError:
        return _Any(values)
    # By their bytes: 0.0 and -0.0 are equal, and not the same.
    image = packed.tobytes()
    is_one = not missing and image == image[: packed.itemsize] * len(packed)
    return _Same(values[0], len(values)) if is_one else _Numbers(packed, missing)
