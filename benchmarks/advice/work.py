"""What is done of one scenario on one server, apart from root: ask the advisers, measure what is not known yet, tell each result at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.advice.averting import averted, damage_left, keys_of_all
from benchmarks.advice.changes import Piece, Untouching
from benchmarks.advice.left import best_is_known, measured_for, pieces_left, reached, search_of, whole_left
from benchmarks.advice.model import Advice, Adviser, WatchedServer
from benchmarks.advice.outcomes import GLANCE, UNTOUCHED, Outcome, outcome_of, within
from benchmarks.advice.record import (
    ADVICE,
    AVERTED,
    BEST,
    FAILED,
    MEASURED,
    SEARCHED,
    WHOLE,
    Line,
    advice_line,
    advice_of,
    of_kind,
)
from benchmarks.advice.scenarios import Scenario
from benchmarks.advice.search import as_pieces
from benchmarks.advice.stage import Player, Stage, under_load
from benchmarks.advice.twice import of_this_processor
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.rounds import Limits

Tell = Callable[[Mapping[str, Any]], None]
# Advisers are asked on the other side: as root, where we were it, as who runs a server would.
Ask = Callable[[WatchedServer, Sequence[str]], Sequence[Line]]
OURS, NOBODY = "myisam-advisor", "nobody"
ONE_WRITE_OF_INNODB = (
    "CREATE DATABASE advice_once",
    "CREATE TABLE advice_once.t (id INT PRIMARY KEY) ENGINE=InnoDB",
    "DROP DATABASE advice_once",
)
# Where less is left, no measurement is begun.
SHORTEST_PIECE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take: a run, the load before advisers are asked, one measurement at most, and all of it."""

    run_seconds: float = 1.0
    loaded_seconds: float = 15.0
    piece_seconds: float = 60.0
    until: float = float("inf")


def answers(watched: WatchedServer, advisers: Sequence[Adviser]) -> list[dict[str, Any]]:
    """What each says, as lines of a record; one that fails gives no advice, and the others do."""
    lines = []
    for one in advisers:
        try:
            lines.append(advice_line(one.advice(watched)))
        except Exception as error:
            lines.append({"kind": FAILED, "adviser": one.name, "why": f"{type(error).__name__}: {error}"[:500]})
    return lines


@dataclass
class Session:
    """A scenario on a server. `measured_elsewhere` says in how many other scenarios a change of this variable was measured already."""

    scenario: Scenario
    stage: Stage
    advisers: Sequence[Adviser]
    known: list[Line]
    tell: Tell
    ask: Ask
    pace: Pace
    untouching: Untouching
    measured_elsewhere: Mapping[str, int] = field(default_factory=dict)
    searches: int = 0
    ask_again: bool = False
    of: Collection[str] | None = None
    only: Collection[str] | None = None
    again_on: str | None = None

    def do(self) -> None:
        """Everything that is not known yet, until the time is over; where there are `only` these keys, of changes these, each alone.

        `again_on` this machine, what other kinds of processors measured is not known.
        """
        self._ask()
        advice = measured_for(advice_of(self.known), self.of)
        advice.sort(key=lambda one: one.adviser != OURS)
        # Ours first: where time is short, at least that is known.
        for one in advice:
            for piece in pieces_left(one, self._known_here, self.pace.piece_seconds, self.only):
                if self.is_over:
                    return
                self._measure(piece)
        if self.only is not None:
            return
        for one in advice:
            applied = whole_left(one, self.known, self.pace.piece_seconds)
            if applied and not self.is_over:
                self._measure_whole(one.adviser, applied)
        for one in advice:
            self._provoke(one)
        space = self.scenario.search_on(self.stage.binaries.flavour)
        if self.searches and space:
            self._search(space)

    @property
    def _known_here(self) -> Sequence[Line]:
        return self.known if self.again_on is None else of_this_processor(self.known, self.again_on)

    @property
    def _measured(self) -> set[str]:
        """Whose changes are measured; nobody's is no choice of whom to ask."""
        return {*(self.of or ())} - {NOBODY}

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return self._seconds_left < SHORTEST_PIECE_SECONDS

    @property
    def _seconds_left(self) -> float:
        return self.pace.until - time.monotonic()

    def _note(self, line: dict[str, Any]) -> None:
        self.known.append(line)
        self.tell(line)

    def _ask(self) -> None:
        asked = () if self.ask_again else {line["adviser"] for line in of_kind(self.known, ADVICE)}
        wanted = [
            one
            for one in self.advisers
            if one.name not in asked and not (self.ask_again and self._measured and one.name not in self._measured)
        ]
        if not wanted:
            return
        with self.stage.untouched() as player:
            # MySQLTuner 1.9.9 divides by what InnoDB wrote; a server that has run for a while has written something.
            player.server.execute(*ONE_WRITE_OF_INNODB)
            if self.scenario.idle_when_asked:
                self._answers(player, wanted)
                return
            with under_load(player) as failed:
                time.sleep(self.pace.loaded_seconds)
                if not failed:
                    self._answers(player, wanted)
            if failed:
                raise TrialError(f"{self.scenario.name}: the load failed: {failed[0]}")

    def _answers(self, player: Player, advisers: Sequence[Adviser]) -> None:
        server = player.server
        watched = WatchedServer(
            server.socket, server.binaries.name, server.data_directory, "root", None, self.pace.loaded_seconds
        )
        self.known += self.ask(watched, [one.name for one in advisers])

    def _within(self) -> Limits:
        """A measurement's time: less where less is left."""
        seconds = max(min(self.pace.piece_seconds, self._seconds_left), SHORTEST_PIECE_SECONDS)
        return within(seconds, short_runs=self.scenario.may_be_short)

    def _measure(self, piece: Piece) -> None:
        why = self.untouching.why(piece)
        spent = self.measured_elsewhere.get(piece.variable or piece.key, 0)
        if why is not None and spent >= self.untouching.measured_all_the_same:
            self._note({"kind": MEASURED, "key": piece.key, **Outcome(UNTOUCHED, why).document()})
            return
        found = outcome_of(self.stage, piece.each, self._within())
        self._note({"kind": MEASURED, "key": piece.key, **found.document()})

    def _measure_whole(self, adviser: str, applied: Sequence[Piece]) -> None:
        parts = [part for piece in applied for part in piece.each]
        found = outcome_of(self.stage, parts, self._within())
        keys = [part.key for part in parts]
        self._note({"kind": WHOLE, "adviser": adviser, "keys": keys, **found.document()})

    def _provoke(self, advice: Advice) -> None:
        """The damage that its rules warn of."""
        damage = self.scenario.damage
        for rule, own in damage_left(advice, damage, self.known).items():
            if self.is_over:
                return
            found = averted(self.stage, own, damage[rule])
            self._note({"kind": AVERTED, "rule": rule, "keys": keys_of_all(own), **found.document()})

    def _search(self, space: Mapping[str, tuple[str, ...]]) -> None:
        search = search_of(self.scenario.name, space, self.known, self.searches)
        for settings in search:
            if self.is_over:
                return
            found = outcome_of(self.stage, as_pieces(settings), GLANCE)
            search.note(settings, reached(found.outcome, found.ratio))
            self._note({"kind": SEARCHED, "settings": settings, **found.document()})
        best = search.best
        if best is not None and not best_is_known(self.known, best):
            found = outcome_of(self.stage, as_pieces(best), self._within())
            self._note({"kind": BEST, "settings": best, **found.document()})
