"""What a running server appends to its own general log: where that is on, and a file, it is read for a while. Nothing is switched on for it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from myisam_advisor.texts.templates import duration
from myisam_advisor.workload.growing_log import CUT, REMOVED, GrowingLog
from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.recording import Recorded, Told, record_log, source_named
from myisam_advisor.workload.server_end import ENDED, end_of
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

# A log that is cut off is seen to be so where it has not grown beyond its old length by the next look.
_LOOK_SECONDS = 0.1


class OwnGeneralLog:
    """The log, open at its end. Use it as a context manager. Raises UserError where there is none that can be read."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        with contextlib.ExitStack() as opened:
            self._session = opened.enter_context(Session(target, timeout_seconds))
            self._present = present_settings(self._session)
            if self._present.get("general_log") != "ON":
                raise UserError("the server's general log is off, and nothing is switched on for this")
            if "FILE" not in self._present.get("log_output", "FILE").split(","):
                raise UserError("the server's general log is a table (log_output), and a file is read")
            self._log, self._path, pid = self._opened()
            self._has_ended = end_of(pid)
            self._closing = opened.pop_all()

    def __enter__(self) -> OwnGeneralLog:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._closing.close()
        if self._log >= 0:
            os.close(self._log)

    def record(self, output: Path, seconds: float) -> Recorded:
        """Wait for so long, and keep what was appended. Raises UserError."""
        ours = self._session.connection_number()
        growing = GrowingLog(self._log)
        later = self._waited(growing, seconds)
        if growing.look() <= growing.begin:
            why = "; ".join(later.values()) or f"nothing was appended to {self._path}, or another file took its place"
            raise UserError(
                f"nothing was recorded in {duration(seconds)}, and no file was written: {why}. Record for longer (--seconds)."
            )
        os.lseek(self._log, growing.begin, os.SEEK_SET)
        told = Told(
            server_version=self._session.version.text,
            flavour=flavour_of(self._present),
            note={"connections": "of those that were there before, the default database is not known until they choose one"},
            later=later,
            ignored_connections=frozenset((ours,)),
        )  # fmt: skip
        log, self._log = self._log, -1
        return record_log(source_named("general_log"), self._path, output, told, log)

    def _waited(self, growing: GrowingLog, seconds: float) -> Mapping[str, str]:
        """Let so much time go by, or what the server has left: what happened meanwhile."""
        end = time.monotonic() + seconds
        has_ended = False
        while not has_ended and (left := end - time.monotonic()) > 0:
            time.sleep(min(_LOOK_SECONDS, left))
            growing.look()
            has_ended = self._has_ended()
        happened = {"shrank": CUT} if growing.was_cut else {}
        if growing.was_removed:
            happened["removed"] = REMOVED
        if has_ended:
            happened["stopped early"] = ENDED
        return happened

    def _opened(self) -> tuple[int, Path, int | None]:
        uptime = self._session.status_number("Uptime")
        target = self._session.target
        location = locate(self._present, uptime, self._session.peer_process(), target.may_be_local, Path("/proc"))
        if isinstance(location.data_directory, Unknown) or location.owner is None:
            reason = (
                location.data_directory.reason
                if isinstance(location.data_directory, Unknown)
                else "its owner is not known"
            )
            raise UserError(f"the server's general log cannot be read from here: {reason}")
        path = location.data_directory / self._present.get("general_log_file", "")
        pid = None if isinstance(location.pid, Unknown) else location.pid
        try:
            return ForeignFiles(location.owner).open_named(str(path)), path, pid
        except OSError as error:
            raise UserError(f"the server's general log {path} cannot be read: {error.strerror}") from None
