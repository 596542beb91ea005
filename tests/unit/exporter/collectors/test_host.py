import os
from pathlib import Path

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.host import COLLECTOR, NO_VMSTAT, Disk, HostSample, read_host
from myisam_exporter.facts.unknown import Unknown

STAT = "cpu  {user} 0 100 {idle} {iowait} 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 1\nctxt {ctxt}\nbtime 1700000000\nprocesses 5\nprocs_running 3\nprocs_blocked 2\n"
MEMINFO = "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nBuffers: 10 kB\nCached: 300 kB\nActive: 1 kB\nInactive: 1 kB\nShmem: 0 kB\nSlab: 0 kB\nSReclaimable: 0 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n"


def record(proc: Path, ctxt: int, iowait: int, refaults: int, pressure: bool = True) -> HostSample:
    (proc / "pressure").mkdir(parents=True, exist_ok=True)
    (proc / "stat").write_text(STAT.format(user=1000, idle=1000, iowait=iowait, ctxt=ctxt))
    (proc / "meminfo").write_text(MEMINFO)
    (proc / "vmstat").write_text(f"pgpgin 1\npswpin 4\npswpout 8\nworkingset_refault_file {refaults}\npgmajfault 9\n")
    for resource in ("io", "memory"):
        path = proc / "pressure" / resource
        if pressure:
            path.write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={iowait * 10000}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        else:
            path.unlink(missing_ok=True)
    taken = read_host(proc, proc, Unknown("it is not looked for here"))
    assert isinstance(taken, HostSample)
    return taken


def facts(before: HostSample | None, after: HostSample) -> dict[str, object]:
    (block,) = COLLECTOR.facts(Pair(after, before, 10.0 if before else None))
    return dict(zip(block.columns, next(iter(block.rows)), strict=True))


def test_a_recorded_machine_gives_rates(tmp_path: Path) -> None:
    row = facts(record(tmp_path, 1000, 0, 50), record(tmp_path, 9000, 500, 150))
    assert row["context_switches_per_second"] == 800
    assert row["file_refaults_per_second"] == 10
    assert row["cpu_iowait_ratio"] == 1.0  # nothing else grew
    assert row["io_pressure_some_ratio"] == pytest.approx(0.5)
    assert (row["processes_running"], row["processes_blocked"], row["memory_bytes"], row["swap_used_bytes"]) == (3, 2, 1024000, 30720)


def test_one_sample_has_no_rates(tmp_path: Path) -> None:
    row = facts(None, record(tmp_path, 1000, 0, 50))
    assert row["context_switches_per_second"] is None
    assert "cpu_iowait_ratio" not in row


def test_a_kernel_without_pressure_says_so(tmp_path: Path) -> None:
    taken = record(tmp_path, 1, 1, 1, pressure=False)
    assert isinstance(taken.pressure_microseconds, Unknown)
    assert "psi=1" in COLLECTOR.unknown_columns(taken)["host.io_pressure_some_ratio"].remedy
    assert "host.disk_busy_ratio" in COLLECTOR.unknown_columns(taken)


def test_an_unreadable_proc_is_unknown(tmp_path: Path) -> None:
    assert isinstance(read_host(tmp_path / "nothing", tmp_path, Unknown("")), Unknown)


def test_what_a_sandbox_leaves_out_is_unknown_and_the_rest_is_known(tmp_path: Path) -> None:
    record(tmp_path, 1, 1, 1)
    (tmp_path / "vmstat").unlink()  # gVisor has none
    (tmp_path / "stat").write_text(f"{STAT.splitlines()[0].format(user=1, idle=2, iowait=3)}\nctxt many\n")
    found = read_host(tmp_path, tmp_path, Unknown("it is not looked for here"))
    assert isinstance(found, HostSample)
    assert (found.memory_bytes, found.context_switches, found.processes_running, found.processes_blocked, found.vmstat) == (1024000, None, None, None, {})
    row = facts(found, found)
    assert row["context_switches_per_second"] is row["swap_in_bytes_per_second"] is row["processes_blocked"] is None
    assert COLLECTOR.unknown_columns(found)["host.swap_in_bytes_per_second"] == NO_VMSTAT


@pytest.mark.parametrize("meminfo", ["", "MemTotal: 1000 kB\n"])
def test_a_meminfo_that_lacks_what_matters_is_unknown(tmp_path: Path, meminfo: str) -> None:
    record(tmp_path, 1, 1, 1)
    (tmp_path / "meminfo").write_text(meminfo)
    found = read_host(tmp_path, tmp_path, Unknown("it is not looked for here"))
    assert isinstance(found, Unknown)
    assert "meminfo is not whole" in found.reason


def with_disks(root: Path, *lines: str) -> Disk | Unknown:
    """The machine's disk, of which diskstats has such lines; the data directory is on the device that this test runs on."""
    record(root, 1, 1, 1)
    device = root.stat().st_dev
    place = root / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
    (root / "devices" / "dm-3").mkdir(parents=True)
    place.parent.mkdir(parents=True)
    place.symlink_to(root / "devices" / "dm-3")
    (root / "diskstats").write_text("\n".join(lines) + "\n")
    found = read_host(root, root, root)
    assert isinstance(found, HostSample)
    return found.disk


@pytest.mark.parametrize("further", ["", " 0 0 0 0", " 0 0 0 0 0 0"])  # since Linux 4.18, and 5.5
def test_the_disk_is_found_in_diskstats_of_each_kernel(tmp_path: Path, further: str) -> None:
    found = with_disks(tmp_path, f" 253 31 dm-31 1 1 1 1 1 1 1 1 1 1 1{further}", f" 253 3 dm-3 100 5 800 40 7 0 56 3 2 50 90{further}")
    assert found == Disk("dm-3", 100, 800 * 512, 50, 90)


def test_no_disk_is_said_to_be_none_where_sys_is_not_mounted(tmp_path: Path) -> None:
    record(tmp_path, 1, 1, 1)
    found = read_host(tmp_path, tmp_path / "sys", tmp_path)
    assert isinstance(found, HostSample)
    assert isinstance(found.disk, Unknown)
    assert "/sys is not mounted" in found.disk.reason


def test_this_machine_can_be_read() -> None:
    taken = read_host(Path("/proc"), Path("/sys"), Path("/"))
    assert isinstance(taken, HostSample)
    assert taken.memory_bytes > taken.page_cache_bytes > 0
    assert isinstance(taken.disk, Disk | Unknown)
