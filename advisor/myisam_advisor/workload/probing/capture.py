"""A recording of the running server by a probe of the kernel's: no setting is changed, no log written, connections that are there already are seen too.

While it lasts, what the kernel writes is moved into a file without a name, as it is; it is read afterwards.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.texts.templates import count, duration, percent, rounded, size
from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_advisor.workload.file_format import Header, Totals
from myisam_advisor.workload.file_writer import WorkloadWriter
from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.probing.decoding import Decoder, begun_sessions
from myisam_advisor.workload.probing.executions import Executions
from myisam_advisor.workload.probing.kernel import attached, counted, loaded, made_maps
from myisam_advisor.workload.probing.known_statements import known_statements
from myisam_advisor.workload.probing.learning import ProcessMemory, learn
from myisam_advisor.workload.probing.parameters import Style
from myisam_advisor.workload.probing.place import INSTEAD, Offsets, place_of
from myisam_advisor.workload.probing.program import Maps, begin_program, end_program
from myisam_advisor.workload.probing.ring import Records, Ring
from myisam_advisor.workload.recording import Recorded, Told, keep
from myisam_advisor.workload.sources.base import Reading
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.target import Target

# A second of 20,000 statements each; it is mapped twice, and the whole recorder is to stay below 64 MiB.
RING_BYTES = 8 << 20
# What a statement costs the server (docs/decisions/045).
PROBE_MICROSECONDS = 10.0
# What lies on disk of a statement of 100 bytes and its end, and what is expected of others.
_RECORD_BYTES = 600
_SAMPLE_SECONDS = 1.0
_PAUSE_SECONDS = 0.01
_SPARE_BYTES = 256 << 20
# How often it is asked whether server and disk are still there.
_LOOK_SECONDS = 0.2
LOST = "lost: the recorder was too slow for the kernel"


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a recording would do.

    Attributes:
        statements_per_second: now.
        seconds: how long.
    """

    statements_per_second: float
    seconds: float

    @property
    def needed_bytes(self) -> int:
        """On disk, while it lasts."""
        return int(self.statements_per_second * self.seconds * _RECORD_BYTES)

    def sentences(self) -> Iterator[str]:
        """What is going to be done, and what it costs."""
        yield f"For {self.seconds:g} s the kernel notes every statement of the server. No setting is changed."
        share = self.statements_per_second * PROBE_MICROSECONDS / 1e6
        yield (
            f"Now it answers {rounded(self.statements_per_second)} statements a second: at some {PROBE_MICROSECONDS:.0f} µs each that takes {percent(share)} of one "
            f"processor, and some {size(self.needed_bytes)} of disk for that time."
        )


class Probing:
    """Looks, learns, records. Use it as a context manager.

    Raises UserError where there can be no probe.
    """

    def __init__(self, target: Target, timeout_seconds: int, seconds: float, output: Path) -> None:
        if os.path.lexists(output):
            raise UserError(f"{output} is there already. Give another --output, or remove it.")
        self._seconds, self._output = seconds, output
        # Refused now, and not when all is recorded.
        with contextlib.suppress(OSError), OutputDirectory(output.parent):
            pass
        with contextlib.ExitStack() as opened:
            self._sessions = [opened.enter_context(Session(target, timeout_seconds)) for _ in range(2)]
            self._present = present_settings(self._sessions[0])
            self._pid = self._process()
            self._place = place_of(self._pid)
            self._offsets = self._learned()
            self._closing = opened.pop_all()

    def __enter__(self) -> Probing:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._closing.close()

    def prospect(self) -> Prospect:
        """What it would do. Raises UserError where the disk has no room for it."""
        rate = self._rate(_SAMPLE_SECONDS)
        prospect = Prospect(rate, self._seconds)
        free = _free_bytes(self._output.parent)
        if free < prospect.needed_bytes + _SPARE_BYTES:
            raise UserError(
                f"{self._output.parent} has {size(free)} free, and the recording may take {size(prospect.needed_bytes)} while it lasts. "
                "Record for a shorter time (--seconds), or give an --output elsewhere."
            )
        return prospect

    def record(self, prospect: Prospect, begun: Callable[[], None] = lambda: None) -> Recorded:
        """Do it, and call `begun` when the server is watched. Raises UserError."""
        reading = Reading(resolution_microseconds=1)
        began = time.time()
        since = time.time_ns() - time.monotonic_ns()
        ours = frozenset(int(session.row("SELECT CONNECTION_ID()", 1)[0]) for session in self._sessions)
        header = Header(
            "probe", self._sessions[0].version.text, flavour_of(self._present), int(began * 1e6), note=self._notes()
        )
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(_nameless(self._output.parent))
            lost, later = self._captured(prospect, file, begun)
            executions = self._executions(bool(lost))
            writer = opened.enter_context(WorkloadWriter(self._output, header))
            keep(
                writer,
                Decoder(since // 1000, executions).events(Records(file), reading),
                Told(ignored_connections=ours),
            )
            for reason, number in {**reading.left_out, **({LOST: lost} if lost else {})}.items():
                writer.leave_out(reason, number)
            if not writer.statements:
                reasons = ", ".join(f"{count(number)} ({reason})" for reason, number in writer.left_out.items())
                raise UserError(
                    f"nothing was recorded in {duration(self._seconds)}, and no file was written: the server was asked nothing that can be replayed "
                    f"(left out: {reasons or 'nothing'}). Record for longer (--seconds)."
                )
            writer.note.update(later)
            totals = Totals(
                writer.statements, writer.ended_at_microseconds, dict(writer.left_out), note=dict(writer.note)
            )
        return Recorded(self._output, header, totals)

    def _captured(self, prospect: Prospect, file: BinaryIO, begun: Callable[[], None]) -> tuple[int, dict[str, str]]:
        """Let the kernel write; how many statements it lost, and what is to be known."""
        later = {}
        with self._probes(self._offsets, file) as (ring, maps):
            # Now: what is prepared from here on is seen.
            self._known = known_statements(self._sessions[0])
            begun()
            used, begin, asked = _own_seconds(), time.monotonic(), self._questions()
            stopped = self._wait(ring, begin + prospect.seconds)
            lasted, own = time.monotonic() - begin, _own_seconds() - used
            lost, endless = counted(maps)
        if stopped:
            later["stopped early"] = stopped
        else:
            during = (self._questions() - asked) / lasted
            later["load"] = (
                f"{rounded(prospect.statements_per_second)} statements a second before, {rounded(during)} meanwhile"
            )
        if endless:
            later["ends"] = f"of {count(endless)} statements the end was lost: how long they took is not known"
        later["cost"] = (
            f"the recorder used {percent(own / lasted)} of one processor meanwhile, and moved {size(ring.bytes)}"
        )
        return lost, later

    def _wait(self, ring: Ring, end: float) -> str:
        """Empty the ring until the time is over; why it was stopped before, if it was."""
        stopped, looked = "", 0.0
        while (left := end - (now := time.monotonic())) > 0 and not stopped:
            time.sleep(min(_PAUSE_SECONDS, left))
            ring.empty()
            if now - looked < _LOOK_SECONDS:
                continue
            looked = now
            if not os.path.exists(f"/proc/{self._pid}/exe"):  # noqa: PTH110
                stopped = "the server ended; what one that was started since is asked is not in it"
            elif _free_bytes(self._output.parent) < _SPARE_BYTES:
                stopped = f"the disk of {self._output.parent} was nearly full"
        ring.empty()
        return stopped

    @contextlib.contextmanager
    def _probes(self, offsets: Offsets | None, file: BinaryIO) -> Iterator[tuple[Ring, Maps]]:
        """The server watched: it ends with the descriptors, and so with this process. Raises UserError."""
        with contextlib.ExitStack() as opened:
            maps = made_maps(RING_BYTES, opened)
            ring = opened.enter_context(Ring(maps.ring, RING_BYTES, file))
            # The end first: no begin is seen whose end is not.
            programs = (
                (end_program(maps), True),
                (begin_program(maps, self._place.layout, offsets), False),
            )
            for code, at_return in programs:
                program = loaded(code)
                opened.callback(os.close, program)
                opened.callback(os.close, attached(program, self._place, self._pid, at_return))
            yield ring, maps

    def _learned(self) -> Offsets:
        """Where the server has what, by two sessions of ours."""
        with (
            ProcessMemory(self._pid) as memory,
            _nameless(self._output.parent) as file,
            self._probes(None, file) as (ring, _),
        ):
            first, second = self._sessions
            is_parsed = bool(self._place.layout.union)
            return learn(memory, (first, second), self._session_of(ring, file), self._place.build_id, is_parsed)

    def _executions(self, is_lossy: bool) -> Executions | None:
        """What prepared statements are told by; None where their numbers are not known."""
        offsets = self._offsets
        if offsets.prepared is None or (self._place.layout.union and offsets.packet is None):
            return None
        has_typed_times = flavour_of(self._present) == "mariadb"
        escapes = "NO_BACKSLASH_ESCAPES" not in self._present.get("sql_mode", "")
        return Executions(Style(has_typed_times, escapes), self._known, is_lossy)

    def _session_of(self, ring: Ring, file: BinaryIO) -> Callable[[object], int]:
        def found(session: object) -> int:
            assert isinstance(session, Session)
            mark = f"myisam-advisor {secrets.token_hex(8)}"
            session.rows(statement("DO {}", quote_text(mark)))
            ring.empty()
            for address, text in begun_sessions(Records(file)):
                if mark.encode() in text:
                    return address
            raise UserError(
                f"the probe does not see the server's statements (build id {self._place.build_id or 'unknown'}). {INSTEAD}"
            )

        return found

    def _process(self) -> int:
        session = self._sessions[0]
        uptime = session.status_number("Uptime")
        location = locate(self._present, uptime, session.peer_process(), session.target.may_be_local, Path("/proc"))
        if isinstance(location.pid, Unknown):
            raise UserError(
                f"the server's process is not known: {location.pid.reason}. Run this on its host. {INSTEAD}"
            )
        return location.pid

    def _notes(self) -> dict[str, str]:
        return {"build": f"the server's build id is {self._place.build_id or 'not known: its binary has none'}"}

    def _rate(self, seconds: float) -> float:
        before, begin = self._questions(), time.monotonic()
        time.sleep(seconds)
        return max(0.0, self._questions() - before - 1) / (time.monotonic() - begin)

    def _questions(self) -> float:
        return self._sessions[0].status_number("Questions") or 0.0


def _nameless(folder: Path) -> BinaryIO:
    """A file that nobody else sees, and that is gone with this process."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}. Give another --output.") from None


def _free_bytes(folder: Path) -> int:
    free = os.statvfs(folder)
    return free.f_bavail * free.f_frsize


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
