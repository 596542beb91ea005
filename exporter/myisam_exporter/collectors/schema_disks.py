"""Databases that lie on another file system than the data directory: linked to one, or with one mounted there. What is copied of their tables goes there.

Source: stat(2) and statvfs(3) of each database's directory; f_bavail, which leaves out what is kept for root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import owner_of, paths_in, read_root
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_of

NO_SIZE = Unknown("that file system tells no size", off=True)


@dataclass(frozen=True, slots=True)
class SchemaDisks:
    """By database what its own file system has free, and how large that is; of one that tells neither, None."""

    own: Mapping[str, tuple[int | None, int | None]]


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
            source=source,
        )
    }

    def collect(self, context: Context) -> SchemaDisks | Unknown:
        """Three calls for each database."""
        server = context.sample(SERVER)
        if isinstance(server, Unknown):
            return server
        directory, owner = server.location.data_directory, server.location.owner
        if isinstance(directory, Unknown):
            return directory
        try:
            return SchemaDisks(own_disks(directory, owner))
        except OSError as error:
            return Unknown(f"where the databases of {directory} lie cannot be read ({error.strerror})")

    def facts(self, pair: Pair[SchemaDisks]) -> Iterable[Block]:
        """One row for each."""
        rows = [(schema, free, total) for schema, (free, total) in pair.after.own.items()]
        return [Block("schema_disk", ("schema_name", "free_bytes", "total_bytes"), rows)]

    def unknown_columns(self, sample: SchemaDisks) -> Mapping[str, Unknown]:
        """Sizes, where a file system tells none."""
        if all(free is not None for free, _ in sample.own.values()):
            return {}
        return dict.fromkeys(("schema_disk.free_bytes", "schema_disk.total_bytes"), NO_SIZE)


def own_disks(directory: Path, owner: int | None = None) -> dict[str, tuple[int | None, int | None]]:
    """By database free and total bytes of its own file system, for those that have one. Raises OSError where the data directory cannot be listed."""
    device, path_of = directory.stat().st_dev, paths_in(directory)
    root = read_root(directory, owner_of(directory) if owner is None else owner)
    found = {}
    for name in root.databases:
        try:
            place = ForeignFiles.place(Path(path_of(name)))
        except OSError:
            continue  # dropped meanwhile, or unreadable: the scan says so
        try:
            if os.fstat(place).st_dev != device:
                status = os.fstatvfs(place)
                total = status.f_blocks * status.f_frsize
                found[decode_schema(name)] = (free_bytes_of(status), total or None)
        except OSError:
            continue
        finally:
            os.close(place)
    return found


COLLECTOR = SchemaDisksCollector()
