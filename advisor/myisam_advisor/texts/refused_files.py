"""What helps where the system refuses to write or remove a file."""

from __future__ import annotations

import errno

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
FAILED = (errno.EIO, errno.ESTALE)
DISK_FAILED = "A disk failed: the kernel's log says which (journalctl -k)."
_MAKE_ROOM = "Make room there."
_READ_ONLY = "That file system is mounted read-only: mount it for writing."


def remedy_of(error: OSError, otherwise: str) -> str:
    """A sentence; `otherwise` is what helps against a right that is missing."""
    if error.errno in NO_ROOM:
        return _MAKE_ROOM
    if error.errno in FAILED:
        return DISK_FAILED
    return _READ_ONLY if error.errno == errno.EROFS else otherwise
