import errno
import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from myisam_exporter.collectors.page_cache import COLLECTOR
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.pages_by_table import PagesByTable
from myisam_exporter.files.pages_in_passing import LARGE_BYTES, TIMED_EVERY, USUAL_SECONDS, PagesInPassing
from myisam_exporter.files.sweeper import PageCacheSweep, Sweeper, swept_in_passing
from myisam_exporter.files.table_groups import grouped
from myisam_exporter.kernel.residency import PAGE_BYTES, FilePages, Prober
from myisam_exporter.outside.foreign_files import ForeignFiles
from tests.support.moved_clock import MovedClock
from tests.support.myi import header
from tests.support.recorded import RecordedLook


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


@pytest.mark.parametrize(
    ("vmstat", "moved"),
    [({"pgpgin": 8, "pgsteal_file": 1, "nr_written": 2, "drop_pagecache": 0}, 8 * 1024 // PAGE_BYTES + 3), ({}, None)],
)
def test_a_sweep_knows_what_the_kernel_counted_before_it(vmstat: dict[str, int], moved: int | None, look: RecordedLook) -> None:
    context = look.machine.context()
    sweeper = Mock(spec=Sweeper)
    context.sweeper = sweeper
    context.samples = {"myi": look.sample("myi"), "host": replace(look.sample("host"), vmstat=vmstat)}
    COLLECTOR.collect(context)
    assert sweeper.sweep.call_args.args[1:] == (context.page_cache_sweep_seconds, moved)
    context.samples["host"] = Unknown("nobody reads /proc")
    COLLECTOR.collect(context)
    assert sweeper.sweep.call_args.args[2] is None


def test_the_sweep_says_what_it_skipped(tmp_path: Path) -> None:
    make_tables(tmp_path, 3)
    swept = Sweeper().sweep(scan_data_directory(tmp_path), -1)
    assert swept.pages == {}
    (note,) = COLLECTOR.notes(swept)
    assert note.reason.startswith("what the page cache holds was not asked of all tables: 3 were left")
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
    for path in tmp_path.glob("db/*.MYD"):
        os.truncate(path, LARGE_BYTES)
    clock = MovedClock()
    pages = PagesInPassing(30, clock, Slow(clock))
    scan = scan_data_directory(tmp_path, pages=pages)
    assert len(scan.files) == 100
    swept = swept_in_passing(scan, pages)
    assert len(swept.pages) == pytest.approx(30, abs=4)
    assert swept.skipped_tables == 100 - len(swept.pages)


class SlowFor(Slow):
    """Only files of this size take long."""

    def __init__(self, clock: MovedClock, size_bytes: int, seconds: float) -> None:
        super().__init__(clock)
        self.size_bytes, self.seconds = size_bytes, seconds

    def pages_of(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        self.clock.move(self.seconds if status.st_size == self.size_bytes else 0)
        return Prober.pages_of(self, descriptor, status)


@pytest.mark.parametrize("size_bytes", [PAGE_BYTES, 2 * LARGE_BYTES])
def test_data_files_that_take_long_are_timed_too(tmp_path: Path, size_bytes: int) -> None:
    make_tables(tmp_path, 100)
    for path in tmp_path.glob("db/*.MYD"):
        os.truncate(path, size_bytes)
    clock = MovedClock()
    pages = PagesInPassing(60, clock, SlowFor(clock, size_bytes, USUAL_SECONDS if size_bytes < LARGE_BYTES else 1))
    scan_data_directory(tmp_path, pages=pages)
    expected = 100 * USUAL_SECONDS if size_bytes < LARGE_BYTES else 61
    assert pages.seconds == pytest.approx(expected, rel=0.25)


def test_a_question_that_waited_for_its_turn_is_no_measure_of_the_others(tmp_path: Path) -> None:
    make_tables(tmp_path, 30)
    clock = MovedClock()
    pages = PagesInPassing(60, clock, Slow(clock))
    scan_data_directory(tmp_path, pages=pages)
    assert pages.seconds == pytest.approx(60 // TIMED_EVERY, abs=0.1)


def test_a_part_of_a_partitioned_table_does_not_pass_for_the_whole(tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    for number in range(40):
        (tmp_path / "db" / f"t#P#p{number}.MYI").write_bytes(header())
        (tmp_path / "db" / f"t#P#p{number}.MYD").write_bytes(b"x" * 2 * LARGE_BYTES)
    clock = MovedClock()
    pages = PagesInPassing(10, clock, Slow(clock))
    swept = swept_in_passing(scan_data_directory(tmp_path, pages=pages), pages)
    assert (dict(swept.pages), swept.skipped_tables) == ({}, 1)


def test_pages_are_asked_about_before_the_header_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tables(tmp_path, 1)
    done: list[str] = []
    read = os.pread

    def reading(*arguments: int) -> bytes:
        done.append("read")
        return read(*arguments)

    class Noting(Prober):
        def pages_of(self, descriptor: int, status: os.stat_result) -> FilePages | None:
            done.append("asked")
            return super().pages_of(descriptor, status)

    pages = PagesInPassing(10, prober=Noting())
    monkeypatch.setattr(os, "pread", reading)
    scan_data_directory(tmp_path, pages=pages, reads_frm=False)
    assert done == ["asked", "asked", "read"]


@pytest.mark.parametrize(("sweeps_in_turn", "is_told"), [(0, False), (1, True), (7, True)])
def test_how_old_what_is_known_may_be_is_told(sweeps_in_turn: int, is_told: bool) -> None:
    sweep = PageCacheSweep(PagesByTable(grouped(()).places, ()), 0, (), 0.1, sweeps_in_turn)
    assert any("looks old" in note.reason for note in COLLECTOR.notes(sweep)) == is_told


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


def test_what_could_not_be_asked_makes_nothing_unknown_that_was(tmp_path: Path) -> None:
    make_tables(tmp_path, 2)
    places, nothing = scan_data_directory(tmp_path).groups().places, (None, None)
    problem = Unknown("db/t0.MYD cannot be opened")
    sweep = PageCacheSweep(PagesByTable(places, [nothing, (FilePages(1), None)]), 0, (problem,), 0.1)
    assert COLLECTOR.unknown_columns(sweep) == {}
    unknown = COLLECTOR.unknown_columns(replace(sweep, pages=PagesByTable(places, [nothing, nothing])))
    assert unknown["tables.data_resident_bytes"] == unknown["tables.index_resident_bytes"] == problem


def test_a_file_without_permission_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    make_tables(tmp_path, 1)
    scan = replace(scan_data_directory(tmp_path), owner=None)  # whoever owns it
    (tmp_path / "db" / "t0.MYD").unlink()
    (tmp_path / "db" / "t0.MYD").symlink_to(tmp_path / "db" / "t0.MYD")  # a link to itself cannot be opened
    swept = Sweeper().sweep(scan, 10)
    assert swept.pages["db", "t0"][0] is None
    assert any("cannot be opened" in problem.reason for problem in swept.problems)
