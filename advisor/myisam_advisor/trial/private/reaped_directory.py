"""A temporary directory that goes when its maker goes, even by SIGKILL.

It is removed by descriptors, without following a link (shutil.rmtree, rm -rf): what a server that we started left in it cannot lead astray.
"""

from __future__ import annotations

import functools
import grp
import logging
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from myisam_advisor.errors import TrialError

_log = logging.getLogger(__name__)
PREFIX = "myisam-"
# A name as long as those that are drawn (tempfile): of what is found out before there is one.
LIKE_DRAWN = f"{PREFIX}xxxxxxxx"
# "$1" is the directory; the pipe's other end is its maker's. What a dying server still writes is removed the next time round.
REAPER = """
trap '' INT TERM HUP
read -r _
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" 2>/dev/null; [ -e "$1" ] || exit 0; sleep 0.2; done
"""


def temporary_folder() -> Path:
    """Where temporary files go. Raises TrialError where TMPDIR takes none: Python would take /tmp, which may be memory, without a word."""
    wanted = os.environ.get("TMPDIR")
    if wanted:
        try:
            with tempfile.TemporaryFile(dir=wanted) as file:
                file.write(b"\n")
        except OSError as error:
            raise TrialError(
                f"no file can be written in {wanted} (TMPDIR): {error.strerror}. Choose another TMPDIR."
            ) from None
    return Path(tempfile.gettempdir())


def expect_safe(directory: Path) -> None:
    """Where somebody else could put another directory in this one's place, or in that of one above it: raises TrialError for root, and warns anybody else once.

    A volume of a container (emptyDir) is such a directory, and nobody else may be there.
    """
    others = changed_by_others(directory)
    if others is not None and os.geteuid() == 0:
        raise TrialError(
            f"{others} can be changed by others than root, so no trial of root's may work below it: choose another TMPDIR (/tmp)."
        )
    if others is not None:
        _warn(others)


@functools.cache
def _warn(directory: Path) -> None:
    _log.warning(
        "%s can be changed by other users, who could put a directory of theirs in the place of this trial's: choose another TMPDIR, or set its sticky bit (chmod +t).",
        directory,
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


class ReapedDirectory:
    """The directory (with a short name), and a shell that waits for the end of a pipe that only we hold open, to remove it."""

    def __init__(self) -> None:
        folder = temporary_folder()
        expect_safe(folder.resolve())
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        self._reaper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ReapedDirectory:
        self.watch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def watch(self) -> None:
        """Start the shell."""
        self._reaper = subprocess.Popen(
            ["/bin/sh", "-c", REAPER, "reaper", str(self.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def remove(self) -> None:
        """Remove the directory and end the shell."""
        shutil.rmtree(self.path, ignore_errors=True)
        reaper, self._reaper = self._reaper, None
        if reaper is not None and reaper.stdin is not None:
            reaper.stdin.close()
            reaper.wait()
