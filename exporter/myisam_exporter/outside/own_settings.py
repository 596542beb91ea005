"""What is believed because it lies here: configurations, rules, lists of targets, TLS keys. Whoever may write them decides for who runs this.

Refused is what every user could have written, or put in the place of what lay there: as clients refuse such an option file, and whoever runs the
program. What one other user or a group may write is used, since that may be meant, and root is told of it. Every name on the way is looked
at, and every link, where it lies itself: see docs/decisions/062-whose-settings.md.
"""

from __future__ import annotations

import grp
import logging
import os
import pwd
import shlex
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

_MAXIMUM_LINKS = 40  # as the kernel follows: path_resolution(7)
_ROOT = Path("/")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Step:
    """A name on the way, with what has it, and the directory that holds it."""

    path: Path
    status: os.stat_result
    folder: Path
    around: os.stat_result


def expect_own(kind: str, *paths: Path, root_is_told: bool = True) -> None:
    """Every user may have had a hand in none of these. Of what one other user or a group may write, root is told once for all of them.

    The first is what they are called by: a folder, before the files in it. What is not there is left to whoever opens it.
    Raises UserError that names what every user may write, with the remedy.
    """
    told = None
    for path in paths:
        steps = list(_way(path))
        why = next(filter(None, map(_open_to_all, steps)), None)
        if why is not None:
            raise UserError(f"the {kind} {paths[0]} is not used: {why}")
        told = told or (_others(steps[-1]) if steps else None)
    if told is not None and root_is_told and os.geteuid() == 0:
        _warn_of(f"root uses the {kind} {paths[0]}: {told}")


def tell_of_readers(kind: str, path: Path) -> None:
    """Say so, once, where every user may read what is secret."""
    steps = list(_way(path))
    is_reached = all(step.around.st_mode & stat.S_IXOTH for step in steps)
    if steps and is_reached and steps[-1].status.st_mode & stat.S_IROTH:
        _warn_of(f"every user may read the {kind} {path}: {_command('chmod o-r', steps[-1].path)}")


@lru_cache(maxsize=64)
def _warn_of(text: str) -> None:
    """Once for each text: a daemon reads its files again. Names are others' to choose, and may hold what a terminal obeys."""
    _log.warning("%s", "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text))


def _way(path: Path) -> Iterator[_Step]:
    """Each name on the way to a file, the file last; links are gone through. It ends early where there is nothing, or nothing to be seen."""
    here, links = _ROOT, 0
    try:
        around = here.lstat()
        waiting = _names(path if path.is_absolute() else Path.cwd() / path)
        while waiting:
            name = waiting.pop()
            if name == "..":
                here = here.parent
                around = here.lstat()
                continue
            there = here / name
            status = there.lstat()
            yield _Step(there, status, here, around)
            if not stat.S_ISLNK(status.st_mode):
                here, around = there, status
                continue
            links += 1
            if links > _MAXIMUM_LINKS:
                return
            target = Path(os.readlink(there))  # noqa: PTH115 - Python 3.6 has no Path.readlink
            if target.is_absolute():
                here, around = _ROOT, _ROOT.lstat()
            waiting += _names(target)
    except (OSError, ValueError):  # a pipe of the shell's has a name that leads nowhere; ValueError: a NUL in it
        return


def _names(path: Path) -> list[str]:
    """What a path is made of, the last name first."""
    return [part for part in reversed(path.parts) if part != path.anchor]


def _open_to_all(step: _Step) -> str | None:
    """Why every user could have had a hand in this, and what to do about it."""
    mode, around = step.status.st_mode, step.around.st_mode
    if mode & stat.S_IWOTH and (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return f"everybody may write to {step.path} ({_command('chmod o-w', step.path)})"
    if mode & stat.S_IWOTH and stat.S_ISDIR(mode) and not mode & stat.S_ISVTX and not _is_shown_only(step.path):
        return f"everybody may put other files into {step.path} ({_command('chmod o-w', step.path)})"
    if around & stat.S_IWOTH and around & stat.S_ISVTX and step.status.st_uid not in _trusted():
        return f"{step.path} belongs to {_user(step.status.st_uid)}, in a directory that everybody may write to (move it to one of your own)"
    return None


def _is_shown_only(folder: Path) -> bool:
    """Whether it is a mount of its own that is read-only here: Kubernetes shows a ConfigMap so, with mode 0777."""
    return os.path.ismount(folder) and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _others(step: _Step) -> str | None:
    """Which one user, or which group, may write what root believes: the file, or the directory that it lies in."""
    for path, status in ((step.path, step.status), (step.folder, step.around)):
        if status.st_uid not in _trusted():
            return f"{_user(status.st_uid)} may change {path} ({_command('chown root', path)})"
        if status.st_mode & stat.S_IWGRP and status.st_gid not in _trusted_groups():
            return f"the group {_group(status.st_gid)} may change {path} ({_command('chmod g-w', path)})"
    return None


def _command(what: str, path: Path) -> str:
    """A line for root's shell: others may have given the names on the way, and `$(...)` is one."""
    return f"{what} {shlex.quote(str(path))}"


def _trusted() -> frozenset[int]:
    """Root, ourselves, and who called sudo: by then they may do as much."""
    return frozenset({0, os.geteuid(), *_number("SUDO_UID")})


def _trusted_groups() -> frozenset[int]:
    return frozenset({0, *_number("SUDO_GID")})


def _number(variable: str) -> Iterator[int]:
    text = os.environ.get(variable, "")
    if text.isascii() and text.isdigit():
        yield int(text)


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except (KeyError, OverflowError):
        return f"the user {number}"


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except (KeyError, OverflowError):
        return str(number)
