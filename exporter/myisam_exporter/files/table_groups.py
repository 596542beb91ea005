"""The tables of a scan, each with its files: one, or one a partition. They are grouped once, and the next scan takes over those that are as they were."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import accumulate, compress, groupby
from operator import attrgetter, is_
from typing import cast

from myisam_exporter.facts.columns import TableName, stretches
from myisam_exporter.files.myi_definition import Definition
from myisam_exporter.files.table_file import TableFile, counts_of, indexes_of_files

Files = tuple[TableFile, ...]


class TablePlaces(Mapping[TableName, int]):
    """Where each table stands, by its name, in that order. Tables of one database follow each other, so that its name is kept once."""

    def __init__(self, schemas: Mapping[str, Collection[str]]) -> None:
        ends = list(accumulate(map(len, schemas.values())))
        self._length = ends[-1] if ends else 0
        # Of each database the place of its first table, and how far behind that the others stand.
        self._order, self._starts_in_order = tuple(schemas), [0, *ends][: len(schemas)]
        self._starts = dict(zip(self._order, self._starts_in_order, strict=True))
        self._names: dict[str, tuple[str, ...]] = {}
        self._schemas: dict[str, dict[str, int]] = {}
        # Hosting has the same tables in every database: those are kept once.
        alike: dict[tuple[str, ...], tuple[tuple[str, ...], dict[str, int]]] = {}
        for schema, tables in schemas.items():
            names = tuple(tables)
            known = alike.get(names)
            if known is None:
                known = alike[names] = names, {table: number for number, table in enumerate(names)}
            self._names[schema], self._schemas[schema] = known

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
        schema = self._order[number]
        return schema, self._names[schema][place - self._starts_in_order[number]]

    def names_at(self, places: Iterable[int]) -> Iterator[TableName]:
        """The tables that stand at these places, in the order of all."""
        is_meant = bytearray(self._length)
        for place in places:
            is_meant[place] = 1
        return compress(self, is_meant)


class NamesAt(Collection[TableName]):
    """The tables at these places, named when they are asked for: kept as names, a hundred thousand would take 4 MB."""

    def __init__(self, places: TablePlaces, chosen: Iterable[int]) -> None:
        self._places, self._chosen = places, array("i", chosen)

    def __iter__(self) -> Iterator[TableName]:
        return self._places.names_at(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)

    def __contains__(self, name: object) -> bool:
        return any(one == name for one in self)


class TableGroups(Mapping[TableName, Files]):
    """The files by table. A table's place stays the same as long as none comes or goes: `places` is shared by all scans until then."""

    def __init__(self, places: TablePlaces, files: Sequence[TableFile | Files], *, is_of_scan: bool = False) -> None:
        self.places = places
        # The one file of a table stands there itself: a hundred thousand tuples of one would take 6 MB. Where no table has several, these
        # are the scan's files as they are.
        self._files, self._is_of_scan = files, is_of_scan

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
        if self._is_of_scan:
            return zip(cast("Sequence[TableFile]", self._files), strict=True)  # a tuple of each, made in C
        return (files if isinstance(files, tuple) else (files,) for files in self._files)

    def with_header(self) -> int:
        """How many tables have any file of which the header can be read."""
        return sum(
            any(file.has_header for file in files) if isinstance(files, tuple) else files.has_header
            for files in self._files
        )

    def bytes_at(self, place: int) -> int:
        """Bytes in the files of the table at this place, as far as their headers can be read."""
        return sum(file.file_bytes for file in self.at(place))

    def bytes_of_each(self) -> Iterator[int | None]:
        """The same of each table, in order; None of one without any header."""
        for some in stretches(len(self)):
            whole = self._files[some.start : some.stop]
            counts = counts_of([files[0] if isinstance(files, tuple) else files for files in whole])
            for place, files, *known in zip(some, whole, counts.data_bytes, counts.index_bytes, strict=True):
                if isinstance(files, tuple):
                    yield self.bytes_at(place) if any(file.has_header for file in files) else None
                else:
                    yield sum(known) if files.has_header else None

    def modified_at(self, place: int) -> float | None:
        """When a data file of the table at this place changed last, as far as that is known."""
        return modified_last(self.at(place))

    def modified_of_each(self) -> Iterator[float | None]:
        """The same of each table, in order."""
        for some in stretches(len(self)):
            whole = self._files[some.start : some.stop]
            counts = counts_of([files[0] if isinstance(files, tuple) else files for files in whole])
            for files, modified in zip(whole, counts.data_modified, strict=True):
                yield modified_last(files) if isinstance(files, tuple) else modified

    def indexes_of_each(self) -> Iterator[tuple[Definition | None, int]]:
        """How the indexes of each table are defined and which are kept up to date, in order, as its first file with a header says; None without."""
        for some in stretches(len(self)):
            whole = self._files[some.start : some.stop]
            firsts = [files[0] if isinstance(files, tuple) else files for files in whole]
            for files, said in zip(whole, indexes_of_files(firsts), strict=True):
                if isinstance(files, tuple):
                    yield next((file.indexes for file in files if file.indexes), said)
                else:
                    yield said

    def with_files(self, changed: Iterable[TableFile], whole: Sequence[TableFile]) -> TableGroups:
        """The same tables, with these files in the place of those that were where they are; `whole` are all files now, in the same order.

        Two names of files may stand for one table.
        """
        if self._is_of_scan:
            return TableGroups(self.places, whole, is_of_scan=True)
        files = list(self._files)
        for file in changed:
            place = self.places[file.schema_name, file.table_name]
            known = files[place]
            files[place] = (
                tuple(file if (one.directory, one.stem) == (file.directory, file.stem) else one for one in known)
                if isinstance(known, tuple)
                else file
            )
        return TableGroups(self.places, files)


def modified_last(files: Files) -> float | None:
    """When one of these data files changed last, as far as that is known."""
    return max((file.data_modified for file in files if file.data_modified is not None), default=None)


class _InOrder(ValuesView[Files]):
    _mapping: TableGroups

    def __iter__(self) -> Iterator[Files]:
        return self._mapping.each()


def grouped(files: Sequence[TableFile]) -> TableGroups:
    """The files of each table: database after database, each table where its first file comes."""
    schemas: dict[str, dict[str, TableFile | Files]] = {}
    for database, own in groupby(files, key=attrgetter("database")):
        tables = schemas.setdefault(database.schema_name, {})
        for file in own:
            name = file.table_name
            known = tables.setdefault(name, file)
            if known is not file:
                tables[name] = (*known, file) if isinstance(known, tuple) else (known, file)
    each = [one for tables in schemas.values() for one in tables.values()]
    is_of_scan = len(each) == len(files) and all(map(is_, each, files))
    return TableGroups(TablePlaces(schemas), files if is_of_scan else each, is_of_scan=is_of_scan)
