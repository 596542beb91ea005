"""What looks at everything, in the background: expensive sources, facts of the interval, and those who follow them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import Reading, failed_reading, reading_of
from myisam_exporter.exposition.text import Page
from myisam_exporter.exposition.values import group_values
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.freed_memory import give_back
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.queue_glances import QueueGlances
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.metrics.base import Scene
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import Session
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.followers import Follower, followed
from myisam_exporter.watching.glancer import Glancer
from myisam_exporter.watching.memory import LookMemory
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.outcomes import outcomes_of, successes
from myisam_exporter.watching.scrapes import cheap_collectors

# Facts from the background older than this many intervals are no longer exposed.
STALE_INTERVALS = 3
# Where the rows of so many tables were all made anew, what the former ones took is worth giving back.
MANY_TABLES = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    """What the last look found, when it ended, and when each collector and follower last gave everything. Published whole, never changed."""

    moment: float
    reading: Reading = field(default_factory=Reading)
    last_success: Mapping[str, float] = field(default_factory=dict)


class Background:
    """Looks at one target in the thread of its beat, one look at a time: that beat alone touches the memory.

    Others see what was found: one object, in the place of which the next look puts another. `judging` is held while facts are worked out.
    """

    def __init__(
        self,
        label: str,
        connection: Connection,
        options: WatchOptions,
        glancer: Glancer,
        memory: LookMemory,
        followers: Sequence[Follower],
        judging: threading.Lock,
        clock: Clock = CLOCK,
    ) -> None:
        self.looks = 0
        self.memory = memory
        self._label = label
        self._connection = connection
        self._options = options
        self._glancer = glancer
        self._followers = followers
        self._judging = judging
        self._clock = clock
        self._generation_of_tables = self._count_of_tables = 0
        self._made_anew = False
        self._busy_since: float | None = None
        self._found = Found(clock.monotonic())

    def look(self) -> Reading:
        """Look at everything, and publish what was found."""
        self._busy_since = self._clock.monotonic()
        try:
            return self._look()
        finally:
            self._busy_since = None
            self.looks += 1

    @property
    def busy_seconds(self) -> float:
        """How long the look that is under way has taken; 0 between two looks."""
        since = self._busy_since
        return 0.0 if since is None else self._clock.monotonic() - since

    @property
    def failure(self) -> str:
        """Why the last look failed, or nothing."""
        return self._found.reading.failure

    def found(self) -> Found:
        """What the last look found; when that is too old nothing is left of it but that each collector failed since."""
        found = self._found
        if self._clock.monotonic() - found.moment <= STALE_INTERVALS * self._options.background_seconds:
            return found
        outcomes = {name: replace(outcome, success=False) for name, outcome in found.reading.outcomes.items()}
        if not outcomes:  # the first look hangs, and an alert on what fails would hear of nobody
            outcomes = dict(failed_reading(self._names(), UserError("")).outcomes)
        return replace(found, reading=Reading(outcomes=outcomes, failure=found.reading.failure))

    def _look(self) -> Reading:
        session = None
        try:
            session = self._connection.session()
            snapshot = self._snapshot(session)
        except UserError as error:
            if session is not None:
                self._connection.give_up_after(session, error)
            self.memory.snapshot = None
            self._glancer.watch_process(None)
            self._glancer.interrupt()
            return self._publish(failed_reading(self._names(), error), {})
        with self._judging:
            reading = self._judged(snapshot)
        self.memory.snapshot = snapshot
        if self._made_anew:
            give_back()
        process = location_of(snapshot.sample(SERVER)).pid
        self._glancer.watch_process(None if isinstance(process, Unknown) else process)
        return reading

    def _snapshot(self, session: Session) -> Snapshot:
        context = self._options.context(session, self._clock)
        context.threads_running = self._glancer.taken_threads_running()
        context.in_query_cache = self._glancer.taken_in_query_cache()
        self.memory.lend(context)
        snapshot = take_snapshot(context)
        self._glancer.watch_queue(QueueGlances(session, snapshot.sample(VARIABLES)))
        return snapshot

    def _names(self) -> frozenset[str]:
        """Of whom a look tells how they fared."""
        collectors = frozenset(collector.name for collector in all_collectors()) - cheap_collectors()
        return collectors | {follower.name for follower in self._followers}

    def _publish(self, reading: Reading, succeeded: Mapping[str, float]) -> Reading:
        self._found = Found(self._clock.monotonic(), reading, {**self._found.last_success, **succeeded})
        return reading

    def _judged(self, snapshot: Snapshot) -> Reading:
        memory = self.memory
        interval = Interval(snapshot, memory.snapshot)
        try:
            interval.refuse_restart()
        except UserError:
            interval = Interval(snapshot)
        facts = interval.facts(memory.tables)
        self._note_tables(facts.tables["tables"])
        choice = memory.chooser.choose(facts.tables["tables"])
        scene = Scene(pairs_between(interval.before, snapshot), memory.running, facts, choice)
        expensive = frozenset(snapshot.samples) - cheap_collectors()
        found = group_values(snapshot, scene, expensive)
        outcomes = outcomes_of(snapshot, expensive, found.failed)
        succeeded, pages = successes(outcomes, snapshot.taken_at), {}
        before = self._found.reading.pages
        for follower in self._followers:
            last = before.get(follower.name, Page())
            pages[follower.name], outcome = followed(follower, self._label, facts, choice, last, self._clock)
            outcomes[follower.name] = outcome
            succeeded |= successes({follower.name: outcome}, self._clock.time())
        return self._publish(reading_of(found, outcomes, before, pages), succeeded)

    def _note_tables(self, tables: FactRows) -> None:
        """Whether the rows of many tables are all others than those of the look before: in the first looks, and when a table comes or goes."""
        is_same = tables.generation == self._generation_of_tables
        count = len(tables.rows)
        is_many = max(count, self._count_of_tables) >= MANY_TABLES
        self._made_anew = not is_same and tables.change is None and is_many
        self._generation_of_tables, self._count_of_tables = tables.generation, count
