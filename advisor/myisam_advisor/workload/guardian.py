"""A process that gives a server's settings back: at the end of a recording, and when the recorder is gone, however it ended.

It is forked before the recorder has threads or a connection, in a session of its own, so that no signal of a terminal or for the recorder's
group reaches it. It connects, and locks the server's data directory, so that no other recording begins on it; it learns over a pipe what to give back,
says that it is ready - only then is anything changed - and waits for the pipe's end. The log that was written is removed with the rights of the server's own user.

Sources: fork(2), setsid(2), flock(2), pipe(7): the end of a pipe is seen when the last process that has its other side is gone, SIGKILL or not.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from myisam_advisor.workload.giving_back import PATIENCE_SECONDS, Duty, fulfil
from myisam_advisor.workload.server_end import ends_now
from myisam_exporter.errors import UserError
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

# A connection that is idle for long is ended by some sites within half a minute.
_ASK_SECONDS = 5.0
# A server that lets nobody in (too many connections, a password changed) keeps our settings until somebody is let in again.
_TRYING_SECONDS = 24 * 3600.0
_MAXIMUM_MESSAGE = 1 << 20
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)


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

    def hold(self, directory: Path, owner: int) -> int:
        """Let it connect and keep every other recording of the server with this data directory away: the number of its connection.

        Raises UserError where it cannot.
        """
        self._order({"hold": str(directory), "owner": owner})
        report = _message(self._reports, PATIENCE_SECONDS)
        if report.get("busy"):
            raise UserError(
                "another recording of this server is going on: two at once would mix up its settings. Run this again when that one has ended."
            )
        if "connection" not in report:
            raise self._not_ready(report)
        return int(report["connection"])

    def charge(self, duty: Duty) -> None:
        """Tell it its duty, and wait until it is ready. Raises UserError where it cannot be."""
        order = {
            "former": dict(duty.former),
            "directory": str(duty.directory),
            "name": duty.name,
            "owner": duty.owner,
            "server": duty.server,
            "identity": dict(duty.identity),
            "connection": duty.connection,
        }
        self._order(order)
        report = _message(self._reports, PATIENCE_SECONDS)
        if "ready" not in report:
            raise self._not_ready(report)

    def _not_ready(self, report: Mapping[str, Any]) -> UserError:
        why = report.get("problem")
        if why is None:
            why = "it ended" if ends_now(self.is_gone) else f"it did not say so within {PATIENCE_SECONDS:.0f} s"
        return UserError(f"nothing was changed: the process that gives the settings back is not ready ({why}).")

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
            report = self._last_report()
        finally:
            os.close(self._reports)
        # The pipe of a process that is being ended is closed before the process is gone.
        if not report and not ends_now(self.is_gone):
            return [f"process {self.process} still tries to give the settings back"]
        if not report.get("goes on"):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.process, 0)
        if "problems" not in report:
            raise GuardianGoneError("the process that gives the settings back is gone.")
        self.left = [str(name) for name in report.get("left", ())]
        return [str(problem) for problem in report["problems"]]

    def _last_report(self) -> dict[str, Any]:
        """What it says at its end; what was said to a call that was interrupted stands before it."""
        deadline = time.monotonic() + 2 * PATIENCE_SECONDS
        report = _message(self._reports, 2 * PATIENCE_SECONDS)
        while report and "problems" not in report:
            report = _message(self._reports, max(0.0, deadline - time.monotonic()))
        return report


def _message(descriptor: int, seconds: float) -> dict[str, Any]:
    """The next line; nothing where the pipe ends, or none comes."""
    text = b""
    deadline = time.monotonic() + seconds
    while not text.endswith(b"\n") and len(text) < _MAXIMUM_MESSAGE:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        # Byte by byte: what stands behind the line is the next message.
        part = os.read(descriptor, 1) if ready else b""
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
        _let_go_of_terminal()
        if hold := _message(orders, 3600.0):
            _watch(target, timeout_seconds, orders, reports, hold)
        else:
            _say(reports, {"problems": []})
        status = 0
    finally:
        os._exit(status)


def _let_go_of_terminal() -> None:
    """Whoever reads the recorder's output sees its end, however long this process goes on."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    if nothing > 2:
        os.close(nothing)


def _locked(directory: str, owner: int) -> int | None:
    """The server's directory, open and locked by this process; None where another recording has it.

    Two at once would take each other's settings for the former ones. A lock of the server's (GET_LOCK) would do on one server,
    but clusters refuse it (Percona XtraDB Cluster with pxc_strict_mode), and it ends with the connection.
    """
    descriptor = ForeignFiles(owner).open_directory(directory)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _watch(target: Target, timeout_seconds: int, orders: int, reports: int, hold: Mapping[str, Any]) -> None:
    try:
        directory = _locked(str(hold["hold"]), int(hold["owner"]))
        if directory is None:
            _say(reports, {"busy": True})
            return
        session: Session | None = Session(target, timeout_seconds)
        assert session is not None
        _say(reports, {"connection": session.row("SELECT CONNECTION_ID()", 1)[0]})
        session = _until_said(session, orders)
        order = _message(orders, PATIENCE_SECONDS)
        if not order:
            _say(reports, {"problems": []})
            return
        if session is None:
            _say(reports, {"problem": "it lost its connection"})
            return
        uid, gid = (int(number) for number in order["owner"])
        duty = Duty(
            order["former"],
            Path(order["directory"]),
            str(order["name"]),
            (uid, gid),
            order["server"],
            order["identity"],
            connection=int(order["connection"]),
        )
    except (OSError, UserError) as error:
        _say(reports, {"problem": str(error)})
        return
    _say(reports, {"ready": True})
    session = _until_said(session, orders)
    if said := _message(orders, PATIENCE_SECONDS):
        duty = replace(duty, ours=said["ours"])
        session = _until_said(session, orders)
    left: list[str] = []

    def meanwhile(problem: str) -> None:
        goes_on = f"process {os.getpid()} goes on trying while the server runs"
        _say(reports, {"problems": [goes_on, problem], "goes on": True})

    problems = fulfil(duty, directory, session, target, timeout_seconds, left, (_TRYING_SECONDS, meanwhile))
    _say(reports, {"problems": problems, "left": left})


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


def _say(descriptor: int, report: Mapping[str, object]) -> None:
    # Nobody may be there any more to hear it.
    with contextlib.suppress(OSError):
        os.write(descriptor, json.dumps(report).encode() + b"\n")
