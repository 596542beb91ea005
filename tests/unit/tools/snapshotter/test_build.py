"""One file that old Pythons run: the same bytes each time, whole, and understood by those that are too old."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.version import __version__
from tests.support.old_pythons import SUPPORTED, TOO_OLD, oldest_and_newest, python, snapshotter
from tools.snapshotter import build as building
from tools.snapshotter.build import BuildError, imported, modules

CLEAN = {"PATH": "/nonexistent", "LC_ALL": "C"}


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    again = tmp_path / "again"
    # Another process: the order of its sets is another.
    subprocess.run(
        [sys.executable, "-m", "tools.snapshotter.build", str(again)],
        env={"PYTHONHASHSEED": "7"},
        cwd=building.ROOT,
        check=True,
    )
    assert again.read_bytes() == Path(snapshotter()).read_bytes()
    assert again.stat().st_mode & 0o777 == 0o755


def test_it_is_one_small_file_of_plain_source() -> None:
    made = Path(snapshotter()).read_bytes()
    assert made.startswith(b"#!/usr/bin/env python3\n")
    assert len(made) < 300_000
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.testzip() is None
        assert {Path(name).suffix for name in archive.namelist()} == {".py"}


def test_every_collector_is_in_it() -> None:
    assert {type(collector).__module__ for collector in all_collectors()} <= set(modules())


def test_no_library_of_others_is_needed() -> None:
    names = set(modules())
    assert "myisam_exporter.server.driver" in names
    assert not {
        name
        for name in names
        if name.startswith(("myisam_advisor.cli", "myisam_advisor.factbase.file", "myisam_exporter.outside.documents"))
    }
    with zipfile.ZipFile(snapshotter()) as archive:
        assert b"pymysql" not in archive.read("myisam_exporter/server/driver.py")


@pytest.mark.parametrize(
    "statement", ["import yaml", "from yaml import load", "def f():\n    import requests.sessions"]
)
def test_a_library_that_old_hosts_have_not_fails_the_build(statement: str) -> None:
    with pytest.raises(BuildError, match="which an old host has not"):
        list(imported(statement, "example"))


def test_what_is_for_the_type_checker_is_not_needed() -> None:
    assert list(imported("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import yaml", "example")) == []


def test_wrong_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert building.main([]) == 2
    assert "use: python -m tools.snapshotter.build FILE" in capsys.readouterr().err


@pytest.mark.parametrize("version", SUPPORTED)
def test_each_python_runs_it(version: str) -> None:
    # -W error: an escape or an import that a later release takes away is heard of here first.
    words = [python(version), "-W", "error", snapshotter()]
    told = subprocess.run([*words, "--version"], env=CLEAN, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (0, f"myisam-snapshot {__version__}\n", "")


@pytest.mark.parametrize("version", oldest_and_newest())
@pytest.mark.slow
def test_python_takes_every_module(version: str) -> None:
    code = "import sys, importlib; sys.path.insert(0, sys.argv[1]); [importlib.import_module(name) for name in sys.argv[2:]]"
    words = [python(version), "-W", "error", "-c", code, snapshotter(), *sorted(modules())]
    subprocess.run(words, env=CLEAN, cwd="/", timeout=60, check=True)


@pytest.mark.parametrize("version", TOO_OLD)
def test_a_python_that_is_too_old_says_what_is_needed(version: str) -> None:
    told = subprocess.run(
        [python(version), snapshotter(), "--interval", "10"],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith(f"myisam-snapshot: this is Python {version}, and Python 3.6 or later is needed.")
    assert told.stderr.count("\n") == 1
