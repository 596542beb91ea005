"""Watching one target for a daemon: cheap sources read while a scrape waits, expensive ones in the background.

Scrapes that come at the same time share one reading. What an earlier reading gave is never served as if it were now: while the server
does not answer, only `up` and the exporter's own metrics are exposed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from myisam_exporter.collectors.base import (
    NOT_TRACED,
    PAGE_CACHE_SWEEP_SECONDS,
    Context,
    all_collectors,
    with_prerequisites,
)
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.status import STATUS, THREADS_RUNNING
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import Outcome, Reading, failed_reading
from myisam_exporter.exposition.text import Page, joined, page_of
from myisam_exporter.exposition.values import GroupValues, group_values
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.sweeper import Sweeper
from myisam_exporter.kernel.process import thread_switches
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.merging import Remembered
from myisam_exporter.look.pairs import Latest, pairs_between
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.look.table_choice import Choice, TableChooser
from myisam_exporter.metrics.base import Metric, Running, Scene, Value
from myisam_exporter.outside.numbers import finite_number
from myisam_exporter.server.location import ELSEWHERE
from myisam_exporter.server.target import Target
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.glances import STATEMENT, Glance, Glances, Peak
from myisam_exporter.watching.single_flight import SingleFlight

if TYPE_CHECKING:
    from myisam_exporter.kernel.tracepoints import PageCacheTracer

DEFAULT_BACKGROUND_SECONDS = 60.0
# Facts from the background older than this many intervals are no longer exposed.
STALE_INTERVALS = 3
LAST_RUN = "at the collector's last run"
_log = logging.getLogger(__name__)
# One look after another works out its facts: several at once would only take the interpreter from each other, thousands of times a look.
_JUDGING = threading.Lock()

UP = Metric("up", "gauge", "1 when the server answered this scrape, else 0.")
COLLECTOR_METRICS = (
    Metric("exporter_collector_success", "gauge", f"1 when it gave everything there is, else 0, {LAST_RUN}.", ("collector",)),
    Metric("exporter_collector_supported", "gauge", "0 where this server, kernel or configuration does not have the source, else 1.", ("collector",)),
    Metric("exporter_collector_duration_seconds", "gauge", "Duration of the collector's last run.", ("collector",)),
    Metric("exporter_collector_last_success_timestamp_seconds", "gauge", "When it last gave everything there is.", ("collector",)),
)  # fmt: skip


class Follower(Protocol):
    """Somebody who is told the facts after each look in the background, and may have metrics to add."""

    @property
    def name(self) -> str:
        """What `collect[]` calls it."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """What it may expose."""

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Take the facts of the last interval; give values for the exposition."""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How targets are watched."""

    timeout_seconds: int = 5
    background_seconds: float = DEFAULT_BACKGROUND_SECONDS
    page_cache_seconds: float = PAGE_CACHE_SWEEP_SECONDS
    key_caches: tuple[str, ...] = ()
    tracer: PageCacheTracer | Unknown = NOT_TRACED
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")


@lru_cache(maxsize=1)
def cheap_collectors() -> frozenset[str]:
    """Those read while a scrape waits."""
    return frozenset(collector.name for collector in all_collectors() if not collector.expensive)


class Watch:
    """One target. Thread-safe: scrapes and the background share the connection and nothing else."""

    def __init__(
        self,
        label: str,
        resolve: Callable[[], Target],
        executor: Executor,
        options: WatchOptions,
        chooser: TableChooser,
        followers: Sequence[Follower] = (),
    ) -> None:
        self.label = label
        self.options = options
        self.connection = Connection(resolve, options.timeout_seconds)
        self.last_asked = time.monotonic()
        self.followers = followers
        self.looks = 0
        self._busy_since: float | None = None
        self._chooser = chooser
        self._flights: SingleFlight[Reading] = SingleFlight(executor, 2.0 * options.timeout_seconds)
        self._state = threading.Lock()  # held while counters grow, never while anything is waited for
        self._cheap_running, self._background_running = Running(), Running()
        self._previous = Latest()
        self._last_success: dict[str, float] = {}
        self._full: Snapshot | None = None
        self._background = Reading()
        self._threads_running: list[float] = []
        self._glances = Glances()
        # What the looks have in common while little changes; only the background touches them.
        self._remembered = Remembered()
        self._scanner, self._sweeper = DirectoryScanner(), Sweeper()

    def names(self) -> frozenset[str]:
        """What `collect[]` may name."""
        return frozenset(collector.name for collector in all_collectors()) | {one.name for one in self.followers}

    def scrape(self, selected: frozenset[str]) -> Future[Reading]:
        """A reading of the selected cheap collectors, shared with whoever asks for the same at the same time."""
        self.last_asked = time.monotonic()
        return self._flights.join(selected, lambda: self._read(selected))

    def give_up(self) -> None:
        """Cut the connection: whoever waits for the server in another thread stops waiting."""
        self.connection.abort()

    def no_reading(self, why: str) -> Reading:
        """What to expose when a reading did not end in time."""
        return failed_reading(cheap_collectors(), UserError(why))

    def exposition(
        self,
        reading: Reading,
        selected: frozenset[str],
        names: Collection[str],
        gzipped: bool,
        further: Sequence[Page] = (),
    ) -> bytes:
        """The page: what the background found, then what this scrape found, then how the collectors fared, then what is `further`."""
        pages = [] if reading.failure else [*self._background_pages(selected), *reading.pages.values()]
        background = self._background.outcomes
        if self._is_stale():
            background = {name: replace(outcome, success=False) for name, outcome in background.items()}
        outcomes = {**background, **reading.outcomes}
        own = page_of((UP, *COLLECTOR_METRICS), self._own_values(reading, outcomes, selected))
        pages += [own, *further]
        if names:
            pages = [page.restricted(names) for page in pages]
        return joined(pages, gzipped)

    def look(self) -> Reading:
        """A look at everything, in the background: expensive sources, facts of the interval, and those who follow them."""
        self._busy_since = time.monotonic()
        try:
            return self._look()
        finally:
            self._busy_since = None
            self.looks += 1

    @property
    def busy_seconds(self) -> float:
        """How long the look that is under way has taken; 0 between two looks."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def _look(self) -> Reading:
        session = None
        try:
            session = self.connection.session()
            context = self._context(session)
            context.threads_running, self._threads_running = self._threads_running, []
            context.scanner, context.sweeper = self._scanner, self._sweeper
            snapshot = take_snapshot(context)
        except UserError as error:
            if session is not None:
                self.connection.lost(session, str(error))
            self._full = None
            self._glances.interrupt()
            self._background = failed_reading(self.names() - cheap_collectors(), error)
            return self._background
        with _JUDGING:
            self._background = self._judged(snapshot)
        self._full = snapshot
        return self._background

    def glance(self) -> None:
        """Read how many threads run, and a few counters: readings at the ends of an interval say little of it. Never connects."""
        session = self.connection.open_session
        if session is None:
            return
        moment = time.monotonic()
        try:
            rows = session.rows_or_unknown(STATEMENT, 2)
        except UserError as error:
            self.connection.lost(session, str(error))
            self._glances.interrupt()
            return
        if isinstance(rows, Unknown):
            return
        numbers = ((name or "", finite_number(value)) for name, value in rows)
        status = {name: float(number) for name, number in numbers if number is not None}
        if THREADS_RUNNING in status:
            self._threads_running.append(status[THREADS_RUNNING])
        self._glances.take(Glance(moment, status, self._switches()))

    def peaks(self, seconds: float) -> dict[str, Peak]:
        """How high rates rose in the last seconds; see glances.py."""
        return self._glances.peaks(time.monotonic() - seconds)

    def values(self, reading: Reading) -> list[Value]:
        """What the background found and what this reading found; nothing of the background where the server does not answer."""
        return [] if reading.failure else [*([] if self._is_stale() else self._background.values), *reading.values]

    @property
    def failure(self) -> str:
        """Why the last look in the background failed, or nothing."""
        return self._background.failure

    def close(self) -> None:
        """End the connection."""
        self.connection.close()

    def renew(self) -> None:
        """End the connection if its target is another one by now."""
        try:
            self.connection.renew()
        except UserError as error:
            _log.warning("%s keeps its connection: %s", self.label, error)

    def _switches(self) -> dict[int, tuple[int, int]] | None:
        server = self._full.sample(SERVER) if self._full else Unknown("not looked at yet")
        if isinstance(server, Unknown) or isinstance(server.location.pid, Unknown):
            return None
        try:
            return dict(thread_switches(self.options.proc / str(server.location.pid)))
        except OSError:
            return None

    def _context(self, session: Any) -> Context:
        options = self.options
        return Context(
            session.target,
            session,
            options.proc,
            options.sys,
            options.page_cache_seconds,
            options.tracer,
            options.key_caches,
        )

    def _read(self, selected: frozenset[str]) -> Reading:
        """The selected cheap collectors, now; the status always, for whether the server answers."""
        session = None
        wanted = with_prerequisites({STATUS.name, *(selected & cheap_collectors())})
        try:
            session = self.connection.session()
            snapshot = take_snapshot(self._context(session), only=wanted)
            if snapshot.status is None:
                raise UserError("the server does not tell its status.")
        except UserError as error:
            if session is not None:
                self.connection.lost(session, str(error))
            with self._state:
                self._previous.forget()
            return failed_reading(selected & cheap_collectors(), error)
        with self._state:
            scene = Scene(self._previous.pairs_to(snapshot), self._cheap_running)
            found = group_values(snapshot, scene, selected & cheap_collectors())
        outcomes = self._outcomes(snapshot, selected & cheap_collectors(), found.failed)
        return Reading(_pages(found), _flat(found), outcomes)

    def _judged(self, snapshot: Snapshot) -> Reading:
        interval = Interval(snapshot, self._full, self._remembered)
        try:
            interval.refuse_restart()
        except UserError:
            interval = Interval(snapshot, None, self._remembered)
        facts = interval.facts()
        choice = self._chooser.choose(facts.tables["tables"])
        pairs = pairs_between(interval.before, snapshot)
        scene = Scene(pairs, self._background_running, facts, choice)
        expensive = frozenset(snapshot.samples) - cheap_collectors()
        found = group_values(snapshot, scene, expensive)
        pages, outcomes = _pages(found), self._outcomes(snapshot, expensive, found.failed)
        for follower in self.followers:
            pages[follower.name], outcomes[follower.name] = self._followed(follower, facts, choice)
        return Reading(pages, _flat(found), outcomes)

    def _followed(self, follower: Follower, facts: FactSet, choice: Choice) -> tuple[Page, Outcome]:
        started = time.monotonic()
        try:
            page = page_of(follower.metrics, follower.follow(self.label, facts, choice))
        except Exception:
            _log.exception("%s failed on %s", follower.name, self.label)
            return Page(b""), Outcome(False, True, time.monotonic() - started)
        self._last_success[follower.name] = time.time()
        return page, Outcome(True, True, time.monotonic() - started)

    def _outcomes(
        self, snapshot: Snapshot, names: Collection[str], failed_groups: Collection[str]
    ) -> dict[str, Outcome]:
        outcomes = {}
        for collector in all_collectors():
            if collector.name in names:
                sample = snapshot.samples[collector.name]
                missing = sample if isinstance(sample, Unknown) else None
                whole = missing is None and collector.incomplete(sample) is None and collector.name not in failed_groups
                # What a daemon elsewhere can never see is no failure of it.
                supported = missing is None or not (missing.off or missing == ELSEWHERE)
                outcomes[collector.name] = Outcome(whole, supported, snapshot.durations[collector.name])
                if whole:
                    self._last_success[collector.name] = snapshot.taken_at
        return outcomes

    def _background_pages(self, selected: Collection[str]) -> Iterable[Page]:
        return [] if self._is_stale() else [page for name, page in self._background.pages.items() if name in selected]

    def _is_stale(self) -> bool:
        return time.monotonic() - self._background.moment > STALE_INTERVALS * self.options.background_seconds

    def _own_values(
        self, reading: Reading, outcomes: Mapping[str, Outcome], selected: Collection[str]
    ) -> Iterable[Value]:
        yield Value("up", int(not reading.failure))
        for name, outcome in outcomes.items():
            if name not in selected:
                continue
            if outcome.supported:
                yield Value("exporter_collector_success", int(outcome.success), (name,))
            yield Value("exporter_collector_supported", int(outcome.supported), (name,))
            yield Value("exporter_collector_duration_seconds", outcome.seconds, (name,))
            yield Value("exporter_collector_last_success_timestamp_seconds", self._last_success.get(name), (name,))


def _pages(found: GroupValues) -> dict[str, Page]:
    """One page a collector."""
    return {name: page_of(found.metrics[name], values) for name, values in found.values.items()}


def _flat(found: GroupValues) -> tuple[Value, ...]:
    return tuple(value for values in found.values.values() for value in values)
