"""Control groups (version 1) that hold back the reads, and the memory, of the servers of a pair: each in groups of its own, so that neither takes from the other.

Source: Documentation/admin-guide/cgroup-v1/{blkio-controller,memory}.rst. They are made as root, and servers enter them as the trial's user, once they have started:
what they had taken by then (some 60 to 100 MiB of MariaDB) is not charged to the group, so that `memory` is what
a server may take beyond it, for its caches, connections and pages.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.advice.scenarios import Scenario
from benchmarks.slow_storage import CONTROLLERS, PAGE_CACHE_BYTES, anonymous_bytes, remove_group
from myisam_advisor.errors import TrialError

SIDES = ("untouched", "changed")


def _folders(side: str) -> tuple[Path, Path]:
    return CONTROLLERS / "memory" / f"myisam-advice-{side}", CONTROLLERS / "blkio" / f"myisam-advice-{side}"


@contextmanager
def limits(scenario: Scenario, directory: Path) -> Iterator[None]:
    """The groups of a scenario; none where it asks for none. Raises TrialError where they cannot be had."""
    if scenario.reads_per_second is None and scenario.memory_bytes is None:
        yield
        return
    device = directory.stat().st_dev
    try:
        for side in SIDES:
            for folder in _folders(side):
                folder.mkdir(exist_ok=True)
                (folder / "cgroup.procs").chmod(0o666)
            memory, storage = _folders(side)
            (memory / "memory.limit_in_bytes").chmod(0o666)
            if scenario.reads_per_second:
                throttle = f"{os.major(device)}:{os.minor(device)} {scenario.reads_per_second}"
                (storage / "blkio.throttle.read_iops_device").write_text(throttle)
    except OSError as error:
        _clear()
        raise TrialError(f"no control groups of version 1 to hold a server back with: {error}. Run as root.") from None
    try:
        yield
    finally:
        _clear()


def hold_back(scenario: Scenario, side: str, pid: int, files: Iterable[Path]) -> None:
    """Put a server into its groups; where storage is slow, with its files out of the page cache and little room for them there."""
    memory, storage = _folders(side)
    if scenario.reads_per_second:
        evict(files)
        (storage / "cgroup.procs").write_text(str(pid))
    if scenario.reads_per_second or scenario.memory_bytes:
        (memory / "cgroup.procs").write_text(str(pid))
        limit = scenario.memory_bytes or anonymous_bytes(pid) + PAGE_CACHE_BYTES
        (memory / "memory.limit_in_bytes").write_text(str(limit))


@contextmanager
def started_with(open_files: int | None) -> Iterator[None]:
    """What is started meanwhile may have so many files open unless it asks for more: MySQL 5.6 and MariaDB keep a larger limit that they find (mysys/my_file.c)."""
    if open_files is None:
        yield
        return
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)


def evict(files: Iterable[Path]) -> None:
    """Put files out of the page cache."""
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _clear() -> None:
    for side in SIDES:
        for folder in _folders(side):
            if folder.exists():
                remove_group(folder)
