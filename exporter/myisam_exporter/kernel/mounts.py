"""Which file system lies under a path, as a process sees it: in a mount namespace of its own it may be another one (systemd, a container).

Sources: proc_pid_mountinfo(5), which everybody may read whom /proc shows the process; proc_pid_fdinfo(5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.bounded_reading import bounded_bytes, bounded_text
from myisam_exporter.outside.foreign_files import ForeignFiles

# Space, tab, line feed and backslash in a name. What else Python takes for a space or a line's end stands in names as it is, and whoever mounts chooses them.
_ESCAPED = re.compile(r"\\([0-7]{3})")
_NUMBER, _DEVICE, _POINT = 0, 2, 4
# What ext4 turns to after an error (errors=remount-ro): proc(5), the options of the file system itself; by name since Linux 6.15.
READ_ONLY = frozenset({"ro", "emergency_ro"})


@dataclass(frozen=True, slots=True)
class Mount:
    """Its own number; that of its file system (`8:1`), the same in all namespaces; where it stands, with `/` at its end; the file system's options."""

    number: str
    device: str
    point: str
    options: str


def mount_under(place: str, process: str, proc: Path) -> Mount | None:
    """The mount that a path without links lies in; `process` is a number or `self`. None where that is not told."""
    found = None
    try:
        for mount in _mounts(process, proc):
            # Of several at one place the last one was mounted over the others.
            is_nearer = found is None or len(mount.point) >= len(found.point)
            if is_nearer and f"{place.rstrip('/')}/".startswith(mount.point):
                found = mount
    except OSError:
        return None
    return found


def mount_number(descriptor: int) -> str | None:
    """The number of the mount in which an open file lies; None where the kernel does not tell (before Linux 3.15). Raises OSError."""
    told = bounded_text(f"/proc/self/fdinfo/{descriptor}", "utf-8").split()
    return told[told.index("mnt_id:") + 1] if "mnt_id:" in told else None


def is_read_only_at(place: Path, proc: Path) -> bool | None:
    """Whether the whole file system is read only; of a mount that is so for us alone (ProtectSystem=) it is not. None where that is not told."""
    try:
        device = place.stat().st_dev
        mounts = list(_mounts("self", proc))
        number = f"{os.major(device)}:{os.minor(device)}"
        mount = next((one for one in mounts if one.device == number), None) or _mounted_as(place, mounts)
    except OSError:
        return None
    return None if mount is None else not READ_ONLY.isdisjoint(mount.options.split(","))


def _mounted_as(place: Path, mounts: list[Mount]) -> Mount | None:
    """The mount by its own number: subvolumes of btrfs have devices that no mount is told with. Raises OSError."""
    descriptor = ForeignFiles.place(place)
    try:
        number = mount_number(descriptor)
    finally:
        os.close(descriptor)
    return next((one for one in mounts if one.number == number), None)


def _mounts(process: str, proc: Path) -> Iterator[Mount]:
    """In the kernel's order. Raises OSError."""
    text = bounded_bytes(proc / process / "mountinfo").decode("utf-8", "surrogateescape")
    for fields in (line.split(" ") for line in text.split("\n")):
        if len(fields) > _POINT:
            point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[_POINT])
            yield Mount(fields[_NUMBER], fields[_DEVICE], f"{point.rstrip('/')}/", fields[-1])
