"""Reading files that somebody else made, or named: the one place where such a file is opened.

Nothing is waited for (FIFO), no device is opened, no access time changes, nothing is inherited, and no more is read than was asked for.
A name may be swapped for a link at any moment, so what counts is what the open descriptor says, never what the name said before.

A symbolic link is followed only where its maker could have read the target anyway: to a file of the owner that the caller names, which
for a data directory is the server's own user (MyISAM's DATA DIRECTORY and INDEX DIRECTORY are such links). A hard link is held to the same.

Sources: open(2) (O_NOFOLLOW, O_NONBLOCK, O_NOATIME, O_PATH), proc(5) (/proc/self/fd).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

SMALL_FILE_BYTES = 4096
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class ForeignFileError(OSError):
    """The file is not of the kind, or not of the owner, that it must be."""


class ForeignFiles:
    """Opens regular files for reading, and nothing else.

    Args:
        owner: the user whose files they must be; None takes anybody's, and follows no link.
    """

    def __init__(self, owner: int | None = None) -> None:
        self.owner = owner
        # O_NOATIME is a file's owner's alone (open(2)); one refusal speaks for all files of that owner.
        self._no_access_time = os.O_NOATIME

    def open(self, file: str, directory: int | None = None) -> int:
        """A descriptor of a regular file in an open directory that its owner alone may put devices into: root.

        Raises ForeignFileError for anything that is no regular file or another's, and OSError as open(2) does.
        """
        try:
            descriptor = self._reading(file, os.O_NOFOLLOW, directory)
        except OSError as error:
            # A socket answers ENXIO, a link ELOOP.
            if error.errno == errno.ENXIO:
                raise _refused(errno.EINVAL, "it is no regular file", file) from None
            if error.errno != errno.ELOOP or self.owner is None:
                raise
            return self.open_named(file, directory)
        return self._checked(descriptor, file)

    def open_named(self, file: str, directory: int | None = None) -> int:
        """The same for a name that somebody else gave: looked at before it is opened, as opening a device can do something.

        Raises as `open` does.
        """
        follow = 0 if self.owner is not None else os.O_NOFOLLOW
        seen = os.open(file, os.O_PATH | os.O_CLOEXEC | follow, dir_fd=directory)
        try:
            self._check(os.fstat(seen), file)
            # The very file that was looked at, whatever the name stands for by now.
            return self._reading(f"/proc/self/fd/{seen}", 0, None)
        finally:
            os.close(seen)

    def _reading(self, file: str, follow: int, directory: int | None) -> int:
        flags = _READ | follow
        try:
            return os.open(file, flags | self._no_access_time, dir_fd=directory)
        except PermissionError:
            if not self._no_access_time:
                raise
            descriptor = os.open(file, flags, dir_fd=directory)
            self._no_access_time = 0
            return descriptor

    def _checked(self, descriptor: int, file: str) -> int:
        try:
            self._check(os.fstat(descriptor), file)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _check(self, status: os.stat_result, file: str) -> None:
        if stat.S_ISLNK(status.st_mode):
            raise _refused(errno.ELOOP, "it is a symbolic link", file)
        if not stat.S_ISREG(status.st_mode):
            raise _refused(errno.EINVAL, "it is no regular file", file)
        if self.owner is not None and status.st_uid != self.owner:
            raise _refused(errno.EPERM, "it belongs to another user than the data directory", file)


def _refused(number: int, why: str, file: str) -> ForeignFileError:
    return ForeignFileError(number, why, file)


def read_small(path: Path | str, maximum_bytes: int = SMALL_FILE_BYTES, owner: int | None = None) -> bytes:
    """The first bytes of a regular file that somebody else named. Raises ForeignFileError, and OSError as open(2) does."""
    descriptor = ForeignFiles(owner).open_named(str(path))
    try:
        return os.read(descriptor, maximum_bytes)
    finally:
        os.close(descriptor)
