"""The control group: on machines that have none for the server, and on one made of files, at two moments."""

from pathlib import Path

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.cgroup import (
    COLLECTOR,
    HIDDEN,
    NOT_COUNTED,
    NOT_OWN,
    ControlGroup,
    read_control_group,
)
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
    (folder / "memory.usage_in_bytes").write_text("20480\n")
    (folder / "memory.stat").write_text(f"cache 8192\nrss 4096\nworkingset_refault_file 12\nhierarchical_memory_limit {limit}\ntotal_cache 999999\ntotal_inactive_file 4096\ntotal_active_file 8192\n")
    return root / "proc", root / "sys"


def test_the_first_version_counts_memory_too(tmp_path: Path) -> None:
    assert read_control_group(*first_version(tmp_path, 419430400), PID) == ControlGroup("/system.slice/mysqld.service", 8192, 12, 419430400, {}, 419430400 - 8192)


def test_the_first_version_says_no_limit_by_a_number(tmp_path: Path) -> None:
    assert known(read_control_group(*first_version(tmp_path, 9223372036854771712), PID)).limit_bytes is None


def test_a_group_with_others_in_it_limits_the_server_and_counts_nothing_of_it(tmp_path: Path) -> None:
    found = known(read_control_group(*first_version(tmp_path, 1 << 30, "7\n8\n"), PID))
    assert (found.limit_bytes, found.available_bytes, found.file_bytes, found.file_refaults, found.not_own) == (1 << 30, (1 << 30) - 8192, None, None, NOT_OWN)
    assert COLLECTOR.unknown_columns(found)["mysqld.cgroup_page_cache_bytes"] == NOT_OWN


def test_a_slice_of_the_first_version_leaves_less_than_its_services_group(tmp_path: Path) -> None:
    proc, sys = first_version(tmp_path, 1 << 30)
    around = sys / "fs" / "cgroup" / "memory" / "system.slice"
    (around / "memory.stat").write_text(f"hierarchical_memory_limit {1 << 30}\ntotal_active_file 100\n")
    (around / "memory.usage_in_bytes").write_text("1000000100\n")
    assert known(read_control_group(proc, sys, PID)).available_bytes == (1 << 30) - 8192  # before Linux 5.11 those around may not count
    (around / "memory.use_hierarchy").write_text("1\n")
    assert known(read_control_group(proc, sys, PID)).available_bytes == (1 << 30) - 1000000000


def using(folder: Path, used: int, pages: int, limit: str, high: str = "max") -> None:
    for name, text in (("current", f"{used}"), ("max", limit), ("high", high), ("stat", f"file {pages}\ninactive_file {pages}\nactive_file 0")):
        (folder / f"memory.{name}").write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("service", "slices", "limit", "available"),
    [
        ((700, 100, "1000"), (900, 100, "5000"), 1000, 400), ((700, 100, "1000"), (900, 100, "1000"), 1000, 200), ((700, 100, "max"), (900, 100, "1000"), 1000, 200),
        ((700, 100, "max"), (900, 100, "max"), None, None), ((700, 100, "2000", "800"), (900, 100, "max"), 800, 200), ((700, 100, "500"), (900, 100, "max"), 500, 0),
    ],
)  # fmt: skip
def test_the_limits_leave_the_least_that_any_group_has_left(tmp_path: Path, service: tuple[int, int, str], slices: tuple[int, int, str], limit: int | None, available: int | None) -> None:
    proc, sys = group(tmp_path, 0)
    folder = sys / "fs" / "cgroup" / "system.slice"
    using(folder, *slices)
    using(folder / "mariadb.service", *service)
    found = known(read_control_group(proc, sys, PID))
    assert (found.limit_bytes, found.available_bytes) == (limit, available)


def test_what_is_left_is_unknown_where_a_group_with_a_limit_does_not_say_what_it_uses(tmp_path: Path) -> None:
    found = known(read_control_group(*group(tmp_path, 0, "1000"), PID))
    assert (found.limit_bytes, found.available_bytes) == (1000, None)


def test_in_the_servers_own_container_its_group_is_the_root(tmp_path: Path) -> None:
    """cgroup_namespaces(7): what is mounted there begins at the container's group, which has a limit; a machine's root has none."""
    proc, sys = group(tmp_path, 0)
    (proc / str(PID) / "cgroup").write_text("0::/\n")
    (sys / "fs" / "cgroup" / "cgroup.procs").write_text(f"1\n{PID}\n")
    using(sys / "fs" / "cgroup", 700, 100, "1000")
    found = known(read_control_group(proc, sys, PID))
    assert (found.limit_bytes, found.available_bytes, found.not_own) == (1000, 400, NOT_OWN)


@pytest.mark.parametrize("told", ["0::/../mariadb.service", "0::/docker/0123", "0::/system.slice/mariadb.service (deleted)"])
def test_a_group_of_another_namespace_is_not_taken_for_one_without_limit(tmp_path: Path, told: str) -> None:
    proc, sys = group(tmp_path, 0)
    (sys / "fs" / "mariadb.service").mkdir()
    (proc / str(PID) / "cgroup").write_text(f"{told}\n")
    assert read_control_group(proc, sys, PID) == HIDDEN


def test_a_group_that_the_server_is_not_in_is_anothers(tmp_path: Path) -> None:
    """In a container with the host's /sys its path is the machine's root, which has no limit."""
    proc, sys = group(tmp_path, 0)
    (sys / "fs" / "cgroup" / "cgroup.procs").write_text("1\n2\n")
    (sys / "fs" / "cgroup" / "memory.stat").write_text("file 1\n")
    (proc / str(PID) / "cgroup").write_text("0::/\n")
    assert read_control_group(proc, sys, PID) == HIDDEN


@pytest.mark.parametrize("is_mounted", [True, False])
def test_without_sys_nothing_is_said_of_the_machine(tmp_path: Path, is_mounted: bool) -> None:
    proc, _ = group(tmp_path, 0)
    elsewhere = tmp_path / "elsewhere"
    if is_mounted:
        (elsewhere / "fs" / "cgroup").mkdir(parents=True)
    assert read_control_group(proc, elsewhere, PID) == HIDDEN


@pytest.mark.parametrize(("own", "slices", "least"), [("max", "1000", 1000), ("2000", "1000", 1000), ("500", "1000", 500), ("max", "max", None), ("700", None, 700)])
def test_the_groups_around_limit_it_too(tmp_path: Path, own: str, slices: str | None, least: int | None) -> None:
    proc, sys = group(tmp_path, 0, own)
    if slices is not None:
        (sys / "fs" / "cgroup" / "system.slice" / "memory.max").write_text(f"{slices}\n")
    assert known(read_control_group(proc, sys, PID)).limit_bytes == least


def known(found: ControlGroup | Unknown) -> ControlGroup:
    assert isinstance(found, ControlGroup)
    return found


def test_of_the_recorded_machines_no_group_was_recorded(look: RecordedLook) -> None:
    sample = look.sample("cgroup")
    assert sample == HIDDEN
    assert look.facts.why_unknown("mysqld", "cgroup_file_refaults_per_second").reason == sample.reason
    assert look.facts.single("mysqld")["cgroup_page_cache_bytes"] is None


def test_refaults_are_a_rate_of_one_group(tmp_path: Path) -> None:
    before = known(read_control_group(*group(tmp_path, 100), PID))
    after = known(read_control_group(*group(tmp_path, 350, "1048576"), PID))
    (block,) = COLLECTOR.facts(Pair(after, before, 10.0))
    assert dict(zip(block.columns, next(iter(block.rows)), strict=True)) == {
        "cgroup_page_cache_bytes": 4096, "cgroup_memory_limit_bytes": 1048576, "cgroup_memory_available_bytes": None, "cgroup_file_refaults_per_second": 25.0,
    }  # fmt: skip
    assert after.pressure_seconds == {("io", "some"): 1.5}
    moved = ControlGroup("/elsewhere", 1, 50, None, {}, None)
    (block,) = COLLECTOR.facts(Pair(after, moved, 10.0))
    assert dict(zip(block.columns, next(iter(block.rows)), strict=True))["cgroup_file_refaults_per_second"] is None


def test_what_is_not_counted_is_unknown(tmp_path: Path) -> None:
    proc, sys = group(tmp_path, 1)
    folder = sys / "fs" / "cgroup" / "system.slice"
    for name in ("memory.stat", "memory.max"):
        (folder / "mariadb.service" / name).unlink()
    assert read_control_group(proc, sys, PID) == NOT_COUNTED
    (folder / "memory.max").write_text("5000\n")  # those around limit it all the same
    assert known(read_control_group(proc, sys, PID)) == ControlGroup("/system.slice/mariadb.service", None, None, 5000, {}, None, NOT_COUNTED)


def test_a_group_that_makes_no_sense_is_unknown(tmp_path: Path) -> None:
    found = read_control_group(*group(tmp_path, 1, stat="file many\n"), PID)
    assert isinstance(found, Unknown)
    assert "cannot be read" in found.reason
