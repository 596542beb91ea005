"""MyISAM tables as files: one read of each .MYI header, nothing asked of the server, no table opened."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from myisam_exporter.file_names import decode_schema, decode_table
from myisam_exporter.myi_header import FIRST_READ_BYTES, Header, HeaderError, header_length, parse_header
from myisam_exporter.quiet_open import QuietOpener

SYSTEM_SCHEMAS = frozenset({"mysql", "sys", "performance_schema", "information_schema"})
OTHER_ENGINE_ENDINGS = (".ibd", ".MAD", ".MAI", ".ARZ", ".CSV", ".sdb", ".sst", ".tokudb")
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
    """All MyISAM tables of the server."""

    files: tuple[TableFile, ...]
    other_engine_data_bytes: int
    unreadable: tuple[str, ...]
    now: float


def scan_data_directory(directory: Path) -> DataDirectoryScan:
    """All MyISAM tables below a data directory; temporary tables and system schemas are left out."""
    reader, other_bytes = _Reader(), 0
    files: list[TableFile] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.startswith("ibdata") and entry.is_file():
                other_bytes += entry.stat().st_size
            if entry.name in SYSTEM_SCHEMAS or entry.name.startswith("#") or not entry.is_dir():
                continue
            try:
                other_bytes += reader.read_schema(entry.path, entry.name, files)
            except FileNotFoundError:
                continue  # DROP DATABASE came first
            except OSError:
                if entry.name != "lost+found":
                    reader.unreadable.append(decode_schema(entry.name))
    return DataDirectoryScan(tuple(files), other_bytes, tuple(reader.unreadable), time.time())


class _Reader:
    """Reads the databases one by one, each file relative to its directory."""

    def __init__(self) -> None:
        self._opener = QuietOpener()
        self.unreadable: list[str] = []

    def read_schema(self, path: str, name: str, into: list[TableFile]) -> int:
        """Append the tables of one database; returns the bytes that other engines keep there."""
        schema, other_bytes = decode_schema(name), 0
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for file in os.listdir(directory):
                if file.endswith(".MYI"):
                    table = self._table(directory, path, schema, file[:-4])
                    if table:
                        into.append(table)
                elif file.endswith(OTHER_ENGINE_ENDINGS):
                    other_bytes += _size(file, directory)
        finally:
            os.close(directory)
        return other_bytes

    def _table(self, directory: int, path: str, schema: str, stem: str) -> TableFile | None:
        named = decode_table(stem)
        if named is None:
            return None
        table, partition = named
        header: Header | None = None
        problem: str | None = None
        try:
            header = self._header(directory, stem + ".MYI")
        except HeaderError as error:
            changed = _changed(stem + ".MYI", directory)
            if changed is None or time.time() - changed < YOUNG_SECONDS:
                return None
            problem = str(error)
        except FileNotFoundError:
            return None  # dropped between listing and reading
        except PermissionError:
            # Ours, not the table's: it is no damage.
            self.unreadable.append(f"{schema}.{table}")
            return None
        except OSError as error:
            problem = f"it cannot be read ({error.strerror})"
        return TableFile(schema, table, partition, path, stem, header, problem, _modified(stem + ".MYD", directory))

    def _header(self, directory: int, file: str) -> Header:
        descriptor = self._opener.open(file, directory)
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


def _size(file: str, directory: int) -> int:
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
