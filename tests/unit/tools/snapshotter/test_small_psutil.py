"""The figures of /proc are those that the library psutil gives: of this machine, and of a kernel from before MemAvailable."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tools.snapshotter.parts import small_psutil

# Linux 2.6.32, as CentOS 6 has it.
OLD = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 300 kB\nShmem: 50 kB\nSReclaimable: 40 kB\nSwapTotal: 200 kB\nSwapFree: 150 kB\nHugePages_Total: 0\n"


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(small_psutil, "PROCFS_PATH", str(tmp_path))
    (tmp_path / "meminfo").write_text(OLD)
    return tmp_path


@pytest.fixture
def both() -> Iterator[None]:
    before, psutil.PROCFS_PATH = psutil.PROCFS_PATH, "/proc"
    yield
    psutil.PROCFS_PATH = before


def test_memory_is_this_machines(both: None) -> None:
    ours, theirs = small_psutil.virtual_memory(), psutil.virtual_memory()
    assert ours.total == theirs.total
    assert ours.available == pytest.approx(theirs.available, rel=0.2)
    assert ours.cached == pytest.approx(theirs.cached, rel=0.2)
    assert small_psutil.swap_memory().total == psutil.swap_memory().total
    assert small_psutil.cpu_count() == psutil.cpu_count()


def test_times_have_the_same_names_and_grow(both: None) -> None:
    ours, theirs = small_psutil.cpu_times()._asdict(), psutil.cpu_times()._asdict()
    assert list(ours) == list(theirs)
    assert all(
        theirs[name] >= seconds >= theirs[name] - 60
        for name, seconds in ours.items()
        if name not in ("guest", "iowait")
    )


def test_an_old_kernel_says_less(proc: Path) -> None:
    memory, swap = small_psutil.virtual_memory(), small_psutil.swap_memory()
    assert memory == (1000 << 10, (100 + 340 - 50) << 10, 340 << 10)
    assert swap == (200 << 10, 50 << 10)


@pytest.mark.parametrize(("available", "expected"), [(500, 500), (2000, 100), (0, 390)])
def test_what_a_container_says_of_available_memory(proc: Path, available: int, expected: int) -> None:
    (proc / "meminfo").write_text(f"{OLD}MemAvailable: {available} kB\n")
    assert small_psutil.virtual_memory().available == expected << 10


def test_no_meminfo_is_an_error_that_the_collector_knows(proc: Path) -> None:
    (proc / "meminfo").write_text("nothing\n")
    with pytest.raises(ValueError, match="MemTotal"):
        small_psutil.virtual_memory()
    (proc / "meminfo").unlink()
    with pytest.raises(FileNotFoundError):
        small_psutil.swap_memory()
