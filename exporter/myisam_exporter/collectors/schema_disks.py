"""Databases that lie on another file system than the data directory: linked to one, or with one mounted there. What is copied of their tables goes there.

Source: stat(2) and statvfs(3) of each database's directory; f_bavail, which leaves out what is kept for root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import owner_of, paths_in, read_root
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_of, free_inodes_of

NO_SIZE = Unknown("that file system reports no size", off=True)


class OwnDisk(NamedTuple):
    """A file system: free bytes, size, and how many files may be made there; each None where that is not told."""

    free_bytes: int | None
    total_bytes: int | None
    free_inodes: int | None


@dataclass(frozen=True, slots=True)
class SchemaDisks:
    """By database its own file system."""

    own: Mapping[str, OwnDisk]


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
        """One call for each database, three for one that lies elsewhere."""
        location = location_of(context.sample(SERVER))
        directory = location.data_directory
        if isinstance(directory, Unknown):
            return directory
        try:
            return SchemaDisks(own_disks(directory, location.owner))
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
    device, path_of = directory.stat().st_dev, paths_in(directory)
    root = read_root(directory, owner_of(directory) if owner is None else owner)
    found = {}
    for name in root.databases:
        path = path_of(name)
        try:
            if os.stat(path).st_dev == device:  # noqa: PTH116 - nearly all: one call for each of many databases, look after look
                continue
            place = ForeignFiles.place(Path(path))
        except OSError:
            continue  # dropped meanwhile, or unreadable: the scan says so
        try:
            status = os.fstatvfs(place)
            total = status.f_blocks * status.f_frsize
            found[decode_schema(name)] = OwnDisk(free_bytes_of(status), total or None, free_inodes_of(status))
        except OSError:
            continue
        finally:
            os.close(place)
    return found


COLLECTOR = SchemaDisksCollector()
