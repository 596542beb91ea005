"""What a file system has left, where it tells.

Some tell no size: tmpfs that may take all of memory (size=0), and what FUSE serves without saying. Their zeros are no full disk. Source: statvfs(3).
"""

from __future__ import annotations

import os
from pathlib import Path


def free_bytes_of(status: os.statvfs_result) -> int | None:
    """What an unprivileged program may still write there; None where the file system reports no size."""
    return status.f_bavail * status.f_frsize if status.f_blocks else None


def free_inodes_of(status: os.statvfs_result) -> int | None:
    """How many files may still be made there; None where the file system has no such limit (btrfs), or tells none."""
    return status.f_favail if status.f_files else None


def free_bytes_at(place: Path | int) -> int | None:
    """The same of a path of our own, or of a descriptor. Raises OSError."""
    return free_bytes_of(os.statvfs(place))
