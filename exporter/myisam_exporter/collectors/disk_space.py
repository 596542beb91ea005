"""Free space where the server keeps its tables and its temporary files: what an ALTER, a repair or a sort needs.

Source: statvfs(3); f_bavail, which leaves out what is kept for root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.facts.columns import Block, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import ForeignFiles

if TYPE_CHECKING:
    from myisam_exporter.collectors.variables import Variables


@dataclass(frozen=True, slots=True)
class FreeSpace:
    """Free bytes in both places."""

    data_bytes: int
    temporary_bytes: int | Unknown


class DiskSpaceCollector(Collector[FreeSpace]):
    """The file systems of the data directory and of tmpdir."""

    name = "disk_space"
    source = "statvfs(3)"
    after = ("server", "variables")
    states_only = True
    sections = {  # noqa: RUF012
        "host": columns(
            ("data_directory_free_bytes", "integer", "Free space where the tables are."),
            ("temporary_directory_free_bytes", "integer", "Free space in tmpdir; the least where it names several."),
            source=source,
        )
    }

    def collect(self, context: Context) -> FreeSpace | Unknown:
        """Two calls; a path counts only where the data directory was verified as this server's."""
        server = context.sample(SERVER)
        variables = context.sample(VARIABLES)
        if isinstance(server, Unknown):
            return server
        directory = server.location.data_directory
        if isinstance(directory, Unknown):
            return directory
        try:
            data_bytes = free_bytes(directory)
        except OSError as error:
            return Unknown(f"the free space of {directory} cannot be read ({error.strerror})")
        return FreeSpace(data_bytes, _temporary(variables))

    def facts(self, pair: Pair[FreeSpace]) -> Iterable[Block]:
        """Two columns of the machine."""
        temporary = pair.after.temporary_bytes
        row = {
            "data_directory_free_bytes": pair.after.data_bytes,
            "temporary_directory_free_bytes": None if isinstance(temporary, Unknown) else temporary,
        }
        return [single("host", row)]

    def unknown_columns(self, sample: FreeSpace) -> Mapping[str, Unknown]:
        """tmpdir, where it is out of sight: systemd gives many servers a /tmp of their own."""
        temporary = sample.temporary_bytes
        return {"host.temporary_directory_free_bytes": temporary} if isinstance(temporary, Unknown) else {}


def _temporary(variables: Variables | Unknown) -> int | Unknown:
    if isinstance(variables, Unknown):
        return variables
    places = [Path(place) for place in variables.values.get("tmpdir", "").split(":") if place]
    try:
        return min(free_bytes(place) for place in places)
    except OSError as error:
        return Unknown(f"the server's tmpdir cannot be seen from here ({error.strerror})")
    except ValueError:
        return Unknown("the server names no tmpdir")


def free_bytes(path: Path) -> int:
    """What an unprivileged program may still write there. Raises OSError."""
    descriptor = ForeignFiles.place(path)
    try:
        status = os.fstatvfs(descriptor)
    finally:
        os.close(descriptor)
    return status.f_bavail * status.f_frsize


COLLECTOR = DiskSpaceCollector()
