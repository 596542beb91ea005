"""Nobody else may change what the program writes: others run it, as root."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.program import PROGRAM, run

FACTS = "schema: 1\ntables: [{schema_name: a, table_name: b, row_format: fixed, crashed: 1, recovery_failed: 0}]\n"


@pytest.fixture(params=[0o000, 0o077], ids=["umask 000", "umask 077"])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A process that was started without a umask, as by some containers and jobs, and one that shows nothing to anybody."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_plan_can_be_changed_by_its_owner_alone(tmp_path: Path, mask: int) -> None:
    folder = tmp_path / "above" / "plan"
    subprocess.run([PROGRAM, "plan", "--facts", "-", "--output", folder], input=FACTS, text=True, check=True, capture_output=True)
    paths = [folder, folder.parent, *folder.iterdir()]
    assert folder / "plan.sql" in paths
    assert {path.name: mode_of(path) & (0o022 | mask) for path in paths} == {path.name: 0 for path in paths}


@pytest.mark.parametrize("name", ["facts.json", "facts.json.gz"])
def test_facts_are_read_by_their_owner_alone(tmp_path: Path, name: str, mask: int) -> None:
    path = tmp_path / name
    path.touch(0o666)
    assert run("snapshot", "--facts", "-", "--output", path, stdin=FACTS).returncode == 0
    assert mode_of(path) == 0o600
