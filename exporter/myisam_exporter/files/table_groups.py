"""The tables of a scan, each with its files: one, or one a partition. They are grouped once, and the next scan takes over those that are as they were."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import accumulate, compress, islice
from typing import overload

from myisam_exporter.files.table_file import TableFile, TableName

Files = tuple[TableFile, ...]


class TablePlaces(Mapping[TableName, int]):
    """Where each table stands, by its name, in that order. Tables of one database follow each other, so its name is kept once."""

    def __init__(self, schemas: Mapping[str, Mapping[str, int]], starts: Mapping[str, int]) -> None:
        # Of each database the place of its first table, and how far behind that the others stand.
        self._schemas = schemas
        self._starts = starts
        self._names_in_order, self._starts_in_order = tuple(schemas), array("l", starts.values())
        self._length = sum(map(len, schemas.values()))

    def __getitem__(self, name: TableName) -> int:
        schema, table = name
        return self._schemas[schema][table] + self._starts[schema]

    def __iter__(self) -> Iterator[TableName]:
        return ((schema, table) for schema, tables in self._schemas.items() for table in tables)

    def __len__(self) -> int:
        return self._length

    def name_at(self, place: int) -> TableName:
        """The table that stands there."""
        number = bisect_right(self._starts_in_order, place) - 1
        schema = self._names_in_order[number]
        return schema, next(islice(self._schemas[schema], place - self._starts_in_order[number], None))


class ChosenNames(Sequence[TableName]):
    """The names of some tables, by their places in rising order."""

    def __init__(self, places: TablePlaces, chosen: array[int]) -> None:
        self._places = places
        self._chosen = chosen

    def __len__(self) -> int:
        return len(self._chosen)

    def __iter__(self) -> Iterator[TableName]:
        if len(self) == len(self._places):
            return iter(self._places)
        is_chosen = bytearray(len(self._places))
        for place in self._chosen:
            is_chosen[place] = 1
        return compress(self._places, is_chosen)

    @overload
    def __getitem__(self, number: int) -> TableName: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[TableName]: ...

    def __getitem__(self, number: int | slice) -> TableName | Sequence[TableName]:
        if isinstance(number, slice):
            return ChosenNames(self._places, self._chosen[number])
        return self._places.name_at(self._chosen[number])


class TableGroups(Mapping[TableName, Files]):
    """The files by table. A table's place stays the same as long as none comes or goes: `places` is shared by all scans until then."""

    def __init__(self, places: Mapping[TableName, int], files: Sequence[TableFile | Files]) -> None:
        self.places = places
        # The one file of a table stands there itself: a hundred thousand tuples of one would take 6 MB.
        self._files = files

    def at(self, place: int) -> Files:
        """The files of the table at this place."""
        files = self._files[place]
        return files if isinstance(files, tuple) else (files,)

    def name_at(self, place: int) -> TableName:
        """The name of the table at this place."""
        file = self.at(place)[0]
        return file.schema_name, file.table_name

    def __getitem__(self, name: TableName) -> Files:
        return self.at(self.places[name])

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[TableName]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self._files)

    def values(self) -> ValuesView[Files]:
        """The files of each table, in order, without a look at where each one stands."""
        return _InOrder(self)

    def each(self) -> Iterator[Files]:
        """The same, to go through once."""
        return (files if isinstance(files, tuple) else (files,) for files in self._files)

    def with_files(self, changed: Iterable[TableFile]) -> TableGroups:
        """The same tables, with these files in the place of those that had their names."""
        files = list(self._files)
        for file in changed:
            place = self.places[file.schema_name, file.table_name]
            known = files[place]
            files[place] = (
                tuple(file if one.partition == file.partition else one for one in known)
                if isinstance(known, tuple)
                else file
            )
        return TableGroups(self.places, files)


class _InOrder(ValuesView[Files]):
    _mapping: TableGroups

    def __iter__(self) -> Iterator[Files]:
        return self._mapping.each()


def names_at(tables: Mapping[TableName, object], places: array[int]) -> Sequence[TableName]:
    """The names of the tables at these places, which rise; those of a scan are not kept a second time."""
    if isinstance(tables, TableGroups) and isinstance(tables.places, TablePlaces):
        return ChosenNames(tables.places, places)
    names = list(tables)
    return [names[place] for place in places]


def grouped(files: Iterable[TableFile]) -> TableGroups:
    """The files of each table, in the order in which its first one comes."""
    schemas: dict[str, dict[str, int]] = {}
    starts: dict[str, int] = {}
    groups: list[TableFile | Files] = []
    for file in files:
        start = starts.setdefault(file.schema_name, len(groups))
        place = schemas.setdefault(file.schema_name, {}).setdefault(file.table_name, len(groups) - start) + start
        if place == len(groups):
            groups.append(file)
        else:
            known = groups[place]
            groups[place] = (*known, file) if isinstance(known, tuple) else (known, file)
    if list(starts.values()) == list(accumulate([0, *map(len, schemas.values())]))[:-1]:
        return TableGroups(TablePlaces(schemas, starts), groups)
    # Tables of one database do not follow each other: of no scan of a directory.
    unordered = TableGroups({}, groups)
    return TableGroups({unordered.name_at(place): place for place in range(len(groups))}, groups)
