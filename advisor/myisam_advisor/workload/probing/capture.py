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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.texts.templates import count, duration, percent, rounded, size
from myisam_advisor.workload.file_format import Header, Totals
from myisam_advisor.workload.file_writer import WorkloadWriter
from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.probing.decoding import Decoder, begun_sessions
from myisam_advisor.workload.probing.definitions import (
    INSTEAD,
    PIECE_BYTES,
    Defined,
    Definitions,
    Offsets,
    clear_stale,
    own_group,
    start_events,
    tracing_root,
)
from myisam_advisor.workload.probing.keeper import Keeper
from myisam_advisor.workload.probing.learning import ProcessMemory, learn
from myisam_advisor.workload.probing.place import place_of
from myisam_advisor.workload.probing.rings import Records, Rings, online_processors
from myisam_advisor.workload.recording import Recorded, Told, keep
from myisam_advisor.workload.sources.base import Reading
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.location import locate
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import quote_text, statement
from myisam_exporter.server.target import Target

LARGEST_TEXT_BYTES = 1 << 16
# What a statement costs: both probes, and each piece of its text (docs/decisions/045).
PROBE_MICROSECONDS, PIECE_MICROSECONDS = 27.0, 6.0
# How much of one processor may go into pieces of texts where nobody says how long they are.
_SHARE_OF_A_PROCESSOR = 0.1
# What a record has besides the text.
_RECORD_BYTES = 300
_SAMPLE_SECONDS = 1.0
_PAUSE_SECONDS = 0.05
_SPARE_BYTES = 256 << 20
LOST = "lost: the recorder was too slow for the kernel, at most"


@dataclass(frozen=True, slots=True)
class Prospect:
    """What a recording would do.

    Attributes:
        statements_per_second: now.
        text_bytes: how long statements may be.
        seconds: how long.
    """

    statements_per_second: float
    text_bytes: int
    seconds: float

    @property
    def microseconds(self) -> float:
        """What a statement costs."""
        return PROBE_MICROSECONDS + PIECE_MICROSECONDS * self.text_bytes / PIECE_BYTES

    @property
    def needed_bytes(self) -> int:
        """On disk, while it lasts."""
        return int(self.statements_per_second * self.seconds * (self.text_bytes + _RECORD_BYTES))

    def sentences(self) -> Iterator[str]:
        """What is going to be done, and what it costs."""
        yield f"For {self.seconds:g} s the kernel notes every statement of the server, up to {size(self.text_bytes)} of each. No setting is changed."
        share = self.statements_per_second * self.microseconds / 1e6
        yield (
            f"Now it answers {rounded(self.statements_per_second)} statements a second: at some {self.microseconds:.0f} µs each that takes {percent(share)} of one "
            f"processor, and up to {size(self.needed_bytes)} of disk for that time."
        )


def text_bytes_for(rate: float) -> int:
    """How much of each text is fetched at so many statements a second."""
    pieces = int(_SHARE_OF_A_PROCESSOR * 1e6 / (max(rate, 1.0) * PIECE_MICROSECONDS))
    return min(max(pieces, 1) * PIECE_BYTES, LARGEST_TEXT_BYTES)


class Probing:
    """Looks, learns, records. Use it as a context manager: whatever becomes of it, the probe is removed.

    Raises UserError where there can be no probe.
    """

    def __init__(
        self, target: Target, timeout_seconds: int, seconds: float, text_bytes: int | None, output: Path
    ) -> None:
        if os.path.lexists(output):
            raise UserError(f"{output} is there already. Give another --output, or remove it.")
        self._seconds, self._output, self._text_bytes = seconds, output, pieces_of(text_bytes)
        root = tracing_root()
        with contextlib.ExitStack() as opened:
            self._sessions = [opened.enter_context(Session(target, timeout_seconds)) for _ in range(2)]
            self._present = present_settings(self._sessions[0])
            self._pid = self._process()
            self._place = place_of(self._pid)
            clear_stale(root, self._pid)
            self._definitions = Definitions(root, own_group(self._pid))
            # Its end removes what is defined from here on.
            opened.enter_context(Keeper(self._definitions))
            self._offsets = self._learned()
            self._closing = opened.pop_all()

    def __enter__(self) -> Probing:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._closing.close()

    def prospect(self) -> Prospect:
        """What it would do. Raises UserError where the disk has no room for it."""
        rate = self._rate(_SAMPLE_SECONDS)
        prospect = Prospect(rate, self._text_bytes or text_bytes_for(rate), self._seconds)
        free = _free_bytes(self._output.parent)
        if free < prospect.needed_bytes + _SPARE_BYTES:
            raise UserError(
                f"{self._output.parent} has {size(free)} free, and the recording may take {size(prospect.needed_bytes)} while it lasts. "
                "Record for a shorter time (--seconds), or give an --output elsewhere."
            )
        return prospect

    def record(self, prospect: Prospect, begun: Callable[[], None] = lambda: None) -> Recorded:
        """Do it, and call `begun` when every processor is watched. Raises UserError."""
        reading = Reading(resolution_microseconds=1)
        began = time.time()
        since = time.time_ns() - time.monotonic_ns()
        ours = frozenset(int(session.row("SELECT CONNECTION_ID()", 1)[0]) for session in self._sessions)
        header = Header(
            "probe", self._sessions[0].version.text, flavour_of(self._present), int(began * 1e6), note=self._notes()
        )
        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(_nameless(self._output.parent)) for _ in online_processors()]
            events, later = self._captured(prospect, files, begun)
            decoder = Decoder(events, prospect.text_bytes, since // 1000)
            rings = [Records(file, self._pid) for file in files]
            writer = opened.enter_context(WorkloadWriter(self._output, header))
            keep(writer, decoder.events(rings, reading), Told(ignored_connections=ours))
            lost = sum(ring.lost for ring in rings)
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

    def _captured(
        self, prospect: Prospect, files: Sequence[BinaryIO], begun: Callable[[], None]
    ) -> tuple[list[Defined], dict[str, str]]:
        """Let the kernel write; the events, and what is to be known."""
        events = self._definitions.add(
            self._place, start_events(self._place, prospect.text_bytes, self._offsets), end=True
        )
        later = {}
        with self._rings(events, files) as rings:
            begun()
            used, begin, asked = _own_seconds(), time.monotonic(), self._questions()
            stopped = self._wait(rings, begin + prospect.seconds)
            lasted, own = time.monotonic() - begin, _own_seconds() - used
        if stopped:
            later["stopped early"] = stopped
        else:
            during = (self._questions() - asked) / lasted
            later["load"] = (
                f"{rounded(prospect.statements_per_second)} statements a second before, {rounded(during)} meanwhile"
            )
        later["cost"] = (
            f"the recorder used {percent(own / lasted)} of one processor meanwhile, and moved {size(rings.bytes)}"
        )
        return events, later

    def _wait(self, rings: Rings, end: float) -> str:
        """Empty the rings until the time is over; why it was stopped before, if it was."""
        stopped = ""
        while (left := end - time.monotonic()) > 0 and not stopped:
            time.sleep(min(_PAUSE_SECONDS, left))
            rings.empty()
            if not os.path.exists(f"/proc/{self._pid}/exe"):  # noqa: PTH110
                stopped = "the server ended"
            elif _free_bytes(self._output.parent) < _SPARE_BYTES:
                stopped = f"the disk of {self._output.parent} was nearly full"
        rings.empty()
        return stopped

    def _learned(self) -> Offsets:
        """Where the server has what, by two sessions of ours."""
        events = self._definitions.add(self._place, start_events(self._place, PIECE_BYTES, None), end=False)
        try:
            with contextlib.ExitStack() as opened, ProcessMemory(self._pid) as memory:
                files = [opened.enter_context(_nameless(self._output.parent)) for _ in online_processors()]
                with self._rings(events, files) as rings:
                    return learn(
                        memory,
                        (self._sessions[0], self._sessions[1]),
                        self._session_of(events[0], rings, files),
                        self._place.build_id,
                    )
        finally:
            self._definitions.remove(5.0)

    def _session_of(self, begin: Defined, rings: Rings, files: Sequence[BinaryIO]) -> Callable[[object], int]:
        def found(session: object) -> int:
            assert isinstance(session, Session)
            mark = f"myisam-advisor {secrets.token_hex(8)}"
            session.rows(statement("DO {}", quote_text(mark)))
            rings.empty()
            for file in files:
                for address, text in begun_sessions(begin, Records(file, self._pid)):
                    if mark.encode() in text:
                        return address
            raise UserError(
                f"the probe does not see the server's statements (build id {self._place.build_id or 'unknown'}). {INSTEAD}"
            )

        return found

    def _rings(self, events: Sequence[Defined], files: Sequence[BinaryIO]) -> Rings:
        # What is opened last the kernel calls first: a text's further parts come behind its begin.
        return Rings([event.number for event in reversed(events)], files, online_processors())

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


def pieces_of(text_bytes: int | None) -> int | None:
    """A length that was asked for, as much as whole pieces hold."""
    return None if text_bytes is None else min(-(-text_bytes // PIECE_BYTES) * PIECE_BYTES, LARGEST_TEXT_BYTES)


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
