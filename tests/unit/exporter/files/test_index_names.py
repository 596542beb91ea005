"""Names of indexes from .frm files: read once, and again where they change; whatever is wrong with one is told, and named nothing."""

import errno
import os
import time
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from myisam_exporter.files.data_directory import scan_data_directory
from myisam_exporter.files.index_names import FoundNames, IndexNames
from tests.support.frm import definition, with_keys
from tests.support.myi import header

KEYS = (("PRIMARY", 1, 1, 0), ("second", 0, 1, 0))
FRM = with_keys(KEYS)
MYI = header(keys=((1, ((4, 0, 4),)), (0, ((4, 0, 4),))))
LONG_AGO = 1_600_000_000


def make(root: Path, stem: str, frm: bytes | None = FRM, database: str = "d") -> None:
    (root / database).mkdir(exist_ok=True)
    (root / database / f"{stem}.MYI").write_bytes(MYI)
    if frm is not None:
        (root / database / f"{stem.partition('#P#')[0]}.frm").write_bytes(frm)


def found(root: Path, names: IndexNames | None = None) -> FoundNames:
    scan = scan_data_directory(root)
    return (names or IndexNames()).of(scan.files, scan.owner)


def settle() -> None:
    """Until the file system's clock has gone on: what changed in this tick may change again unseen."""
    time.sleep(0.12)


def test_indexes_are_named_in_the_order_of_the_header(tmp_path: Path) -> None:
    make(tmp_path, "a@002fb@0027c")
    make(tmp_path, "t", database="e@0020f")
    os.utime(tmp_path / "d" / "a@002fb@0027c.frm", (LONG_AGO, LONG_AGO))
    tables = found(tmp_path).tables
    assert {name: one.names for name, one in tables.items()} == {("d", "a/b'c"): ("PRIMARY", "second"), ("e f", "t"): ("PRIMARY", "second")}
    # What a backup set back is no age: the inode changed now.
    assert tables["d", "a/b'c"].defined == pytest.approx(time.time(), abs=60)


def test_partitions_have_the_names_of_their_table(tmp_path: Path) -> None:
    make(tmp_path, "t#P#p0")
    make(tmp_path, "plain")
    tables = found(tmp_path).tables
    assert {name: (one.names, one.is_partitioned) for name, one in tables.items()} == {("d", "t"): (("PRIMARY", "second"), True), ("d", "plain"): (("PRIMARY", "second"), False)}


def test_what_did_not_change_is_read_once(tmp_path: Path) -> None:
    for number in range(5):
        make(tmp_path, f"t{number}")
    names = IndexNames()
    settle()
    first = found(tmp_path, names)
    assert names.files_read == 5
    assert found(tmp_path, names) == first
    assert names.files_read == 5
    make(tmp_path, "t3", with_keys((KEYS[0], ("other", 0, 1, 0))))
    settle()
    assert found(tmp_path, names).tables["d", "t3"].names == ("PRIMARY", "other")
    assert names.files_read == 6


def test_one_that_may_change_again_within_the_tick_is_read_again(tmp_path: Path) -> None:
    make(tmp_path, "t")
    names = IndexNames()
    found(tmp_path, names)
    found(tmp_path, names)
    assert names.files_read == 2


def test_only_what_was_asked_for_last_is_kept(tmp_path: Path) -> None:
    for stem in ("a", "b"):
        make(tmp_path, stem)
    settle()
    names = IndexNames()
    scan = scan_data_directory(tmp_path)
    names.of(scan.files, scan.owner)
    names.of(scan.files[:1], scan.owner)
    names.of(scan.files, scan.owner)
    assert names.files_read == 3


@pytest.mark.parametrize("frm", [b"", b"\xff" * len(FRM), FRM[:-1], definition(version=8)])
def test_one_that_is_damaged_is_told_of_and_disturbs_no_other(tmp_path: Path, frm: bytes) -> None:
    make(tmp_path, "bad", frm)
    make(tmp_path, "good")
    names = IndexNames()
    settle()
    for _ in range(2):
        result = found(tmp_path, names)
        assert (set(result.tables), result.unread) == ({("d", "good")}, (("d", "bad"),))
    assert names.files_read == 2  # a damaged one, too, is read once


@pytest.mark.parametrize("keys", [KEYS[:1], (*KEYS, ("third", 0, 1, 0)), (("PRIMARY", 1, 1, 0), ("second", 1, 1, 0)), ()])
def test_one_that_is_of_another_table_names_nothing(tmp_path: Path, keys: Sequence[tuple[str, int, int, int]]) -> None:
    make(tmp_path, "t", with_keys(keys))
    assert found(tmp_path) == FoundNames({}, ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_one_that_is_not_there_or_another_users_names_nothing(tmp_path: Path) -> None:
    make(tmp_path, "none", None)
    make(tmp_path, "linked", None)
    outside = tmp_path / "outside.frm"
    outside.write_bytes(FRM)
    os.chown(outside, 54321, 54321)
    (tmp_path / "d" / "linked.frm").symlink_to(outside)
    assert found(tmp_path) == FoundNames({}, (("d", "linked"),))


def test_a_database_that_cannot_be_opened_is_told_of_and_one_that_is_gone_is_not(tmp_path: Path) -> None:
    make(tmp_path, "t")
    scan = scan_data_directory(tmp_path)
    with patch("myisam_exporter.files.index_names.ForeignFiles.open_directory", side_effect=OSError(errno.EIO, "Input/output error")):
        assert IndexNames().of(scan.files, scan.owner) == FoundNames({}, (("d", "t"),))
    with patch("myisam_exporter.files.index_names.ForeignFiles.open_directory", side_effect=OSError(errno.EMFILE, "Too many open files")), pytest.raises(OSError, match="Too many"):
        IndexNames().of(scan.files, scan.owner)
    for path in (tmp_path / "d").iterdir():
        path.unlink()
    assert IndexNames().of(scan.files, scan.owner) == FoundNames({}, ())
    (tmp_path / "d").rmdir()
    assert IndexNames().of(scan.files, scan.owner) == FoundNames({}, ())
