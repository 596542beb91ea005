"""Context switches of each thread of a process: psutil sees the main thread alone, and sums over threads fall when threads end.

A server has a thread for each connection, and most of thousands wait. For how long a thread had a processor its `schedstat` says, which takes
two fifths of the time that `status` takes: while it says the same, the thread waits, and `status` is not read again.
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
    """What was read of a process. Threads `at_rest` did nothing since the reading before; by them what their schedstat said before, once it was read."""

    folder: Path | None
    switches: dict[int, tuple[int, int]] = field(default_factory=dict)
    at_rest: dict[int, bytes] = field(default_factory=dict)


def _read(folder: Path, last: _Reading) -> _Reading:
    reading = _Reading(folder)
    with KernelFolder(folder / "task") as task:
        for thread in filter(str.isdecimal, task.names()):
            number = int(thread)
            known, rested = last.switches.get(number), last.at_rest.get(number)
            # Of a thread that works it would be read in vain. Before the switches: what it does in between is seen the next time.
            times = b"" if rested is None else _times(task, thread)
            if known is None or not times or times != rested:
                try:
                    found = _switches(task.content(f"{thread}/status"))
                except OSError:
                    continue  # the thread ended since the listing
                if found is None:
                    continue
                if found != known:
                    reading.switches[number] = found
                    continue
            reading.switches[number], reading.at_rest[number] = known, times
    return reading


def _times(task: KernelFolder, thread: str) -> bytes:
    """For how long it had a processor, waited for one, and how often it had one; nothing where the kernel does not say, or counts none (0 0 0)."""
    try:
        times = task.content(f"{thread}/schedstat")
    except OSError:
        return b""
    return b"" if times.startswith(b"0 ") else times


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
