"""How many processors a process may use: those that it is bound to, and what the control groups around it allow of their time.

A process is bound by sched_setaffinity(2) (taskset, CPUAffinity=) and by cpusets (AllowedCPUs=, docker --cpuset-cpus); /proc/PID/status tells what
is left of both. A quota (CPUQuota=, docker --cpus) is time in each period, of as many processors as it likes.

Sources: proc(5), cpuset(7); Documentation/admin-guide/cgroup-v2.rst (cpu.max); Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.control_groups import path_of, with_those_around
from myisam_exporter.outside.bounded_reading import bounded_text

BOUND_TO = "Cpus_allowed_list:"


def usable_processors(proc: Path, sys: Path, pid: int) -> float | Unknown:
    """In processors: 1.5 is one and half the time of another. A group that is out of sight here limits nothing in this figure."""
    folder = proc / str(pid)
    try:
        bound_to = _bound_to(bounded_text(folder / "status"))
        quotas = list(_quotas(bounded_text(folder / "cgroup", "utf-8").splitlines(), sys / "fs" / "cgroup"))
    except OSError as error:
        return Unknown(
            f"which processors process {pid} may use cannot be read ({error.strerror})",
            "run beside the server; /proc must not be mounted with hidepid",
        )
    except ValueError:
        return Unknown("this kernel does not show which processors a process may use", off=True)
    return min(bound_to, *quotas) if quotas else bound_to


def _bound_to(status: str) -> float:
    """How many processors a list such as 0-3,8 names. Raises ValueError."""
    line = next((line for line in status.splitlines() if line.startswith(BOUND_TO)), BOUND_TO)
    parts = [part.partition("-") for part in line[len(BOUND_TO) :].strip().split(",")]
    return float(sum(int(last or first) - int(first) + 1 for first, _, last in parts))


def _quotas(lines: list[str], root: Path) -> Iterator[float]:
    """What each group leaves, in processors; nothing where a group is not seen, or has no quota."""
    is_second_version = (root / "cgroup.controllers").exists()
    path = path_of(lines, "" if is_second_version else "cpu")
    top = root if is_second_version else root / "cpu"
    if path is None or ".." in Path(path).parts:
        return
    for group in with_those_around(top / path.lstrip("/"), top):
        quota, period = _quota(group, is_second_version)
        if quota > 0 and period > 0:
            yield quota / period


def _quota(group: Path, is_second_version: bool) -> tuple[int, int]:
    """Microseconds in each so many; no quota is -1, or `max`."""
    try:
        if is_second_version:
            words = bounded_text(group / "cpu.max").split()
            return (int(words[0]), int(words[1])) if words[0] != "max" else (0, 0)
        return int(bounded_text(group / "cpu.cfs_quota_us")), int(bounded_text(group / "cpu.cfs_period_us"))
    except (OSError, ValueError, IndexError):
        return 0, 0
