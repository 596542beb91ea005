"""What a file system has left, where it tells.

Some tell no size: tmpfs that may take all of memory (size=0), and what FUSE serves without saying. Their zeros are no full disk. Source: statvfs(3).
"""

from __future__ import annotations

import os
from pathlib import Path

from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.outside.foreign_files import ForeignFiles

# What ext4 turns to after an error (errors=remount-ro): proc(5), the options of the file system itself; by name since Linux 6.15.
READ_ONLY = frozenset({"ro", "emergency_ro"})


def free_bytes_of(status: os.statvfs_result) -> int | None:
    """What an unprivileged program may still write there; None where the file system reports no size."""
    return status.f_bavail * status.f_frsize if status.f_blocks else None


def free_inodes_of(status: os.statvfs_result) -> int | None:
    """How many files may still be made there; None where the file system has no such limit (btrfs), or tells none."""
    return status.f_favail if status.f_files else None


def free_bytes_at(place: Path | int) -> int | None:
    """The same of a path of our own, or of a descriptor. Raises OSError."""
    return free_bytes_of(os.statvfs(place))


def is_read_only_at(place: Path, proc: Path) -> bool | None:
    """Whether the whole file system is read only; of a mount that is so for us alone (ProtectSystem=) it is not. None where that is not told."""
    try:
        device = place.stat().st_dev
        lines = bounded_text(proc / "self" / "mountinfo", "utf-8").splitlines()
        number = f"{os.major(device)}:{os.minor(device)}"
        fields = [line.split() for line in lines]
        words = next((one for one in fields if one[2:3] == [number]), None) or _mounted_as(place, fields)
    except (OSError, ValueError):
        return None
    return None if words is None else not READ_ONLY.isdisjoint(words[-1].split(","))


def _mounted_as(place: Path, fields: list[list[str]]) -> list[str] | None:
    """The mount by its own number: subvolumes of btrfs have devices that no mount is told with. Raises OSError and ValueError."""
    descriptor = ForeignFiles.place(place)
    try:
        told = bounded_text(Path(f"/proc/self/fdinfo/{descriptor}"), "utf-8").split()
    finally:
        os.close(descriptor)
    number = told[told.index("mnt_id:") + 1]
    return next((one for one in fields if one[:1] == [number]), None)
