"""Copies that fail their check: a table that is damaged, and one that is written meanwhile. Real servers' are in tests/servers/test_trial.py."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.tables import copying
from myisam_advisor.trial.tables.copying import TRIES, OtherReleaseError, take_files
from myisam_advisor.trial.tables.sources import Source, SourceFile

SAID = "myisamchk: error: Size of datafile is: 100 Should be: 800"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    monkeypatch.setattr(copying, "PAUSE_SECONDS", 0.0)
    files = []
    for name in ("t.MYD", "t.MYI"):
        (tmp_path / name).write_bytes(b"x" * 100)
        descriptor = os.open(tmp_path / name, os.O_RDWR)
        files.append(SourceFile(name, descriptor, 100))
    (tmp_path / "copy").mkdir()
    yield Source("s", "t", "s", "t", 1, 1 << 20, tuple(files))
    for file in files:
        os.close(file.descriptor)


def test_the_same_complaint_of_files_that_nobody_wrote_is_damage(source: Source, tmp_path: Path) -> None:
    with pytest.raises(TrialError, match=r"s\.t is damaged: .*Should be: 800\. .*CHECK TABLE `s`\.`t`; tells, and REPAIR TABLE") as raised:
        take_files(source, tmp_path / "copy", None, Listener(), lambda: SAID)
    assert "quieter" not in str(raised.value)
    assert "GEOMETRYCOLLECTION" not in str(raised.value)
    with pytest.raises(TrialError, match=r"CHECK TABLE `s`\.`t` EXTENDED; tells.* empty GEOMETRYCOLLECTION MariaDB says so too.* CHECK TABLE `s`\.`t`; takes back"):
        take_files(replace(source, is_spatial=True), tmp_path / "copy", None, Listener(), lambda: SAID)


def test_files_that_were_written_between_the_tries_are_not_called_damaged(source: Source, tmp_path: Path) -> None:
    def complains() -> str:
        os.write(source.file(".MYD").descriptor, b"y" * 200)
        return SAID

    with pytest.raises(TrialError, match=f"could not be copied in {TRIES} tries: .*--allow-lock"):
        take_files(source, tmp_path / "copy", None, Listener(), complains)


def test_nor_where_each_try_ends_by_another_complaint(source: Source, tmp_path: Path) -> None:
    complaints = iter(f"{number}" for number in range(TRIES))
    with pytest.raises(TrialError, match="could not be copied"):
        take_files(source, tmp_path / "copy", None, Listener(), lambda: next(complaints))


class Refusing:
    """A server that opens no copy."""

    def __init__(self, name: str, directory: Path) -> None:
        flavour = name.partition("-")[0]
        self.binaries = ServerBinaries(name, flavour, Path(), Path(), Path(), family=flavour)
        self.data_directory = directory

    def count(self, table: str) -> int:
        raise driver().error(145, f"Table {table} is marked as crashed")

    def execute(self, *_: str, **__: str) -> list[tuple[object, ...]]:
        return []


def test_what_a_server_with_frm_files_says_of_a_copy_is_told_and_not_that_it_is_of_another_kind(source: Source, tmp_path: Path) -> None:
    """MySQL 5.7 makes its data directory as 8.0 does, and reads .frm: whatever it said of a copy was told as *another kind of server*, and not tried again."""
    servers: list[Any] = [Refusing(name, tmp_path) for name in ("mysql-5.7", "mysql-8.0", "mariadb-11.8")]
    for server in (servers[0], servers[2]):
        assert "is marked as crashed" in copying._checked_by_server(source, server)
    with pytest.raises(OtherReleaseError, match=r"\.sdi"):
        copying._checked_by_server(source, servers[1])
