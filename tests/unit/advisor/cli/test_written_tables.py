"""Which tables are being written, by the times of their files."""

import os
from pathlib import Path

import pytest

from myisam_advisor.cli.written_tables import warnings_of, written_now
from tests.support.repository import ROOT

NOW = 1_800_000_000.0
INDEX_FILE = next((ROOT / "tests" / "recorded" / "tables").rglob("*.MYI"))


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for table, seconds_ago in (("busy", 2), ("busy2", 9), ("calm", 60), ("ahead", -3600)):
        (tmp_path / "shop").mkdir(exist_ok=True)
        (tmp_path / "shop" / f"{table}.MYI").write_bytes(INDEX_FILE.read_bytes())
        rows = tmp_path / "shop" / f"{table}.MYD"
        rows.write_bytes(b"x")
        os.utime(rows, (NOW - seconds_ago, NOW - seconds_ago))
    return tmp_path


def test_tables_that_were_written_moments_ago_are_named(directory: Path) -> None:
    owner = directory.stat().st_uid
    assert sorted(written_now(directory, owner, NOW)) == ["shop.busy", "shop.busy2"]
    assert written_now(directory, owner, NOW, {("shop", "busy2"): 1, ("shop", "calm"): 1}) == ["shop.busy2"]
    assert written_now(directory, owner, NOW + 60) == []


def test_they_are_told_once_with_the_way_out() -> None:
    assert list(warnings_of([])) == []
    (one,) = warnings_of(["a.b"])
    assert one.startswith("a.b is being written. ")
    assert "--allow-lock" in one
    (many,) = warnings_of([f"a.t{number}" for number in range(5)])
    assert many.startswith("a.t0, a.t1, a.t2 and 2 more are being written. ")
