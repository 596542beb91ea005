"""What the page cache holds of each table's files, kept by the places that a scan's tables have: their names are kept once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.table_groups import TableGroups, TablePlaces
from myisam_exporter.kernel.residency import FilePages

# Of the data file and of the index file.
TablePages = tuple[FilePages | None, FilePages | None]


class PagesByTable(Mapping[TableName, TablePages]):
    """Pages of those tables that were asked about, by (schema, table)."""

    def __init__(self, places: TablePlaces, pages: Sequence[TablePages | None]) -> None:
        self.places = places
        self._pages = pages
        self._known = len(pages) - pages.count(None)

    def at(self, place: int) -> TablePages | None:
        """Those of the table at this place; None where it was not asked about."""
        return self._pages[place]

    def __getitem__(self, name: TableName) -> TablePages:
        found = self._pages[self.places[name]]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[TableName]:
        return (name for name, pages in zip(self.places, self._pages, strict=True) if pages is not None)

    def __len__(self) -> int:
        return self._known

    def each(self) -> Iterator[TablePages]:
        """Those of each table that was asked about."""
        return (pages for pages in self._pages if pages is not None)

    def with_pages(self, others: Mapping[int, TablePages]) -> PagesByTable:
        """The same with these, by their places."""
        pages = list(self._pages)
        for place, one in others.items():
            pages[place] = one
        return PagesByTable(self.places, pages)

    def of(self, tables: TableGroups, known: Sequence[int]) -> PagesByTable:
        """What is known of other tables, at these of their places."""
        pages: list[TablePages | None] = [None] * len(tables)
        # Looking up a hundred thousand names takes a tenth of a second.
        is_same = tables.places is self.places
        for place in known if self else ():
            pages[place] = self._pages[place] if is_same else self.get(tables.name_at(place))
        return PagesByTable(tables.places, pages)


def resident_pages(pages: TablePages | None) -> int:
    """Pages in memory; of a table that was not asked about none."""
    return sum(one.resident or 0 for one in pages or () if one is not None)


def together(parts: Iterable[TablePages | None]) -> TablePages | None:
    """The pages of all partitions, as far as any are known."""
    found = [part for part in parts if part is not None]
    return reduce(_add_both, found) if found else None


def _add_both(one: TablePages, other: TablePages) -> TablePages:
    return _add(one[0], other[0]), _add(one[1], other[1])


def _add(one: FilePages | None, other: FilePages | None) -> FilePages | None:
    if one is None or other is None:
        return None
    return FilePages(*(None if a is None or b is None else a + b for a, b in zip(one, other, strict=True)))
