"""Cheap sources, read while a scrape waits: those who come at the same time share one reading."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from functools import lru_cache
from itertools import chain

from myisam_exporter.collectors.base import all_collectors, with_prerequisites
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import Reading, failed_reading, reading_of
from myisam_exporter.exposition.values import group_values
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.thread_switches import ThreadSwitches
from myisam_exporter.look.pairs import Latest
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.metrics.base import Running, Scene, all_groups
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.outcomes import outcomes_of, successes
from myisam_exporter.watching.single_flight import SingleFlight

# Readings of one target that differ and are under way at once; who asks for yet another one gets that of everything.
DIFFERENT_READINGS = 4


@lru_cache(maxsize=1)
def cheap_collectors() -> frozenset[str]:
    """Those read while a scrape waits."""
    return frozenset(collector.name for collector in all_collectors() if not collector.expensive)


@lru_cache(maxsize=1)
def read_names() -> Mapping[str, frozenset[str]]:
    """What they, and the metrics made of them, read of the server's status and variables."""
    found: dict[str, frozenset[str]] = {}
    cheap = cheap_collectors()
    readers = [one.reads for one in all_collectors() if one.name in cheap]
    readers += [group.reads for group in all_groups() if cheap.intersection(group.collectors)]
    for name, read in chain.from_iterable(reads.items() for reads in readers):
        found[name] = found.get(name, frozenset()) | read
    return found


class Scrapes:
    """Readings of one target's cheap collectors, in the executor's threads; several may be under way at once.

    The lock guards what one reading hands on to the next: the last samples, the counters that we keep, who succeeded when. It is held
    while counters grow, never while anything is waited for.
    """

    def __init__(
        self, connection: Connection, options: WatchOptions, executor: Executor, clock: Clock = CLOCK,
        switches: ThreadSwitches | None = None,
    ) -> None:  # fmt: skip
        self._switches = switches or ThreadSwitches()
        self.last_asked = clock.monotonic()
        self._connection = connection
        self._options = options
        self._clock = clock
        self._flights: SingleFlight[Reading] = SingleFlight(executor, 2.0 * options.timeout_seconds, clock)
        self._lock = threading.Lock()
        self._previous = Latest()
        self._running = Running()
        self._last_success: dict[str, float] = {}

    def join(self, selected: frozenset[str]) -> Future[Reading]:
        """A reading of the selected cheap collectors, shared with whoever asks for the same at the same time.

        It has more than was selected where many different ones are under way: they all wait for the one connection.
        """
        self.last_asked = self._clock.monotonic()
        wanted = selected & cheap_collectors()
        under_way = self._flights.under_way()
        if len(under_way) >= DIFFERENT_READINGS and wanted not in under_way:
            wanted = cheap_collectors()
        return self._flights.join(wanted, lambda: self._read(wanted))

    def last_success(self) -> dict[str, float]:
        """When each cheap collector last gave everything there is."""
        with self._lock:
            return dict(self._last_success)

    def _read(self, cheap: frozenset[str]) -> Reading:
        """These cheap collectors, now; the status always, for whether the server answers."""
        session = None
        wanted = with_prerequisites({STATUS.name, *cheap})
        try:
            session = self._connection.session()
            context = self._options.context(session, self._clock)
            context.names, context.switches = read_names(), self._switches
            snapshot = take_snapshot(context, only=wanted)
            status = snapshot.sample(STATUS)
            if isinstance(status, Unknown):
                raise UserError(f"the server does not show its status: {status.reason}.")
        except UserError as error:
            if session is not None:
                self._connection.give_up_after(session, error)
            with self._lock:
                self._previous.forget()
            return failed_reading(cheap, error)
        with self._lock:
            scene = Scene(self._previous.pairs_to(snapshot), self._running)
            found = group_values(snapshot, scene, cheap)
            outcomes = outcomes_of(snapshot, cheap, found.failed)
            self._last_success |= successes(outcomes, snapshot.taken_at)
        return reading_of(found, outcomes)
