"""What the kernel counts of pages that come and go: on this machine's kernel, where it counts."""

import os
from pathlib import Path

import pytest

from myisam_exporter.kernel.page_cache_traffic import PAGES_OF_A_DROP, pages_moved
from myisam_exporter.kernel.residency import PAGE_BYTES, READS_ARE_COUNTED, Prober
from tests.support.daemon import wait_for

COUNTED = {"pgpgin": 40, "pgsteal_file": 3, "nr_written": 2, "drop_pagecache": 0}
PAGES = 500


def moved_now() -> int:
    lines = (line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    moved = pages_moved({name: int(number) for name, number in lines})
    if moved is None:
        pytest.skip("this kernel does not count what comes into the page cache")
    return moved


def test_all_that_moves_is_summed_up() -> None:
    assert pages_moved(COUNTED) == 40 * 1024 // PAGE_BYTES + 3 + 2
    assert pages_moved({**COUNTED, "drop_pagecache": 1}) == (pages_moved(COUNTED) or 0) + PAGES_OF_A_DROP


@pytest.mark.parametrize("name", COUNTED)
def test_without_one_of_the_counters_nothing_is_known(name: str) -> None:
    assert pages_moved({key: number for key, number in COUNTED.items() if key != name}) is None


def test_the_kernel_counts_pages_that_are_written_back_and_those_that_are_read(tmp_path: Path) -> None:
    path, prober = tmp_path / "file", Prober()
    before = moved_now()
    with path.open("wb") as file:
        file.write(os.urandom(PAGES * PAGE_BYTES))
        file.flush()
        os.fsync(file.fileno())
        prober.probe(str(path))
        if not prober.sees_counted_files_only or os.major(os.fstat(file.fileno()).st_dev) == 0:
            pytest.skip("temporary files lie on no disk")
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    # Each processor keeps up to 125 pages for itself, for a second: vm.stat_interval.
    assert wait_for(lambda: moved_now() - before >= PAGES, 5)
    written = moved_now()
    path.read_bytes()
    assert moved_now() - written >= PAGES


def test_what_is_known_of_a_file_system_decides_whether_its_reads_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prober = Prober()
    assert not prober.sees_counted_files_only  # nothing was asked about yet
    (tmp_path / "file").write_bytes(b"x")
    for kind, is_counted in ((min(READS_ARE_COUNTED), True), (0x6969, False), (min(READS_ARE_COUNTED), False)):
        monkeypatch.setattr("myisam_exporter.kernel.residency.file_system_type", lambda *_, kind=kind: kind)
        prober._file_systems.setdefault(kind, kind)  # another device each
        prober.probe(str(tmp_path / "file"))
        assert prober.sees_counted_files_only is is_counted
