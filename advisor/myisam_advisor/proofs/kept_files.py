"""A directory of small files that this program keeps, read by whoever may, written with nobody's rights but those of its owner.

The state directory is the service's user's own, and root's commands keep what they measured in it, so that the daemon finds it. Root's rights
are of no use there to anybody: a child that has become that user writes the file. Reading follows no link, and believes nothing.

Sources: setresuid(2); prctl(2), PR_SET_DUMPABLE: a process that changed its user cannot be traced by that user.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.foreign_files import ForeignFiles

# As the history: for its user and that user's group.
FILE_MODE, DIRECTORY_MODE = 0o640, 0o750
MAXIMUM_NAMES = 5000  # of whatever somebody put there
MAXIMUM_SAID = 1000
SETTLED_SECONDS = 2.0
FILE_NAME = re.compile(r"[0-9a-f]{16}\.json", re.ASCII)
_OTHER_REMEDY = " Give another --output."
One = TypeVar("One")


class KeptFileError(ValueError):
    """The file is none of ours: what is wrong with it, without a word of its content."""


@dataclass(frozen=True, slots=True)
class FileKind(Generic[One]):
    """What the files of a directory hold: `read` raises KeptFileError for anything else, `id_of` is the file's name, without its end.

    There are `most` of them, of `maximum_bytes` each; `when_full` is what to do where there are as many.
    """

    plural: str
    most: int
    maximum_bytes: int
    read: Callable[[str], One]
    id_of: Callable[[One], str]
    when_full: str


@dataclass(frozen=True, slots=True)
class Kept(Generic[One]):
    """What a directory holds; `refused` says which of its files are of another kind, and why, `closed` why it cannot be read at all."""

    found: tuple[One, ...] = ()
    refused: tuple[str, ...] = ()
    closed: str = ""


class KeptFiles(Generic[One]):
    """The files of one kind in one directory, which need not be there."""

    def __init__(self, directory: Path, kind: FileKind[One]) -> None:
        self.directory = directory
        self.kind = kind
        self._read: tuple[object, Kept[One]] = (None, Kept())

    def current(self) -> Kept[One]:
        """All of them; read again only where the directory changed: files come and go by their names, and are never written over.

        What could not be read is tried again each time: rights, and what a disk does, change without the directory.
        """
        found = self._state()
        if found is None:
            return Kept()
        state, changed_at = found
        if self._read[0] != state:
            kept, could_read = self._all()
            # What was changed just now may change again within one tick of the file system's clock.
            is_settled = could_read and time.time() - changed_at > SETTLED_SECONDS
            self._read = (state if is_settled else None, kept)
        return self._read[1]

    def keep(self, one: One, text: str) -> Path:
        """Put it in the place of the one of this id. Raises UserError that says why it cannot be kept."""
        path = self.directory / f"{self.kind.id_of(one)}.json"
        self._as_owner(lambda: self._write(path.name, text))
        return path

    def remove(self, name: str, missing: str) -> None:
        """Take it away; `missing` is said where it is not there. Raises UserError."""
        self._as_owner(lambda: self._remove(name, missing))

    def _state(self) -> tuple[object, float] | None:
        """What changes when a file comes or goes, and when that was last; None without a directory, or with one that is closed to us.

        Where the disk refuses to say, it is another each time: whoever reads then is told why.
        """
        try:
            status = self.directory.stat(follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError, PermissionError, ValueError):
            return None
        except OSError:
            return object(), 0.0
        return (status.st_ino, status.st_dev, status.st_mtime_ns), status.st_mtime

    def _all(self) -> tuple[Kept[One], bool]:
        """What is there, and whether all of it could be read."""
        files, could_read = ForeignFiles(), True
        found: list[One] = []
        refused: list[str] = []
        try:
            directory = files.open_directory(str(self.directory))
            try:
                names = _names(directory)
                for name in names[: self.kind.most]:
                    try:
                        found.append(self._one(files, name, directory))
                    except (OSError, KeptFileError) as error:
                        could_read = could_read and not isinstance(error, OSError)
                        why = getattr(error, "strerror", None) or error
                        refused.append(f"{self.directory / name} is not used: {why}")
            finally:
                os.close(directory)
        except OSError as error:
            return Kept(closed=error.strerror or type(error).__name__), False
        if len(names) > self.kind.most:
            refused.append(f"{self.directory} holds {len(names)} {self.kind.plural}: {self.kind.most} are read")
        return Kept(tuple(found), tuple(refused)), could_read

    def _one(self, files: ForeignFiles, name: str, directory: int) -> One:
        """What the file holds. Raises OSError, KeptFileError."""
        descriptor = files.open(name, directory)
        try:
            content = os.read(descriptor, self.kind.maximum_bytes + 1)
        finally:
            os.close(descriptor)
        if len(content) > self.kind.maximum_bytes:
            raise KeptFileError(f"it is larger than {self.kind.maximum_bytes} bytes")
        try:
            one = self.kind.read(content.decode("utf-8"))
        except UnicodeDecodeError:
            raise KeptFileError("it is not UTF-8 text") from None
        if f"{self.kind.id_of(one)}.json" != name:
            raise KeptFileError("its name is not that of what it holds")
        return one

    def _write(self, name: str, text: str) -> None:
        with _opened(self.directory, create=True) as directory:
            kept = sum(bool(FILE_NAME.fullmatch(one)) for one in os.listdir(self.directory))
            if not directory.holds(name) and kept >= self.kind.most:
                raise UserError(f"{self.directory} holds {self.kind.most} {self.kind.plural}: {self.kind.when_full}.")
            with directory.file(name, mode=FILE_MODE) as file:
                file.write(text)

    def _remove(self, name: str, missing: str) -> None:
        with _opened(self.directory) as directory:
            if not directory.holds(name):
                raise UserError(missing)
            directory.remove(name)

    def _as_owner(self, work: Callable[[], None]) -> None:
        """Do it with the rights of the directory's owner; what goes wrong is told as ours. Raises UserError."""

        def told_work() -> None:
            with self._faults_told():
                work()

        with self._faults_told():
            owner = _owner_of(self.directory)
        if os.geteuid() != 0 or owner.st_uid == 0:
            told_work()
        else:
            with self._faults_told():  # no process, or no descriptor, may be left
                _in_a_child(owner, told_work)

    @contextlib.contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(f"{self.directory} cannot be written: {error.strerror or error}.") from None
        except UserError as error:
            raise UserError(str(error).removesuffix(_OTHER_REMEDY)) from None


def _names(directory: int) -> list[str]:
    """The names of ours in the open directory. Raises OSError."""
    with os.scandir(directory) as entries:
        seen = [entry.name for entry, _ in zip(entries, range(MAXIMUM_NAMES), strict=False)]
    return sorted(name for name in seen if FILE_NAME.fullmatch(name))


def _opened(directory: Path, *, create: bool = False) -> OutputDirectory:
    """The directory, made with the mode of the state directory where it is not there; root goes through nobody else's."""
    is_root = os.geteuid() == 0
    if create and not os.path.lexists(directory):
        with OutputDirectory(directory.parent, create=True, only_ours=is_root):
            pass
        with contextlib.suppress(FileExistsError):
            directory.mkdir(DIRECTORY_MODE)
    return OutputDirectory(directory, only_ours=is_root)


def _owner_of(directory: Path) -> os.stat_result:
    """What is known of the directory, or of the nearest one above it that is there. A link tells whose it is itself."""
    for path in (directory, *directory.parents):
        try:
            status = path.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            raise UserError(f"{path} is not a directory: nothing is kept there.")
        return status
    raise UserError(f"{directory} has no directory above it.")


def _in_a_child(owner: os.stat_result, work: Callable[[], None]) -> None:
    """Do it in a child that is this user, and no more; what it says of a failure comes through a pipe. Raises UserError."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os._exit(_worked_as(owner, work, writing))
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read(MAXIMUM_SAID)
    finally:
        _, status = os.waitpid(child, 0)
    if status:
        raise UserError(said.decode("utf-8", "replace") or "it could not be written by the directory's user.")


def _worked_as(owner: os.stat_result, work: Callable[[], None], writing: int) -> int:
    """The child's part: its exit status."""
    try:
        os.setgroups([])
        os.setresgid(owner.st_gid, owner.st_gid, owner.st_gid)
        os.setresuid(owner.st_uid, owner.st_uid, owner.st_uid)
        work()
        return 0
    except BaseException as error:
        said = str(error) if isinstance(error, UserError) else repr(error)
        with contextlib.suppress(OSError):
            os.write(writing, said.encode("utf-8", "replace")[:MAXIMUM_SAID])
        return 1
