"""Who had the processors while a round ran: we, others, or nobody. From /proc/stat and the CPU time of our own processes."""

from __future__ import annotations

import os
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.bounded_reading import bounded_text

PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# proc(5): user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of the first two.
TIMES, IDLE, WAITING = 8, 3, 4
# Where of /proc/PID/stat, behind the name in brackets: utime, stime, cutime, cstime.
OWN_TIMES = slice(11, 15)
# Others take a large part, and leave no processor idle: then what is measured is how the kernel shares them.
DISTURBING_SHARE, IDLE_SHARE = 0.35, 0.1


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """Shares of all processors over a time: what others took of them (a hypervisor, too), and what nobody did; and its length."""

    others: float
    idle: float
    seconds: float

    @property
    def disturbs(self) -> bool:
        """Whether others had so much that runs meanwhile say little."""
        return self.others >= DISTURBING_SHARE and self.idle <= IDLE_SHARE


@dataclass(frozen=True, slots=True)
class _Reading:
    busy: float
    idle: float
    own: float


class LoadMeter:
    """Reads before and after. Unknown (None) where the kernel does not tell which processes are ours."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._before: _Reading | None = None

    def begin(self) -> None:
        """A round begins."""
        self._before = self._read()

    def lap(self) -> MachineLoad | None:
        """The load since it began."""
        before, now = self._before, self._read()
        if before is None or now is None:
            return None
        busy, idle, own = now.busy - before.busy, now.idle - before.idle, now.own - before.own
        whole = busy + idle
        if whole <= 0:
            return None
        # A tick is counted for whom it finds: over short times our own may be a little more than all.
        return MachineLoad(min(max((busy - own) / whole, 0.0), 1.0), min(max(idle / whole, 0.0), 1.0), whole)

    def _read(self) -> _Reading | None:
        try:
            times = [int(word) for word in bounded_text(self._proc / "stat").split("\n", 1)[0].split()[1 : TIMES + 1]]
            own = self._own(os.getpid())
        except (OSError, ValueError):
            return None
        if len(times) < TIMES:
            return None
        idle = times[IDLE] + times[WAITING]
        return _Reading((sum(times) - idle) / TICKS_PER_SECOND, idle / TICKS_PER_SECOND, own / TICKS_PER_SECOND)

    def _own(self, pid: int) -> int:
        """Ticks of a process, of its children that were waited for, and of those that live."""
        folder = self._proc / str(pid)
        ticks = sum(int(word) for word in bounded_text(folder / "stat", "utf-8").rpartition(")")[2].split()[OWN_TIMES])
        for task in os.listdir(folder / "task"):
            for child in bounded_text(folder / "task" / task / "children").split():
                ticks += self._own_or_none(int(child))
        return ticks

    def _own_or_none(self, pid: int) -> int:
        try:
            return self._own(pid)
        except FileNotFoundError:
            return 0  # it has just ended: its parent counts it once it is waited for
        except ProcessLookupError:
            return 0
