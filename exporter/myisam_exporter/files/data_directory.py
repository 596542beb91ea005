"""A data directory scanned: its databases, and the MyISAM tables in them.

Nothing is asked of the server, no table opened. Whatever is a link, a device or another user's in there is no reason to stop: it is
left out, and told (see foreign_files.py).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.definition_reader import MergeTable
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.index_rows import IndexRows
from myisam_exporter.files.left_out import SIZE_NOT_READ, LeftOut, failed, left_out, size_of
from myisam_exporter.files.myi_definition import Definitions
from myisam_exporter.files.rebuild_files import RebuildFile
from myisam_exporter.files.schema_reader import SYSTEM_SCHEMA, SchemaReader
from myisam_exporter.files.table_file import TableFile, read_definitions_in
from myisam_exporter.files.table_groups import TableGroups, grouped
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles
from myisam_exporter.outside.numbers import bounded_sum

if TYPE_CHECKING:
    from myisam_exporter.files.pages_in_passing import PagesInPassing
    from myisam_exporter.files.told_tables import ToldTables

SYSTEM_SCHEMAS = frozenset({"mysql", "sys", "performance_schema", "information_schema"})
NOBODY_AT_ALL = -1  # an owner that no file has
# Of scans that are not a daemon's: a command looks twice, and most of what it finds is the same.
_definitions = Definitions()


@dataclass(slots=True)
class ScanMemo:
    """What was worked out of a scan; the next one takes over what holds for it too.

    `write_statements` are those since the scan of which the files were of a generation, of the tables that have any.
    """

    groups: TableGroups | None = None
    indexes: IndexRows | None = None
    definitions: ReadDefinitions | None = None
    told: ToldTables | None = None
    write_statements: tuple[int, dict[TableName, int]] | None = None


@dataclass(frozen=True, slots=True)
class ReadDefinitions:
    """Whether any table's .frm was read, and the tables whose .frm cannot be."""

    any_read: bool
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesChange:
    """How a scan differs from that whose `files_generation` is `since`: in these tables alone. None came, went or moved."""

    since: int
    names: frozenset[TableName]


@dataclass(frozen=True, slots=True)
class DataDirectoryScan:
    """All MyISAM tables of the server, and whose files they are.

    A daemon's next scan has the same `generation` while nothing changes, the same `files_generation` while no table does: ages grow by
    themselves. `pages` were asked about in the same pass, where somebody looks once. `memo` is filled by whoever works something out of it.
    """

    files: tuple[TableFile, ...]
    other_engine_data_bytes: int
    unreadable: tuple[str, ...]
    now: float
    left_out: tuple[LeftOut, ...] = ()
    owner: int | None = None
    merge_tables: tuple[MergeTable, ...] = ()
    merge_lists_left_out: int = 0
    rebuild_files: tuple[RebuildFile, ...] = ()
    pages: PagesInPassing | None = field(default=None, repr=False, compare=False)
    files_generation: int = field(default_factory=new_generation, init=False, repr=False, compare=False)
    change: FilesChange | None = field(default=None, init=False, repr=False, compare=False)
    generation: int = field(default_factory=new_generation, init=False, repr=False, compare=False)
    memo: ScanMemo = field(default_factory=ScanMemo, init=False, repr=False, compare=False)

    def again(
        self, now: float, other_engine_data_bytes: int, unreadable: tuple[str, ...], left_out: tuple[LeftOut, ...]
    ) -> DataDirectoryScan:
        """A later scan that found the same tables: another generation, the same of the files."""
        scan = DataDirectoryScan(
            self.files,
            other_engine_data_bytes,
            unreadable,
            now,
            left_out,
            self.owner,
            self.merge_tables,
            self.merge_lists_left_out,
            self.rebuild_files,
        )
        object.__setattr__(scan, "files_generation", self.files_generation)  # nobody has seen it yet
        scan.memo.groups, scan.memo.indexes = self.memo.groups, self.memo.indexes
        scan.memo.definitions = self.memo.definitions
        return scan

    def follow(self, before: DataDirectoryScan, changed: Sequence[TableFile]) -> None:
        """Note, before anybody sees it, that it has the files of the scan `before` but for these, in the same order."""
        names = frozenset((file.schema_name, file.table_name) for file in changed)
        object.__setattr__(self, "change", FilesChange(before.files_generation, names))
        if before.memo.groups is not None:
            self.memo.groups = before.memo.groups.with_files(changed, self.files)
            known = before.memo.definitions
            if known is not None and not (known.any_read or known.unread or any(map(_has_definition, changed))):
                self.memo.definitions = known  # no .frm was looked for: MariaDB's, and those of MySQL 8.0 and later

    def groups(self) -> TableGroups:
        """The files by table."""
        if self.memo.groups is None:
            self.memo.groups = grouped(self.files)
        return self.memo.groups

    def read_definitions(self) -> ReadDefinitions:
        """What is known of the .frm files."""
        if self.memo.definitions is None:
            any_read, files = read_definitions_in(self.files)
            unread = dict.fromkeys(f"{file.schema_name}.{file.table_name}" for file in files)
            self.memo.definitions = ReadDefinitions(any_read, tuple(unread))
        return self.memo.definitions

    def changed_since(self, before: DataDirectoryScan | None) -> frozenset[TableName] | None:
        """The tables whose files are not as in the scan `before`; None where that is not known, or a table came or went."""
        if before is None:
            return None
        if self.files_generation == before.files_generation:
            return frozenset()
        change = self.change
        return change.names if change is not None and change.since == before.files_generation else None


def _has_definition(file: TableFile) -> bool:
    return file.definition is not None or file.definition_unread


def scan_data_directory(
    directory: Path,
    owner: int | None = None,
    clock: Clock = CLOCK,
    *,
    reads_frm: bool = True,
    pages: PagesInPassing | None = None,
    databases: Collection[str] | None = None,
) -> DataDirectoryScan:
    """All MyISAM tables below a data directory; temporary tables and system schemas are left out, but for damage in the server's own.

    Args:
        directory: the data directory.
        owner: whose the server's files are; as the directory itself says where it is not given.
        clock: the time.
        reads_frm: whether to read the definitions beside the tables too.
        pages: who asks about the pages of each file while it is open.
        databases: the only ones to look into; all, where none is given.

    Raises OSError when the directory cannot be listed, and where descriptors or memory are exhausted.
    """
    owner = owner_of(directory) if owner is None else owner
    _definitions.begin_scan()
    reader = SchemaReader(owner, _definitions, reads_frm=reads_frm, clock=clock, pages=pages)
    root = read_root(directory, owner)
    path_of = paths_in(directory)
    names = [name for name in root.databases if databases is None or decode_schema(name) in databases]
    schemas = [found for name in names if (found := reader.read(path_of(name), name)) is not None]
    system_bytes, untold = root.system_bytes(directory, owner)
    return DataDirectoryScan(
        tuple(chain.from_iterable(schema.files for schema in schemas)),
        bounded_sum((system_bytes, *(schema.other_engine_data_bytes for schema in schemas))),
        (*root.unreadable, *(name for schema in schemas for name in schema.unreadable)),
        clock.time(),
        (*root.left_out, *untold, *(one for schema in schemas for one in schema.left_out)),
        owner,
        tuple(table for schema in schemas for table in schema.merge_tables),
        sum(schema.merge_lists_left_out for schema in schemas),
        tuple(file for schema in schemas for file in schema.rebuild_files),
        pages,
    )


def paths_in(directory: Path) -> Callable[[str], str]:
    """What tells the path of what lies in a directory, by its name: a Path for each of many databases takes 6 µs, look after look."""
    return f"{str(directory).rstrip('/')}/".__add__


def owner_of(directory: Path) -> int:
    """Whose the files of a data directory are, by itself: its owner's; where that is root, those whose its database mysql is.

    Never root's where others may write: they could have laid links to root's files there. Raises OSError.
    """
    root = directory.stat()
    if root.st_uid != 0:
        return root.st_uid
    if root.st_mode & stat.S_IWOTH:
        return NOBODY_AT_ALL  # anybody could have put that database there
    try:
        own = (directory / "mysql").lstat().st_uid
    except FileNotFoundError:
        own = root.st_uid
    return own if own != 0 or only_root_writes(directory) else NOBODY_AT_ALL


def only_root_writes(directory: Path) -> bool:
    """Whether root alone can put anything there. Raises OSError."""
    status = directory.stat()
    return status.st_uid == 0 and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@dataclass(frozen=True, slots=True)
class Root:
    """What lies in the data directory itself: databases by their directories, and InnoDB's system files."""

    schemas: tuple[str, ...] = ()
    system_files: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    has_system_schema: bool = False
    has_links: bool = False

    @property
    def databases(self) -> tuple[str, ...]:
        """The schemas, and the server's own: of that one the reader tells what is damaged."""
        return (*self.schemas, SYSTEM_SCHEMA) if self.has_system_schema else self.schemas

    def system_bytes(self, directory: Path, owner: int) -> tuple[int, tuple[LeftOut, ...]]:
        """Bytes in InnoDB's system files now, and those of which the disk does not tell how many."""
        files = ForeignFiles(owner)
        sizes, untold = [], []
        for name in self.system_files:
            try:
                sizes.append(size_of(files, str(directory / name), None))
            except OSError as error:
                untold.append(failed(name, error, SIZE_NOT_READ))
        return bounded_sum(sizes), tuple(untold)


def read_root(directory: Path, owner: int) -> Root:
    """List a data directory. Raises OSError."""
    schemas, system_files, unreadable, others = [], [], [], []
    has_system_schema = has_links = False
    files = ForeignFiles(owner)
    with os.scandir(directory) as entries:
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            if entry.name.startswith("ibdata") and not is_directory:
                system_files.append(entry.name)
            elif entry.name in SYSTEM_SCHEMAS or entry.name.startswith("#"):
                has_system_schema = has_system_schema or (is_directory and entry.name == SYSTEM_SCHEMA)
            elif is_directory:
                schemas.append(entry.name)
            elif entry.is_symlink():
                has_links = True
                try:
                    os.close(files.open_directory(entry.path))
                    schemas.append(entry.name)
                except (NotADirectoryError, FileNotFoundError):
                    continue  # a link to a file is no database
                except ForeignFileError as error:
                    others.append(left_out(decode_schema(entry.name), error))
                except PermissionError:
                    unreadable.append(decode_schema(entry.name))
                except OSError as error:
                    refuse_exhaustion(error)
                    others.append(failed(decode_schema(entry.name), error))
    return Root(tuple(schemas), tuple(system_files), tuple(unreadable), tuple(others), has_system_schema, has_links)
