"""A disk that tells of a failed write only when the file is to be kept: nothing of it has the name that was wanted."""

import os
from pathlib import Path

import pytest

from myisam_advisor.texts.whole_files import write_whole
from myisam_exporter.errors import UserError


@pytest.mark.parametrize("before", ["", "what was there"])
def test_what_the_disk_did_not_keep_is_not_there(tmp_path: Path, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.sql"
    if before:
        path.write_text(before)

    def failed(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failed)
    with pytest.raises(UserError, match=r"cannot write .*/plan\.sql: Input/output error"):
        write_whole(path, "half of it")
    assert [one.read_text() for one in tmp_path.iterdir()] == ([before] if before else [])
