"""Memory, swap and processor times of the machine: the first lines of two files of /proc.

Not by psutil, which this project starts processes with: to import it takes longer than all else that a `check` asks of the machine.

Sources: proc(5); psutil/_pslinux.py of psutil 5.9, whose figures these are, and free(1)'s.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from myisam_exporter.outside.bounded_reading import bounded_text

_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")


class MachineMemory(NamedTuple):
    """Bytes. `cached` counts what the kernel can reclaim of its slabs. Of swap None where nothing is told."""

    total: int
    available: int
    cached: int
    swap_total: int | None
    swap_used: int | None


def memory_of(proc: Path) -> MachineMemory:
    """What /proc/meminfo says. Raises OSError, ValueError where it is none, and KeyError with the line that it lacks."""
    lines = (line.split() for line in bounded_text(proc / "meminfo").splitlines())
    told = {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) > 1}
    total, free = told["MemTotal"], told["MemFree"]
    cached = told.get("Cached", 0) + told.get("SReclaimable", 0)
    # MemAvailable came with Linux 3.14 and Red Hat's 3.10: before, what is free and what may be let go of.
    available = told.get("MemAvailable") or max(free + cached - told.get("Shmem", 0), 0)
    swap, unused = told.get("SwapTotal"), told.get("SwapFree")
    used = None if swap is None or unused is None else swap - unused
    # Beyond the total in a container: then what is free.
    return MachineMemory(total, free if available > total else available, cached, swap, used)


def processor_seconds(proc: Path) -> dict[str, float]:
    """Seconds of all processors since boot, by what they did. Raises OSError, and ValueError where /proc/stat is none."""
    words = bounded_text(proc / "stat").partition("\n")[0].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return {name: int(word) / ticks for name, word in zip(_TIMES, words[1:], strict=False)}
