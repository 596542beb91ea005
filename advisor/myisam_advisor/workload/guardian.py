"""A process that gives a server's settings back: at the end of a recording, and when the recorder is gone, however it ended.

It is forked before the recorder has threads or a connection, in a session of its own, so that no signal of a terminal or for the recorder's
group reaches it. It connects and takes a lock, so that no other recording begins on that server; it learns over a pipe what to give back,
says that it is ready - only then is anything changed - and waits for the pipe's end. The log that was written is removed with the rights of the server's own user.

Sources: fork(2), setsid(2), pipe(7): the end of a pipe is seen when the last process that has its other side is gone, SIGKILL or not.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from myisam_advisor.workload.log_settings import assignment, changed_since, give_back
from myisam_exporter.errors import UserError
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.target import Target

# A connection that is idle for long is ended by some sites within half a minute.
_ASK_SECONDS = 5.0
_PATIENCE_SECONDS = 60.0
# A server that lets nobody in (too many connections, a password changed) keeps our settings until somebody is let in again.
_TRYING_SECONDS = 24 * 3600.0
_LONGEST_PAUSE_SECONDS = 60.0
# A recording's own name for the server's GET_LOCK: two at once would take each other's settings for the former ones.
_LOCK = statement("SELECT GET_LOCK({}, 0)", quote_text("myisam-advisor-record"))
_MAXIMUM_MESSAGE = 1 << 20
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)


@dataclass(frozen=True, slots=True)
class Duty:
    """What is to be given back.

    Attributes:
        former: the variables, in the order in which they are set.
        directory: the server's own, with the log.
        name: the log's name in it.
        owner: the server's user, and group.
        server: its process, where that is known: settings end with it.
        ours: what the recording set, as the server tells it; what is otherwise then is somebody else's, and stays.
    """

    former: Mapping[str, str]
    directory: Path
    name: str
    owner: tuple[int, int]
    server: int | None = None
    ours: Mapping[str, str] = field(default_factory=dict)


class GuardianGoneError(UserError):
    """The process was ended before it gave anything back."""


class Guardian:
    """The process, seen from the recorder. Make it before there is a thread or a connection."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        order_read, order_write = os.pipe()
        report_read, report_write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            _live(target, timeout_seconds, (order_read, report_write), (order_write, report_read))
        os.close(order_read)
        os.close(report_write)
        self._orders, self._reports = order_write, report_read
        self._ended = False
        self.left: Sequence[str] = ()

    def __enter__(self) -> Guardian:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with contextlib.suppress(OSError, UserError):
            self.finish()

    def hold(self) -> int:
        """Let it connect and keep every other recording away: the number of its connection. Raises UserError where it cannot."""
        self._order({"hold": True})
        report = _message(self._reports, _PATIENCE_SECONDS)
        if report.get("busy"):
            raise UserError(
                "another recording of this server is going on: two at once would mix up its settings. Run this again when that one has ended."
            )
        if "connection" not in report:
            raise _not_ready(report)
        return int(report["connection"])

    def charge(self, duty: Duty) -> None:
        """Tell it its duty, and wait until it is ready. Raises UserError where it cannot be."""
        order = {
            "former": dict(duty.former),
            "directory": str(duty.directory),
            "name": duty.name,
            "owner": duty.owner,
            "server": duty.server,
        }
        self._order(order)
        report = _message(self._reports, _PATIENCE_SECONDS)
        if "ready" not in report:
            raise _not_ready(report)

    def _order(self, order: Mapping[str, object]) -> None:
        # Where it is gone, there is no answer: that is seen when one is waited for.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._orders, json.dumps(order).encode() + b"\n")

    def tell_ours(self, ours: Mapping[str, str]) -> None:
        """Tell it what was set, as the server tells it: until then it gives everything back."""
        self._order({"ours": dict(ours)})

    def is_gone(self) -> bool:
        """Somebody ended it: the recorder is alone with its duty."""
        try:
            return os.waitpid(self.process, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def finish(self) -> Sequence[str]:
        """Let it give everything back, and wait for it: what could not be. Raises GuardianGoneError where it is gone without a word."""
        if self._ended:
            return []
        self._ended = True
        os.close(self._orders)
        try:
            report = _message(self._reports, 2 * _PATIENCE_SECONDS)
        finally:
            os.close(self._reports)
        if not report and not self.is_gone():
            return [f"process {self.process} still tries to give the settings back"]
        if not report.get("goes on"):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.process, 0)
        if "problems" not in report:
            raise GuardianGoneError("the process that gives the settings back is gone.")
        self.left = [str(name) for name in report.get("left", ())]
        return [str(problem) for problem in report["problems"]]


def _not_ready(report: Mapping[str, Any]) -> UserError:
    why = report.get("problem", "it ended")
    return UserError(f"nothing was changed: the process that gives the settings back is not ready ({why}).")


def _message(descriptor: int, seconds: float) -> dict[str, Any]:
    """The next line; nothing where the pipe ends, or none comes."""
    text = b""
    deadline = time.monotonic() + seconds
    while not text.endswith(b"\n") and len(text) < _MAXIMUM_MESSAGE:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        part = os.read(descriptor, 1 << 16) if ready else b""
        if not part:
            return {}
        text += part
    return dict(json.loads(text))


def _live(target: Target, timeout_seconds: int, own: tuple[int, int], others: tuple[int, int]) -> None:
    """The life of the process: never returns."""
    status = 1
    try:
        for descriptor in others:
            os.close(descriptor)
        os.setsid()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        orders, reports = own
        if _message(orders, 3600.0):
            _watch(target, timeout_seconds, orders, reports)
        else:
            _say(reports, {"problems": []})
        status = 0
    finally:
        os._exit(status)


def _watch(target: Target, timeout_seconds: int, orders: int, reports: int) -> None:
    try:
        session: Session | None = Session(target, timeout_seconds)
        assert session is not None
        if session.row(_LOCK, 1)[0] != "1":
            _say(reports, {"busy": True})
            return
        _say(reports, {"connection": session.row("SELECT CONNECTION_ID()", 1)[0]})
        session = _until_said(session, orders)
        order = _message(orders, _PATIENCE_SECONDS)
        if not order:
            _say(reports, {"problems": []})
            return
        if session is None:
            _say(reports, {"problem": "it lost its connection"})
            return
        uid, gid = (int(number) for number in order["owner"])
        duty = Duty(order["former"], Path(order["directory"]), str(order["name"]), (uid, gid), order["server"])
        directory = ForeignFiles(uid).open_directory(str(duty.directory))
    except (OSError, UserError) as error:
        _say(reports, {"problem": str(error)})
        return
    _say(reports, {"ready": True})
    session = _until_said(session, orders)
    if said := _message(orders, _PATIENCE_SECONDS):
        duty = replace(duty, ours=said["ours"])
        session = _until_said(session, orders)
    left: list[str] = []

    def meanwhile(problem: str) -> None:
        goes_on = f"process {os.getpid()} goes on trying while the server runs"
        _say(reports, {"problems": [f"{problem} {goes_on}"], "goes on": True})

    problems = fulfil(duty, directory, session, target, timeout_seconds, left, (_TRYING_SECONDS, meanwhile))
    _say(reports, {"problems": problems, "left": left})


def fulfil(
    duty: Duty,
    directory: int,
    session: Session | None,
    target: Target,
    timeout_seconds: int,
    left: list[str],
    trying: tuple[float, Callable[[str], None]] = (_PATIENCE_SECONDS, lambda _: None),
) -> list[str]:
    """Give the settings back, then remove the log from the directory, which is open; what could not be done.

    `left` gets the variables that somebody else set meanwhile: they stay as they are. `trying` is for how long, and whom to tell when it takes more than a minute.
    A log that the server may still write is not removed:
    it would go on to grow without a name.
    """
    problems = _given_back(session, target, timeout_seconds, duty, left, trying)
    if problems:
        return [*problems, f"the log {duty.directory / duty.name} is still there"]
    problem = remove_as(*duty.owner, directory, duty.name)
    return [problem] if problem else []


def _until_said(session: Session | None, orders: int) -> Session | None:
    """Wait for an order, or the pipe's end: the session, or None where it was lost meanwhile."""
    while not select.select([orders], [], [], _ASK_SECONDS)[0]:
        session = _awake(session)
    return session


def _awake(session: Session | None) -> Session | None:
    """The session, asked something so that it stays; None for one that is gone."""
    if session is not None:
        try:
            session.rows("SELECT 1")
        except UserError:
            session.close()
            return None
    return session


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
    has_ended, pause, is_told = _end_of(duty.server), 1.0, False
    while not has_ended():
        try:
            session = session or Session(target, timeout_seconds)
            left[:] = changed_since(session, duty.ours, duty.former)
            former = {name: value for name, value in duty.former.items() if name not in left}
            problems = give_back(session, former)
            if not problems:
                return []
            why = "; ".join(problems)
        except UserError as error:
            session, why = None, str(error)
        by_hand = "; ".join(assignment(name, value) for name, value in duty.former.items())
        problem = f"the settings could not be given back ({why}) By hand: {by_hand};"
        passed = time.monotonic() - begin
        if passed > longest:
            return [problem]
        if passed > _PATIENCE_SECONDS and not is_told:
            meanwhile(problem)
            is_told = True
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE_SECONDS)
    # What was set globally ended with the server, and another one read its own option file.
    return []


def _end_of(pid: int | None) -> Callable[[], bool]:
    """Says whether this process has ended; of one that is not known, never."""
    import psutil

    try:
        process = None if pid is None else psutil.Process(pid)
    except psutil.NoSuchProcess:
        return lambda: True

    def has_ended() -> bool:
        try:
            return process is not None and (not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True

    return has_ended


def _say(descriptor: int, report: Mapping[str, object]) -> None:
    # Nobody may be there any more to hear it.
    with contextlib.suppress(OSError):
        os.write(descriptor, json.dumps(report).encode() + b"\n")


def remove_as(uid: int, gid: int, directory: int, name: str) -> str | None:
    """Remove a file of the server's from its directory with its user's rights and no others; what is wrong where it cannot be."""
    if os.geteuid() != 0:
        return _removed(directory, name)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            status = 0 if _removed(directory, name) is None else 1
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    return None if ended == 0 else f"the log {name} could not be removed from the data directory"


def _removed(directory: int, name: str) -> str | None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"the log {name} could not be removed: {error.strerror}"
    return None
