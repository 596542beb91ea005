"""A database's open directory: what lies there beside what the scan told, and which files of a table are missing or cut off."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from myisam_exporter.files.file_names import decode_table, undivided
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.partition_list import listed_partitions
from myisam_exporter.files.structure import Structure
from myisam_exporter.files.structure_reader import SERIALISED
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.outside.foreign_files import ForeignFiles

DATA, INDEX = ".MYD", ".MYI"
REBUILT_DATA = ".TMD"  # storage/myisam/mi_check.c: DATA_TMP_EXT
# A compressed file may lack these at its end (storage/myisam/mi_check.c, chk_size: MEMMAP_EXTRA_MARGIN).
MARGIN_BYTES = 7
# A file that was written later than this before the look may be in the middle of a change.
STEADY_SECONDS = 1.0


class DatabaseFolder:
    """It is open until the end of `opened`. Links are followed only to files of the owner."""

    def __init__(self, path: Path, descriptor: int, owner: int | None) -> None:
        self._path, self._descriptor = path, descriptor
        self._files = ForeignFiles(owner)

    @classmethod
    @contextmanager
    def opened(cls, path: str, owner: int | None) -> Iterator[DatabaseFolder]:
        """That of a path, closed at the end. Raises OSError."""
        descriptor = ForeignFiles(owner).open_directory(path)
        try:
            yield cls(Path(path), descriptor, owner)
        finally:
            os.close(descriptor)

    def _status(self, name: str) -> os.stat_result:
        """Of a regular file of the owner's. Raises OSError."""
        return self._files.status(name, self._descriptor)

    def has(self, name: str) -> bool:
        """Whether it is there, or may be: what cannot be looked at, or is another's."""
        try:
            self._status(name)
        except OSError as error:
            refuse_exhaustion(error)
            return error.errno != errno.ENOENT
        return True

    def leads_into(self, name: str) -> str:
        """The directory that a symbolic link leads into, whatever is there; "" where it is none."""
        try:
            return str((self._path / os.readlink(name, dir_fd=self._descriptor)).parent)
        except OSError as error:
            refuse_exhaustion(error)
            return ""

    def _partitions(self, stem: str) -> int:
        """How many its list names; 0 where that cannot be read."""
        try:
            return listed_partitions(self._files, stem, self._descriptor)
        except OSError as error:
            refuse_exhaustion(error)
            return 0

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The names of all files. Raises OSError."""
        return tuple(os.listdir(self._descriptor))

    @cached_property
    def tables_with_index(self) -> frozenset[str]:
        """The tables that have an index file: the scan passes over those whose header is not written yet."""
        return frozenset(table for table, _ in self._with(INDEX))

    @cached_property
    def without_index(self) -> frozenset[str]:
        """The tables of which rows lie there, of a partition or of all, and no index file beside them."""
        return frozenset(table for table, _ in self._with(DATA) - self._with(INDEX))

    def missing(self, structure: Structure, table: str, files: Sequence[TableFile]) -> str:
        """The ending of the first file that is not there."""
        if not files or (
            structure.partitioned
            and (table in self.without_index or len(files) < self._partitions(undivided(files[0].stem)))
        ):
            return INDEX
        return "" if all(self.has(f"{file.stem}{DATA}") for file in files) else DATA

    def left_rows(self, files: Sequence[TableFile], rebuild_files: Collection[str]) -> tuple[str, ...]:
        """The files of rebuilds that hold the rows that are not there; nothing where one of these has none."""
        left = tuple(sorted(f"{file.stem}{REBUILT_DATA}" for file in files if not self.has(f"{file.stem}{DATA}")))
        return left if all(name in rebuild_files for name in left) else ()

    def cut_off(self, file: TableFile, now: float) -> str:
        """What is said of rows that end before their header says; nothing where they may be in the middle of a change."""
        if file.header is None:
            return ""
        try:
            status = self._status(f"{file.stem}{DATA}")
        except OSError as error:
            refuse_exhaustion(error)
            return ""
        lacking = file.header.data_bytes - status.st_size
        # What is of a time that is still to come was not written just now: the clock was set back.
        if lacking <= 0 or lacking == MARGIN_BYTES or abs(now - status.st_mtime) < STEADY_SECONDS:
            return ""
        return (
            f"it is damaged: its rows ({file.stem}{DATA}) are {status.st_size} bytes, and its header tells of {file.header.data_bytes}; by where they end the "
            "error is 1034, 1194 or 1030"
        )

    def _with(self, ending: str) -> set[tuple[str, str | None]]:
        """Tables and partitions that have a file of this ending."""
        stems = [name.removesuffix(ending) for name in self.files if name.endswith(ending)]
        return {named for named in map(decode_table, stems) if named is not None}


def tables_of_any_engine(path: str, owner: int | None) -> frozenset[str] | None:
    """The tables of which a file lies in the directory; None where it cannot be read."""
    try:
        with DatabaseFolder.opened(path, owner) as folder:
            names = folder.files
    except OSError as error:
        refuse_exhaustion(error)
        return None
    stems = [
        stem.rpartition("_")[0] if f".{ending}" == SERIALISED else stem
        for stem, _, ending in (name.rpartition(".") for name in names)
    ]
    return frozenset(named[0] for named in map(decode_table, stems) if named is not None)
