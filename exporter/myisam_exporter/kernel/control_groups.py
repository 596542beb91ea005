"""Where a process's control groups are: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/cgroups.rst, cgroup_namespaces(7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path


def path_of(lines: Iterable[str], controller: str) -> str | None:
    """A process's group: the lines are `number:controllers:path`, of which the second version's has no controllers. Raises ValueError."""
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def with_those_around(folder: Path, top: Path) -> Iterator[Path]:
    """The group, and each around it: a slice, or a pod, holds the services in it. A container's own group is the uppermost that is seen there."""
    yield folder
    while folder != top:
        folder = folder.parent
        yield folder
