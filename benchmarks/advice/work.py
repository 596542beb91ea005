"""What is done of one scenario on one server, apart from root: ask the advisers, measure what is not known yet, tell each result at once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.advice.changes import Piece, Untouching, pieces, whole
from benchmarks.advice.model import Advice, Adviser, WatchedServer
from benchmarks.advice.outcomes import GLANCE, NOT_APPLICABLE, NOTHING, UNTOUCHED, Outcome, outcome_of, within
from benchmarks.advice.record import (
    ADVICE,
    BEST,
    FAILED,
    MEASURED,
    SEARCHED,
    WHOLE,
    Line,
    advice_line,
    advice_of,
    measured_of,
    of_kind,
    whole_of,
)
from benchmarks.advice.scenarios import Scenario
from benchmarks.advice.search import Search, as_pieces
from benchmarks.advice.stage import Player, Stage, under_load
from myisam_advisor.errors import TrialError

Tell = Callable[[Mapping[str, Any]], None]
# Advisers are asked on the other side: as root, where we were it, as who runs a server would.
Ask = Callable[[WatchedServer, Sequence[str]], Sequence[Line]]
OURS = "myisam-advisor"


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take: a run, the load before advisers are asked, one measurement at most, and all of it."""

    run_seconds: float = 1.0
    loaded_seconds: float = 30.0
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
    """A scenario on a server. `others` says in how many other scenarios a change of this variable was measured already."""

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

    def do(self) -> None:
        """Everything that is not known yet, until the time is over."""
        self._ask()
        advice = list(advice_of(self.known).values())
        advice.sort(key=lambda one: one.adviser != OURS)
        # Ours first: where time is short, at least that is known.
        for one in advice:
            for piece in pieces([one]):
                self._measure(piece)
        for one in advice:
            self._measure_whole(one)
        if self.searches and self.scenario.search:
            self._search(self.scenario.search)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return time.monotonic() >= self.pace.until

    def _note(self, line: dict[str, Any]) -> None:
        self.known.append(line)
        self.tell(line)

    def _ask(self) -> None:
        asked = () if self.ask_again else {line["adviser"] for line in of_kind(self.known, ADVICE)}
        wanted = [one for one in self.advisers if one.name not in asked]
        if not wanted:
            return
        with self.stage.untouched() as player:
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

    def _measure(self, piece: Piece) -> None:
        if piece.key in measured_of(self.known) or self.is_over:
            return
        why = self.untouching.why(piece)
        spent = self.measured_elsewhere.get(piece.variable or piece.key, 0)
        if why is not None and spent >= self.untouching.measured_all_the_same:
            self._note({"kind": MEASURED, "key": piece.key, **Outcome(UNTOUCHED, why).document()})
            return
        found = outcome_of(self.stage, [piece], within(self.pace.piece_seconds))
        self._note({"kind": MEASURED, "key": piece.key, **found.document()})

    def _measure_whole(self, advice: Advice) -> None:
        """All of an adviser's changes that can be applied; one alone is known already."""
        measured = measured_of(self.known)
        all_pieces = whole(advice)
        if self.is_over or any(piece.key not in measured for piece in all_pieces):
            return
        applied = [piece for piece in all_pieces if measured[piece.key]["outcome"] not in (NOT_APPLICABLE, UNTOUCHED)]
        keys = [piece.key for piece in applied]
        if len(applied) < 2 or frozenset(keys) in whole_of(self.known):
            return
        found = outcome_of(self.stage, applied, within(self.pace.piece_seconds))
        self._note({"kind": WHOLE, "adviser": advice.adviser, "keys": keys, **found.document()})

    def _search(self, space: Mapping[str, tuple[str, ...]]) -> None:
        tried = [
            (line["settings"], 1.0 if line["outcome"] == NOTHING else line["ratio"])
            for line in of_kind(self.known, SEARCHED)
        ]
        search = Search(space, random.Random(self.scenario.name), self.searches, tried)  # noqa: S311 -- repeatable
        for settings in search:
            if self.is_over:
                return
            found = outcome_of(self.stage, as_pieces(settings), GLANCE)
            search.note(settings, 1.0 if found.outcome == NOTHING else found.ratio)
            self._note({"kind": SEARCHED, "settings": settings, **found.document()})
        best = search.best
        if best is not None and not any(line["settings"] == best for line in of_kind(self.known, BEST)):
            found = outcome_of(self.stage, as_pieces(best), within(self.pace.piece_seconds))
            self._note({"kind": BEST, "settings": best, **found.document()})
