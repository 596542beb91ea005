"""The drop-in that `rights` writes: its text, made of the package's own, and putting it there and taking it away.

It holds a mark over its own text. What somebody else wrote, or changed, is no drop-in of ours: it is kept under another name before ours
takes its place, and comes back with --undo. Source: systemd.unit(5) (drop-ins end in .conf).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from myisam_advisor.texts.refused_files import remedy_of
from myisam_advisor.texts.whole_files import READABLE, OutputDirectory
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.kernel.rights import FILES_DROP_IN
from myisam_exporter.outside.foreign_files import read_small

NAME = "rights.conf"
KEPT = "rights.conf.kept"
MAXIMUM_KEPT = 20
MAXIMUM_BYTES = 1 << 16
# Where the package's drop-ins may lie: Debian's, a virtual environment's, a checkout's.
PROFILE_FOLDERS = (
    Path(sys.prefix) / "share" / "myisam-advisor" / "systemd",
    Path(FILES_DROP_IN).parent,
    Path(__file__).parents[3] / "systemd" / "profiles",
)
SHOWN_DIRECTORY = Path("/var/lib/mysql")
_MARK = "# Written by `myisam-advisor rights --apply`, taken away by `myisam-advisor rights --undo`: "
# What stands for itself in a unit file: no quoting, specifier, separator or blank (systemd.syntax(7)).
_PLAIN = re.compile(r"/[A-Za-z0-9/._+@=,-]+", re.ASCII)
_PLAIN_GROUP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\$?", re.ASCII)

AS_ROOT = "Run as root."
ABSENT, OURS, FOREIGN = "absent", "ours", "foreign"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the service needs of the server: its group, its data directory, and whether its files are closed to the group's writing."""

    group: str = "mysql"
    data_directory: Path = SHOWN_DIRECTORY
    closed_files: bool = False


def drop_in_text(wanted: Wanted) -> str:
    """The drop-in as a file. Raises UserError for a name that has no place in a unit file."""
    body = "".join(f"{line}\n" for line in _lines(wanted))
    return f"{_MARK}{_digest(body)}\n{body}"


def _lines(wanted: Wanted) -> Iterator[str]:
    if not _PLAIN_GROUP.fullmatch(wanted.group):
        raise UserError(
            f"the group {wanted.group!r} cannot stand in a unit file: give the data directory another group."
        )
    profiles = ["files", "residency"] if wanted.closed_files else ["files"]
    yield f"# Made of {' and '.join(f'{name}.conf' for name in profiles)} in {Path(FILES_DROP_IN).parent}, where each line is explained."
    for name in profiles:
        for line in _profile(name).splitlines():
            if line and not line.startswith("#"):
                yield f"SupplementaryGroups={wanted.group}" if line.startswith("SupplementaryGroups=") else line
    if not wanted.data_directory.is_relative_to(SHOWN_DIRECTORY):
        yield f"BindReadOnlyPaths={_held_by_root(_plain(wanted.data_directory))}"


def _plain(path: Path) -> str:
    if not _PLAIN.fullmatch(str(path)) or ".." in path.parts:
        raise UserError(
            f"the data directory {str(path)!r} cannot stand in a unit file as it is: name it yourself (systemctl edit, BindReadOnlyPaths=)."
        )
    return str(path)


def _held_by_root(path: str) -> str:
    """The same path, where root alone decides what lies there: systemd follows a link on the way at each start, as root."""
    for folder in reversed(Path(path).parents):
        try:
            status = folder.lstat()
        except FileNotFoundError:
            break  # nobody but root may make it, as far as it was looked at
        except OSError as error:
            raise UserError(f"cannot look at {folder}, where the data directory lies: {error.strerror}.") from None
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise UserError(
                f"the data directory {path} lies in {folder}, where somebody else than root may put another in its place: the service would be shown that. "
                f"Give that directory to root (chown root {folder} && chmod go-w {folder}), or move the data to where root alone writes, such as /srv/mysql/data."
            )
    return path


def _profile(name: str) -> str:
    for folder in PROFILE_FOLDERS:
        path = folder / f"{name}.conf"
        if path.is_file():
            return path.read_text("utf-8")
    raise UserError(f"{name}.conf of this program is not installed: {', '.join(map(str, PROFILE_FOLDERS))} have none.")


def present_text(folder: Path) -> str | None:
    """What is in the drop-in of our name; None where there is none. Raises UserError where it cannot be read."""
    path = folder / NAME
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            return ""  # a link or the like: somebody else's
        return read_small(path, MAXIMUM_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}. {remedy_of(error, AS_ROOT)}") from None


def state_of(text: str | None) -> str:
    """Whose it is: absent, ours, or foreign."""
    if text is None:
        return ABSENT
    first, _, body = text.partition("\n")
    return OURS if first == _MARK + _digest(body) else FOREIGN


def is_outdated(text: str | None) -> bool:
    """Whether it is ours, and made of profiles of another version: they are closed further, or opened, with an upgrade, and it is not."""
    if text is None or state_of(text) != OURS:
        return False
    lines = text.splitlines()[1:]
    profiles = ["files", "residency"] if "residency.conf" in "".join(lines[:1]) else ["files"]
    now = [line for name in profiles for line in _profile(name).splitlines() if line and not line.startswith("#")]
    is_of_this_server = ("SupplementaryGroups=", "BindReadOnlyPaths=")
    return [line for line in lines[1:] if not line.startswith(is_of_this_server)] != [
        line for line in now if not line.startswith(is_of_this_server)
    ]


def write_drop_in(folder: Path, text: str) -> list[str]:
    """Put it there whole; what was done, line by line. What others wrote under its name is kept beside it.

    Raises UserError where it cannot be written, or somebody else may write on the way.
    """
    present = present_text(folder)
    if present == text:
        return [f"{folder / NAME} is there"]
    done = []
    try:
        with OutputDirectory(folder, create=True, only_ours=True) as directory:
            kept = _keep(directory) if state_of(present) == FOREIGN else None
            try:
                _write(directory, text)
            except BaseException:
                if kept is not None:
                    directory.remove(kept)
                raise
            if kept is not None:
                done.append(f"kept {folder / NAME}, which somebody else wrote, as {folder / kept}")
    except OSError as error:
        raise UserError(
            f"cannot write {folder / NAME}: {error.strerror or error}. Nothing was changed. {remedy_of(error, AS_ROOT)}"
        ) from None
    return [*done, f"wrote {folder / NAME}"]


def _keep(directory: OutputDirectory) -> str:
    kept = _free_name(directory)
    directory.keep(NAME, kept)
    return kept


def _write(directory: OutputDirectory, text: str) -> None:
    with directory.file(NAME) as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), READABLE)
        # systemd reads it at the next boot too, whatever ended this one.
        os.fsync(file.fileno())


def remove_drop_in(folder: Path) -> list[str]:
    """Take away what `write_drop_in` put there, and put back what it kept; what was done. Raises UserError."""
    present = present_text(folder)
    if present is None:
        return []
    if state_of(present) == FOREIGN:
        raise UserError(f"{folder / NAME} was changed, or somebody else wrote it: it is left alone, remove it by hand.")
    try:
        with OutputDirectory(folder, only_ours=True) as directory:
            kept = _last_kept(directory)
            if kept is None:
                directory.remove(NAME)
                return [f"removed {folder / NAME}"]
            directory.rename(kept, NAME)
            return [f"put {folder / kept} back as {folder / NAME}"]
    except OSError as error:
        raise UserError(
            f"cannot remove {folder / NAME}: {error.strerror or error}. {remedy_of(error, AS_ROOT)}"
        ) from None


def _kept_names() -> list[str]:
    return [KEPT, *(f"{KEPT}-{number}" for number in range(2, MAXIMUM_KEPT + 1))]


def _free_name(directory: OutputDirectory) -> str:
    for name in _kept_names():
        if not directory.holds(name):
            return name
    raise UserError(f"{directory.path} holds {MAXIMUM_KEPT} kept drop-ins: remove those that nobody needs.")


def _last_kept(directory: OutputDirectory) -> str | None:
    return next((name for name in reversed(_kept_names()) if directory.holds(name)), None)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]
