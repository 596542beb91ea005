"""Stands for the library psutil: memory, swap and processor times of /proc, as far as collectors/host.py asks for them.

Source: proc(5); psutil/_pslinux.py of psutil 5.9, whose figures these are: `cached` counts what the kernel can reclaim of its slabs.
"""

from __future__ import annotations

import os
from typing import NamedTuple

PROCFS_PATH = "/proc"
_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")


class Memory(NamedTuple):
    """Bytes."""

    total: int
    available: int
    cached: int


class Swap(NamedTuple):
    """Bytes."""

    total: int
    used: int


class Times:
    """Seconds of all processors since boot."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds

    def _asdict(self) -> dict[str, float]:
        return dict(self._seconds)


def virtual_memory() -> Memory:
    """/proc/meminfo. Raises OSError, and ValueError where it is none."""
    told = _meminfo()
    cached = told.get("Cached", 0) + told.get("SReclaimable", 0)
    # MemAvailable came with Linux 3.14 and Red Hat's 3.10: before, what is free and what may be let go of.
    available = told.get("MemAvailable") or told.get("MemFree", 0) + cached - told.get("Shmem", 0)
    # Beyond the total in a container: then as psutil and free(1) have it.
    available = told.get("MemFree", 0) if available > told["MemTotal"] else max(available, 0)
    return Memory(told["MemTotal"], available, cached)


def swap_memory() -> Swap:
    """The same. Raises as `virtual_memory`."""
    told = _meminfo()
    total = told.get("SwapTotal", 0)
    return Swap(total, total - told.get("SwapFree", 0))


def cpu_times() -> Times:
    """The first line of /proc/stat. Raises OSError, and ValueError where it is none."""
    words = _text("stat").split("\n", 1)[0].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return Times({name: int(word) / ticks for name, word in zip(_TIMES, words[1:], strict=False)})


def cpu_count() -> int | None:
    """Processors that are there."""
    return os.cpu_count()


def _meminfo() -> dict[str, int]:
    lines = [line.split() for line in _text("meminfo").splitlines()]
    told = {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) > 1}
    if "MemTotal" not in told:
        raise ValueError("meminfo without MemTotal")
    return told


def _text(name: str) -> str:
    with open(f"{PROCFS_PATH}/{name}", encoding="ascii", errors="replace") as file:
        return file.read(1 << 20)
