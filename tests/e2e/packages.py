"""What script/package builds: of this tree once for all workers of a run, and of copies of it."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tests.support.servers import PREPARED_VARIABLE

BILLS = (".whl.cdx.json", ".deb.cdx.json")
SNAPSHOTTER = "myisam-snapshot"
ENDINGS = (".deb", ".whl", ".gz", SNAPSHOTTER, *BILLS)


def once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder of this run's that the first worker who wants it makes."""
    place = Path(os.environ[PREPARED_VARIABLE])
    folder, begun = place / name, place / f"{name}.begun"
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(begun, ignore_errors=True)  # of a worker that failed
            make(begun)
            begun.rename(folder)
    return folder


def package(tree: Path, out: Path, *form: str) -> None:
    """Run a tree's script/package."""
    done = subprocess.run([str(tree / "script" / "package"), *form, str(out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def by_ending(out: Path) -> dict[str, Path]:
    """Of the packages in a folder: how its name ends -> file."""
    return {next(ending for ending in ENDINGS if path.name.endswith(ending)): path for path in out.iterdir()}


def needs_dpkg() -> None:
    if shutil.which("dpkg-buildpackage") is None:
        pytest.skip("dpkg-dev is not installed")


def built_packages() -> dict[str, Path]:
    """Of this tree."""
    needs_dpkg()
    return by_ending(once("packages", lambda out: package(ROOT, out)))


def copy_of_the_tree(folder: Path) -> Path:
    """The files that git knows, with the environment of this checkout; no repository."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder
