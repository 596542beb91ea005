"""The figures of /proc are those that the library psutil gives: of this machine, and of a kernel from before MemAvailable."""

from pathlib import Path

import psutil
import pytest

from myisam_exporter.kernel.machine import memory_of, processor_seconds

PROC = Path("/proc")
# Linux 2.6.32, as CentOS 6 has it.
OLD = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 300 kB\nShmem: 50 kB\nSReclaimable: 40 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\nHugePages_Total: 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "meminfo").write_text(OLD)
    return tmp_path


def test_memory_is_this_machines() -> None:
    ours, theirs = memory_of(PROC), psutil.virtual_memory()
    assert ours.total == theirs.total
    assert ours.available == pytest.approx(theirs.available, rel=0.2)
    assert ours.cached == pytest.approx(theirs.cached, rel=0.2)
    assert ours.swap_total == psutil.swap_memory().total


def test_times_have_the_same_names_and_grow() -> None:
    ours, theirs = processor_seconds(PROC), psutil.cpu_times()._asdict()
    assert list(ours) == list(theirs)
    assert all(theirs[name] >= seconds >= theirs[name] - 60 for name, seconds in ours.items() if name not in ("guest", "iowait"))


def test_an_old_kernel_says_less(proc: Path) -> None:
    assert memory_of(proc) == (1000 << 10, (100 + 340 - 50) << 10, 340 << 10, 200 << 10, 50 << 10)


@pytest.mark.parametrize(("available", "expected"), [(500, 500), (2000, 100), (0, 390)])
def test_what_a_container_says_of_available_memory(proc: Path, available: int, expected: int) -> None:
    (proc / "meminfo").write_text(f"{OLD}MemAvailable: {available} kB\n")
    assert memory_of(proc).available == expected << 10


def test_swap_of_which_nothing_is_told_is_not_known(proc: Path) -> None:
    (proc / "meminfo").write_text(OLD.replace("SwapFree", "Other"))
    assert memory_of(proc)[3:] == (200 << 10, None)
    (proc / "meminfo").write_text(OLD.replace("Swap", "Other"))
    assert memory_of(proc)[3:] == (None, None)


def test_no_meminfo_is_an_error_that_the_collector_knows(proc: Path) -> None:
    (proc / "meminfo").write_text("nothing\n")
    with pytest.raises(KeyError, match="MemTotal"):
        memory_of(proc)
    (proc / "meminfo").unlink()
    with pytest.raises(FileNotFoundError):
        memory_of(proc)
