"""The control group: on machines that have none for the server, and on one made of files, at two moments."""

from pathlib import Path

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.cgroup import COLLECTOR, NONE_COUNTS, NOT_OWN, REMEDY, ControlGroup, read_control_group
from myisam_exporter.facts.unknown import Unknown
from tests.support.recorded import RecordedLook

PID = 7


def group(root: Path, refaults: int, limit: str = "max", stat: str = "anon 1\nfile 4096\nworkingset_refault_file {0}\n") -> tuple[Path, Path]:
    """/proc and /sys with a service's own group."""
    folder = root / "sys" / "fs" / "cgroup" / "system.slice" / "mariadb.service"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "proc" / str(PID)).mkdir(parents=True, exist_ok=True)
    (root / "proc" / str(PID) / "cgroup").write_text("1:name=systemd:/x\n0::/system.slice/mariadb.service\n")
    (root / "sys" / "fs" / "cgroup" / "cgroup.controllers").write_text("memory io\n")
    (folder / "cgroup.procs").write_text(f"{PID}\n")
    (folder / "memory.stat").write_text(stat.format(refaults))
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "io.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n")
    return root / "proc", root / "sys"


def first_version(root: Path, limit: int, processes: str = "7\n") -> tuple[Path, Path]:
    """The same where the memory controller is one of the first version's, beside a second version that counts nothing."""
    folder = root / "sys" / "fs" / "cgroup" / "memory" / "system.slice" / "mysqld.service"
    folder.mkdir(parents=True)
    (root / "sys" / "fs" / "cgroup" / "unified").mkdir()
    (root / "proc" / str(PID)).mkdir(parents=True)
    (root / "proc" / str(PID) / "cgroup").write_text("12:pids:/x\n4:memory,hugetlb:/system.slice/mysqld.service\n1:name=systemd:/a:b\n0::/y\n")
    (folder / "cgroup.procs").write_text(processes)
    (folder / "memory.stat").write_text(f"cache 8192\nrss 4096\nworkingset_refault_file 12\nhierarchical_memory_limit {limit}\ntotal_cache 999999\n")
    return root / "proc", root / "sys"


def test_the_first_version_counts_memory_too(tmp_path: Path) -> None:
    assert read_control_group(*first_version(tmp_path, 419430400), PID) == ControlGroup("/system.slice/mysqld.service", 8192, 12, 419430400, {})


def test_the_first_version_says_no_limit_by_a_number(tmp_path: Path) -> None:
    assert known(read_control_group(*first_version(tmp_path, 9223372036854771712), PID)).limit_bytes is None


def test_a_group_of_the_first_version_with_others_in_it_says_nothing_of_the_server(tmp_path: Path) -> None:
    assert read_control_group(*first_version(tmp_path, 1 << 30, "7\n8\n"), PID) == Unknown(NOT_OWN, REMEDY, off=True)


@pytest.mark.parametrize(("own", "slices", "least"), [("max", "1000", 1000), ("2000", "1000", 1000), ("500", "1000", 500), ("max", "max", None), ("700", None, 700)])
def test_the_groups_around_limit_it_too(tmp_path: Path, own: str, slices: str | None, least: int | None) -> None:
    proc, sys = group(tmp_path, 0, own)
    if slices is not None:
        (sys / "fs" / "cgroup" / "system.slice" / "memory.max").write_text(f"{slices}\n")
    (sys / "fs" / "cgroup" / "memory.max").write_text("1\n")  # no group has one at the root, and none is asked for
    assert known(read_control_group(proc, sys, PID)).limit_bytes == least


def known(found: ControlGroup | Unknown) -> ControlGroup:
    assert isinstance(found, ControlGroup)
    return found


def test_the_recorded_machines_have_none_that_counts_memory(look: RecordedLook) -> None:
    sample = look.sample("cgroup")
    assert sample == NONE_COUNTS
    assert look.facts.why_unknown("mysqld", "cgroup_file_refaults_per_second").reason == sample.reason
    assert look.facts.single("mysqld")["cgroup_page_cache_bytes"] is None


def test_refaults_are_a_rate_of_one_group(tmp_path: Path) -> None:
    before = known(read_control_group(*group(tmp_path, 100), PID))
    after = known(read_control_group(*group(tmp_path, 350, "1048576"), PID))
    (block,) = COLLECTOR.facts(Pair(after, before, 10.0))
    assert dict(zip(block.columns, next(iter(block.rows)), strict=True)) == {
        "cgroup_page_cache_bytes": 4096, "cgroup_memory_limit_bytes": 1048576, "cgroup_file_refaults_per_second": 25.0,
    }  # fmt: skip
    assert after.pressure_seconds == {("io", "some"): 1.5}
    moved = ControlGroup("/elsewhere", 1, 50, None, {})
    (block,) = COLLECTOR.facts(Pair(after, moved, 10.0))
    assert dict(zip(block.columns, next(iter(block.rows)), strict=True))["cgroup_file_refaults_per_second"] is None


@pytest.mark.parametrize(("missing", "reason"), [("memory.stat", "does not count memory"), ("memory.max", "does not count memory")])
def test_what_is_not_counted_is_unknown(tmp_path: Path, missing: str, reason: str) -> None:
    proc, sys = group(tmp_path, 1)
    (sys / "fs" / "cgroup" / "system.slice" / "mariadb.service" / missing).unlink()
    found = read_control_group(proc, sys, PID)
    assert isinstance(found, Unknown)
    assert reason in found.reason
    assert "MemoryAccounting" in found.remedy


def test_a_group_that_makes_no_sense_is_unknown(tmp_path: Path) -> None:
    found = read_control_group(*group(tmp_path, 1, stat="file many\n"), PID)
    assert isinstance(found, Unknown)
    assert "cannot be read" in found.reason
