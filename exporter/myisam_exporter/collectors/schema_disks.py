"""Databases that lie on another file system than the data directory: linked to one, or with one mounted there. What is copied of their tables goes there.

Source: stat(2) and statvfs(3) of each database's directory; f_bavail, which leaves out what is kept for root. A database can come to lie elsewhere only
by a mount, by another entry of the data directory, or by a link: without links, look after look these two are compared (proc_pid_mountinfo(5)).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import owner_of, paths_in, read_root
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.outside.bounded_reading import bounded_bytes
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_of, free_inodes_of

# File systems tell times as of the last tick, or in whole seconds.
UNSETTLED_SECONDS = 2
NO_SIZE = Unknown("that file system reports no size", off=True)


class OwnDisk(NamedTuple):
    """A file system: free bytes, size, and how many files may be made there; each None where that is not told."""

    free_bytes: int | None
    total_bytes: int | None
    free_inodes: int | None


class Layout(NamedTuple):
    """What decides which databases lie elsewhere: the data directory, when an entry of it came or went last, and all mounts."""

    device: int
    inode: int
    modified_nanoseconds: int
    mounts: bytes


@dataclass(frozen=True, slots=True)
class SchemaDisks:
    """By database its own file system; the directories of those databases, and while which layout no other can lie elsewhere, where that can be said."""

    own: Mapping[str, OwnDisk]
    directories: tuple[str, ...] = ()
    layout: Layout | None = field(default=None, repr=False)


SCHEMA_DISKS = SampleKey("schema_disks", SchemaDisks)


class SchemaDisksCollector(Collector[SchemaDisks]):
    """The file systems of databases that are not the data directory's."""

    name = SCHEMA_DISKS.name
    source = "statvfs(3)"
    after = ("server",)
    states_only = True
    expensive = True
    sections = {
        "schema_disk": columns(
            ("schema_name", "text", "Database whose directory lies on another file system than the data directory."),
            ("free_bytes", "integer", "Free space there."),
            ("total_bytes", "integer", "Size of that file system."),
            ("free_inodes", "integer", "How many files may still be made there."),
            source=source,
        )
    }

    def collect(self, context: Context) -> SchemaDisks | Unknown:
        """One call for each database, three for one that lies elsewhere; only these while the layout is that of the last look."""
        location = location_of(context.sample(SERVER))
        directory = location.data_directory
        if isinstance(directory, Unknown):
            return directory
        last = SCHEMA_DISKS.of(context.before)
        try:
            layout = _layout_of(directory, context.proc, context.clock.time())
            if layout is not None and not isinstance(last, Unknown) and last.layout == layout:
                return SchemaDisks(_disks_of(directory, last.directories), last.directories, layout)
            found, has_links = _elsewhere(directory, location.owner)
            return SchemaDisks(_disks_of(directory, found), found, None if has_links else layout)
        except OSError as error:
            return Unknown(f"where the databases of {directory} lie cannot be read ({error.strerror})")

    def facts(self, pair: Pair[SchemaDisks]) -> Iterable[Block]:
        """One row for each."""
        rows = [(schema, *disk) for schema, disk in pair.after.own.items()]
        return [Block("schema_disk", column_names(self.sections["schema_disk"]), rows)]

    def unknown_columns(self, sample: SchemaDisks) -> Mapping[str, Unknown]:
        """Sizes, where a file system tells none."""
        names = column_names(self.sections["schema_disk"])[1:]
        lacking = [name for place, name in enumerate(names) if any(disk[place] is None for disk in sample.own.values())]
        return {f"schema_disk.{name}": NO_SIZE for name in lacking}


def own_disks(directory: Path, owner: int | None) -> dict[str, OwnDisk]:
    """The databases that have file systems of their own. Raises OSError where the data directory cannot be listed."""
    return _disks_of(directory, _elsewhere(directory, owner)[0])


def _layout_of(directory: Path, proc: Path, now: float) -> Layout | None:
    """The layout now; None where an entry came or went so lately that the next one may be of the same time, or where /proc does not tell the mounts."""
    status = directory.stat()
    if now - status.st_mtime < UNSETTLED_SECONDS:
        return None
    try:
        mounts = bounded_bytes(proc / "self" / "mountinfo")
    except OSError:
        return None
    return Layout(status.st_dev, status.st_ino, status.st_mtime_ns, mounts)


def _elsewhere(directory: Path, owner: int | None) -> tuple[tuple[str, ...], bool]:
    """The directories of databases on another file system, and whether anything here is a link, behind which that may change."""
    device, path_of = directory.stat().st_dev, paths_in(directory)
    root = read_root(directory, owner_of(directory) if owner is None else owner)
    found = []
    for name in root.databases:
        try:
            if os.stat(path_of(name)).st_dev != device:  # noqa: PTH116 - one call for each of many databases
                found.append(name)
        except OSError:
            continue  # dropped meanwhile, or unreadable: the scan says so
    return tuple(found), root.has_links


def _disks_of(directory: Path, names: Iterable[str]) -> dict[str, OwnDisk]:
    found = {}
    for name in names:
        with suppress(OSError):
            found[decode_schema(name)] = _disk_of(directory / name)
    return found


def _disk_of(path: Path) -> OwnDisk:
    place = ForeignFiles.place(path)
    try:
        status = os.fstatvfs(place)
    finally:
        os.close(place)
    total = status.f_blocks * status.f_frsize
    return OwnDisk(free_bytes_of(status), total or None, free_inodes_of(status))


COLLECTOR = SchemaDisksCollector()
