"""Files that commands write: each appears whole or not at all, and never where somebody else led us.

A file is made under a new name below an open directory and renamed, which replaces a link instead of following it. On the way to that
directory a link is followed only where root or we made it, and no directory is entered that anybody may write (but for sticky ones,
as /tmp, and there only what is root's or ours).

Sources: open(2) (O_PATH, O_NOFOLLOW, O_EXCL), rename(2), path_resolution(7), proc_sys_fs(5) (protected_symlinks, protected_regular).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePath
from types import TracebackType
from typing import TextIO

from myisam_exporter.errors import UserError

# node_exporter runs as another user.
READABLE = 0o644
OWN = 0o600
NEW_DIRECTORY = 0o755
OTHER_OUTPUT = "Give another --output."
MAXIMUM_LINKS = 40  # as the kernel's own limit, path_resolution(7)
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OutputDirectory:
    """An open directory that files are written into. Use it as a context manager.

    Args:
        path: the directory.
        create: make it, and those above it, where they are not there.
        only_ours: for what the system obeys: nobody but root and us may write anywhere on the way, nor in it.

    Raises UserError for a way to it that somebody else could lead elsewhere, and OSError as open(2) and mkdir(2) do.
    """

    def __init__(self, path: Path, *, create: bool = False, only_ours: bool = False) -> None:
        self.path = path
        self._descriptor = _open_directory(path, create, only_ours)
        # What the system obeys nobody else opens while it is written.
        self._mode = OWN if only_ours else 0o666

    def __enter__(self) -> OutputDirectory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def holds(self, name: str) -> bool:
        """Whether there is something of this name, a link to nothing too."""
        return self._status(name) is not None

    def keep(self, name: str, kept: str) -> None:
        """Give what has this name, a link too, a further name. Raises OSError as link(2) does."""
        descriptor = self._descriptor
        os.link(name, kept, src_dir_fd=descriptor, dst_dir_fd=descriptor, follow_symlinks=False)

    def rename(self, name: str, other: str) -> None:
        """Let it take the place of what has the other name. Raises OSError as renameat(2) does."""
        os.rename(name, other, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove it; a link, and not what it leads to. Raises OSError as unlink(2) does."""
        os.unlink(name, dir_fd=self._descriptor)

    @contextlib.contextmanager
    def file(
        self, name: str, private: bool = False, mode: int | None = None, *, only_new: bool = False
    ) -> Iterator[TextIO]:
        """A file to write, which takes this name at the end; after an exception nothing is left of it.

        Args:
            name: its name in here.
            private: nobody else may read it, and it replaces nothing: FileExistsError where there is something of its name at the end.
            mode: who may read it once it is whole, whatever the umask; nobody else until then.
            only_new: it replaces nothing, as where it is private.

        Raises UserError for a name that is taken by what must not be replaced, and OSError as open(2), link(2) and rename(2) do.
        """
        self._refuse_what_is_not_ours(name)
        # As secrets.token_hex, without the six modules that this imports in each start.
        temporary = f".{name}.{os.urandom(8).hex()}"
        made = OWN if private or mode is not None else self._mode
        descriptor = os.open(temporary, _MAKE, made, dir_fd=self._descriptor)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                yield file
                file.flush()
                # Many file systems say of a write only now that the disk failed; and a name that outlives a crash must not be of an empty file.
                os.fsync(file.fileno())
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
            if private or only_new:
                self._take(temporary, name)
            else:
                self.rename(temporary, name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._descriptor)
            raise

    def _take(self, temporary: str, name: str) -> None:
        """Give the file its name if that is free: link(2) refuses in the same instant. A file system without links is asked before."""
        try:
            self.keep(temporary, name)
            self.remove(temporary)
        except FileExistsError:
            raise
        except OSError:
            if self.holds(name):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
            self.rename(temporary, name)

    def _status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _refuse_what_is_not_ours(self, name: str) -> None:
        present = self._status(name)
        if present is None:
            return
        if not (stat.S_ISREG(present.st_mode) or stat.S_ISLNK(present.st_mode)):
            raise _refused(self.path / name, "it is there already, and is not a file")
        if _open_to_all(os.fstat(self._descriptor)) and present.st_uid != os.geteuid():
            raise _refused(
                self.path / name, "another user's file of that name is there, in a directory that all may write"
            )


def write_whole(path: Path, content: str | bytes, remedy: str = OTHER_OUTPUT, mode: int = READABLE) -> None:
    """Replace this file by one that holds the content, and that others may read unless the mode says otherwise.

    Raises UserError when the file cannot be written.
    """
    try:
        with OutputDirectory(path.parent) as directory, directory.file(path.name, mode=mode) as file:
            if isinstance(content, bytes):
                file.buffer.write(content)
            else:
                file.write(content)
    except OSError as error:
        raise _not_written(path, error, remedy) from None


class _OnlyTriedError(Exception):
    """What was begun is not to be finished."""


def expect_writable(path: Path, remedy: str = OTHER_OUTPUT) -> None:
    """Begin to write this file, and leave nothing of it: whoever looks for an hour first is told before. Raises UserError as `write_whole`."""
    try:
        with OutputDirectory(path.parent) as directory, directory.file(path.name):
            raise _OnlyTriedError
    except _OnlyTriedError:
        pass
    except OSError as error:
        raise _not_written(path, error, remedy) from None


def _not_written(path: Path, error: OSError, remedy: str) -> UserError:
    return UserError(f"cannot write {path}: {error.strerror or error}. {remedy}")


def _open_directory(path: Path, create: bool, only_ours: bool) -> int:
    """The directory at the end of the path, looked up one name at a time: each name is looked at before it is gone through."""
    names = list(reversed(path.parts))
    links = 0
    here = os.open("/" if path.is_absolute() else ".", os.O_PATH | os.O_CLOEXEC)
    try:
        while names:
            name = names.pop()
            if only_ours:
                _refuse_others(os.fstat(here), path)
            following = os.open("/", os.O_PATH | os.O_CLOEXEC) if name == "/" else _enter(here, name, path, create)
            target = _link_target(following, name, path)
            if target is None:
                here, following = following, here
            else:
                links += 1
                names += reversed(PurePath(target).parts)
            os.close(following)
            if links > MAXIMUM_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        _refuse_open_to_all(os.fstat(here), path)
        if only_ours:
            _refuse_others(os.fstat(here), path)
    except BaseException:
        os.close(here)
        raise
    return here


def _enter(here: int, name: str, path: Path, create: bool) -> int:
    """What has this name, whatever it is; a new directory where there is nothing and one is wanted."""
    around = os.fstat(here)
    _refuse_open_to_all(around, path)
    try:
        descriptor = os.open(name, _LOOK, dir_fd=here)
    except FileNotFoundError:
        if not create:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, NEW_DIRECTORY, dir_fd=here)
        descriptor = os.open(name, _LOOK, dir_fd=here)
    if _open_to_all(around) and os.fstat(descriptor).st_uid not in (0, os.geteuid()):
        os.close(descriptor)
        raise _refused(path, f"{name} on the way to it is another user's, in a directory that all may write")
    return descriptor


def _link_target(descriptor: int, name: str, path: Path) -> str | None:
    """Where a link leads; None for a directory."""
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISLNK(status.st_mode):
        os.close(descriptor)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if status.st_uid not in (0, os.geteuid()):
        os.close(descriptor)
        raise _refused(path, f"{name} on the way to it is a link that another user made")
    return os.readlink("", dir_fd=descriptor)


def _open_to_all(status: os.stat_result) -> bool:
    return bool(status.st_mode & stat.S_IWOTH)


def _refuse_open_to_all(status: os.stat_result, path: Path) -> None:
    if _open_to_all(status) and not status.st_mode & stat.S_ISVTX:
        raise _refused(path, "it is, or lies below, a directory that every user may write and rename files in")


def _refuse_others(status: os.stat_result, path: Path) -> None:
    """A sticky directory, such as /tmp, is entered: in there only what is root's or ours is gone through."""
    if status.st_uid not in (0, os.geteuid()):
        raise _refused(path, "it is, or lies below, another user's directory")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        raise _refused(path, "it is, or lies below, a directory that others may write")


def _refused(path: Path, why: str) -> UserError:
    return UserError(f"nothing is written to {path}: {why}. {OTHER_OUTPUT}")
