"""Copies that fail their check: a table that is damaged, and one that is written meanwhile. Real servers' are in tests/servers/test_trial.py."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.tables import copying
from myisam_advisor.trial.tables.copying import TRIES, take_files
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
