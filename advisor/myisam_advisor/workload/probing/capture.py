"""A recording of the running server by a probe of the kernel's: no setting is changed, no log written, connections that are there already are seen too.

While it lasts, what the kernel writes is moved into a file without a name, as it is; it is read afterwards.
"""

from __future__ import annotations

import contextlib
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.texts.templates import count, duration, percent, rounded, size
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter, expect_place
from myisam_advisor.workload.log_settings import flavour_of
from myisam_advisor.workload.probing.decoding import Decoder
from myisam_advisor.workload.probing.kernel import counted
from myisam_advisor.workload.probing.known_statements import known_statements
from myisam_advisor.workload.probing.ring import Records, Ring
from myisam_advisor.workload.probing.watched_server import WatchedServer
from myisam_advisor.workload.recording import Recorded, Told, keep, reasons_in_words
from myisam_advisor.workload.server_end import ENDED, NOT_COUNTED, ends_now
from myisam_advisor.workload.sources.base import Reading
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.outside.free_space import free_bytes_at
from myisam_exporter.server.target import Target

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
        expect_place(output)
        self._seconds, self._output = seconds, output
        with _nameless(output.parent) as file:
            self._server = WatchedServer(target, timeout_seconds, file)

    def __enter__(self) -> Probing:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._server.__exit__(kind, error, trace)

    def prospect(self) -> Prospect:
        """What it would do. Raises UserError where the disk has no room for it."""
        rate = self._rate(_SAMPLE_SECONDS)
        prospect = Prospect(rate, self._seconds)
        free = free_bytes_at(self._output.parent)
        if free is not None and free < prospect.needed_bytes + _SPARE_BYTES:
            raise UserError(
                f"{self._output.parent} has {size(free)} free, and the recording may take {size(prospect.needed_bytes)} while it lasts. "
                "Record for a shorter time (--seconds), or give an --output elsewhere."
            )
        return prospect

    def record(
        self,
        prospect: Prospect,
        begun: Callable[[], None] = lambda: None,
        tick: Callable[[float], None] = lambda _: None,
    ) -> Recorded:
        """Do it; call `begun` when the server is watched, and `tick` with the seconds that are left. Raises UserError."""
        reading = Reading(resolution_microseconds=1)
        began = time.time()
        since = time.time_ns() - time.monotonic_ns()
        server = self._server
        ours = server.our_connections
        header = Header(
            "probe", server.session.version.text, flavour_of(server.present), int(began * 1e6), note=self._notes()
        )
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(_nameless(self._output.parent))
            lost, later = self._captured(prospect, file, begun, tick)
            executions = server.executions(is_lossy=bool(lost), known=self._known)
            writer = opened.enter_context(WorkloadWriter(self._output, header))
            reading.left_out.update({LOST: lost} if lost else {})
            events = Decoder(since // 1000, executions).events(Records(file), reading)
            keep(writer, events, reading, Told(ignored_connections=ours))
            if not writer.statements:
                raise UserError(
                    f"nothing was recorded in {duration(self._seconds)}, and no file was written: the server was asked nothing that can be replayed "
                    f"(left out: {reasons_in_words(writer.left_out) or 'nothing'}). Record for longer (--seconds)."
                )
            writer.note.update(later)
        return Recorded(self._output, header, writer.totals)

    def _captured(
        self, prospect: Prospect, file: BinaryIO, begun: Callable[[], None], tick: Callable[[float], None]
    ) -> tuple[int, dict[str, str]]:
        """Let the kernel write; how many statements it lost, and what is to be known."""
        later = {}
        with self._server.probes(file) as (ring, maps):
            # Now: what is prepared from here on is seen.
            self._known = known_statements(self._server.session)
            used, begin, asked = _own_seconds(), time.monotonic(), self._server.questions
            # From here on the server is not asked: whose connection is killed now keeps what is recorded.
            begun()
            stopped = self._wait(ring, begin + prospect.seconds, tick)
            lasted, own = time.monotonic() - begin, _own_seconds() - used
            lost, endless = counted(maps)
        if not stopped:
            stopped, later["load"] = self._load(prospect, asked, lasted)
        if stopped:
            later["stopped early"] = stopped
        if endless:
            later["ends"] = f"of {count(endless)} statements the end was lost: how long they took is not known"
        later["cost"] = (
            f"the recorder used {percent(own / lasted)} of one processor meanwhile, and moved {size(ring.bytes)}"
        )
        return lost, later

    def _load(self, prospect: Prospect, asked: float, lasted: float) -> tuple[str, str]:
        """Whether it ended at the last moment, and what it did before and meanwhile. What was recorded is kept, whether it answers or not."""
        before = f"{rounded(prospect.statements_per_second)} statements a second before"
        try:
            return "", f"{before}, {rounded((self._server.questions - asked) / lasted)} meanwhile"
        except ServerLostError:
            return ENDED if ends_now(lambda: not self._server.is_there) else "", f"{before}; {NOT_COUNTED}"

    def _wait(self, ring: Ring, end: float, tick: Callable[[float], None]) -> str:
        """Empty the ring until the time is over; why it was stopped before, if it was."""
        stopped, looked = "", 0.0
        while (left := end - (now := time.monotonic())) > 0 and not stopped:
            time.sleep(min(_PAUSE_SECONDS, left))
            ring.empty()
            if now - looked < _LOOK_SECONDS:
                continue
            looked = now
            tick(left)
            if not self._server.is_there:
                stopped = ENDED
            elif (free := free_bytes_at(self._output.parent)) is not None and free < _SPARE_BYTES:
                stopped = f"the disk of {self._output.parent} was nearly full"
        ring.empty()
        return stopped

    def _notes(self) -> dict[str, str]:
        return {"build": f"the server's build id is {self._server.build_id or 'not known: its binary has none'}"}

    def _rate(self, seconds: float) -> float:
        before, begin = self._server.questions, time.monotonic()
        time.sleep(seconds)
        return max(0.0, self._server.questions - before - 1) / (time.monotonic() - begin)


def _nameless(folder: Path) -> BinaryIO:
    """A file that nobody else sees, and that is gone with this process."""
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}. Give another --output.") from None


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
