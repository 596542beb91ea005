"""Definitions beside the tables: read once, and again where they change; whatever is wrong with one is unknown."""

import errno
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from myisam_exporter.collectors.myi import COLLECTOR as MYI
from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.definition_reader import MAXIMUM_NAMES, DefinitionReader, MergeTable
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.file_state import signature
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.merge_members import merged_into, merges_of_members
from myisam_exporter.outside.foreign_files import ForeignFiles
from tests.support.frm import DATETIME, LATIN1, definition, parsed
from tests.support.myi import header

OLD = definition([(DATETIME, LATIN1, 19)], created=50549)


def make(folder: Path, stem: str, frm: bytes | None = OLD) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{stem}.MYI").write_bytes(header())
    (folder / f"{stem}.MYD").write_bytes(b"x")
    if frm is not None:
        (folder / f"{stem.partition('#P#')[0]}.frm").write_bytes(frm)


def age(root: Path, seconds: float = 100.0) -> None:
    """As if nothing had been written for long."""
    moment = time.time() - seconds
    for path in root.rglob("*.*"):
        os.utime(path, (moment, moment), follow_symlinks=False)


def told(root: Path) -> dict[str, TableDefinition | None]:
    return {file.stem: file.definition for file in scan_data_directory(root).files}


def test_a_table_has_its_definition_and_equal_ones_are_one_object(tmp_path: Path) -> None:
    make(tmp_path / "d", "a")
    make(tmp_path / "d", "b")
    make(tmp_path / "d", "no_frm", frm=None)
    found = told(tmp_path)
    assert found["a"] == parsed(OLD)
    assert found["a"] is found["b"]
    assert found["no_frm"] is None


def test_partitions_have_the_definition_of_their_table_which_is_read_once(tmp_path: Path) -> None:
    for number in range(5):
        make(tmp_path / "d", f"t#P#p{number}")
    files = ForeignFiles((tmp_path / "d").stat().st_uid)
    reader = DefinitionReader(files, remember=False)
    directory = files.open_directory(str(tmp_path / "d"))
    definitions = reader.of("d", directory, os.listdir(directory), time.time_ns() + 10**9)
    noted = {definitions.of_table(f"t#P#p{number}", (None, 0)) for number in range(5)}  # type: ignore[arg-type]
    os.close(directory)
    assert [one.definition for one in noted] == [parsed(OLD)]
    assert reader.files_read == 1


@pytest.mark.parametrize("frm", [b"", b"TYPE=VIEW\n", OLD[:-1], b"\xfe\x01" + bytes(600)])
def test_a_damaged_definition_is_unknown_and_the_table_is_told(tmp_path: Path, frm: bytes) -> None:
    make(tmp_path / "d", "a", frm)
    assert told(tmp_path) == {"a": None}


def test_definitions_that_cannot_be_read_are_noted_with_names(tmp_path: Path) -> None:
    for number in range(7):
        make(tmp_path / "d", f"t{number}", b"\xfe\x01" + bytes(600))
    make(tmp_path / "d", "p#P#a", b"TYPE=VIEW\n")
    make(tmp_path / "d", "p#P#b", None)
    make(tmp_path / "d", "whole")
    make(tmp_path / "d", "none", frm=None)
    (tmp_path / "d" / "t6.frm").unlink()
    (tmp_path / "d" / "t6.frm").mkdir()  # there, and no file
    age(tmp_path)
    scanner = DirectoryScanner()
    for scan in (scan_data_directory(tmp_path), scanner.scan(tmp_path), scanner.scan(tmp_path)):
        (note,) = MYI.notes(scan)
        assert "of 8 tables cannot be read: d." in note.reason
        assert note.reason.endswith(" and 3 more")
        assert "tables.created_version" not in MYI.unknown_columns(scan)
    (tmp_path / "d" / "whole.MYI").unlink()
    assert MYI.unknown_columns(scanner.scan(tmp_path))["tables.created_version"] == note
    generation = scanner.scan(tmp_path).files_generation
    assert scanner.scan(tmp_path).files_generation == generation  # looked at again, and as it was
    for number in range(6):
        (tmp_path / "d" / f"t{number}.frm").write_bytes(OLD)  # from a backup; the .MYI stays
    (note,) = MYI.notes(scanner.scan(tmp_path))
    assert "of 2 tables" in note.reason
    scanner.close()


def test_what_is_no_file_of_the_servers_is_not_opened(tmp_path: Path) -> None:
    make(tmp_path / "d", "link", frm=None)
    make(tmp_path / "d", "pipe", frm=None)
    make(tmp_path / "d", "folder", frm=None)
    (tmp_path / "d" / "link.frm").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "d" / "pipe.frm")
    (tmp_path / "d" / "folder.frm").mkdir()
    (tmp_path / "d" / "m.MRG").symlink_to("/dev/zero")
    assert told(tmp_path) == {"link": None, "pipe": None, "folder": None}
    assert scan_data_directory(tmp_path).merge_tables == ()


def test_a_lack_of_ours_is_no_unknown_definition(tmp_path: Path) -> None:
    make(tmp_path / "d", "a")
    opened = ForeignFiles.opened

    def exhausted(files: ForeignFiles, file: str, directory: int | None = None) -> tuple[int, os.stat_result]:
        if file.endswith(".frm"):
            raise OSError(errno.EMFILE, "too many open files")
        return opened(files, file, directory)

    with patch.object(ForeignFiles, "opened", exhausted), pytest.raises(OSError, match="too many"):
        scan_data_directory(tmp_path)


def reads(scanner: DirectoryScanner) -> int:
    return scanner._reader._definitions.files_read


def test_a_daemon_reads_each_once_and_again_where_the_table_is_made_anew(tmp_path: Path) -> None:
    for number in range(10):
        make(tmp_path / "d", f"t{number}")
    (tmp_path / "d" / "m.MRG").write_bytes(b"t1\nt2\n")
    age(tmp_path)
    scanner = DirectoryScanner()
    first = scanner.scan(tmp_path)
    assert reads(scanner) == 11
    assert scanner.scan(tmp_path).generation == first.generation
    # Written: the .frm is looked at, and is as it was.
    (tmp_path / "d" / "t3.MYI").write_bytes(header(rows=4))
    age(tmp_path, 90.0)
    changed = scanner.scan(tmp_path)
    assert changed.files_generation != first.files_generation
    count = reads(scanner)
    (tmp_path / "d" / "t3.MYI").write_bytes(header(rows=5))
    os.utime(tmp_path / "d" / "t3.MYI", (time.time() - 80,) * 2)
    scanner.scan(tmp_path)
    assert reads(scanner) == count
    # ALTER TABLE ... FORCE makes both files anew.
    make(tmp_path / "d", "t3", definition(created=50744))
    age(tmp_path, 70.0)
    (found,) = [file for file in scanner.scan(tmp_path).files if file.stem == "t3"]
    assert found.definition == parsed(definition(created=50744))
    scanner.close()


def test_a_definition_of_this_moment_is_read_again(tmp_path: Path) -> None:
    make(tmp_path / "d", "a")
    age(tmp_path)
    (tmp_path / "d" / "a.frm").write_bytes(OLD)
    scanner = DirectoryScanner()
    scanner.scan(tmp_path)
    scanner.scan(tmp_path)
    assert reads(scanner) == 2
    age(tmp_path)
    for _ in range(3):
        scanner.scan(tmp_path)
    assert reads(scanner) == 3
    scanner.close()


def test_merge_tables_and_what_they_are_made_of(tmp_path: Path) -> None:
    make(tmp_path / "d", "t1")
    (tmp_path / "d" / "m.MRG").write_bytes(b"t1\n./e@002de/t2\n#INSERT_METHOD=LAST\n")
    make(tmp_path / "e@002de", "t2")
    age(tmp_path)
    expected = (MergeTable("d", "m", (("d", "t1"), ("e-e", "t2"))),)
    assert scan_data_directory(tmp_path).merge_tables == expected
    scanner = DirectoryScanner()
    first = scanner.scan(tmp_path)
    assert first.merge_tables == scanner.scan(tmp_path).merge_tables == expected
    (tmp_path / "d" / "m.MRG").write_bytes(b"t1\n")
    age(tmp_path, 50.0)
    later = scanner.scan(tmp_path)
    assert later.merge_tables == (MergeTable("d", "m", (("d", "t1"),)),)
    assert later.files_generation != first.files_generation
    scanner.close()


def many_lists(folder: Path, count: int, names: int) -> None:
    folder.mkdir(exist_ok=True)
    data = b"".join(b"t%d\n" % number for number in range(names))
    for number in range(count):
        (folder / f"m{number:03}.MRG").write_bytes(data)


@pytest.mark.parametrize("daemon", [True, False])
def test_lists_take_no_more_room_than_all_together_may(tmp_path: Path, daemon: bool) -> None:
    make(tmp_path / "d", "t1", frm=None)
    many_lists(tmp_path / "d", 15, 9_999)
    many_lists(tmp_path / "e", 3, 2)
    age(tmp_path)
    scanner = DirectoryScanner()
    for _ in range(3):
        scan = scanner.scan(tmp_path) if daemon else scan_data_directory(tmp_path)
        assert sum(len(merge.tables) + 1 for merge in scan.merge_tables) <= MAXIMUM_NAMES
        assert len(scan.merge_tables) + scan.merge_lists_left_out == 18
        assert 5 <= scan.merge_lists_left_out <= 8  # whichever database is read first
        (note,) = MYI.notes(scan)
        assert f"{scan.merge_lists_left_out} MERGE tables" in note.reason
    scanner.close()


def test_a_daemon_reads_lists_left_out_once_there_is_room(tmp_path: Path) -> None:
    make(tmp_path / "e", "t1", frm=None)
    many_lists(tmp_path / "d", 15, 9_999)
    age(tmp_path)
    scanner = DirectoryScanner()
    assert scanner.scan(tmp_path).merge_lists_left_out == 5
    shutil.rmtree(tmp_path / "d")
    many_lists(tmp_path / "e", 10, 9_999)
    age(tmp_path)
    assert scanner.scan(tmp_path).merge_lists_left_out == 0
    many_lists(tmp_path / "d", 1, 9_999)
    assert scanner.scan(tmp_path).merge_lists_left_out == 1
    (tmp_path / "e" / "m000.MRG").unlink()
    assert scanner.scan(tmp_path).merge_lists_left_out in (0, 1)  # d may be looked at before e
    assert scanner.scan(tmp_path).merge_lists_left_out == 0
    scanner.close()


def test_many_merge_tables_of_one_table_are_a_short_text(tmp_path: Path) -> None:
    make(tmp_path / "d", "t1", frm=None)
    many_lists(tmp_path / "d", 500, 3)
    scan = scan_data_directory(tmp_path)
    told_of = merged_into(scan, {("d", "t1"): ()})
    assert len(merges_of_members(scan)["d", "t1"]) == 500
    assert told_of == {("d", "t1"): ", ".join(f"d.m00{number}" for number in range(8)) + " and 492 more"}


def test_the_first_merge_tables_are_those_whatever_was_read_first() -> None:
    lists = [MergeTable(schema, "m", (("d", "t1"),)) for schema in "cabjdihgfe"]
    told = [merged_into(SimpleNamespace(merge_tables=tuple(some)), {("d", "t1"): ()}) for some in (lists, lists[::-1])]
    assert told[0] == told[1] == {("d", "t1"): ", ".join(f"{schema}.m" for schema in "abcdefgh") + " and 2 more"}


def test_a_state_differs_where_a_file_does(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    before = signature(path.stat())
    assert before == signature(path.stat())
    os.utime(path, (1, 1))
    assert signature(path.stat()) != before
