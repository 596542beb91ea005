"""The control group of the server: what it and the groups around it let memory grow to; and where no other program is in it, refaults and pressure.

A limit is one whoever else is in the group: a container's init, mysqld_safe. The counters of a group that others share are not the server's.

Source: Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.high, memory.current, memory.stat, *.pressure); cgroup-v1/memory.rst
(memory.stat, of which this group's own `cache` is the second version's `file`, and `hierarchical_memory_limit`); cgroup_namespaces(7).
Everybody may read these files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.control_groups import path_of, with_those_around
from myisam_exporter.kernel.rights import REMEDIES
from myisam_exporter.outside.bounded_reading import bounded_text

MICROSECONDS_PER_SECOND = 1_000_000
NOT_OWN = Unknown(
    "mysqld has no control group of its own",
    "run mysqld as the only process of a control group: as a systemd service, or alone in a container",
    off=True,
)
NOT_COUNTED = Unknown("the server's control group does not count memory", "MemoryAccounting=yes in its unit", off=True)
NONE_COUNTS = Unknown("this machine has no control groups that count memory", off=True)
# Another namespace's group is told as /../name, and a mount may show another part of the tree.
HIDDEN = Unknown(
    "the server's control group is not visible here: whether it limits memory is not known", REMEDIES.show_control_group
)
# The first version says so where there is no limit: PAGE_COUNTER_MAX (include/linux/page_counter.h) in bytes, a page less than 2^63.
NO_LIMIT_BYTES = 1 << 62


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One reading. `pressure_seconds` by (resource, some or full); a limit of None is no limit.

    `available_bytes` is what the limits leave. `not_own` says why the group's counters are not the server's.
    """

    path: str
    file_bytes: int | None
    file_refaults: int | None
    limit_bytes: int | None
    pressure_seconds: Mapping[tuple[str, str], float]
    available_bytes: int | None
    not_own: Unknown | None = None


CGROUP = SampleKey("cgroup", ControlGroup)


class CgroupCollector(Collector[ControlGroup]):
    """cgroup v2, and the memory controller of v1."""

    name = CGROUP.name
    source = "/sys/fs/cgroup"
    after = ("server",)
    sections = {
        "mysqld": columns(
            ("cgroup_page_cache_bytes", "integer", "Page cache charged to the control group of the server alone."),
            (
                "cgroup_memory_limit_bytes",
                "integer",
                "What the group that the server is in, and those around it, let memory grow to; unknown when there is no limit.",
            ),
            (
                "cgroup_memory_available_bytes",
                "integer",
                "What these limits leave, page cache counted as free; unknown when there is no limit.",
            ),
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
        pid = location_of(context.sample(SERVER)).pid
        return pid if isinstance(pid, Unknown) else read_control_group(context.proc, context.sys, pid)

    def facts(self, pair: Pair[ControlGroup]) -> Iterable[Block]:
        """Part of the row of mysqld."""
        now, before = pair.after, pair.before
        same = before is not None and before.path == now.path
        row = {
            "cgroup_page_cache_bytes": now.file_bytes,
            "cgroup_memory_limit_bytes": now.limit_bytes,
            "cgroup_memory_available_bytes": now.available_bytes,
            "cgroup_file_refaults_per_second": pair.rate(before.file_refaults, now.file_refaults)
            if before and same
            else None,
        }
        return [single("mysqld", row)]

    def unknown_columns(self, sample: ControlGroup) -> Mapping[str, Unknown]:
        """No limit is no number, and what others use too is not the server's."""
        no_limit = Unknown("the control group has no memory limit", off=True)
        unknown = dict.fromkeys(("mysqld.cgroup_memory_limit_bytes", "mysqld.cgroup_memory_available_bytes"), no_limit)
        if sample.not_own is not None:
            own = ("mysqld.cgroup_page_cache_bytes", "mysqld.cgroup_file_refaults_per_second")
            unknown |= dict.fromkeys(own, sample.not_own)
        return unknown


def read_control_group(proc: Path, sys: Path, pid: int) -> ControlGroup | Unknown:
    """The group of a process, below these roots."""
    root = sys / "fs" / "cgroup"
    try:
        lines = bounded_text(proc / str(pid) / "cgroup", "utf-8").splitlines()
        is_second_version = (root / "cgroup.controllers").exists()
        path = path_of(lines, "" if is_second_version else "memory")
        if path is None:
            return NONE_COUNTS if _names(root) else HIDDEN
        top = root if is_second_version else root / "memory"
        folder = top / path.lstrip("/")
        if ".." in folder.parts or not folder.exists():
            return HIDDEN
        processes = bounded_text(folder / "cgroup.procs").split()
        if str(pid) not in processes:
            return HIDDEN  # a group of the same name: the path is of this namespace, and what is mounted of another
        levels = list((_levels if is_second_version else _first_version_levels)(folder, top))
        return _read(path, folder, levels, len(processes) == 1, is_second_version)
    except (OSError, ValueError, KeyError) as error:
        return Unknown(f"the control group of process {pid} cannot be read ({error})")


class _Level(NamedTuple):
    """What one group lets all in it have, and what of that is left: None where there is no limit, or nobody tells."""

    limit: int | None
    available: int | None


def _read(
    path: str, folder: Path, levels: list[_Level], is_alone: bool, is_second_version: bool
) -> ControlGroup | Unknown:
    limited = [level for level in levels if level.limit is not None]
    limit = min((level.limit for level in limited if level.limit is not None), default=None)
    left = [level.available for level in limited if level.available is not None]
    available = min(left) if left and len(left) == len(limited) else None
    stat = _stat(folder)
    not_own = None if stat else NOT_COUNTED
    if not is_alone:
        not_own = NOT_OWN
    if not_own is not None:
        is_told = bool(limited) or not_own is NOT_OWN
        return ControlGroup(path, None, None, limit, {}, available, not_own) if is_told else not_own
    refaults = stat.get("workingset_refault_file", stat.get("workingset_refault"))
    return ControlGroup(
        path,
        int(stat["file" if is_second_version else "cache"]),
        None if refaults is None else int(refaults),
        limit,
        dict(_pressure(folder)) if is_second_version else {},
        available,
    )


def _names(folder: Path) -> list[str]:
    """What lies in it; nothing where it is not there."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _levels(folder: Path, top: Path) -> Iterator[_Level]:
    """Of the second version. Beyond memory.high nothing is ended, but all in it are made to wait."""
    for group in with_those_around(folder, top):
        limits = [_number(group / name) for name in ("memory.max", "memory.high")]
        limit = min((one for one in limits if one is not None), default=None)
        yield _Level(limit, _left(limit, _number(group / "memory.current"), _stat(group), ""))


def _first_version_levels(folder: Path, top: Path) -> Iterator[_Level]:
    """Of the first: a group tells the least of its own limit and those around it; where these do not count (use_hierarchy), that is its own."""
    for group in with_those_around(folder, top):
        stat = _stat(group)
        told = stat.get("hierarchical_memory_limit")
        limit = None if told is None or int(told) >= NO_LIMIT_BYTES else int(told)
        yield _Level(limit, _left(limit, _number(group / "memory.usage_in_bytes"), stat, "total_"))
        if _number(group.parent / "memory.use_hierarchy") != 1:
            return


def _left(limit: int | None, used: int | None, stat: Mapping[str, str], prefix: str) -> int | None:
    """What a limit leaves, where pages of files give way."""
    if limit is None or used is None or not stat:
        return None
    pages = sum(int(stat.get(f"{prefix}{name}", 0)) for name in ("active_file", "inactive_file"))
    return max(limit - max(used - pages, 0), 0)


def _stat(group: Path) -> dict[str, str]:
    """memory.stat; nothing where memory is not counted there."""
    try:
        return dict(line.split() for line in bounded_text(group / "memory.stat").splitlines())
    except OSError:
        return {}


def _number(file: Path) -> int | None:
    """What a file says; None where there is no such file, or no limit."""
    try:
        text = bounded_text(file).strip()
    except OSError:
        return None
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
