"""Reading files that somebody else made, or named: the one place where such a file or directory is opened.

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
_LOOK = os.O_PATH | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK
_TYPE, _REGULAR, _LINK = 0o170000, stat.S_IFREG, stat.S_IFLNK


class ForeignFileError(OSError):
    """The file is not of the kind, or not of the owner, that it must be."""


class OtherOwnerError(ForeignFileError):
    """The file is another user's."""


class ForeignFiles:
    """Opens regular files for reading, and directories to list them.

    Args:
        owner: the user whose files they must be; None takes anybody's, and follows no link.
    """

    def __init__(self, owner: int | None = None) -> None:
        self.owner = owner
        self._flags = _READ | os.O_NOFOLLOW | os.O_NOATIME
        self.links_met = 0  # files that are links, followed or refused: by it a caller sees that one was

    def open(self, file: str, directory: int | None = None) -> int:
        """A descriptor of a regular file in an open directory that its owner alone may put devices into: root.

        Raises ForeignFileError for anything that is no regular file, OtherOwnerError for another's, and OSError as open(2) does.
        """
        return self.opened(file, directory)[0]

    def opened(self, file: str, directory: int | None = None) -> tuple[int, os.stat_result]:
        """The same with what fstat(2) says of it. Raises as `open` does."""
        # Asked of each file of each table: no call that can be spared.
        try:
            descriptor = os.open(file, self._flags, dir_fd=directory)
        except (OSError, ValueError) as error:
            return self._not_opened(error, file, directory)
        status = os.fstat(descriptor)
        if status.st_mode & _TYPE != _REGULAR or (status.st_uid != self.owner and self.owner is not None):
            os.close(descriptor)
            self._check(status, file)
        return descriptor, status

    def _not_opened(self, error: Exception, file: str, directory: int | None) -> tuple[int, os.stat_result]:
        """The file after all, where it is a link that may be followed or the access time may not be spared."""
        number = error.errno if isinstance(error, OSError) else None
        if number is None:
            raise _no_name(file) from None
        if number == errno.ENXIO:  # of a socket
            raise _refused(errno.EINVAL, "it is not a regular file", file) from None
        if number == errno.ELOOP and self.owner is not None:
            self.links_met += 1
            return self._followed(file, directory)
        if number == errno.EPERM and self._flags & os.O_NOATIME:
            self._spare_no_access_time()
            return self.opened(file, directory)
        raise error

    def _spare_no_access_time(self) -> None:
        """O_NOATIME is a file's owner's alone (open(2)); one refusal speaks for all files of that owner."""
        self._flags &= ~os.O_NOATIME

    def open_named(self, file: str) -> int:
        """The same for a name that somebody else gave: looked at before it is opened, as opening a device can do something.

        Raises as `open` does.
        """
        if self.owner is not None:
            return self._followed(file, None)[0]
        seen = _looked_at(file, None, os.O_NOFOLLOW)
        try:
            self._check(os.fstat(seen), file)
            return self._reopened(seen)
        finally:
            os.close(seen)

    def status(self, file: str, directory: int | None = None) -> os.stat_result:
        """What stat(2) says of a regular file of the owner's; of what a link leads to only where `open` would follow it.

        Raises as `open` does.
        """
        try:
            status = os.stat(file, dir_fd=directory, follow_symlinks=False)
        except ValueError:
            raise _no_name(file) from None
        if status.st_mode & _TYPE == _LINK and self.owner is not None:
            self.links_met += 1
            seen = _target(file, directory, 0)
            try:
                status = os.fstat(seen)
            finally:
                os.close(seen)
        if status.st_mode & _TYPE != _REGULAR or (status.st_uid != self.owner and self.owner is not None):
            self._check(status, file)
        return status

    def open_directory(self, path: str) -> int:
        """A descriptor of a directory to list; a link is followed to one of the owner's.

        Raises ForeignFileError, OtherOwnerError, and OSError as open(2) does: NotADirectoryError where it is none.
        """
        try:
            return os.open(path, _DIRECTORY | os.O_NOFOLLOW)
        except ValueError:
            raise _no_name(path) from None
        except OSError as error:
            # open(2) says ENOTDIR of a link where a directory is wanted, and ELOOP elsewhere.
            if error.errno not in {errno.ELOOP, errno.ENOTDIR} or self.owner is None:
                raise
        seen = _target(path, None, os.O_DIRECTORY)
        try:
            objection = self._other_owner(os.fstat(seen), path)
            if objection is not None:
                raise objection
            return os.open(f"/proc/self/fd/{seen}", _DIRECTORY)
        finally:
            os.close(seen)

    @staticmethod
    def open_known_directory(path: Path) -> int:
        """A descriptor of a directory that was found to be the server's: who named it may have linked it. Raises OSError."""
        return os.open(path, _DIRECTORY)

    @staticmethod
    def place(path: Path) -> int:
        """A descriptor that only says where a directory lies, for statvfs(3); nothing of it is opened. Raises OSError."""
        return _looked_at(str(path), None, os.O_DIRECTORY)

    def _followed(self, file: str, directory: int | None) -> tuple[int, os.stat_result]:
        seen = _target(file, directory, 0)
        try:
            status = os.fstat(seen)
            self._check(status, file)
            return self._reopened(seen), status
        finally:
            os.close(seen)

    def _reopened(self, seen: int) -> int:
        """The very file that was looked at, whatever the name stands for by now."""
        flags = self._flags & ~os.O_NOFOLLOW
        try:
            return os.open(f"/proc/self/fd/{seen}", flags)
        except PermissionError:
            if not flags & os.O_NOATIME:
                raise
            descriptor = os.open(f"/proc/self/fd/{seen}", flags & ~os.O_NOATIME)
            self._spare_no_access_time()
            return descriptor

    def _check(self, status: os.stat_result, file: str) -> None:
        objection = self._objection(status, file)
        if objection is not None:
            raise objection

    def _objection(self, status: os.stat_result, file: str) -> ForeignFileError | None:
        """What is wrong with a file of this kind and owner."""
        kind = status.st_mode & _TYPE
        if kind == _LINK:
            return _refused(errno.ELOOP, "it is a symbolic link", file)
        if kind != _REGULAR:
            return _refused(errno.EINVAL, "it is not a regular file", file)
        return self._other_owner(status, file)

    def _other_owner(self, status: os.stat_result, file: str) -> ForeignFileError | None:
        if self.owner is None or status.st_uid == self.owner:
            return None
        return OtherOwnerError(errno.EPERM, "it belongs to another user than the server's files", file)


def _looked_at(file: str, directory: int | None, flags: int) -> int:
    """A descriptor that only says what the file is: nothing of it is opened."""
    try:
        return os.open(file, _LOOK | flags, dir_fd=directory)
    except ValueError:
        raise _no_name(file) from None


def _target(file: str, directory: int | None, flags: int) -> int:
    """What a link leads to, looked at. Raises ForeignFileError where it leads nowhere or in circles, FileNotFoundError where it is gone."""
    try:
        return _looked_at(file, directory, flags)
    except FileNotFoundError:
        os.stat(file, dir_fd=directory, follow_symlinks=False)  # the link itself may be gone by now
        raise _refused(errno.ENOENT, "it is a symbolic link that leads nowhere", file) from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _refused(errno.ELOOP, "it is a symbolic link in a circle of symbolic links", file) from None


def _refused(number: int, why: str, file: str) -> ForeignFileError:
    return ForeignFileError(number, why, file)


def _no_name(file: str) -> ForeignFileError:
    return _refused(errno.EINVAL, "its name is none that a file can have", file)


def can_be_named(path: Path) -> bool:
    """Whether there can be a file of this name: without NUL, and in what the file system's names are written in."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def read_small(path: Path | str, maximum_bytes: int = SMALL_FILE_BYTES) -> bytes:
    """The first bytes of a regular file that somebody else named. Raises ForeignFileError, and OSError as open(2) does."""
    descriptor = ForeignFiles().open_named(str(path))
    try:
        return os.read(descriptor, maximum_bytes)
    finally:
        os.close(descriptor)
