"""The Pythons of this machine, and `myisam-snapshot` built once for all tests of a process."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from tools.snapshotter.build import build

# What the file promises; and what it says that it is too old for.
SUPPORTED = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
TOO_OLD = ("2.7", "3.5")
_VERSION = re.compile(r"Python ([0-9]+\.[0-9]+)\.")


def _candidates() -> list[Path]:
    homes = {Path(os.environ.get("PYENV_ROOT", "")), Path.home() / ".pyenv"} - {Path()}
    installed = [
        path
        for home in sorted(homes)
        for path in sorted(home.glob("versions/*/bin/python"))
        if os.access(path, os.X_OK)
    ]
    # What is known by its folder need not be found by its name: that would start a script of pyenv's for each.
    known = {".".join(path.parts[-3].split(".")[:2]) for path in installed}
    found = [shutil.which(f"python{version}") for version in (*TOO_OLD, *SUPPORTED) if version not in known]
    return [*installed, *(Path(path) for path in found if path)]


@lru_cache(maxsize=1)
def pythons() -> Mapping[str, str]:
    """Major and minor version -> an interpreter of it, of those that start."""
    found: dict[str, str] = {}
    for path in _candidates():
        told = subprocess.run([str(path), "--version"], capture_output=True, text=True, timeout=30, check=False)
        version = _VERSION.match(told.stdout + told.stderr)
        if told.returncode == 0 and version:
            found.setdefault(version[1], str(path))
    return found


def python(version: str) -> str:
    """An interpreter of this version; the test is skipped where there is none."""
    found = pythons().get(version)
    if found is None:
        pytest.skip(f"no Python {version} here, neither in PATH nor below ~/.pyenv/versions")
    return found


def oldest_and_newest() -> tuple[str, ...]:
    """The two ends of what is promised: 3.6 by name, so that a machine without it says so, and the newest that is here."""
    newest = next((version for version in reversed(SUPPORTED) if version in pythons()), SUPPORTED[-1])
    return (SUPPORTED[0], newest)


@lru_cache(maxsize=1)
def snapshotter() -> str:
    """The file, built; readable by any user."""
    folder = Path(tempfile.mkdtemp(prefix="myisam-snapshot-"))
    folder.chmod(0o755)
    path = folder / "myisam-snapshot"
    path.write_bytes(build())
    path.chmod(0o755)
    import atexit

    atexit.register(shutil.rmtree, folder, True)
    return str(path)
