"""A plan's directory on a disk that takes some of its files and refuses one in the end: none is left, so that the next try finds nothing in its way."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from myisam_advisor.cli.group import cli
from tests.support.repository import ROOT

FACTS = ROOT / "tests" / "recorded" / "golden" / "mysql-9.7" / "facts.json"


@pytest.mark.parametrize("call", ["fsync", "rename"])
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_disk_that_refuses_one_of_the_files_in_the_end_keeps_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, failing: int) -> None:
    calls, real = [], getattr(os, call)

    def refused(*words: Any, **further: Any) -> Any:
        calls.append(words)
        if len(calls) == failing:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return real(*words, **further)

    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, call, refused)
    monkeypatch.setattr(os, "link", no_links)
    done = CliRunner().invoke(cli, ["plan", "--facts", str(FACTS), "--output", str(tmp_path / "plan")])
    assert str(done.exception) == f"the plan cannot be written to {tmp_path / 'plan'}: Disk quota exceeded. Give another --output."
    assert len(calls) == failing
    assert not list((tmp_path / "plan").iterdir())


@pytest.mark.parametrize("name", ["plan.sql", "plan.json", "my.cnf"])
@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_somebody_puts_there_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, links: bool) -> None:
    theirs, real = tmp_path / "plan" / name, os.fsync

    def meanwhile(descriptor: int) -> None:
        if not theirs.exists():
            theirs.write_text("theirs")
        real(descriptor)

    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fsync", meanwhile)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    done = CliRunner().invoke(cli, ["plan", "--facts", str(FACTS), "--output", str(tmp_path / "plan")])
    assert str(done.exception) == f"{tmp_path / 'plan'} already holds {name}: choose another directory, or move them away."
    assert [one.name for one in (tmp_path / "plan").iterdir()] == [name]
    assert theirs.read_text() == "theirs"
