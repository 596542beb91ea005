"""What tells that a file changed, and what is wrong with us rather than with a file."""

from __future__ import annotations

import errno
import os

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
MORE_DESCRIPTORS = "raise what limits this process (ulimit -n, LimitNOFILE=, MemoryMax=), or the machine."
CLOCK_TICK_NS = 50_000_000  # a file system's clock is the kernel's coarse one: 1 to 10 ms


def signature(status: os.stat_result) -> int:
    """One number for what changes when a file does: inode, length, times of contents and inode."""
    return hash((status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def refuse_exhaustion(error: OSError) -> None:
    """Raise where it is we who lack something: that says nothing of the file."""
    if error.errno in EXHAUSTED:
        raise error


def remedy_of_opening(error: OSError) -> str:
    """What helps where a file that somebody named could not be read."""
    if error.errno in EXHAUSTED:
        return f"The file is not at fault: {MORE_DESCRIPTORS}"
    return "Check the path and its permissions."
