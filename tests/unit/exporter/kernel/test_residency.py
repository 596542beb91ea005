import errno
import os
import re
import tempfile
from pathlib import Path

import pytest

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel import residency
from myisam_exporter.kernel.residency import (
    PAGE_BYTES,
    FilePages,
    Prober,
    cachestat_syscall_number,
    may_know_residency,
    storage_blind_spot,
)
from myisam_exporter.kernel.rights import READ_RESIDENCY
from tests.support.mounts import mounted

PAGES = 64


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 451), ("aarch64", 451), ("ppc64le", 451), ("s390x", 451), ("riscv64", 451), ("alpha", 561)])
def test_the_system_call_has_its_number(machine: str, number: int) -> None:
    assert cachestat_syscall_number(machine) == number


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "t.MYD"
    path.write_bytes(b"x" * PAGES * PAGE_BYTES)
    return path


def test_a_file_just_written_is_resident(written: Path) -> None:
    pages = Prober().probe(str(written))
    if pages is None:
        pytest.skip("this file system cannot be measured")
    assert pages.resident == PAGES


def test_a_container_s_file_is_not_empty_because_cachestat_answers_so(tmp_path: Path) -> None:
    lower, upper, work, merged = (tmp_path / name for name in ("lower", "upper", "work", "merged"))
    for folder in (lower, upper, work, merged):
        folder.mkdir()
    (lower / "t.MYD").write_bytes(b"x" * PAGES * PAGE_BYTES)
    with mounted(merged, "-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", "overlay"):
        (merged / "t.MYD").read_bytes()
        assert Prober().probe(str(merged / "t.MYD")) == FilePages(PAGES)


@pytest.mark.parametrize(("effective", "has"), [("0000000000000008", True), ("00000000000001f7", False), ("000001ffffffffff", True), ("0000000000000000", False)])
def test_a_capability_is_one_bit(monkeypatch: pytest.MonkeyPatch, effective: str, has: bool) -> None:
    monkeypatch.setattr(residency, "bounded_text", lambda path: f"CapPrm:\t000001ffffffffff\nCapEff:\t{effective}\n")
    assert residency._has_capability(residency.CAP_FOWNER) is has


def test_a_file_dropped_from_the_cache_is_not(written: Path) -> None:
    prober = Prober()
    descriptor = os.open(written, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    pages = prober.probe(str(written))
    if pages is None:
        pytest.skip("this file system cannot be measured")
    assert pages.resident is not None
    assert pages.resident < PAGES


def test_probing_reads_nothing_and_keeps_the_access_time(written: Path) -> None:
    os.utime(written, (1, 1))
    Prober().probe(str(written))
    assert written.stat().st_atime == 1


def test_a_kernel_without_files_in_memory_has_a_prober_too(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CentOS 7: memfd_create(2) is of Linux 3.17. A filter may refuse it alone."""
    usual = Prober().has_cachestat

    def refused(_name: str) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refused)
    prober = Prober()
    assert prober.has_cachestat is usual
    pages = prober.probe(str(written))
    assert pages is not None
    assert pages.resident == PAGES


def test_without_cachestat_the_right_is_asked_for_and_no_other_kernel(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prober, "_try_cachestat", lambda _self: (False, Unknown("this kernel has no cachestat", "Linux 6.5 or later")))
    monkeypatch.setattr(residency, "may_know_residency", lambda _status, _descriptor: False)
    prober = Prober()
    assert prober.probe(str(written)) is None
    assert (prober.problems["mincore"].remedy, "has no cachestat, and" in prober.problems["mincore"].reason) == (READ_RESIDENCY, True)


@pytest.mark.parametrize("pages_at_once", [PAGES * 2, PAGES, 7, 1])
def test_mincore_agrees_where_it_may_be_asked(written: Path, monkeypatch: pytest.MonkeyPatch, pages_at_once: int) -> None:
    monkeypatch.setattr(residency, "MINCORE_PART_BYTES", pages_at_once * PAGE_BYTES)
    prober = Prober()
    prober.has_cachestat = False
    os.truncate(written, PAGES * PAGE_BYTES + 10 * PAGE_BYTES + 5)  # what was never written is nowhere
    os.utime(written, (1, 1))
    assert prober.probe(str(written)) == FilePages(PAGES)
    assert written.stat().st_atime == 1


def test_a_mincore_that_fails_is_told(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    monkeypatch.setattr(residency, "MINCORE_PART_BYTES", 1 << 40)
    os.truncate(written, 1 << 35)
    prober = Prober()
    prober.has_cachestat = False
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 34, limits[1]))
    try:
        assert prober.probe(str(written)) is None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert "Cannot allocate memory" in prober.problems["mincore"].reason


def test_a_missing_file_is_unknown_and_no_problem(tmp_path: Path) -> None:
    prober = Prober()
    assert prober.probe(str(tmp_path / "gone")) is None
    assert prober.problems == {}


def test_nobody_elses_file_may_be_known_unless_writable(written: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    descriptor = os.open(written, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        assert may_know_residency(status, descriptor)
        os.seteuid(54321)
        try:
            assert not may_know_residency(status, descriptor)
        finally:
            os.seteuid(0)
    finally:
        os.close(descriptor)


def test_tmpfs_is_always_resident() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("no tmpfs at /dev/shm")
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(b"x" * (2 * PAGE_BYTES + 1))
        file.flush()
        assert Prober().probe(file.name) == FilePages(3, 0, 0, 0, 0)
        file.truncate(1 << 44)
        assert Prober().probe(file.name) == FilePages(3, 0, 0, 0, 0)


def test_storage_is_trusted_only_where_its_reads_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from myisam_exporter.kernel import residency

    for kind, counted in ((residency.EXT, True), (residency.XFS, True), (residency.NFS, False), (residency.FUSE, False), (residency.ZFS, False), (residency.PLAN_9, False), (residency.SMB2, False)):
        monkeypatch.setattr(residency, "file_system_type", lambda _libc, _descriptor, kind=kind: kind)
        assert (storage_blind_spot(tmp_path) == "") == counted
        # Rules take what is read there for unknown, by these words.
        assert counted or storage_blind_spot(tmp_path).endswith("reads are not counted")
    assert "is not known" in storage_blind_spot(tmp_path / "gone")


def test_system_calls_that_have_no_name_in_the_c_library() -> None:
    """Against the kernel's own table, which arm64 and riscv64 share, and this machine's."""
    from myisam_exporter.kernel.perf_events import SYSCALLS

    assert SYSCALLS == {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "s390x": 331, "riscv64": 241}
    shared = Path("/usr/include/asm-generic/unistd.h")
    if not shared.exists():
        pytest.skip("linux-libc-dev is not installed")
    numbers = dict(re.findall(r"#define __NR_(perf_event_open|cachestat) (\d+)", shared.read_text()))
    assert int(numbers["perf_event_open"]) == SYSCALLS["aarch64"] == SYSCALLS["riscv64"]
    if "cachestat" in numbers:  # since Linux 6.5
        assert int(numbers["cachestat"]) == cachestat_syscall_number("aarch64")
