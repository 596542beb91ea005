"""Definitions beside the tables of a database: .frm files, and the lists of MERGE tables. One that did not change is not read again.

What cannot be read, or is damaged, is unknown: the table itself is told of by its .MYI.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.file_names import decode_table, undivided
from myisam_exporter.files.file_state import CLOCK_TICK_NS, refuse_exhaustion, signature
from myisam_exporter.files.frm_definition import FrmError, TableDefinition, parse_definition
from myisam_exporter.files.merge_list import MAXIMUM_BYTES, parse_merge_list
from myisam_exporter.outside.foreign_files import ForeignFiles

DEFINITION, MERGE_LIST = ".frm", ".MRG"
# Names in the lists of all MERGE tables together. They take 12 MB then; a server that opens more at once would run out of descriptors
# (open_files_limit), and a year's daily tables in a hundred MERGE tables are 36,500.
MAXIMUM_NAMES = 100_000
_INTERNED = 4096  # definitions that differ; far fewer do, unless somebody forges them
Found = TypeVar("Found")


class MergeTable(NamedTuple):
    """A MERGE table and the tables that it is made of."""

    schema_name: str
    table_name: str
    tables: tuple[TableName, ...]


class Noted(NamedTuple):
    """What a .frm says, and the state of the file in which it did."""

    definition: TableDefinition | None
    state: int


YOUNG = -1  # the state of a file that may change again within the same tick of the file system's clock; no hash is -1
# Of one that is there and cannot be read; what has this state is read again, so a hash that is -2 does no harm.
UNREADABLE = -2
Lists = dict[str, tuple[tuple[TableName, ...] | None, int]]
NOT_THERE = Noted(None, 0)
NO_ROOM: tuple[TableName, ...] = (("", ""),)  # stands for a list that was not taken apart


class DefinitionReader:
    """Reads the definitions of databases. The .frm files are remembered by whoever asks for them, the lists here where wanted."""

    def __init__(self, files: ForeignFiles, *, remember: bool, reads_frm: bool = True) -> None:
        self.files, self.reads_frm = files, reads_frm
        self.files_read = 0
        self._lists: dict[str, Lists] | None = {} if remember else None
        self._names: dict[str, int] = {}
        self._all_names = 0
        self._alike: dict[TableDefinition, TableDefinition] = {}

    def of(self, name: str, directory: int, listed: Sequence[str], began_ns: int) -> DatabaseDefinitions:
        """Those of one database, whose directory is open, has this listed, and was begun to be read at this time."""
        lists: Lists = {}
        before = self._lists.get(name, {}) if self._lists is not None else {}
        if self._lists is not None:
            self._lists[name] = lists
        self._release(name)
        return DatabaseDefinitions(self, name, directory, listed, began_ns, before, lists)

    def forget(self, name: str) -> None:
        """A database that is gone."""
        if self._lists is not None:
            self._lists.pop(name, None)
        self._release(name)

    @property
    def room(self) -> int:
        """For so many names more."""
        return MAXIMUM_NAMES - self._all_names

    def keep(self, name: str, tables: Sequence[TableName]) -> bool:
        """Whether there is room for another list in this database; then it is taken. An empty list takes some too."""
        names = len(tables) + 1
        if names > self.room:
            return False
        self._names[name] = self._names.get(name, 0) + names
        self._all_names += names
        return True

    def _release(self, name: str) -> None:
        self._all_names -= self._names.pop(name, 0)

    def definition_in(self, descriptor: int) -> TableDefinition | None:
        """What an open .frm says; equal ones are one object."""
        try:
            found = parse_definition(lambda position, length: os.pread(descriptor, length, position))
        except FrmError:
            return None
        if len(self._alike) >= _INTERNED:
            self._alike.clear()
        return self._alike.setdefault(found, found)


class DatabaseDefinitions:
    """The definitions of one database, in one reading of its directory. `settled` is False where one may change again unseen.

    `lists_left_out` are the lists of MERGE tables for which there is no room.
    """

    def __init__(
        self,
        reader: DefinitionReader,
        name: str,
        directory: int,
        listed: Sequence[str],
        began_ns: int,
        lists_before: Mapping[str, tuple[tuple[TableName, ...] | None, int]],
        lists: Lists,
    ) -> None:
        self.settled, self.lists_left_out = True, 0
        self._name = name
        self._reader, self._directory, self._young_ns = reader, directory, began_ns - CLOCK_TICK_NS
        self._listed = listed
        self._stems = {file[: -len(DEFINITION)] for file in listed if reader.reads_frm and file.endswith(DEFINITION)}
        self._lists_before, self._lists = lists_before, lists
        self._of_partitions: dict[str, Noted] = {}

    def of_table(self, stem: str, before: Noted) -> Noted:
        """What the .frm of a table, or of the table that this is a partition of, says; of one that is as before, without a read."""
        if not self._stems:
            return NOT_THERE  # from MySQL 8.0 on there is none, and MariaDB's are not looked for
        table = undivided(stem)
        if table not in self._stems:
            return NOT_THERE
        if table == stem:
            return Noted(*self._found(stem + DEFINITION, before, self._reader.definition_in))
        if table not in self._of_partitions:
            found = Noted(*self._found(table + DEFINITION, before, self._reader.definition_in))
            self._of_partitions[table] = found
        return self._of_partitions[table]

    def merge_tables(self, schema: str) -> tuple[MergeTable, ...]:
        """The MERGE tables of the database, as far as there is room for their lists."""

        def tables_in(descriptor: int) -> tuple[TableName, ...] | None:
            data = os.pread(descriptor, MAXIMUM_BYTES, 0)
            # Counted first: of thousands of lists without room, none takes the time to be taken apart.
            return parse_merge_list(data, schema) if data.count(b"\n") < self._reader.room else NO_ROOM

        tables = []
        for file in sorted(file for file in self._listed if file.endswith(MERGE_LIST)):
            named = decode_table(file[: -len(MERGE_LIST)])
            if named is None:
                continue
            found = self._found(file, self._lists_before.get(file, (None, 0)), tables_in)
            if found[0] is None:
                continue
            if found[0] is NO_ROOM or not self._reader.keep(self._name, found[0]):
                self.lists_left_out += 1
                self.settled = False  # there may be room the next time
                continue
            self._lists[file] = found
            tables.append(MergeTable(schema, named[0], found[0]))
        return tuple(tables)

    def _found(
        self, file: str, before: tuple[Found | None, int], read: Callable[[int], Found | None]
    ) -> tuple[Found | None, int]:
        """What is in a file, and its state: as before where that did not change."""
        try:
            if before[1] not in (0, YOUNG, UNREADABLE) and before[1] == signature(
                self._reader.files.status(file, self._directory)
            ):
                return before
            descriptor, status = self._reader.files.opened(file, self._directory)
            self._reader.files_read += 1
            try:
                found = read(descriptor)
            finally:
                os.close(descriptor)
        except FileNotFoundError:  # gone since the listing
            return None, 0
        except OSError as error:  # another's, or a disk that fails
            refuse_exhaustion(error)
            return None, UNREADABLE
        if status.st_mtime_ns >= self._young_ns:
            self.settled = False
            return found, YOUNG
        return found, signature(status)
