"""The data directory, look after look: only databases in which something changed are read again, and of those only changed headers.

Of a database with many tables, few of which are written, only those are looked at that the kernel names. Without inotify, or where it sees nothing,
every database is gone through by stat(2); headers that did not change are not read then either.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from myisam_exporter.files.data_directory import DataDirectoryScan, Root, owner_of, paths_in, read_root
from myisam_exporter.files.schema_reader import SchemaFiles, SchemaReader
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.files.told_ages import AGE_TOLERANCE, AGE_TOLERANCE_SECONDS
from myisam_exporter.kernel.inotify import Changed, DirectoryWatch
from myisam_exporter.kernel.residency import file_system_type
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.numbers import bounded_sum

# statfs(2): what others change there is not told (another mount of the layers, another host): overlayfs, NFS, FUSE, SMB.
UNTOLD = frozenset({0x794C_7630, 0x6969, 0x6573_5546, 0xFF53_4D42, 0xFE53_4D42})
# A database stays watched from so many tables on: a smaller one is looked through as soon. Where more writes than it has tables are told between two
# scans, the next ones are told of the first write alone: each that is told takes a little of the server's time.
STAYS_FROM_TABLES, SCANS_WITHOUT_WRITES = 64, 16


class DirectoryScanner:
    """Scans of one server's data directory. While nothing changes they are of the same generation."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._watch: DirectoryWatch | None = None
        self._forget()

    def _forget(self) -> None:
        self._place: tuple[Path, int, int, int, bool] | None = None
        self._owner = 0
        self._reader = SchemaReader(self._owner, remember=True, clock=self._clock)
        self._root = Root()
        self._schemas: dict[str, SchemaFiles] = {}
        self._watched: set[str] = set()
        # By path of those that stay watched: how many writes between two scans are not too many, and which files were written since they were read.
        self._most_writes: dict[str, int] = {}
        self._written: dict[str, set[bytes]] = {}
        self._events: dict[str, int] = {}  # since the last scan
        self._scans = 0
        # From which scan on writes may be told again, where there were too many.
        self._busy_until: dict[str, int] = {}
        self._last: DataDirectoryScan | None = None
        self._newest: dict[str, float] = {}
        # Since the last scan that was told: one that failed half-way has told nobody what it found. Where no table came or went since,
        # `_changed` are those that differ.
        self._differs = False
        self._changed: list[TableFile] | None = []

    @property
    def headers_read(self) -> int:
        """How many headers were read in all."""
        return self._reader.headers_read

    def scan(self, directory: Path, owner: int | None = None, *, reads_frm: bool = True) -> DataDirectoryScan:
        """What is there now, of files of `owner`: by default as the directory says. Raises OSError when it cannot be read."""
        status = directory.stat()
        owner = owner_of(directory) if owner is None else owner
        place = (directory, status.st_dev, status.st_ino, owner, reads_frm)  # another file system may be mounted there
        if place != self._place:
            self._begin(place)
        self._reader.definitions.begin_scan()
        began = self._clock.time()
        self.take_note()
        self._events.clear()
        self._scans += 1
        self._read_root(directory)
        path_of = paths_in(directory)
        for name in self._root.databases:
            path = path_of(name)
            if path not in self._watched or self._is_unsettled(path, name):
                self._read_schema(path, name)
            elif path in self._written:
                self._read_again(path, name)
        return self._result(directory, began)

    def take_note(self) -> None:
        """Empty the kernel's queue between two scans: where that overflows, all has to be looked through. Not while it scans."""
        for path, changed in (self._watch.changed() if self._watch else {}).items():
            self._note(path, changed)

    def _note(self, path: str, changed: Changed) -> None:
        """What changed is forgotten once it was read: a scan that fails half-way leaves it for the next."""
        most_writes = self._most_writes.get(path, 0)
        events = self._events[path] = self._events.get(path, 0) + changed.events
        if changed.files is not None and events <= most_writes:
            self._written.setdefault(path, set()).update(changed.files)
            return
        self._watched.discard(path)
        if self._watch is not None and 0 < most_writes < events:
            self._watch.end(path)
            self._written.pop(path, None)
            self._busy_until[path] = self._scans + 1 + SCANS_WITHOUT_WRITES

    def _is_unsettled(self, path: str, name: str) -> bool:
        found = self._schemas[name]
        return not found.settled or (found.young and path not in self._most_writes)

    def close(self) -> None:
        """Give the watches up; a later scan begins anew."""
        if self._watch is not None:
            self._watch.close()
        self._watch = None
        self._forget()

    def _begin(self, place: tuple[Path, int, int, int, bool]) -> None:
        self.close()
        self._place, self._owner = place, place[3]
        self._reader = SchemaReader(self._owner, remember=True, reads_frm=place[4], clock=self._clock)
        with suppress(OSError):
            if _tells_of_changes(place[0]):
                self._watch = DirectoryWatch()

    def _read_root(self, directory: Path) -> None:
        """List the databases, where one may have come or gone."""
        # Where a link leads to nothing yet (a disk that is not mounted), nobody tells of what comes there.
        if str(directory) in self._watched and not self._root.left_out and not self._root.unreadable:
            return
        # Watched first: what changes while it is read is told the next time.
        watched = self._watch is not None and self._watch.arm(str(directory), contents=False)
        root = read_root(directory, self._owner)
        if watched:
            self._watched.add(str(directory))
        path_of, gone = paths_in(directory), set(self._schemas) - set(root.databases)
        for name in gone:
            del self._schemas[name]
            self._newest.pop(name, None)
            path = path_of(name)
            self._watched.discard(path)
            for by_path in (self._most_writes, self._written, self._busy_until):
                by_path.pop(path, None)
            self._reader.forget(name)
        if root != self._root:
            self._differs, self._changed = True, None
        self._root = root

    def _read_schema(self, path: str, name: str) -> None:
        """Read one database."""
        self._watched.discard(path)
        before = self._schemas.get(name)
        most_writes = self._most_writes_of(path, before)
        watched = self._arm(path, stays=most_writes > 0)
        found = self._reader.read(path, name) or SchemaFiles()
        if watched and before is None:
            most_writes = self._most_writes_of(path, found)
            watched = most_writes == 0 or self._arm(path, stays=True)
        self._written.pop(path, None)
        self._most_writes.pop(path, None)
        if watched:
            self._watched.add(path)
            if most_writes:
                self._most_writes[path] = most_writes
        self._newest[name] = _newest(found.files)
        if before is None or not _same(before, found):
            self._differs = True
        if before is None or not _same_tables(before, found):
            self._changed = None
        self._take(name, before, found)

    def _arm(self, path: str, *, stays: bool) -> bool:
        return self._watch is not None and self._watch.arm(path, contents=True, stays=stays)

    def _most_writes_of(self, path: str, known: SchemaFiles | None) -> int:
        """How many writes to a database may be told until the next scan; 0 where it is told of the first one alone."""
        tables = len(known.files) if known is not None else 0
        return tables if tables >= STAYS_FROM_TABLES and self._scans >= self._busy_until.get(path, 0) else 0

    def _read_again(self, path: str, name: str) -> None:
        """Read those tables of a database that were written, if that is all that happened to it."""
        before, stems = self._schemas[name], _tables_of(self._written[path])
        found = None if stems is None else self._reader.read_again(path, name, before, stems)
        if found is None:
            self._read_schema(path, name)
            return
        del self._written[path]
        self._differs = self._differs or found.differing > 0
        changed = self._take(name, before, found)
        self._newest[name] = max(self._newest[name], _newest(changed))

    def _take(self, name: str, before: SchemaFiles | None, found: SchemaFiles) -> Sequence[TableFile]:
        """The database as it was found; of its tables those that are not as they were."""
        self._schemas[name] = found
        if before is None or self._changed is None:
            return found.files
        changed = [now for then, now in zip(before.files, found.files, strict=True) if now is not then]
        self._changed += changed
        return changed

    def _result(self, directory: Path, began: float) -> DataDirectoryScan:
        schemas = self._schemas.values()
        system_bytes, untold = self._root.system_bytes(directory, self._owner)
        other_bytes = bounded_sum((system_bytes, *(schema.other_engine_data_bytes for schema in schemas)))
        unreadable = (*self._root.unreadable, *(name for schema in schemas for name in schema.unreadable))
        left_out = (*self._root.left_out, *untold, *(one for schema in schemas for one in schema.left_out))
        last = self._last
        if last is not None and not self._differs:
            if (other_bytes, left_out) != (last.other_engine_data_bytes, last.left_out) or not self._is_young_enough(
                last, began
            ):
                self._last = last = last.again(began, other_bytes, unreadable, left_out)
            return last
        files = tuple(chain.from_iterable(schema.files for schema in schemas))
        merge_tables = tuple(table for schema in schemas for table in schema.merge_tables)
        lists_left_out = sum(schema.merge_lists_left_out for schema in schemas)
        rebuild_files = tuple(file for schema in schemas for file in schema.rebuild_files)
        scan = DataDirectoryScan(
            files, other_bytes, unreadable, began, left_out, self._owner, merge_tables, lists_left_out, rebuild_files
        )
        if last is not None and self._changed is not None:
            scan.follow(last, self._changed)
        self._last, self._differs, self._changed = scan, False, []
        return scan

    def _is_young_enough(self, last: DataDirectoryScan, now: float) -> bool:
        """Whether the ages that the last scan told still hold, as those of rows may lag behind; where the clock was set back they do not."""
        youngest = last.now - max(self._newest.values(), default=0.0)
        tolerance = max(min(AGE_TOLERANCE_SECONDS, youngest), AGE_TOLERANCE * youngest)
        return 0 <= now - last.now <= tolerance


def _newest(files: Iterable[TableFile]) -> float:
    """When one of these was written last."""
    return max((file.data_modified or 0.0 for file in files), default=0.0)


def _tables_of(files: Iterable[bytes]) -> set[str] | None:
    """The tables whose files these are, without ending; None where one is another file."""
    names = list(map(os.fsdecode, files))
    return {name[:-4] for name in names} if all(name.endswith((".MYI", ".MYD")) for name in names) else None


def _same(before: SchemaFiles, found: SchemaFiles) -> bool:
    """Whether no table came, went or changed between two readings of a database."""
    return (
        not found.differing
        and len(before.files) == len(found.files)
        and (before.unreadable, before.left_out, before.merge_tables, before.merge_lists_left_out, before.rebuild_files)
        == (found.unreadable, found.left_out, found.merge_tables, found.merge_lists_left_out, found.rebuild_files)
    )


def _same_tables(before: SchemaFiles, found: SchemaFiles) -> bool:
    """Whether the same tables and partitions were found, in the same order."""
    return len(before.files) == len(found.files) and all(map(_is_of_same_name, before.files, found.files))


def _is_of_same_name(one: TableFile, other: TableFile) -> bool:
    return one is other or (
        (one.schema_name, one.table_name, one.partition) == (other.schema_name, other.table_name, other.partition)
    )


def _tells_of_changes(directory: Path) -> bool:
    descriptor = ForeignFiles.open_known_directory(directory)
    try:
        return file_system_type(ctypes.CDLL(None), descriptor) not in UNTOLD
    finally:
        os.close(descriptor)
