"""The directory of a trial of root's: nobody but the trial's user can enter it, and root never uses a name that this user can change.

There are two: the outer belongs to root, so that the inner, which is the user's, cannot be renamed or replaced by a link. Root makes both
by descriptors, hands the inner over, and touches nothing in it until no process of the user is left; then it removes the outer, whose name
only root could have changed, by a program that follows no link (rm -rf goes by descriptors: fts(3)).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.reaped_directory import expect_safe, temporary_folder
from myisam_exporter.declaring.lean_dataclasses import dataclass

INNER = "w"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Workspace:
    """`path` is the directory that the user owns; `parent` is an open descriptor of what the outer directory, `name`, lies in."""

    path: Path
    name: str
    parent: int

    def remove(self) -> bool:
        """Remove everything, by root; whether it is gone. No process of the user may be left."""
        # There by descriptor, not by name. This runs in a process of its own.
        os.fchdir(self.parent)
        command = ["rm", "-rf", "--one-file-system", "--", self.name]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode == 0

    def undo(self) -> None:
        """Remove both directories by ourselves, where no process could be had that does: nobody was let in yet."""
        _take_back(self.parent, self.name)


def make(number: int) -> Workspace:
    """Make the two directories for the user of that number, where temporary files go (TMPDIR). Raises TrialError where others could interfere."""
    base = temporary_folder().resolve()
    expect_safe(base)
    try:
        parent = os.open(base, _DIRECTORY)
        try:
            name = _made(parent)
        except BaseException:
            os.close(parent)
            raise
        try:
            _furnish(parent, name, number)
        except BaseException:
            _take_back(parent, name)
            raise
    except OSError as error:
        raise TrialError(f"no directory can be made in {base}: {error.strerror}. Choose another TMPDIR.") from None
    return Workspace(base / name / INNER, name, parent)


def _furnish(parent: int, name: str, number: int) -> None:
    outer = os.open(name, _DIRECTORY, dir_fd=parent)
    try:
        os.mkdir(INNER, 0o700, dir_fd=outer)
        inner = os.open(INNER, _DIRECTORY, dir_fd=outer)
        try:
            os.fchown(inner, number, number)
            os.fchmod(inner, 0o700)
        finally:
            os.close(inner)
        # The user may pass, by its group; nobody else may, and nobody may write.
        os.fchown(outer, os.geteuid(), number)
        os.fchmod(outer, 0o710)
    finally:
        os.close(outer)


def _take_back(parent: int, name: str) -> None:
    """Remove what was made of the two, and let go of what they lie in."""
    for path in (f"{name}/{INNER}", name):
        with contextlib.suppress(OSError):
            os.rmdir(path, dir_fd=parent)
    os.close(parent)


def _made(parent: int) -> str:
    while True:
        name = f"myisam-{secrets.token_hex(4)}"
        try:
            os.mkdir(name, 0o700, dir_fd=parent)
        except FileExistsError:
            continue
        return name
