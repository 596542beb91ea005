"""The rules, judged after each look of the daemon, as metrics."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.announcer import Announcer
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.history.format import samples_of
from myisam_advisor.history.memory import DEFAULT_PAUSE_SECONDS, Clocks, Memory
from myisam_advisor.history.writer import History, Remembered
from myisam_advisor.judging.faults import KnownFaults
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import Episode, Key, dated, named, silence_of, worth_remembering
from myisam_advisor.judging.prepared import PreparedFacts, prepared
from myisam_advisor.judging.told import Told
from myisam_advisor.proofs.store import KeptProofs, ProofStore, of_all
from myisam_advisor.remedies.refused_conversions import LookForRefusals, Refusals
from myisam_advisor.reports.advice_metrics import METRICS, advice_values
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.texts.templates import printable
from myisam_advisor.top.document import shown_of
from myisam_advisor.top.moment import Moment
from myisam_exporter.facts.columns import TableName
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.look.table_choice import Choice
from myisam_exporter.metrics.base import Value
from myisam_exporter.outside.clock import CLOCK, Clock

TABLES_WORTH_KEEPING = 2000
# What the server refuses to convert is asked of whole databases: where they hold more, that takes memory and seconds which a daemon is not given.
TABLES_TO_LIST_AGAIN = 20_000
_log = logging.getLogger(__name__)


class Advice:
    """Findings of the last interval, put on the board. `site` is asked at each look: a reload may bring others.

    `refusals` gives, for a target, what tells which of its tables the server refuses to convert.
    """

    name = "advice"
    metrics = METRICS

    def __init__(
        self,
        site: Callable[[], Site],
        history: History | None,
        board: Board,
        clock: Clock = CLOCK,
        proofs: Sequence[ProofStore] = (),
        refusals: Callable[[str], LookForRefusals] | None = None,
    ) -> None:
        self._site = site
        self._history = history
        self._board = board
        self._clock = clock
        self._announcer = Announcer()
        self._proofs = proofs
        self._refusals = refusals
        self._refusals_kept: dict[str, LookForRefusals] = {}
        self._refused: tuple[str, ...] = ()
        self._memories: dict[str, Memory] = {}
        self._told: dict[str, Told] = {}
        self._databases: dict[str, FactDatabase] = {}
        self._database_of_many = FactDatabase(of_many=True)
        self._faults: tuple[Site | None, KnownFaults] = (None, KnownFaults())

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Judge these facts."""
        if self._history is not None:
            facts = self._history.with_remembered(label, facts)
        site = self._site()
        ready = prepared(facts, site, self._proved())
        judgement = self._judged(label, ready)
        monotonic = self._clock.monotonic()
        clocks = Clocks(self._clock.time(), monotonic, facts.uptime_seconds_at(monotonic))
        remembered = self._remember(label, judgement, facts.interval_seconds, clocks)
        self._announcer.announce(label, remembered.turns, clocks)
        since: Mapping[Key, Episode] = {}
        past = None
        if remembered.lasts:
            # The latest first: of what is told on, the episode that it belongs to.
            since = {one.key: one for one in reversed(remembered.past.episodes)} | {**remembered.since}
            past = named(remembered.past, site)
        look = look_at(dated(judgement, since, clocks.wall), ready.judged, clocks.wall, past)
        self._board.put(label, look, samples_of(ready.complete, choice))
        self._board.put_moment(
            label, Moment(shown_of(ready.judged, choice.shown), look.judgement, look.verdict, clocks.wall)
        )
        yield from advice_values(look.judgement, facts.interval_seconds)

    def forget(self, label: str) -> None:
        """Drop what is kept of a target that is watched no more."""
        self._memories.pop(label, None)
        self._told.pop(label, None)
        self._refusals_kept.pop(label, None)
        database = self._databases.pop(label, None)
        if database is not None:
            database.close()
        self._announcer.forget(label)
        self._board.forget(label)

    def _proved(self) -> KeptProofs:
        """What is kept now: read again only where something came or went. What is no proof is logged once."""
        kept = of_all(self._proofs, self._clock.time())
        if kept.refused != self._refused:
            self._refused = kept.refused
            for why in kept.refused:
                _log.warning("%s", printable(why))
        return kept

    def _remember(self, label: str, judgement: Judgement, interval_seconds: float | None, clocks: Clocks) -> Remembered:
        """By the history; where there is none, or none that can be read, only what this daemon saw, for the log."""
        silence = silence_of(judgement, interval_seconds)
        found = worth_remembering(judgement, interval_seconds)
        kept = self._history.remember(label, found, silence, clocks) if self._history else None
        if kept is not None:
            before = self._memories.pop(label, None)
            # The log was told already of what was found while the file could not be read.
            return kept if before is None else replace(kept, turns=kept.turns.without(before.since().keys()))
        memory = self._memories.setdefault(label, Memory(label, DEFAULT_PAUSE_SECONDS))
        turns = memory.look(found, silence, clocks)
        memory.written()
        return Remembered(turns, {}, memory.past(), lasts=False)

    def _judged(self, label: str, ready: PreparedFacts) -> Judgement:
        """By the site's rules, without those that were stopped; which of them were stopped now is said once."""
        known = self._known_faults(ready.site)
        before = set(known.reasons)
        judgement = self._judged_by(label, ready, known)
        for rule in ready.site.rules:
            if rule.id in known.reasons.keys() - before:
                why = known.reasons[rule.id]
                _log.warning("the rule %s is disabled until a reload: %s. Mend %s.", rule.id, why, rule.path)
        return judgement

    def _judged_by(self, label: str, ready: PreparedFacts, known: KnownFaults) -> Judgement:
        """With the database of the last look, where filling it takes long: it takes as much memory as it saves time. All others share one."""
        told = self._told.setdefault(label, Told())
        told.begin(ready, self._clock.monotonic())
        tables = len(ready.judged.tables["tables"].rows)
        refusals = self._refusals_of(label)
        if refusals is not None and tables >= TABLES_TO_LIST_AGAIN:
            refusals = partial(of_small_databases, refusals, ready.judged.tables["tables"])
        # Taken out while it is used: one in which a judgement failed half-way is not used again.
        database = self._databases.pop(label, None)
        if tables < TABLES_WORTH_KEEPING:
            if database is not None:
                database.close()
            return judge(ready, self._database_of_many, known, told=told, refusals=refusals)
        database = database or FactDatabase()
        judgement = judge(ready, database, known, told=told, refusals=refusals)
        self._databases[label] = database
        return judgement

    def _refusals_of(self, label: str) -> LookForRefusals | None:
        if self._refusals is not None and label not in self._refusals_kept:
            self._refusals_kept[label] = self._refusals(label)
        return self._refusals_kept.get(label)

    def _known_faults(self, site: Site) -> KnownFaults:
        """Those of this site: a reload brings another one, whose rules may have been mended."""
        if self._faults[0] is not site:
            self._faults = (site, KnownFaults())
        return self._faults[1]


def of_small_databases(look: LookForRefusals, tables: FactRows, names: Sequence[TableName]) -> Refusals:
    """The refusals of those tables whose databases hold no more together than may be listed again, the smallest first; nothing of the others."""
    held = Counter(tables.values("schema_name"))
    allowed, left = set[str](), TABLES_TO_LIST_AGAIN
    for schema in sorted({schema for schema, _ in names}, key=held.__getitem__):
        left -= held[schema]
        if left < 0:
            break
        allowed.add(schema)
    small = [name for name in names if name[0] in allowed]
    return look(small) if small else {}
