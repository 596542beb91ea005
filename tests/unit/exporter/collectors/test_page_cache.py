from dataclasses import replace
from pathlib import Path

from myisam_exporter.collectors.page_cache import COLLECTOR
from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.residency import PAGE_BYTES
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
    assert note.reason.startswith("3 smaller tables were skipped")
    assert "--page-cache-seconds" in note.remedy


def test_a_file_without_permission_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    make_tables(tmp_path, 1)
    scan = replace(scan_data_directory(tmp_path), owner=None)  # whoever owns it
    (tmp_path / "db" / "t0.MYD").unlink()
    (tmp_path / "db" / "t0.MYD").symlink_to(tmp_path / "db" / "t0.MYD")  # a link to itself cannot be opened
    swept = Sweeper().sweep(scan, 10)
    assert swept.pages["db", "t0"][0] is None
    assert any("cannot be opened" in problem.reason for problem in swept.problems)
