"""A private server on storage that does a hundred reads a second: Linux control groups (version 1) hold back its reads, and the memory for its page cache.

Memory too, or what was read once would come from the page cache: misses of the key cache would never reach the storage.
Source: Documentation/admin-guide/cgroup-v1/{blkio-controller,memory}.rst.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from myisam_advisor.errors import TrialError

CONTROLLERS = Path("/sys/fs/cgroup")
FOLDERS = MEMORY, STORAGE = CONTROLLERS / "memory" / "myisam-bench", CONTROLLERS / "blkio" / "myisam-bench"
LIMIT = MEMORY / "memory.limit_in_bytes"
THROTTLE, SERVICED = STORAGE / "blkio.throttle.read_iops_device", STORAGE / "blkio.throttle.io_serviced"
READS_PER_SECOND = 100
# What is left of the page cache beside the server's own memory.
PAGE_CACHE_BYTES = 24 << 20
EMPTIED_SECONDS = 10.0


@contextmanager
def groups(directory: Path) -> Iterator[None]:
    """Control groups that an unprivileged process may put its server into; DIRECTORY lies on the storage that is held back. For root.

    Raises TrialError where there are none.
    """
    device = directory.stat().st_dev
    try:
        for folder in FOLDERS:
            folder.mkdir(exist_ok=True)
            (folder / "cgroup.procs").chmod(0o666)
        LIMIT.chmod(0o666)
        THROTTLE.write_text(f"{os.major(device)}:{os.minor(device)} {READS_PER_SECOND}")
    except OSError as error:
        raise TrialError(f"no control groups of version 1 to hold back reads with: {error}. Run as root.") from None
    try:
        yield
    finally:
        for folder in FOLDERS:
            remove_group(folder)


def hold_back(pid: int, files: Iterable[Path]) -> None:
    """Put the process PID into the groups, and these files out of the page cache: what it reads from now on is charged to it."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for folder in FOLDERS:
        (folder / "cgroup.procs").write_text(str(pid))
    LIMIT.write_text(str(anonymous_bytes(pid) + PAGE_CACHE_BYTES))


def reads() -> int:
    """Reads that reached the storage so far."""
    lines = SERVICED.read_text().splitlines()
    return sum(int(line.split()[2]) for line in lines if " Read " in line)


def anonymous_bytes(pid: int) -> int:
    """The process's own memory: VmRSS without files, proc(5)."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["RssAnon"].split()[0]) << 10


def remove_group(folder: Path) -> None:
    """Its processes go back to the root group; one that is ending may be in it for a moment."""
    end = time.monotonic() + EMPTIED_SECONDS
    while True:
        try:
            for pid in (folder / "cgroup.procs").read_text().split():
                (folder.parent / "cgroup.procs").write_text(pid)
            folder.rmdir()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
