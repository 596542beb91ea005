"""The control group of the server, where it has one of its own: refaults and pressure that no other program had a part in.

Source: Documentation/admin-guide/cgroup-v2.rst (memory.stat, memory.max, *.pressure); cgroup-v1/memory.rst (memory.stat, of which this group's own
`cache` is the second version's `file`, and `hierarchical_memory_limit`). Everybody may read these files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.bounded_reading import bounded_text

MICROSECONDS_PER_SECOND = 1_000_000
NOT_OWN = "mysqld has no control group of its own"
REMEDY = "run mysqld as a systemd service"
NONE_COUNTS = Unknown("this machine has no control groups that count memory", off=True)
# The first version says so where there is no limit: PAGE_COUNTER_MAX (include/linux/page_counter.h) in bytes, a page less than 2^63.
NO_LIMIT_BYTES = 1 << 62


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One reading. `pressure_seconds` by (resource, some or full); a limit of None is no limit."""

    path: str
    file_bytes: int
    file_refaults: int | None
    limit_bytes: int | None
    pressure_seconds: Mapping[tuple[str, str], float]


CGROUP = SampleKey("cgroup", ControlGroup)


class CgroupCollector(Collector[ControlGroup]):
    """cgroup v2, and the memory controller of v1."""

    name = CGROUP.name
    source = "/sys/fs/cgroup"
    after = ("server",)
    sections = {
        "mysqld": columns(
            ("cgroup_page_cache_bytes", "integer", "Page cache charged to the control group of the server alone."),
            ("cgroup_memory_limit_bytes", "integer", "What its memory may grow to; unknown when there is no limit."),
            (
                "cgroup_file_refaults_per_second",
                "real",
                "Pages of files that this group read again after they had been dropped.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> ControlGroup | Unknown:
        """Find the group of the verified process, and read it."""
        server = context.sample(SERVER)
        if isinstance(server, Unknown):
            return server
        pid = server.location.pid
        return pid if isinstance(pid, Unknown) else read_control_group(context.proc, context.sys, pid)

    def facts(self, pair: Pair[ControlGroup]) -> Iterable[Block]:
        """Part of the row of mysqld."""
        now, before = pair.after, pair.before
        same = before is not None and before.path == now.path
        row = {
            "cgroup_page_cache_bytes": now.file_bytes,
            "cgroup_memory_limit_bytes": now.limit_bytes,
            "cgroup_file_refaults_per_second": pair.rate(before.file_refaults, now.file_refaults)
            if before and same
            else None,
        }
        return [single("mysqld", row)]

    def unknown_columns(self, sample: ControlGroup) -> Mapping[str, Unknown]:
        """No limit is no number."""
        return {"mysqld.cgroup_memory_limit_bytes": Unknown("the control group has no memory limit", off=True)}


def read_control_group(proc: Path, sys: Path, pid: int) -> ControlGroup | Unknown:
    """The group of a process, below these roots."""
    root = sys / "fs" / "cgroup"
    try:
        lines = bounded_text(proc / str(pid) / "cgroup", "utf-8").splitlines()
        is_second_version = (root / "cgroup.controllers").exists()
        path = _path_of(lines, "" if is_second_version else "memory")
        if path is None:
            return NONE_COUNTS
        folder = (root if is_second_version else root / "memory") / path.lstrip("/")
        if path == "/" or bounded_text(folder / "cgroup.procs").split() != [str(pid)]:
            return Unknown(NOT_OWN, REMEDY, off=True)
        stat = dict(line.split() for line in bounded_text(folder / "memory.stat").splitlines())
        refaults = stat.get("workingset_refault_file", stat.get("workingset_refault"))
        return ControlGroup(
            path,
            int(stat["file" if is_second_version else "cache"]),
            None if refaults is None else int(refaults),
            _limit(folder, root) if is_second_version else _first_version_limit(stat),
            dict(_pressure(folder)) if is_second_version else {},
        )
    except FileNotFoundError:
        return Unknown("the server's control group does not count memory", "MemoryAccounting=yes in its unit", off=True)
    except (OSError, ValueError, KeyError) as error:
        return Unknown(f"the control group of process {pid} cannot be read ({error})")


def _path_of(lines: Iterable[str], controller: str) -> str | None:
    """A process's group: the lines are `number:controllers:path`, of which the second version's has no controllers."""
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def _first_version_limit(stat: Mapping[str, str]) -> int | None:
    """The least of the group's own limit and those of all around it."""
    limit = int(stat["hierarchical_memory_limit"])
    return None if limit >= NO_LIMIT_BYTES else limit


def _limit(folder: Path, root: Path) -> int | None:
    """The same of the second version, where each group tells its own: a slice, or a pod, holds the services in it."""
    limits = [_own_limit(folder)]
    for around in folder.parents:
        if around == root:
            break
        with contextlib.suppress(OSError):  # memory is not counted there, or not for everybody to see
            limits.append(_own_limit(around))
    return min((limit for limit in limits if limit is not None), default=None)


def _own_limit(folder: Path) -> int | None:
    text = bounded_text(folder / "memory.max").strip()
    return None if text == "max" else int(text)


def _pressure(folder: Path) -> Iterable[tuple[tuple[str, str], float]]:
    for resource in ("io", "memory"):
        try:
            text = bounded_text(folder / f"{resource}.pressure")
        except OSError:
            continue  # built without pressure, or switched off: psi=1
        for line in text.splitlines():
            kind, *values = line.split()
            yield (resource, kind), int(values[-1].removeprefix("total=")) / MICROSECONDS_PER_SECOND


COLLECTOR = CgroupCollector()
