"""MyISAM tables as files: one read of each .MYI header, nothing asked of the server, no table opened."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from myisam_exporter.file_names import decode_schema, decode_table
from myisam_exporter.myi_header import FIRST_READ_BYTES, Header, HeaderError, header_length, parse_header
from myisam_exporter.quiet_open import QuietOpener

SYSTEM_SCHEMAS = frozenset({"mysql", "sys", "performance_schema", "information_schema"})
OTHER_ENGINE_ENDINGS = (".ibd", ".MAD", ".MAI", ".ARZ", ".CSV", ".sdb", ".sst", ".tokudb")
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
CLOCK_TICK_NS = 50_000_000  # a file system's clock is the kernel's coarse one: 1 to 10 ms
YOUNG_SECONDS = 0.5  # a table being made at this moment has its header a moment later


@dataclass(frozen=True, slots=True)
class TableFile:
    """One table, or one partition of it, on disk. Without a header, `problem` says what is wrong with the file."""

    schema_name: str
    table_name: str
    partition: str | None
    directory: str
    stem: str
    header: Header | None
    problem: str | None
    data_modified: float | None


@dataclass(frozen=True, slots=True)
class DataDirectoryScan:
    """All MyISAM tables of the server. `worked_out` is what was made of them, for the next scan to take over where nothing differs."""

    files: tuple[TableFile, ...]
    other_engine_data_bytes: int
    unreadable: tuple[str, ...]
    now: float
    worked_out: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


def scan_data_directory(directory: Path) -> DataDirectoryScan:
    """All MyISAM tables below a data directory; temporary tables and system schemas are left out.

    Raises OSError when the directory cannot be listed, and where descriptors or memory are exhausted.
    """
    reader, other_bytes = SchemaReader(), 0
    files: list[TableFile] = []
    unreadable: list[str] = []
    root = read_root(directory)
    for name in root.schemas:
        schema = reader.read(str(directory / name), name)
        if schema is not None:
            files += schema.files
            unreadable += schema.unreadable
            other_bytes += schema.other_engine_data_bytes
    return DataDirectoryScan(tuple(files), other_bytes + root.system_bytes(directory), tuple(unreadable), time.time())


@dataclass(frozen=True, slots=True)
class Root:
    """What lies in the data directory itself: databases by their directories, and InnoDB's system files."""

    schemas: tuple[str, ...]
    system_files: tuple[str, ...]

    def system_bytes(self, directory: Path) -> int:
        """Bytes in InnoDB's system files now."""
        return sum(_size(str(directory / name), None) for name in self.system_files)


def read_root(directory: Path) -> Root:
    """List a data directory. Raises OSError."""
    schemas, system_files = [], []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith("ibdata") and entry.is_file():
                system_files.append(entry.name)
            elif entry.name not in SYSTEM_SCHEMAS and not entry.name.startswith("#") and entry.is_dir():
                schemas.append(entry.name)
    return Root(tuple(schemas), tuple(system_files))


@dataclass(frozen=True, slots=True)
class SchemaFiles:
    """One database's directory as it was read. `settled` is False while a table in it is being made: it has to be read again soon."""

    files: tuple[TableFile, ...] = ()
    other_engine_data_bytes: int = 0
    unreadable: tuple[str, ...] = ()
    settled: bool = True


class SchemaReader:
    """Reads databases one by one, each file relative to its directory.

    It remembers what it read where it is to `remember`: then a header whose file did not change since is not read again.
    """

    def __init__(self, *, remember: bool = False) -> None:
        self._opener = QuietOpener()
        self._known: dict[str, dict[str, tuple[int, TableFile]]] | None = {} if remember else None
        self.headers_read = 0

    def read(self, path: str, name: str) -> SchemaFiles | None:
        """One database; None when it was dropped meanwhile."""
        reading = _Reading(path, decode_schema(name))
        before = self._known.get(name, {}) if self._known is not None else {}
        try:
            directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for file in self._listed(directory, reading):
                    if file.endswith(".MYI"):
                        self._table(directory, reading, file[:-4], before)
                    elif file.endswith(OTHER_ENGINE_ENDINGS):
                        reading.other_bytes += _size(file, directory)
            finally:
                os.close(directory)
        except FileNotFoundError:
            self.forget(name)
            return None  # DROP DATABASE came first
        except OSError as error:
            _refuse_exhaustion(error)
            return SchemaFiles() if name == "lost+found" else SchemaFiles(unreadable=(reading.schema,))
        if self._known is not None:
            self._known[name] = reading.known
        return SchemaFiles(tuple(reading.files), reading.other_bytes, tuple(reading.unreadable), reading.settled)

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
        if self._known is not None:
            self._known.pop(name, None)

    def _table(self, directory: int, reading: _Reading, stem: str, before: dict[str, tuple[int, TableFile]]) -> None:
        named = decode_table(stem)
        if named is None:
            return
        table, partition = named
        signature, modified_ns = _signature(stem + ".MYI", directory) if self._known is not None else (None, 0)
        modified = _modified(stem + ".MYD", directory)
        known = before.get(stem)
        if known is not None and known[0] == signature and known[1].data_modified == modified:
            reading.files.append(known[1])
            reading.known[stem] = known
            return
        header: Header | None = None
        problem: str | None = None
        lasting = signature is not None
        try:
            header = known[1].header if known is not None and known[0] == signature else self._header(directory, stem)
        except HeaderError as error:
            changed = _changed(stem + ".MYI", directory)
            if changed is None or time.time() - changed < YOUNG_SECONDS:
                reading.settled = False
                return
            problem = str(error)
        except FileNotFoundError:
            return  # dropped between listing and reading
        except PermissionError:
            # Ours, not the table's: it is no damage.
            reading.unreadable.append(f"{reading.schema}.{table}")
            return
        except OSError as error:
            _refuse_exhaustion(error)
            problem, lasting = f"it cannot be read ({error.strerror})", False
        file = TableFile(reading.schema, table, partition, reading.path, stem, header, problem, modified)
        reading.files.append(file)
        # A file that changed as late as this may change again within the same tick of the file system's clock.
        if lasting and signature is not None and modified_ns < reading.began_ns - CLOCK_TICK_NS:
            reading.known[stem] = (signature, file)
        else:
            reading.settled = False

    def _header(self, directory: int, stem: str) -> Header:
        self.headers_read += 1
        descriptor = self._opener.open(stem + ".MYI", directory)
        try:
            data = os.pread(descriptor, FIRST_READ_BYTES, 0)
            if len(data) < FIRST_READ_BYTES and not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise HeaderError("it is no regular file")
            length = header_length(data)
            if length > len(data) == FIRST_READ_BYTES:
                data += os.pread(descriptor, length - len(data), len(data))
        finally:
            os.close(descriptor)
        return parse_header(data)


@dataclass(slots=True)
class _Reading:
    """A database while it is being read."""

    path: str
    schema: str
    began_ns: int = field(default_factory=time.time_ns)
    files: list[TableFile] = field(default_factory=list)
    known: dict[str, tuple[int, TableFile]] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    other_bytes: int = 0
    settled: bool = True


def _refuse_exhaustion(error: OSError) -> None:
    """Raise where it is we who lack something: that says nothing of the file."""
    if error.errno in EXHAUSTED:
        raise error


def _signature(file: str, directory: int) -> tuple[int | None, int]:
    """One number for what changes when a file does (inode, length, times of contents and inode), and when its contents changed."""
    try:
        status = os.stat(file, dir_fd=directory)
    except OSError:
        return None, 0
    return hash((status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)), status.st_mtime_ns


def _size(file: str, directory: int | None) -> int:
    try:
        return os.stat(file, dir_fd=directory).st_size
    except OSError:
        return 0  # gone since the listing


def _changed(file: str, directory: int) -> float | None:
    try:
        return os.stat(file, dir_fd=directory).st_ctime
    except OSError:
        return None


def _modified(file: str, directory: int) -> float | None:
    try:
        return os.stat(file, dir_fd=directory).st_mtime
    except OSError:
        return None
