"""Files of rebuilds beside tables; on a recorded machine there are none."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.rebuild_files import COLLECTOR, RebuildFiles
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan, scan_data_directory
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.rebuild_files import RebuildFile
from tests.support.recorded import RecordedLook
from tests.unit.exporter.files.test_directory_scanner import age, make_table

Scan = Callable[[Path], DataDirectoryScan]


@pytest.fixture(params=["anew", "in a daemon"])
def scan(request: pytest.FixtureRequest) -> Scan:
    """Both ways of looking."""
    return scan_data_directory if request.param == "anew" else DirectoryScanner().scan


def named(found: DataDirectoryScan) -> list[tuple[str, str, str | None]]:
    return sorted((one.schema_name, one.table_name, one.file) for one in found.rebuild_files)


def test_a_recorded_machine_has_none(look: RecordedLook) -> None:
    assert look.rows("rebuild_files", "rebuild_file") == []


def test_where_no_files_are_seen_it_is_not_known(look: RecordedLook) -> None:
    gone = Unknown("no files")
    assert look.collected("rebuild_files", myi=gone) is gone


def test_they_come_and_go_and_are_of_their_table(tmp_path: Path, scan: Scan) -> None:
    for schema in ("db", "mysql"):
        for name in ("t", "odd@0020name", "p#P#p0"):
            make_table(tmp_path / schema, name)
    age(tmp_path)
    assert scan(tmp_path).rebuild_files == ()
    for schema in ("db", "mysql"):
        for file in ("t.TMD", "t.TMM", "odd@0020name.TMD", "p#P#p0.TMD", "#sql-1_2.TMD"):
            (tmp_path / schema / file).write_bytes(b"left")
    found = scan(tmp_path)
    assert named(found) == [(schema, *one) for schema in ("db", "mysql") for one in (("odd name", "odd@0020name.TMD"), ("p", "p#P#p0.TMD"), ("t", "t.TMD"), ("t", "t.TMM"))]
    assert all(one.modified is not None and time.time() - one.modified < 60 for one in found.rebuild_files)
    make_table(tmp_path / "db", "t", rows=9)
    assert named(scan(tmp_path)) == named(found)
    for left in tmp_path.rglob("*.TM?"):
        left.unlink()
    assert scan(tmp_path).rebuild_files == ()


def test_a_table_of_linked_files_is_rebuilt_where_nobody_looks(tmp_path: Path, scan: Scan) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    data.mkdir()
    for name in ("rows", "index", "own"):
        make_table(data / "db", name)
    elsewhere.mkdir()
    for file in ("rows.MYD", "index.MYI"):
        (data / "db" / file).rename(elsewhere / file)
        (data / "db" / file).symlink_to(elsewhere / file)
    age(tmp_path)
    for _ in range(2):
        assert set(named(scan(data))) == {("db", "rows", None), ("db", "index", None)}


def test_of_another_users_file_no_time_is_told(tmp_path: Path, scan: Scan) -> None:
    make_table(tmp_path / "db", "t")
    (tmp_path / "db" / "t.TMD").mkdir()
    (one,) = scan(tmp_path).rebuild_files
    assert one == RebuildFile("db", "t", "t.TMD", None)


def test_what_was_written_before_the_server_started_was_left() -> None:
    started = 1_000_000.0
    files = RebuildFiles(tuple(RebuildFile("db", "t", "t.TMD", modified) for modified in (started - 1.5, started - 0.5, started + 1, None)))

    def rows(status: Any) -> list[Any]:
        (block,) = COLLECTOR.facts(Pair(files, others={STATUS.name: status}))
        return [row[-1] for row in block.rows]

    known = object.__new__(STATUS.type)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(STATUS.type, "server_started", started)
        assert rows(known) == [0, 1, 1, None]
    assert rows(Unknown("nothing")) == [None] * 4
