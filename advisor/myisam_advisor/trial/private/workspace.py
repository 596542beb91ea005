"""The directory of a trial of root's: nobody but the trial's user can enter it, and root never uses a name that this user can change.

There are two: the outer belongs to root, so that the inner, which is the user's, cannot be renamed or replaced by a link. Root makes both
by descriptors, hands the inner over, and touches nothing in it until no process of the user is left; then it removes the outer, whose name
only root could have changed, by a program that follows no link (rm -rf goes by descriptors: fts(3)).
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import secrets
import stat
import subprocess
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.reaped_directory import temporary_folder
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


def expect_safe(directory: Path) -> None:
    """Raises TrialError where somebody else than root could put another directory in this one's place, or in that of one above it."""
    others = changed_by_others(directory)
    if others is not None:
        raise TrialError(
            f"{others} can be changed by others than root, so no trial of root's may work below it: choose another TMPDIR (/tmp)."
        )


def changed_by_others(path: Path) -> Path | None:
    """What somebody else than root and us could change, or put another in the place of: this, or what it lies in. The path has no links. Raises OSError."""
    for one in (path, *path.parents):
        status = one.stat(follow_symlinks=False)
        others_may_write = bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
        if others_may_write and not status.st_mode & stat.S_IWOTH and _is_ours_alone(status.st_gid):
            others_may_write = False
        if status.st_uid not in (0, os.geteuid()) or (others_may_write and not status.st_mode & stat.S_ISVTX):
            return one
    return None


def _is_ours_alone(group: int) -> bool:
    """Whether it is the group that we have for ourselves, of our name: with it goes a umask of 002, as Ubuntu and Fedora set it."""
    try:
        user, ours = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return os.geteuid() != 0 and ours.gr_name == user and set(ours.gr_mem) <= {user}


def _made(parent: int) -> str:
    while True:
        name = f"myisam-{secrets.token_hex(4)}"
        try:
            os.mkdir(name, 0o700, dir_fd=parent)
        except FileExistsError:
            continue
        return name
