"""A folder whose files are the list of what there is: one that cannot be listed is not taken for an empty one."""

import os
from pathlib import Path

import pytest

from myisam_advisor.changes.formats import init_file
from myisam_advisor.cli.commands.base import FOLDER
from myisam_advisor.texts.units import unit_named, unit_names


def test_each_file_is_one_and_what_they_share_is_none(tmp_path: Path) -> None:
    for name in ("init_file.py", "sql.py", "base.py", "__init__.py", "sql.pyc", "notes.md"):
        (tmp_path / name).touch()
    assert unit_names(tmp_path) == ["init-file", "sql"]
    assert "check" in unit_names(FOLDER)


def test_a_name_of_two_words_is_that_of_its_file() -> None:
    assert unit_named("myisam_advisor.changes.formats", "init-file") is init_file


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    for call in ("listdir", "scandir"):
        monkeypatch.setattr(os, call, refused)
    with pytest.raises(PermissionError, match="Permission denied"):
        unit_names(tmp_path)
