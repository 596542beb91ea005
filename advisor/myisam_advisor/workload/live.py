"""A recording of the running server: its slow log, for a while into a file of its own, with every statement in it.

What is changed is given back by a process of its own (guardian.py), whatever becomes of this one; by this one, where that one is ended. Connections that are there before keep
their own long_query_time: how much of all that the server answered was recorded is counted, and said.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from myisam_advisor.texts.templates import count, duration, percent, rounded, size, so_many
from myisam_advisor.workload.file_writer import expect_place
from myisam_advisor.workload.giving_back import Duty, fulfil
from myisam_advisor.workload.growing_log import CUT, GrowingLog
from myisam_advisor.workload.guardian import Guardian, GuardianGoneError
from myisam_advisor.workload.log_settings import (
    assignment,
    flavour_of,
    former_settings,
    identity,
    name_of_log,
    present_settings,
    refuse_general_log_elsewhere,
    refuse_left_over,
    refuse_without_right,
    wanted_settings,
)
from myisam_advisor.workload.recording import (
    NothingRecordedError,
    Recorded,
    Told,
    reasons_in_words,
    record_log,
    source_named,
)
from myisam_advisor.workload.server_end import ENDED, NOT_COUNTED, end_of, ends_now
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import ByHandError, InterruptedWork, ServerLostError, StatementRefusedError, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import ForeignFiles
from myisam_exporter.outside.free_space import free_bytes_at
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

_SAMPLE_SECONDS = 2.0
# What a slow log has of a statement besides its text, and what is left to the server whatever happens.
_HEAD_BYTES = 400
_SPARE_BYTES = 256 << 20
_SAFETY = 3.0
# This one's, and the guardian's.
_OUR_CONNECTIONS = 2


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a recording would do, found out without changing anything.

    Attributes:
        statements_per_second: now.
        needed_bytes: the log, at that rate.
        connections: that are there already.
        changed: the variables to be set.
        former: what they are now.
        log_was_on: the site writes a slow log of its own.
        seconds: how long.
        processor_share: how much of one processor the server uses now; None where that cannot be seen.
    """

    statements_per_second: float
    needed_bytes: int
    connections: int
    changed: Mapping[str, str]
    former: Mapping[str, str]
    log_was_on: bool
    seconds: float
    processor_share: float | None = None

    def sentences(self) -> Iterator[str]:
        """What is going to be done, and what it costs."""
        names = ", ".join(self.changed)
        yield f"For {self.seconds:g} s the server writes every statement into a slow log of its own, and has these variables set: {names}."
        yield "They are given back afterwards, also when this program is killed, and the log is removed."
        yield self._load()
        yield "Writing it was measured to cost a server 6 to 20 % of its throughput (percona.com, 2009); what it costs this one is said afterwards."
        if "slow_query_log_use_global_control" not in self.changed:
            yield self._unseen()
            if self.log_was_on:
                yield "Connections made meanwhile go on to write every statement into the site's own slow log until they end."
            else:
                yield "Connections made meanwhile keep long_query_time=0 until they end: each of their statements is counted as slow (Slow_queries)."

    def _load(self) -> str:
        if not self.needed_bytes:
            return "Now it answers no statement."
        return f"Now it answers {rounded(self.statements_per_second)} statements a second: that is a log of some {size(self.needed_bytes)}."

    def _unseen(self) -> str:
        if not self.connections:
            return "No connection is there already: every statement is seen."
        if self.connections == 1:
            return "1 connection is there already. It keeps its settings: its statements are not seen."
        return f"{count(self.connections)} connections are there already. They keep their settings: their statements are not seen."


class LiveRecording:
    """Looks, asks, records. Make it before there is a thread or a connection; use it as a context manager."""

    def __init__(self, target: Target, timeout_seconds: int, seconds: float, maximum_rate: float) -> None:
        self._seconds, self._maximum_rate = seconds, maximum_rate
        self._closing = contextlib.ExitStack()
        self._guardian = self._closing.enter_context(Guardian(target, timeout_seconds))
        try:
            self._session = self._closing.enter_context(Session(target, timeout_seconds))
            self._session.stay()
            self._present = present_settings(self._session)
            self._directory, self._path, self._owner, self._pid = self._place()
            self._has_ended = end_of(self._pid)
            # Nobody else records from here on: what is found now are the site's own settings.
            self._guarded_by = self._guardian.hold(self._path, self._owner[0])
            self._present = present_settings(self._session)
            refuse_left_over(self._present)
            refuse_general_log_elsewhere(self._present)
            refuse_without_right(self._session, self._present, self._session.account())
        except BaseException:
            self._closing.close()
            raise

    def __enter__(self) -> LiveRecording:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._closing.close()

    def prospect(self) -> Prospect:
        """What it would do. Raises UserError for a server that has too much to do, or too small a disk."""
        before, begin = self._questions(), time.monotonic()
        received, used = self._number("Bytes_received"), self._processor_seconds()
        time.sleep(_SAMPLE_SECONDS)
        asked = max(0.0, self._questions() - before - 3)
        lasted = time.monotonic() - begin
        now, share = asked / lasted, _share(used, self._processor_seconds(), lasted)
        if now > self._maximum_rate:
            raise UserError(
                f"the server answers {rounded(now)} statements a second, and at more than {count(self._maximum_rate)} a second a slow log of all of them slows it down. "
                "Record when it has less to do, or allow more with --maximum-rate."
            )
        each = _HEAD_BYTES + (self._number("Bytes_received") - received) / asked if asked else _HEAD_BYTES
        needed = int(now * self._seconds * each)
        free = self._free_bytes()
        if free is not None and free < _SAFETY * needed + _SPARE_BYTES:
            raise UserError(
                f"{self._path} has {size(free)} free, and the log may take {size(_SAFETY * needed)}: {size(_SPARE_BYTES)} are left to the server whatever happens. "
                "Make room there, or record for a shorter time (--seconds)."
            )
        changed = wanted_settings(self._present, str(self._path / name_of_log()))
        connections = max(0, int(self._number("Threads_connected")) - _OUR_CONNECTIONS)
        former = former_settings(self._present, changed)
        return Prospect(
            now, needed, connections, changed, former, self._present.get("slow_query_log") == "ON", self._seconds, share
        )

    def record(self, output: Path, prospect: Prospect, tick: Callable[[float], None] = lambda _: None) -> Recorded:
        """Do it. Raises UserError; whatever it raises, the settings are given back."""
        expect_place(output)
        name = Path(prospect.changed["slow_query_log_file"]).name
        own = self._session.connection_number()
        of_server = identity(self._present)
        duty = Duty(prospect.former, self._path, name, self._owner, self._pid, of_server, connection=own)
        ours = frozenset((own, self._guarded_by))
        self._guardian.charge(duty)
        log: int | None = None
        try:
            self._switch(prospect.changed)
            now = present_settings(self._session)
            duty = replace(duty, ours={name: now[name] for name in prospect.changed})
            self._guardian.tell_ours(duty.ours)
            log = self._opened(name)
            begin, before, used = time.monotonic(), self._questions(), self._processor_seconds()
            growing = GrowingLog(log)
            stopped = self._wait(growing, prospect, tick)
            growing.look()
            lasted, (asked, has_ended) = time.monotonic() - begin, self._asked_since(before)
            share = _share(used, self._processor_seconds(), lasted)
        except BaseException as error:
            problems, left = self._put_back(duty)
            if log is not None:
                os.close(log)
            raise _with_what_was_given_back(error, problems, left) from None
        problems, left = self._put_back(duty)
        if problems:
            os.close(log)
            raise ByHandError(_not_as_it_was(problems))
        later = dict(_cost(prospect, None if asked is None else asked / lasted, share, lasted))
        stopped = stopped or (ENDED if has_ended else "")
        if stopped:
            later["stopped early"] = stopped
        if growing.was_cut:
            later["shrank"] = CUT
        if left:
            later["changed meanwhile"] = (
                f"somebody set {', '.join(left)} meanwhile: left so, and the recording may lack statements"
            )
        told = Told(
            "live",
            self._session.version.text,
            flavour_of(self._present),
            _notes(prospect),
            later,
            ours,
            None if asked is None else round(asked),
        )
        try:
            return record_log(source_named("slow_log"), self._path / name, output, told, log)
        except NothingRecordedError as error:
            raise UserError(_nothing(prospect, lasted, asked, error.left_out, stopped)) from None

    def _place(self) -> tuple[int, Path, tuple[int, int], int | None]:
        """The server's data directory, open; whose it is; the server's process. Raises UserError where it is not here, or not ours to read."""
        uptime = self._session.status_number("Uptime")
        location = locate(
            self._present, uptime, self._session.peer_process(), self._session.target.may_be_local, Path("/proc")
        )
        if isinstance(location.data_directory, Unknown) or location.owner is None:
            why = (
                location.data_directory.reason
                if isinstance(location.data_directory, Unknown)
                else "nobody knows whose its files are"
            )
            raise UserError(
                f"the log that the server writes cannot be read from here: {why}. Run this on its host, or give a log: --slow-log FILE."
            )
        if os.geteuid() not in (0, location.owner):
            raise UserError(
                f"the log that the server writes into {location.data_directory} is read and removed by root or by the server's own user. Run this with sudo."
            )
        directory = ForeignFiles(location.owner).open_directory(str(location.data_directory))
        self._closing.callback(os.close, directory)
        status = os.fstat(directory)
        pid = None if isinstance(location.pid, Unknown) else location.pid
        return directory, location.data_directory, (location.owner, status.st_gid), pid

    def _switch(self, changed: Mapping[str, str]) -> None:
        for name, value in changed.items():
            try:
                self._session.rows(assignment(name, value))
            except StatementRefusedError as error:
                raise UserError(f"the server refused SET GLOBAL {name}: {error.text}. Nothing was recorded.") from None

    def _opened(self, name: str) -> int:
        """The log that the server has begun."""
        try:
            return ForeignFiles(self._owner[0]).open(name, self._directory)
        except OSError as error:
            raise UserError(
                f"the log {self._path / name} cannot be read: {error.strerror}. Run this as root."
            ) from None

    def _put_back(self, duty: Duty) -> tuple[Sequence[str], Sequence[str]]:
        """What could not be given back, and what somebody else set meanwhile."""
        left: list[str] = []
        session: Session | None = self._session
        if not duty.ours:
            # The server may still be at what it was asked last: the connection ends behind that.
            self._session.close()
            session = None
        try:
            return self._guardian.finish(), self._guardian.left
        except GuardianGoneError:
            target, timeout_seconds = self._session.target, self._session.timeout_seconds
            return fulfil(duty, self._directory, session, target, timeout_seconds, left), left

    def _wait(self, growing: GrowingLog, prospect: Prospect, tick: Callable[[float], None]) -> str:
        """Let it write; why it was stopped before its time, if it was."""
        end = time.monotonic() + self._seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(0.5, left))
            tick(max(0.0, left))
            if self._guardian.is_gone():
                return "the process that gives the settings back was ended: they were given back at once"
            if self._has_ended():
                return ENDED
            if (free := self._free_bytes()) is not None and free < _SPARE_BYTES:
                return f"the disk of {self._path} was nearly full"
            if growing.look() > _SAFETY * prospect.needed_bytes + _SPARE_BYTES:
                return f"the log grew faster than the {rounded(prospect.statements_per_second)} statements a second before let expect"
        return ""

    def _free_bytes(self) -> int | None:
        return free_bytes_at(self._directory)

    def _questions(self) -> float:
        return self._number("Questions")

    def _asked_since(self, before: float) -> tuple[float | None, bool]:
        """How many statements, and whether the server has ended; where our connection was ended, what was recorded is kept nevertheless."""
        try:
            return self._questions() - before, False
        except ServerLostError:
            return None, ends_now(self._has_ended)

    def _number(self, name: str) -> float:
        return self._session.status_number(name) or 0.0

    def _processor_seconds(self) -> float | None:
        import psutil

        try:
            times = psutil.Process(self._pid).cpu_times() if self._pid else None
        except psutil.Error:
            return None
        return None if times is None else times.user + times.system


def _with_what_was_given_back(error: BaseException, problems: Sequence[str], left: Sequence[str]) -> BaseException:
    """What ended a recording before its time, with what became of the server's settings."""
    if isinstance(error, KeyboardInterrupt):
        if problems:
            return InterruptedWork(_not_as_it_was(problems))
        kept = f" But {', '.join(left)}: somebody set that meanwhile, and it was left so." if left else ""
        return InterruptedWork(
            f"the server's settings were given back, its log was removed, and no file was written.{kept}"
        )
    if isinstance(error, UserError) and problems:
        return ByHandError(f"{error} And {_not_as_it_was(problems)}")
    return error


def _not_as_it_was(problems: Sequence[str]) -> str:
    """What with lines of its own, the commands by hand, is last."""
    text = "; ".join(sorted(problems, key=lambda problem: "\n" in problem))
    return f"not everything is as it was: {text}{'' if text.endswith(';') else '.'}"


def _share(before: float | None, after: float | None, lasted: float) -> float | None:
    return None if before is None or after is None else max(0.0, after - before) / lasted


def _cost(prospect: Prospect, during: float | None, share: float | None, lasted: float) -> Iterator[tuple[str, str]]:
    """What it cost the server: what it did and used before, and meanwhile."""
    meanwhile = f"; {NOT_COUNTED}" if during is None else f", {rounded(during)} meanwhile"
    yield "load", f"{rounded(prospect.statements_per_second)} statements a second before{meanwhile}"
    if share is not None:
        before = "" if prospect.processor_share is None else f"{percent(prospect.processor_share)} of one before, "
        yield "processor", f"the server used {before}{percent(share)}{'' if before else ' of one'} meanwhile"
    if during is not None:
        yield "counted", f"the server counted {so_many(round(during * lasted), 'statement')} meanwhile"


def _notes(prospect: Prospect) -> Mapping[str, str]:
    if "slow_query_log_use_global_control" in prospect.changed:
        return {"connections": "those that were there before are recorded too"}
    if not prospect.connections:
        return {"connections": "none were there before: every statement is in it"}
    if prospect.connections == 1:
        return {"connections": "1 was there before, and its statements are not in it"}
    return {"connections": f"{count(prospect.connections)} were there before, and their statements are not in it"}


def _nothing(prospect: Prospect, lasted: float, asked: float | None, left_out: Mapping[str, int], stopped: str) -> str:
    """Why a recording came to nothing; the log, which is gone, is not named."""
    reasons = reasons_in_words(left_out)
    its = "its" if prospect.connections == 1 else "their"
    kept = (
        f" {so_many(prospect.connections, 'connection')} from before kept {its} settings."
        if prospect.connections
        else ""
    )
    counted = "" if asked is None else f" The server counted {so_many(round(asked), 'statement')} meanwhile."
    early = f" It was stopped early: {stopped}." if stopped else ""
    again = "Run this again" if stopped else "Record for longer (--seconds)"
    probed = "; as root, --from probe sees those that are there already" if prospect.connections else ""
    return (
        f"nothing was recorded in {duration(lasted)}, and no file was written.{early}{counted} "
        f"No connection made in that time sent one that can be replayed{f' (left out: {reasons})' if reasons else ''}.{kept} "
        f"{again}, or let the application connect anew meanwhile{probed}."
    )
