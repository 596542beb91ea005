"""Free space where the server keeps its tables and its temporary files: what an ALTER, a repair or a sort needs.

Source: statvfs(3); f_bavail, which leaves out what is kept for root.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Value, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.mounts import Mount, is_read_only_at, mount_number, mount_under
from myisam_exporter.kernel.rights import SHOW_PROCESS
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_of, free_inodes_of

if TYPE_CHECKING:
    from myisam_exporter.collectors.variables import Variables

NOT_FROM_ONE_LOOK = Unknown("only a history of a day or more shows it", "myisam-advisor serve with a history")

NO_LIMIT_OF_FILES = Unknown("that file system has no limit of files, or does not report one", off=True)
NOT_TOLD = Unknown("whether that file system is read only for everybody is not known (/proc/self/mountinfo)", off=True)


@dataclass(frozen=True, slots=True)
class Space:
    """What a file system has left, and how large it is; how many files may be made there, None where that has no limit or is not told."""

    free_bytes: int
    total_bytes: int
    free_inodes: int | None = None


@dataclass(frozen=True, slots=True)
class FreeSpace:
    """Space in both places, and whether nobody can write where the data are; None where that is not told."""

    data: Space
    temporary: Space | Unknown
    is_read_only: bool | None


class DiskSpaceCollector(Collector[FreeSpace]):
    """The file systems of the data directory and of tmpdir."""

    name = "disk_space"
    source = "statvfs(3)"
    after = ("server", "variables")
    reads = {"variables": frozenset({"tmpdir"})}
    states_only = True
    sections = {
        "host": columns(
            ("data_directory_free_bytes", "integer", "Free space where the tables are."),
            ("data_directory_total_bytes", "integer", "Size of that file system."),
            (
                "data_directory_growth_bytes_per_day",
                "real",
                "How fast free space shrank over the last days; only a daemon's history shows it, after three days.",
            ),
            ("data_directory_free_inodes", "integer", "How many files may still be made where the tables are."),
            (
                "data_directory_read_only",
                "integer",
                "1 where nobody can write there, as after an error of the disk; 0 for a mount that is so for this program alone.",
            ),
            ("temporary_directory_free_bytes", "integer", "Free space in tmpdir; the least where it names several."),
            ("temporary_directory_total_bytes", "integer", "Size of that file system."),
            ("temporary_directory_free_inodes", "integer", "How many files may still be made there."),
            source=source,
        )
    }

    def collect(self, context: Context) -> FreeSpace | Unknown:
        """Two calls; a path counts only where the data directory was verified as this server's."""
        directory = location_of(context.sample(SERVER)).data_directory
        if isinstance(directory, Unknown):
            return directory
        try:
            data = space_of(directory)
            if isinstance(data, Unknown):
                return data
            is_read_only = is_read_only_at(directory, context.proc)
        except OSError as error:
            return Unknown(f"the free space of {directory} cannot be read ({error.strerror})")
        location = location_of(context.sample(SERVER))
        return FreeSpace(data, _temporary(context.sample(VARIABLES), location.pid, context.proc), is_read_only)

    def facts(self, pair: Pair[FreeSpace]) -> Iterable[Block]:
        """Columns of the machine."""
        data, temporary = pair.after.data, pair.after.temporary
        row: dict[str, Value] = {
            "data_directory_free_bytes": data.free_bytes,
            "data_directory_total_bytes": data.total_bytes,
        }
        if data.free_inodes is not None:
            row["data_directory_free_inodes"] = data.free_inodes
        if pair.after.is_read_only is not None:
            row["data_directory_read_only"] = int(pair.after.is_read_only)
        if not isinstance(temporary, Unknown):
            row |= {
                "temporary_directory_free_bytes": temporary.free_bytes,
                "temporary_directory_total_bytes": temporary.total_bytes,
            }
            if temporary.free_inodes is not None:
                row["temporary_directory_free_inodes"] = temporary.free_inodes
        return [single("host", row)]

    def unknown_columns(self, sample: FreeSpace) -> Mapping[str, Unknown]:
        """tmpdir, where it is out of sight: systemd gives many servers a /tmp of their own."""
        unknown = {"host.data_directory_growth_bytes_per_day": NOT_FROM_ONE_LOOK}
        unknown |= dict.fromkeys(
            ("host.data_directory_free_inodes", "host.temporary_directory_free_inodes"), NO_LIMIT_OF_FILES
        )
        unknown["host.data_directory_read_only"] = NOT_TOLD
        temporary = sample.temporary
        if isinstance(temporary, Unknown):
            names = ("free_bytes", "total_bytes", "free_inodes")
            unknown |= {f"host.temporary_directory_{name}": temporary for name in names}
        return unknown


def _temporary(variables: Variables | Unknown, pid: int | Unknown, proc: Path) -> Space | Unknown:
    if isinstance(variables, Unknown):
        return variables
    return temporary_space(variables.values.get("tmpdir", ""), pid, proc)


def temporary_space(tmpdir: str, pid: int | Unknown, proc: Path) -> Space | Unknown:
    """What the server's tmpdir has free: of several, which `:` parts, that with the least. `pid` is the server's process."""
    places = [Path(place) for place in tmpdir.split(":") if place]
    try:
        told = [_space_seen_by(pid, place, proc) for place in places]
    except OSError as error:
        return Unknown(f"the server's tmpdir cannot be seen from here ({error.strerror})")
    except ValueError:
        return Unknown("the server's tmpdir is no path that a file can have")
    if not told:
        return Unknown("the server names no tmpdir")
    hidden = next((one for one in told if isinstance(one, Unknown) and not one.off), None)
    if hidden is not None:
        return hidden
    sizes = [space for space in told if isinstance(space, Space)]
    return min(sizes, key=lambda space: space.free_bytes) if sizes else told[0]


def _space_seen_by(pid: int | Unknown, place: Path, proc: Path) -> Space | Unknown:
    """The same where the server's process has another file system there than we have. Raises OSError."""
    if isinstance(pid, Unknown):
        # What no right shows has namespaces of its own; else nothing speaks for that.
        return pid if pid.remedy == SHOW_PROCESS else space_of(place)
    real = os.path.realpath(place)
    ours, its_own = (mount_under(real, process, proc) for process in ("self", str(pid)))
    if its_own is None or (ours is not None and its_own.device == ours.device):
        return space_of(place)
    try:
        # Links in there lead into our own tree: what is found must be what the process was told to have.
        return space_of(proc / str(pid) / "root" / real.lstrip("/"), its_own)
    except OSError as error:
        return Unknown(
            f"the server's process has another file system at {place} than is seen from here (systemd, a container), which cannot be looked at ({error.strerror})",
            "run as root, or as the server's user" if isinstance(error, PermissionError) else "",
        )


def space_of(path: Path, mount: Mount | None = None) -> Space | Unknown:
    """What an unprivileged program may still write there, and what it could if there was nothing. Raises OSError, also where that does not lie in `mount`."""
    descriptor = ForeignFiles.place(path)
    try:
        if mount is not None and mount_number(descriptor) != mount.number:
            raise OSError(errno.EXDEV, "a link leads elsewhere")
        status = os.fstatvfs(descriptor)
    finally:
        os.close(descriptor)
    free_bytes = free_bytes_of(status)
    if free_bytes is None:
        return Unknown(f"the file system of {path} reports no size", off=True)
    return Space(free_bytes, status.f_blocks * status.f_frsize, free_inodes_of(status))


COLLECTOR = DiskSpaceCollector()
