"""Giving a server's settings back, and removing the log that was written: with the rights of the server's own user.

Settings that were set globally end with the server's process, and are another server's own where one answers at the same address later.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from myisam_advisor.workload.log_settings import assignment, changed_since, give_back, identity, present_settings
from myisam_advisor.workload.server_end import end_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

PATIENCE_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Duty:
    """What is to be given back.

    Attributes:
        former: the variables, in the order in which they are set.
        directory: the server's own, with the log.
        name: the log's name in it.
        owner: the server's user, and group.
        server: its process, where that is known: settings end with it.
        identity: which server it is, for a connection that has to be made anew.
        ours: what the recording set, as the server tells it; what is otherwise then is somebody else's, and stays.
        connection: the number of the one that sets them; 0 where that is not known. Until `ours` is known, the server may still be at what that one asked last.
    """

    former: Mapping[str, str]
    directory: Path
    name: str
    owner: tuple[int, int]
    server: int | None
    identity: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)
    connection: int = 0


def fulfil(
    duty: Duty,
    directory: int,
    session: Session | None,
    target: Target,
    timeout_seconds: int,
    left: list[str],
    trying: tuple[float, Callable[[str], None]] = (PATIENCE_SECONDS, lambda _: None),
) -> list[str]:
    """Give the settings back, then remove the log from the directory, which is open; what could not be done.

    `left` gets the variables that somebody else set meanwhile: they stay as they are. `trying` is for how long, and whom to tell when it takes more than a minute.
    A log that the server may still write is not removed:
    it would go on to grow without a name.
    """
    problems = _given_back(session, target, timeout_seconds, duty, left, trying)
    if problems:
        return [*problems, f"the log {duty.directory / duty.name} is still there"]
    number = remove_as(*duty.owner, directory, duty.name)
    if not number:
        return []
    path = duty.directory / duty.name
    return [
        f"the log {path} could not be removed: {os.strerror(number)}. What was recorded is still in it (record --slow-log {path}); remove it by hand"
    ]


def _given_back(
    session: Session | None,
    target: Target,
    timeout_seconds: int,
    duty: Duty,
    left: list[str],
    trying: tuple[float, Callable[[str], None]],
) -> list[str]:
    """Give the settings back, over a new connection where the old one is gone; what could not be."""
    begin, (longest, meanwhile) = time.monotonic(), trying
    has_ended, pause, is_told = end_of(duty.server), 0.2, False
    while not has_ended():
        try:
            session = session or _reached(target, timeout_seconds, duty)
            # Asked before they are given back: what comes to be set until then is given back, too.
            is_last = not _may_still_set(session, duty) or time.monotonic() - begin > PATIENCE_SECONDS
            left[:] = changed_since(session, duty.ours, duty.former)
            former = {name: value for name, value in duty.former.items() if name not in left}
            problems = give_back(session, former)
            if not problems and is_last:
                return []
            why = "; ".join(problems) or "what set them has not ended"
        except UserError as error:
            session, why = None, str(error)
        by_hand = "".join(f"\n  {assignment(name, value)};" for name, value in duty.former.items())
        problem = f"the settings could not be given back ({' '.join(why.split()).removesuffix('.')}). By hand:{by_hand}"
        passed = time.monotonic() - begin
        if passed > longest:
            return [problem]
        if passed > PATIENCE_SECONDS and not is_told:
            meanwhile(problem)
            is_told = True
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)
    # What was set globally ended with the server, and another one read its own option file.
    return []


def _may_still_set(session: Session, duty: Duty) -> bool:
    """Whether the connection that set them is still there, with a statement whose answer came too late: it may take effect behind what is given back now.

    A proxy may keep a connection for others: nobody waits for its end longer than a minute.
    """
    if duty.ours or not duty.connection:
        return False
    there = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID = %s"
    return bool(session.rows(there, (str(duty.connection),), columns=1))


def _reached(target: Target, timeout_seconds: int, duty: Duty) -> Session:
    """A new connection. Raises UserError where another server answers than the one that was recorded: its settings are its own."""
    session = Session(target, timeout_seconds)
    try:
        now = identity(present_settings(session))
        if any(now.get(name) != value for name, value in duty.identity.items()):
            raise UserError(
                f"at {target.label} answers another server now, with the data directory {now.get('datadir')}."
            )
    except BaseException:
        session.close()
        raise
    return session


def remove_as(uid: int, gid: int, directory: int, name: str) -> int:
    """Remove a file of the server's from its directory with its user's rights and no others: 0, or the error's number where it cannot be."""
    if os.geteuid() != 0:
        return _removed(directory, name)
    try:
        child = os.fork()
    except OSError as error:
        return error.errno or errno.EIO
    if child == 0:
        status = errno.EPERM  # where the user cannot be changed
        try:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            status = _removed(directory, name)
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended) if os.WIFEXITED(ended) else errno.EIO


def _removed(directory: int, name: str) -> int:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return 0
    except OSError as error:
        return error.errno or errno.EIO
    return 0
