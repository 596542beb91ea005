"""Looks at one server again and again, as a daemon does, over one connection that is made anew when it is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.judging.faults import KnownFaults
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.migrate.refused_here import KeptRefusals
from myisam_advisor.proofs.store import of_all, proof_stores
from myisam_advisor.top.moment import Moment
from myisam_advisor.workload.kinds.seen import SeenStatements, myisam_tables, not_told
from myisam_advisor.workload.kinds.watch import StatementWatch
from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.merging import Remembered
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.glancer import Glancer
from myisam_exporter.watching.memory import LookMemory
from myisam_exporter.watching.options import WatchOptions

# As `check` looks: the verdict is over as long an interval.
JUDGED_SECONDS = 10.0
# How long the tables are good for that are asked for by SQL where no file can be seen: asking opens some, and takes up to a second.
ASKED_TABLES_SECONDS = 60.0


_ALL = frozenset(collector.name for collector in all_collectors())
# States that are dear, and that their collectors do not remember from look to look.
_DEAR = frozenset(one.name for one in all_collectors() if one.expensive and one.states_only and not one.steady)
Value = TypeVar("Value")


class Looker:
    """One server. All but `give_up` is for one thread; what it remembers from look to look is what a daemon remembers.

    `watch` begins to watch the server's statements, where somebody asked for them.
    """

    def __init__(
        self, resolve: Callable[[], Target], options: WatchOptions, site: Site, watch: Callable[[], StatementWatch] | None = None,
        clock: Clock = CLOCK,
    ) -> None:  # fmt: skip
        self._begin_watch = watch
        self._watch: StatementWatch | None = None
        self._is_new_watch = False
        self._options = options
        self._site = site
        self._connection = Connection(resolve, options.timeout_seconds)
        self._refusals = KeptRefusals(self._connection.session, options.proc)
        self._memory = LookMemory(TableChooser())
        self._glancer = Glancer(self._connection, options.proc, switches=self._memory.switches)
        self._judged = Remembered()
        self._earlier: deque[Snapshot] = deque()
        self._database = FactDatabase()
        self._faults = KnownFaults()
        self._proofs = proof_stores()
        self._kept: Snapshot | None = None
        self._kept_at = 0.0
        self._clock = clock

    def connect(self) -> str:
        """How the server is called. Raises UserError when it cannot be reached, or its statements cannot be seen."""
        label = self._connection.session().target.label
        self._watched()
        return label

    def look(self) -> Moment:
        """A look, with rates since the one before. Raises UserError when the server does not answer."""
        session = None
        try:
            session = self._connection.session()
            snapshot = self._snapshot(session)
            moment = self._moment(snapshot)
            return replace(moment, statements=self._statements(moment.facts))
        except UserError as error:
            if session is not None:
                self._connection.lost(session, str(error))
            self._forget()
            raise

    def glance(self) -> None:
        """How many threads run now: readings at the ends of an interval say little of it."""
        self._glancer.glance()

    def rest(self) -> None:
        """For a while nobody looks: the server's statements are not watched meanwhile."""
        self._unwatch()

    def give_up(self) -> None:
        """Cut the connection from another thread: a look that waits for the server ends at once."""
        self._connection.abort()

    def close(self) -> None:
        """End the connection."""
        self._unwatch()
        self._connection.close()
        self._database.close()

    def _snapshot(self, session: Session) -> Snapshot:
        context = self._options.context(session, self._clock)
        context.threads_running = self._glancer.taken_threads_running()
        self._memory.lend(context)
        kept = self._kept
        # By the clock that nobody sets: one that was set back an hour kept them for an hour.
        if kept is not None and self._clock.monotonic() - self._kept_at > ASKED_TABLES_SECONDS:
            kept = None
        snapshot = take_snapshot(context, only=_ALL if kept is None else _ALL - _DEAR)
        if kept is None:
            self._kept, self._kept_at = snapshot, self._clock.monotonic()
            return snapshot
        return replace(
            snapshot,
            samples={**snapshot.samples, **_dear(kept.samples)},
            moments={**snapshot.moments, **_dear(kept.moments)},
            durations={**snapshot.durations, **_dear(kept.durations)},
        )

    def _forget(self) -> None:
        """Another server may answer next."""
        self._earlier.clear()
        self._kept = None
        self._glancer.interrupt()
        self._unwatch()

    def _statements(self, facts: FactSet) -> SeenStatements | None:
        """What was seen since the look before. One that cannot be told is begun anew with the next look: all else goes on."""
        try:
            watch = self._watched()
            if watch is None:
                return None
            seen = watch.take(myisam_tables(facts))
        except UserError as error:
            self._unwatch()
            return not_told(error)
        # It began with this look, or shortly before: of so short a time nothing is told.
        is_new, self._is_new_watch = self._is_new_watch, False
        return SeenStatements(seen.source, 0.0) if is_new else seen

    def _watched(self) -> StatementWatch | None:
        if self._watch is None and self._begin_watch is not None:
            self._watch, self._is_new_watch = self._begin_watch(), True
        return self._watch

    def _unwatch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def _moment(self, snapshot: Snapshot) -> Moment:
        before = self._earlier[-1] if self._earlier else None
        try:
            Interval(snapshot, before).refuse_restart()
        except ServerLostError:
            self._earlier.clear()
            before = None
        while len(self._earlier) > 1 and snapshot.taken_at - self._earlier[1].taken_at >= JUDGED_SECONDS:
            self._earlier.popleft()
        longer = self._earlier[0] if self._earlier else None
        self._earlier.append(snapshot)
        facts = Interval(snapshot, before).facts(self._memory.tables)
        proofs = of_all(self._proofs)
        ready = prepared(facts, self._site, proofs)
        longer_facts = None if longer is before else Interval(snapshot, longer).facts(self._judged)
        judged = ready if longer_facts is None else prepared(longer_facts, self._site, proofs)
        judgement = judge(judged, self._database, self._faults, refusals=self._refusals)
        verdict = verdict_of(judgement, judged.judged.interval_seconds)
        return Moment(ready.judged, judgement, verdict, snapshot.taken_at)


def _dear(values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name in _DEAR}
