"""Databases read one by one: each MyISAM table by one read of its .MYI header and one of its .frm, other engines' by the sizes of their files.

What is a link, a device or another user's is left out, and told (see foreign_files.py).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.definition_reader import (
    NOT_THERE,
    UNREADABLE,
    YOUNG,
    DatabaseDefinitions,
    DefinitionReader,
    MergeTable,
    Noted,
)
from myisam_exporter.files.file_names import FileNames, NamedFile, decode_schema
from myisam_exporter.files.file_state import CLOCK_TICK_NS, refuse_exhaustion, signature
from myisam_exporter.files.left_out import SIZE_NOT_READ, LeftOut, failed, left_out, size_of
from myisam_exporter.files.myi_definition import Definitions, HeaderError
from myisam_exporter.files.myi_header import FIRST_READ_BYTES, PackedHeader, header_length, parse_packed
from myisam_exporter.files.rebuild_files import REBUILD_ENDINGS, RebuildFile, found_rebuild_files
from myisam_exporter.files.table_file import Database, TableFile, stems_of
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles
from myisam_exporter.outside.numbers import bounded_sum

if TYPE_CHECKING:
    from myisam_exporter.files.pages_in_passing import PagesInPassing
    from myisam_exporter.kernel.residency import FilePages

OTHER_ENGINE_ENDINGS = (".ibd", ".MAD", ".MAI", ".ARZ", ".CSV", ".sdb", ".sst", ".tokudb")
NO_DATA = frozenset({".MYD", ".frm"})  # of which nothing is to be found out, or not here: most files
YOUNG_SECONDS = 0.5  # a table being made at this moment has its header a moment later
SYSTEM_SCHEMA = "mysql"  # the server's own: nothing of it is anyone's to tune, and damage in it is everyone's
RECOVERED_FILES = "lost+found"  # the file system's: none of the user's tables are there
NANOSECONDS = 1_000_000_000  # of a second


@dataclass(frozen=True, slots=True)
class SchemaFiles:
    """One database's directory as it was read.

    `settled` is False while a table in it is being made: it has to be read again soon. So it has where files are `young`, for whoever is not told
    of each write: they may change again within the same tick of the file system's clock. `differing` of its tables are not as they were when it was
    read before.
    """

    files: tuple[TableFile, ...] = ()
    other_engine_data_bytes: int = 0
    unreadable: tuple[str, ...] = ()
    settled: bool = True
    left_out: tuple[LeftOut, ...] = ()
    differing: int = 0
    merge_tables: tuple[MergeTable, ...] = ()
    merge_lists_left_out: int = 0
    young: bool = False
    rebuild_files: tuple[RebuildFile, ...] = ()

    def damaged_alone(self) -> SchemaFiles:
        """Of the server's own database its damaged tables, and those that may be: a crashed table of accounts keeps people out."""
        files = tuple(file for file in self.files if file.is_damaged)
        unknown = tuple(one for one in self.left_out if one.has_failed and not one.why.startswith(SIZE_NOT_READ))
        differing = len(files) and self.differing
        return SchemaFiles(
            files, settled=self.settled, left_out=unknown, differing=differing, young=self.young, rebuild_files=self.rebuild_files,
        )  # fmt: skip


class SchemaReader:
    """Reads databases one by one, each file relative to its directory.

    It remembers what it read where it is to `remember`: then a header whose file did not change since is not read again. Where `reads_frm` is
    False the definitions beside the tables are left alone: reading them takes as long again as reading the headers. With `pages` those of each
    file are asked about while it is open.
    """

    def __init__(
        self, owner: int, definitions: Definitions | None = None, *, remember: bool = False, reads_frm: bool = True,
        clock: Clock = CLOCK, pages: PagesInPassing | None = None,
    ) -> None:  # fmt: skip
        self._pages = pages
        self.definitions = definitions or Definitions()
        self._clock = clock
        self._files = ForeignFiles(owner)
        self._known: dict[str, Sequence[TableFile]] | None = {} if remember else None
        self._definitions = DefinitionReader(self._files, remember=remember, reads_frm=reads_frm)
        self._names = FileNames()
        self.headers_read = 0

    def read(self, path: str, name: str) -> SchemaFiles | None:
        """One database; None when it was dropped meanwhile."""
        began_ns = int(self._clock.time() * NANOSECONDS)
        known = self._known.get(name, ()) if self._known is not None else ()
        database = Database(decode_schema(name), path)
        if known and known[0].database == database:
            database = known[0].database  # files that are read again share it with those that are not
        reading = _Reading(database, began_ns)
        before = {file.stem: file for file in known if file.state is not None}
        try:
            directory = self._files.open_directory(path)
            try:
                listed = self._listed(directory, reading)
                definitions = self._definitions.of(name, directory, listed, began_ns)
                self._files_listed(directory, reading, listed, before, definitions)
                reading.merge_tables = definitions.merge_tables(reading.schema)
                reading.merge_lists_left_out = definitions.lists_left_out
                reading.settled = reading.settled and definitions.settled
            finally:
                os.close(directory)
        except FileNotFoundError:
            self.forget(name)
            return None  # DROP DATABASE came first
        except ForeignFileError as error:
            return SchemaFiles(left_out=(left_out(reading.schema, error),), settled=False)
        except OSError as error:
            refuse_exhaustion(error)
            return SchemaFiles() if _is_untold(name, error) else _unread(reading.schema, error)
        found = reading.found()
        if self._known is not None:
            self._known[name] = found.files
        return found.damaged_alone() if name == SYSTEM_SCHEMA else found

    def read_again(self, path: str, name: str, before: SchemaFiles, stems: Collection[str]) -> SchemaFiles | None:
        """A database of which nothing but the files of these tables was written; None where all of it has to be read."""
        places = dict(zip(stems_of(before.files), range(len(before.files)), strict=True))
        written = [stem for stem in stems if self._names.of(stem) is not None]
        if not before.files or any(stem not in places for stem in written):
            return None
        reading = _Reading(before.files[0].database, int(self._clock.time() * NANOSECONDS))
        files = list(before.files)
        try:
            directory = self._files.open_directory(path)
            try:
                for place in map(places.__getitem__, written):
                    found = self._written(directory, reading, files[place])
                    if found is None:
                        return None
                    if found != files[place]:
                        files[place] = found
                        reading.differing += 1
            finally:
                os.close(directory)
        except OSError as error:
            refuse_exhaustion(error)
            return None
        if self._known is not None:
            self._known[name] = files
        young = before.young or reading.young
        return replace(before, files=tuple(files), differing=reading.differing, young=young)

    def _written(self, directory: int, reading: _Reading, before: TableFile) -> TableFile | None:
        """A table whose files were written, and not made anew; None where more has to be asked."""
        if before.definition_unread or before.definition_state == YOUNG:
            return None
        modified, _ = self._data_file(directory, reading, before.named, None)
        noted = Noted(before.definition, before.definition_state)
        found = self._read_file(directory, reading, _Read(before.named, noted, None, None, modified, None), None)
        return found if reading.settled and not reading.left_out else None

    def _listed(self, directory: int, reading: _Reading) -> list[str]:
        if self._known is None:
            return os.listdir(directory)
        with os.scandir(directory) as entries:
            found = [(entry.name, entry.is_symlink()) for entry in entries]
        # Files of a table that lie elsewhere (DATA DIRECTORY) change there: nobody who watches this directory is told.
        reading.settled = not any(is_link for _, is_link in found)
        return [name for name, _ in found]

    def forget(self, name: str) -> None:
        """A database that is gone."""
        self._definitions.forget(name)
        if self._known is not None:
            self._known.pop(name, None)

    def _files_listed(
        self, directory: int, reading: _Reading, listed: Sequence[str], before: Mapping[str, TableFile], definitions: DatabaseDefinitions
    ) -> None:  # fmt: skip
        for file in listed:
            ending = file[-4:]
            if ending == ".MYI":
                self._table(directory, reading, file[:-4], before, definitions)
            elif ending in NO_DATA:
                continue
            elif ending in REBUILD_ENDINGS:
                reading.rebuild_files += found_rebuild_files(self._files, self._names, directory, reading.schema, file)
            elif file.endswith(OTHER_ENGINE_ENDINGS):
                self._other_engines_file(directory, reading, file)

    def _table(
        self, directory: int, reading: _Reading, stem: str, before: Mapping[str, TableFile], definitions: DatabaseDefinitions
    ) -> None:  # fmt: skip
        """One table; what is wrong with its file is the table's, what is wrong with our looking is not."""
        named = self._names.of(stem)
        if named is None:
            return
        links = self._files.links_met
        try:
            self._read_table(directory, reading, named, before, definitions)
        except FileNotFoundError:
            return  # dropped between listing and reading
        except ForeignFileError as error:
            reading.left_out.append(left_out(reading.named(named), error))
        except PermissionError:
            # Ours, not the table's: it is no damage.
            reading.unreadable.append(reading.named(named))
        except OSError as error:
            refuse_exhaustion(error)
            # The disk's, or the network's behind it: what is in the file may be whole, and it is asked for again.
            reading.left_out.append(failed(reading.named(named), error))
            reading.settled = False
        finally:
            if self._files.links_met != links:
                reading.rebuild_files.append(RebuildFile(reading.schema, named.table, None, None))

    def _other_engines_file(self, directory: int, reading: _Reading, file: str) -> None:
        try:
            reading.other_bytes += size_of(self._files, file, directory)
        except OSError as error:
            reading.left_out.append(failed(f"{reading.schema}.{file}", error, SIZE_NOT_READ))
            reading.settled = False

    def _read_table(
        self,
        directory: int,
        reading: _Reading,
        named: NamedFile,
        before: Mapping[str, TableFile],
        definitions: DatabaseDefinitions,
    ) -> None:
        stem = named.stem
        asker = self._pages if self._pages is not None and self._pages.has_time else None
        modified, data_pages = self._data_file(directory, reading, named, asker)
        known = before.get(stem)
        status = self._files.status(stem + ".MYI", directory) if known is not None else None
        noted = Noted(known.definition, known.definition_state) if known is not None else NOT_THERE
        if status is not None and known is not None and known.state != signature(status):
            known = None
        if known is not None and known.definition_unread:
            known = None  # it may be restored from a backup, and the .MYI not be touched
        if known is not None and known.data_modified == modified:
            reading.files.append(known)
            return
        # What is told of a definition does not change unless the table is made anew, and its .MYI with it.
        noted = noted if known is not None else definitions.of_table(stem, noted)
        file = self._read_file(directory, reading, _Read(named, noted, known, status, modified, data_pages), asker)
        if file is not None:
            reading.files.append(file)
            reading.differing += before.get(stem) != file

    def _read_file(
        self, directory: int, reading: _Reading, read: _Read, asker: PagesInPassing | None
    ) -> TableFile | None:
        """What a table's header says now; None where it is being made."""
        named, noted, known, status, modified, data_pages = read
        stem = named.stem
        header, index_pages, lasting = None, None, noted.state != YOUNG
        problem = known.problem if known is not None else None
        reading.settled = reading.settled and noted.state != UNREADABLE
        try:
            if known is not None:
                header = known.packed
            else:
                header, index_pages, status = self._header(directory, stem, asker)
        except HeaderError as error:
            status = self._files.status(stem + ".MYI", directory)
            # One of a time that is still to come is no new one: the clock was set back.
            if abs(self._clock.time() - status.st_ctime) < YOUNG_SECONDS:
                reading.settled = False
                return None
            problem = str(error)
        # A file that changed as late as this may change again within the same tick of the file system's clock.
        young = status is None or status.st_mtime_ns >= reading.began_ns - CLOCK_TICK_NS
        is_kept = self._known is not None and lasting and not young
        state = signature(status) if status is not None and is_kept else None
        reading.settled, reading.young = reading.settled and lasting, reading.young or young
        file = TableFile(reading.database, named, header, problem, modified, *noted, state)
        if asker is not None and header is not None:
            asker.keep(file, data_pages, index_pages)
        return file

    def _data_file(
        self, directory: int, reading: _Reading, named: NamedFile, asker: PagesInPassing | None
    ) -> tuple[float | None, FilePages | None]:
        """When the data file changed last, and its pages; of one that is not the server's nothing is told."""
        file = named.stem + ".MYD"
        try:
            if asker is None:
                return self._files.status(file, directory).st_mtime, None
            return self._asked_data_file(directory, file, asker)
        except ForeignFileError as error:
            one = LeftOut(f"{reading.named(named)} (its data file)", str(error.strerror), False)
            reading.left_out.append(one)
        except OSError as error:
            refuse_exhaustion(error)
        return None, None

    def _asked_data_file(self, directory: int, file: str, asker: PagesInPassing) -> tuple[float, FilePages | None]:
        try:
            descriptor, status = self._files.opened(file, directory)
        except OSError as error:
            refuse_exhaustion(error)
            asker.refused(error)
            if isinstance(error, (ForeignFileError, FileNotFoundError)):
                raise
            return self._files.status(file, directory).st_mtime, None
        try:
            return status.st_mtime, asker.of(descriptor, status)
        finally:
            os.close(descriptor)

    def _header(
        self, directory: int, stem: str, asker: PagesInPassing | None
    ) -> tuple[PackedHeader, FilePages | None, os.stat_result]:
        """A table's header, and the pages and times of its file as they were before that was read."""
        self.headers_read += 1
        descriptor, status = self._files.opened(stem + ".MYI", directory)
        try:
            pages = None if asker is None else asker.of(descriptor, status)
            data = os.pread(descriptor, FIRST_READ_BYTES, 0)
            length = header_length(data)
            if length > len(data) == FIRST_READ_BYTES:
                data += os.pread(descriptor, length - len(data), len(data))
        finally:
            os.close(descriptor)
        return parse_packed(data, length, self.definitions), pages, status


class _Read(NamedTuple):
    """What is known of a table before its header is read: `known`, and `status` with it, says that the header is as it was."""

    named: NamedFile
    noted: Noted
    known: TableFile | None
    status: os.stat_result | None
    modified: float | None
    data_pages: FilePages | None


@dataclass(slots=True)
class _Reading:
    """A database while it is being read."""

    database: Database
    began_ns: int
    files: list[TableFile] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    other_bytes: int = 0
    settled: bool = True
    differing: int = 0
    merge_tables: tuple[MergeTable, ...] = ()
    merge_lists_left_out: int = 0
    young: bool = False
    rebuild_files: list[RebuildFile] = field(default_factory=list)

    @property
    def schema(self) -> str:
        """The database's name."""
        return self.database.schema_name

    def named(self, file: NamedFile) -> str:
        """A table of it, as it is told of."""
        return f"{self.schema}.{file.table}"

    def found(self) -> SchemaFiles:
        """What was read."""
        other_bytes = bounded_sum((self.other_bytes,))
        return SchemaFiles(
            tuple(self.files),
            other_bytes,
            tuple(self.unreadable),
            self.settled,
            tuple(self.left_out),
            self.differing,
            self.merge_tables,
            self.merge_lists_left_out,
            self.young,
            tuple(self.rebuild_files),
        )


def _is_untold(name: str, error: OSError) -> bool:
    """Nor are they in the server's own database, which is often closed; whether it holds damage is unknown where the disk refuses it."""
    return name == RECOVERED_FILES or (name == SYSTEM_SCHEMA and isinstance(error, PermissionError))


def _unread(schema: str, error: OSError) -> SchemaFiles:
    if isinstance(error, PermissionError):
        return SchemaFiles(unreadable=(schema,))
    return SchemaFiles(left_out=(failed(schema, error),), settled=False)
