"""The tables of a scan, each with its files: one, or one a partition. They are grouped once, and the next scan takes over those that are as they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from myisam_exporter.files.index_rows import TableName
from myisam_exporter.files.table_file import TableFile

Files = tuple[TableFile, ...]


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

    def __getitem__(self, name: TableName) -> Files:
        return self.at(self.places[name])

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[TableName]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self._files)

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


def grouped(files: Iterable[TableFile]) -> TableGroups:
    """The files of each table, in the order in which its first one comes."""
    places: dict[TableName, int] = {}
    groups: list[TableFile | Files] = []
    for file in files:
        place = places.setdefault((file.schema_name, file.table_name), len(groups))
        if place == len(groups):
            groups.append(file)
        else:
            known = groups[place]
            groups[place] = (*known, file) if isinstance(known, tuple) else (known, file)
    return TableGroups(places, groups)
