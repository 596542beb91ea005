"""What glances at one target: reads between two looks how many threads run, and a few counters."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from myisam_exporter.collectors.status import THREADS_RUNNING
from myisam_exporter.errors import UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.thread_switches import Switches, ThreadSwitches
from myisam_exporter.look.queue_glances import QueueGlances
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.numbers import finite_number
from myisam_exporter.server.driver import Row
from myisam_exporter.server.session import Session
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.glances import STATEMENT, Glance, Glances, Peak


class Glancer:
    """Glances in the thread of the target's beat, never while it looks; never connects.

    Any thread may ask for the peaks: the lock guards what was read, and is never held while anything is waited for.
    """

    def __init__(
        self, connection: Connection, proc: Path, clock: Clock = CLOCK, switches: ThreadSwitches | None = None
    ) -> None:
        self._connection = connection
        self._switches_of = switches or ThreadSwitches()
        self._proc = proc
        self._clock = clock
        self._server_process: int | None = None
        self._session: Session | None = None
        self._lock = threading.Lock()
        self._glances = Glances()
        self._threads_running: list[float] = []
        self._queue: QueueGlances | None = None
        self._in_query_cache: list[int] = []

    def glance(self) -> None:
        """One reading: those at the ends of an interval say little of it."""
        session = self._connection.open_session
        if session is None:
            return
        if session is not self._session:
            self.interrupt()
            self._session = session
        asked = self._clock.monotonic()
        try:
            rows = session.rows_or_unknown(STATEMENT, 2)
            # As of a snapshot's: of an answer that came late it is not known when the server counted.
            moment = (asked + self._clock.monotonic()) / 2
            if self._queue is not None:
                self._in_query_cache += self._queue.glance(session)
        except UserError as error:
            self._connection.give_up_after(session, error)
            self.interrupt()
            return
        if isinstance(rows, Unknown):
            return
        self.add(Glance(moment, _numbers(rows), self._switches()))

    def add(self, glance: Glance) -> None:
        """Keep a reading."""
        with self._lock:
            if THREADS_RUNNING in glance.status:
                self._threads_running.append(glance.status[THREADS_RUNNING])
            self._glances.take(glance)

    def peaks(self, seconds: float) -> dict[str, Peak]:
        """How high rates rose in the last seconds; see glances.py."""
        with self._lock:
            return self._glances.peaks(self._clock.monotonic() - seconds)

    def taken_threads_running(self) -> list[float]:
        """How many threads ran, at each glance since this was asked last."""
        with self._lock:
            taken, self._threads_running = self._threads_running, []
        return taken

    def taken_in_query_cache(self) -> list[int]:
        """How many were in line for the query cache, at each glance since this was asked last. In the thread of the glances."""
        taken, self._in_query_cache = self._in_query_cache, []
        return taken

    def watch_queue(self, queue: QueueGlances) -> None:
        """Ask so from now on who is in line for the query cache."""
        self._queue = queue

    def watch_process(self, process: int | None) -> None:
        """Read the switches of this process's threads from now on; of none where it cannot be seen."""
        self._server_process = process

    def interrupt(self) -> None:
        """The next reading has no rates: the server may be another one by then."""
        with self._lock:
            self._glances.interrupt()

    def _switches(self) -> Switches | None:
        if self._server_process is None:
            return None
        try:
            return self._switches_of.read(self._proc / str(self._server_process))
        except OSError:
            return None


def _numbers(rows: Iterable[Row]) -> dict[str, float]:
    numbers = ((name or "", finite_number(value)) for name, value in rows)
    return {name: float(number) for name, number in numbers if number is not None}
