"""Context switches of each thread of a process: psutil sees the main thread alone, and sums over threads fall when threads end.

A server has a thread for each connection, and most of thousands wait. How often a thread was given a processor its `schedstat` says, which takes
a third of the time that `status` takes: where that is the number of its switches that are known, it has waited since, and `status` is not read.
Sources: proc(5); Documentation/scheduler/sched-stats.rst.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.bounded_reading import KernelFolder

# By thread: voluntary, involuntary.
Switches = Mapping[int, tuple[int, int]]
_SWITCHES = re.compile(rb"voluntary_ctxt_switches:\s*(\d+)\nnonvoluntary_ctxt_switches:\s*(\d+)")


class ThreadSwitches:
    """Readings of one process, one after another. Threads may share it: what it knows is replaced, never changed."""

    def __init__(self) -> None:
        self._last = _Reading(None)

    def read(self, folder: Path) -> Switches:
        """Those of the threads that live now, below /proc/PID. Raises OSError when the process is gone or hidden."""
        last = self._last
        found = self._last = _read(folder, last if last.folder == folder else _Reading(None))
        return found.switches


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was read of a process, and the threads that did nothing since the reading before: of others `schedstat` would be read in vain."""

    folder: Path | None
    switches: dict[int, tuple[int, int]] = field(default_factory=dict)
    at_rest: set[int] = field(default_factory=set)


def _read(folder: Path, last: _Reading) -> _Reading:
    reading = _Reading(folder)
    with KernelFolder(folder / "task") as task:
        for thread in task.names():
            number = int(thread)
            known = last.switches.get(number)
            try:
                if known is not None and number in last.at_rest and _has_waited(task, thread, known):
                    found: tuple[int, int] | None = known
                else:
                    found = _switches(task.content(f"{thread}/status"))
            except OSError:
                continue  # the thread ended since the listing
            if found is not None:
                reading.switches[number] = found
                if found == known:
                    reading.at_rest.add(number)
    return reading


def _has_waited(task: KernelFolder, thread: str, known: tuple[int, int]) -> bool:
    """Whether it was given no processor since these were its switches: each time ends with one. 0 is told where the kernel does not count."""
    try:
        times = task.content(f"{thread}/schedstat").split()
    except FileNotFoundError:
        return False  # this kernel has none, or the thread ended
    return len(times) == 3 and times[2] != b"0" and int(times[2]) == sum(known)


def _switches(status: bytes) -> tuple[int, int] | None:
    found = _SWITCHES.search(status)
    return None if found is None else (int(found[1]), int(found[2]))


def switches_between(before: Switches, now: Switches) -> tuple[int, int]:
    """Voluntary and involuntary switches between two readings, over the threads that live at the second."""
    voluntary = involuntary = 0
    for thread, (now_voluntary, now_involuntary) in now.items():
        old_voluntary, old_involuntary = before.get(thread, (0, 0))
        if now_voluntary >= old_voluntary and now_involuntary >= old_involuntary:
            voluntary += now_voluntary - old_voluntary
            involuntary += now_involuntary - old_involuntary
    return voluntary, involuntary
