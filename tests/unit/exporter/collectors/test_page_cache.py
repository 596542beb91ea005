import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_exporter.collectors.page_cache import COLLECTOR
from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.pages_in_passing import TIMED_EVERY, PagesInPassing
from myisam_exporter.files.sweeper import Sweeper, swept_in_passing
from myisam_exporter.kernel.residency import PAGE_BYTES, FilePages, Prober
from myisam_exporter.outside.foreign_files import ForeignFiles
from tests.support.moved_clock import MovedClock
from tests.support.myi import header


def make_tables(folder: Path, count: int) -> None:
    (folder / "db").mkdir()
    for number in range(count):
        (folder / "db" / f"t{number}.MYI").write_bytes(header())
        (folder / "db" / f"t{number}.MYD").write_bytes(b"x" * PAGE_BYTES)


def test_every_file_is_asked_within_the_time(tmp_path: Path) -> None:
    make_tables(tmp_path, 5)
    swept = Sweeper().sweep(scan_data_directory(tmp_path), 10)
    assert swept.skipped_tables == 0
    assert set(swept.pages) == {("db", f"t{number}") for number in range(5)}
    assert list(COLLECTOR.notes(swept)) == list(swept.problems)


def test_the_sweep_says_what_it_skipped(tmp_path: Path) -> None:
    make_tables(tmp_path, 3)
    swept = Sweeper().sweep(scan_data_directory(tmp_path), -1)
    assert swept.pages == {}
    (note,) = COLLECTOR.notes(swept)
    assert note.reason.startswith("3 tables were not asked about")
    assert "--page-cache-seconds" in note.remedy


def test_in_one_pass_the_same_is_found(tmp_path: Path) -> None:
    make_tables(tmp_path, 3)
    (tmp_path / "db" / "parted#P#p0.MYI").write_bytes(header())
    (tmp_path / "db" / "parted#P#p0.MYD").write_bytes(b"x" * 3 * PAGE_BYTES)
    (tmp_path / "db" / "parted#P#p1.MYI").write_bytes(header())
    (tmp_path / "db" / "parted#P#p1.MYD").write_bytes(b"x")
    (tmp_path / "db" / "damaged.MYI").write_bytes(b"no header")
    pages = PagesInPassing(10)
    scan = scan_data_directory(tmp_path, pages=pages)
    found, swept = swept_in_passing(scan, pages), Sweeper().sweep(scan, 10)
    assert dict(found.pages) == dict(swept.pages)
    assert len(found.pages) == 4
    assert (found.skipped_tables, found.problems) == (swept.skipped_tables, swept.problems) == (0, swept.problems)
    assert scan.files == scan_data_directory(tmp_path).files


def test_in_one_pass_too_what_there_was_no_time_for_is_told(tmp_path: Path) -> None:
    make_tables(tmp_path, 3)
    pages = PagesInPassing(0)  # --page-cache-seconds 0
    scan = scan_data_directory(tmp_path, pages=pages)
    assert len(scan.files) == 3
    assert swept_in_passing(scan, pages).skipped_tables == 3


class Slow(Prober):
    """Each question takes a second of a clock that nobody waits for."""

    def __init__(self, clock: MovedClock) -> None:
        super().__init__()
        self.clock = clock

    def pages_of(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        self.clock.move(1)
        return super().pages_of(descriptor, status)


def test_in_one_pass_asking_ends_when_its_time_is_over_and_the_headers_are_read_all_the_same(tmp_path: Path) -> None:
    make_tables(tmp_path, 100)
    clock = MovedClock()
    pages = PagesInPassing(60, clock, Slow(clock))
    scan = scan_data_directory(tmp_path, pages=pages)
    assert len(scan.files) == 100
    swept = swept_in_passing(scan, pages)
    # Data and index file of a table: two seconds.
    assert len(swept.pages) == pytest.approx(30, abs=TIMED_EVERY)
    assert swept.skipped_tables == 100 - len(swept.pages)
    assert swept.seconds == pytest.approx(2 * len(swept.pages), abs=TIMED_EVERY)


def test_in_one_pass_a_data_file_that_cannot_be_opened_has_its_age_and_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables(tmp_path, 1)
    opened = ForeignFiles.opened

    def refusing(self: ForeignFiles, file: str, directory: int | None = None) -> tuple[int, os.stat_result]:
        if file.endswith(".MYD"):
            raise PermissionError(errno.EACCES, "Permission denied")  # to root nothing is refused
        return opened(self, file, directory)

    monkeypatch.setattr(ForeignFiles, "opened", refusing)
    pages = PagesInPassing(10)
    scan = scan_data_directory(tmp_path, pages=pages)
    assert scan.files[0].data_modified is not None
    swept = swept_in_passing(scan, pages)
    data, index = swept.pages["db", "t0"]
    assert (data, index is not None) == (None, True)
    assert any("cannot be opened" in problem.reason for problem in swept.problems)


def test_a_file_without_permission_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    make_tables(tmp_path, 1)
    scan = replace(scan_data_directory(tmp_path), owner=None)  # whoever owns it
    (tmp_path / "db" / "t0.MYD").unlink()
    (tmp_path / "db" / "t0.MYD").symlink_to(tmp_path / "db" / "t0.MYD")  # a link to itself cannot be opened
    swept = Sweeper().sweep(scan, 10)
    assert swept.pages["db", "t0"][0] is None
    assert any("cannot be opened" in problem.reason for problem in swept.problems)
