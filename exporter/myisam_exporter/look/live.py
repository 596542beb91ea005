"""Facts from a running server: one or two snapshots, and what happens between them."""

from __future__ import annotations

import time
from collections.abc import Callable

from myisam_exporter.collectors.base import PAGE_CACHE_SWEEP_SECONDS, Context
from myisam_exporter.collectors.status import THREADS_RUNNING
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import RESTART_TOLERANCE_SECONDS, Interval
from myisam_exporter.look.queue_glances import QueueGlances
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.outside.numbers import LARGEST_WHOLE
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

READINGS = 10
# Measured: where without the query cache statements were 2.2 times as fast, one glance in twelve saw its queue.
QUEUE_READINGS = 3
MINIMUM_STEP_SECONDS = 0.2
# How long a server may take to come back, to be told from one that is gone.
RESTART_SECONDS = 5.0
Observe = Callable[[float, int, Callable[[], None]], None]


def observe_quietly(seconds: float, readings: int, read: Callable[[], None]) -> None:
    """Wait for `seconds`, calling `read` that many times on the way."""
    for _ in range(readings):
        read()
        time.sleep(seconds / readings)


def collect_facts(
    target: Target,
    interval_seconds: float,
    timeout_seconds: int,
    key_caches: tuple[str, ...] = (),
    page_cache_sweep_seconds: float = PAGE_CACHE_SWEEP_SECONDS,
    observe: Observe = observe_quietly,
) -> FactSet:
    """Look at a server, twice when `interval_seconds` is above 0.

    Raises UserError when it cannot be reached, and ServerLostError when it goes away or restarts meanwhile.
    """
    with Session(target, timeout_seconds) as session:
        context = Context(target, session, key_caches=key_caches, page_cache_sweep_seconds=page_cache_sweep_seconds)
        # Of two snapshots only the second asks about pages: in one pass it would read headers later than the first did, and rates be too high.
        context.one_pass = not interval_seconds
        if not interval_seconds:
            return Interval(take_snapshot(context)).facts()
        began = time.monotonic()
        before = take_snapshot(context, begins_interval=True)
        try:
            readings = _Readings(context)
            observe(interval_seconds, readings.count(interval_seconds), readings.take)
            interval = Interval(take_snapshot(context), before)
        except ServerLostError as error:
            raise _came_back(target, timeout_seconds, began) or error from None
    interval.refuse_restart()
    return interval.facts()


def _came_back(target: Target, timeout_seconds: int, began: float) -> ServerLostError | None:
    """What to say when the server answers again within a moment: that it restarted since the interval began, or did not; None when it does not answer."""
    deadline = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            with Session(target, timeout_seconds) as session:
                uptime = session.status_number("Uptime")
            break
        except UserError:
            if time.monotonic() >= deadline:
                return None
            time.sleep(MINIMUM_STEP_SECONDS)
    what, help_it = "restarted between the two samples, or closed the connection", "Run again."
    if uptime is not None and uptime > time.monotonic() - began + RESTART_TOLERANCE_SECONDS:
        what = f"closed the connection between the two samples, or did not answer within {timeout_seconds} s; it did not restart"
        help_it = "Run again; --timeout allows more time."
    return ServerLostError(
        f"the server at {target.label} {what}{up_for(uptime)}: nothing can be said of this interval. {help_it}"
    )


def up_for(uptime_seconds: float | None) -> str:
    """For how long the server is up, in brackets; nothing where it does not say, or says nearly 2^64 s, as after its clock was set back."""
    if uptime_seconds is None or uptime_seconds > LARGEST_WHOLE:
        return ""
    return f" (it is up for {uptime_seconds:.0f} s)"


class _Readings:
    """States that one reading at each end of the interval would not tell: read on the way too."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._queue = QueueGlances(context.session, context.sample(VARIABLES))
        self._taken = 0

    def count(self, seconds: float) -> int:
        """How many there are to be in so many seconds."""
        most = READINGS * QUEUE_READINGS if self._queue else READINGS
        return max(1, min(most, int(seconds / MINIMUM_STEP_SECONDS)))

    def take(self) -> None:
        """One of them: each time of the queue, which has gone a moment later, and of the other every third time then."""
        context = self._context
        context.in_query_cache += self._queue.glance(context.session)
        if not (self._queue and self._taken % QUEUE_READINGS):
            running = context.session.status_number(THREADS_RUNNING)
            context.threads_running += [] if running is None else [running]
        self._taken += 1
