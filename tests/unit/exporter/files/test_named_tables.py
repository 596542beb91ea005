"""Of a large database only the tables are looked at that the kernel names, while few are written."""

import errno
import fcntl
import os
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.directory_scanner import SCANS_WITHOUT_WRITES, STAYS_FROM_TABLES, DirectoryScanner
from myisam_exporter.kernel.inotify import DirectoryWatch
from myisam_exporter.outside.foreign_files import ForeignFiles
from tests.support.myi import header

from .test_directory_scanner import age, contents, make_table


def scanner_of_many_tables(root: Path) -> DirectoryScanner:
    """One that has seen a database that is large enough to stay watched."""
    for number in range(STAYS_FROM_TABLES):
        make_table(root / "db", f"t{number}")
    age(root)
    scanner = DirectoryScanner()
    scanner.scan(root)
    return scanner


def noting(found: set[str], look: Callable[..., object]) -> Callable[..., object]:
    def noted(files: ForeignFiles, name: str, directory: int | None = None) -> object:
        found.add(name)
        return look(files, name, directory)

    return noted


def looked_at(scanner: DirectoryScanner, root: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that a scan looks at."""
    found: set[str] = set()
    with monkeypatch.context() as patch:
        for method in ("status", "opened"):
            patch.setattr(ForeignFiles, method, noting(found, getattr(ForeignFiles, method)))
        scan = scanner.scan(root)
    assert contents(scan) == contents(scan_data_directory(root))
    return found


def test_of_many_tables_only_those_are_looked_at_that_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = scanner_of_many_tables(tmp_path)
    make_table(tmp_path / "db", "new")  # what it is told of one name makes it ask for all
    assert len(looked_at(scanner, tmp_path, monkeypatch)) > STAYS_FROM_TABLES
    for rows in (5, 6, 6):
        (tmp_path / "db" / "t3.MYI").write_bytes(header(rows=rows))
        assert looked_at(scanner, tmp_path, monkeypatch) == {"t3.MYI", "t3.MYD"}
    (tmp_path / "db" / "t7.MYD").write_bytes(b"more")
    assert looked_at(scanner, tmp_path, monkeypatch) == {"t7.MYI", "t7.MYD"}
    assert looked_at(scanner, tmp_path, monkeypatch) == set()
    (tmp_path / "db" / "t9.MYI").unlink()
    assert len(looked_at(scanner, tmp_path, monkeypatch)) > STAYS_FROM_TABLES
    scanner.close()


def test_the_first_write_to_a_large_database_has_that_table_looked_at_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = scanner_of_many_tables(tmp_path)
    os.utime(tmp_path / "db" / "t1.MYI")
    assert looked_at(scanner, tmp_path, monkeypatch) == {"t1.MYI", "t1.MYD"}
    scanner.close()


def queued_bytes(scanner: DirectoryScanner) -> int:
    """What the kernel has to tell."""
    assert scanner._watch is not None
    found = fcntl.ioctl(scanner._watch._descriptor, termios.FIONREAD, bytes(4))
    return int.from_bytes(found, sys.byteorder)


def write(root: Path, *numbers: int) -> None:
    for number in numbers:
        (root / "db" / f"t{number}.MYD").write_bytes(b"later")


def test_what_was_told_between_two_scans_is_looked_at_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = scanner_of_many_tables(tmp_path)
    for numbers in ((3, 5), (7,)):
        write(tmp_path, *numbers)
        assert queued_bytes(scanner) > 0
        scanner.take_note()
        assert queued_bytes(scanner) == 0
    write(tmp_path, 9)
    assert looked_at(scanner, tmp_path, monkeypatch) == {f"t{number}.{ending}" for number in (3, 5, 7, 9) for ending in ("MYI", "MYD")}
    assert looked_at(scanner, tmp_path, monkeypatch) == set()
    scanner.close()


def test_writes_that_are_told_in_parts_are_too_many_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = scanner_of_many_tables(tmp_path)
    for first in range(2):
        for number in range(first, STAYS_FROM_TABLES, 2):
            for ending in (".MYI", ".MYD"):
                os.utime(tmp_path / "db" / f"t{number}{ending}", (1, 1))
        scanner.take_note()
    queued = queued_bytes(scanner)
    write(tmp_path, 1)
    assert queued_bytes(scanner) == queued, "too many were told already"
    assert len(looked_at(scanner, tmp_path, monkeypatch)) > STAYS_FROM_TABLES
    write(tmp_path, 1)
    assert len(looked_at(scanner, tmp_path, monkeypatch)) > STAYS_FROM_TABLES, "the server is to pay for the first write alone"
    scanner.close()


def test_where_much_is_written_the_server_pays_for_the_first_write_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stays: list[bool] = []
    arm = DirectoryWatch.arm

    def noted(watch: DirectoryWatch, path: str, *, contents: bool, stays_armed: list[bool] = stays, **words: bool) -> bool:
        if contents:
            stays_armed.append(words["stays"])
        return arm(watch, path, contents=contents, **words)

    monkeypatch.setattr(DirectoryWatch, "arm", noted)
    scanner = scanner_of_many_tables(tmp_path)
    os.utime(tmp_path / "db" / "t1.MYI")
    scanner.scan(tmp_path)
    assert stays == [False, True]
    for round_of_writes in range(SCANS_WITHOUT_WRITES + 1):
        for number in range(STAYS_FROM_TABLES):
            for ending in (".MYI", ".MYD"):
                os.utime(tmp_path / "db" / f"t{number}{ending}", (round_of_writes, round_of_writes))
        assert contents(scanner.scan(tmp_path)) == contents(scan_data_directory(tmp_path))
    assert stays == [False, True, *[False] * SCANS_WITHOUT_WRITES, True]
    scanner.close()


def test_what_was_written_before_a_scan_that_failed_is_read_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = scanner_of_many_tables(tmp_path)
    os.utime(tmp_path / "db" / "t1.MYI")
    scanner.scan(tmp_path)
    (tmp_path / "db" / "t1.MYI").write_bytes(header(rows=77))
    with monkeypatch.context() as patch:

        def refused(*_words: object) -> int:
            raise OSError(errno.EMFILE, "Too many open files")

        patch.setattr(ForeignFiles, "open_directory", refused)
        with pytest.raises(OSError, match="Too many open files"):
            scanner.scan(tmp_path)
    assert looked_at(scanner, tmp_path, monkeypatch) == {"t1.MYI", "t1.MYD"}
    scanner.close()
