"""Processors that a process may use: our own, and those of machines made of files, with groups of both versions."""

import os
from pathlib import Path

import pytest

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.usable_processors import usable_processors

PID = 7


def machine(root: Path, allowed: str, *groups: str) -> tuple[Path, Path]:
    """/proc and /sys of a process that is bound to some processors."""
    (root / "proc" / str(PID)).mkdir(parents=True)
    (root / "sys" / "fs" / "cgroup").mkdir(parents=True)
    (root / "proc" / str(PID) / "status").write_text(f"Name:\tmysqld\nCpus_allowed:\tff\nCpus_allowed_list:\t{allowed}\n")
    (root / "proc" / str(PID) / "cgroup").write_text("".join(f"{line}\n" for line in groups))
    return root / "proc", root / "sys"


def second(sys: Path, path: str, text: str) -> None:
    (sys / "fs" / "cgroup" / "cgroup.controllers").write_text("cpu memory\n")
    (sys / "fs" / "cgroup" / path).mkdir(parents=True, exist_ok=True)
    (sys / "fs" / "cgroup" / path / "cpu.max").write_text(f"{text}\n")


def first(sys: Path, path: str, quota: int, period: int = 100000) -> None:
    folder = sys / "fs" / "cgroup" / "cpu" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (folder / "cpu.cfs_period_us").write_text(f"{period}\n")


def test_our_own_are_those_that_we_are_bound_to(tmp_path: Path) -> None:
    assert usable_processors(Path("/proc"), tmp_path, os.getpid()) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("allowed", "processors"), [("0", 1), ("0-63", 64), ("0-3,8,10-11", 7)])
def test_a_list_of_processors_is_counted(tmp_path: Path, allowed: str, processors: int) -> None:
    assert usable_processors(*machine(tmp_path, allowed, "0::/"), PID) == processors


def test_the_least_quota_of_the_groups_around_it_holds(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path, "0-7", "0::/system.slice/mariadb.service")
    second(sys, "system.slice/mariadb.service", "max 100000")
    assert usable_processors(proc, sys, PID) == 8
    second(sys, "system.slice", "150000 100000")
    assert usable_processors(proc, sys, PID) == 1.5
    second(sys, "system.slice/mariadb.service", "400000 100000")
    assert usable_processors(proc, sys, PID) == 1.5


def test_the_first_version_has_its_quota_beside_the_processor_controller(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path, "0-7", "4:memory:/elsewhere", "3:cpu,cpuacct:/docker/abc", "0::/")
    first(sys, "docker", -1)
    first(sys, "docker/abc", 50000, 25000)
    assert usable_processors(proc, sys, PID) == 2
    first(sys, "docker", 30000)
    assert usable_processors(proc, sys, PID) == 0.3


def test_whoever_is_bound_to_fewer_than_the_quota_has_these(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path, "3", "0::/a")
    second(sys, "a", "400000 100000")
    assert usable_processors(proc, sys, PID) == 1


@pytest.mark.parametrize("text", ["", "max", "x 100000", "100000 0", "100000"])
def test_a_quota_that_is_none_limits_nothing(tmp_path: Path, text: str) -> None:
    proc, sys = machine(tmp_path, "0-1", "0::/a")
    second(sys, "a", text)
    assert usable_processors(proc, sys, PID) == 2


def test_a_group_of_another_namespace_is_not_looked_for(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path, "0-1", "0::/../other")
    second(sys, "../other", "50000 100000")
    assert usable_processors(proc, sys, PID) == 2


def test_a_kernel_that_does_not_tell_them_leaves_them_unknown(tmp_path: Path) -> None:
    proc, sys = machine(tmp_path, "0-1")
    (proc / str(PID) / "status").write_text("Name:\tmysqld\n")
    assert isinstance(usable_processors(proc, sys, PID), Unknown)
    assert isinstance(usable_processors(proc, sys, PID + 1), Unknown)
