"""How many connections there may be, and which one goes when another comes.

A connection that owes us something (a request, or to take its answer) goes before the newest is refused: the one that has owed it for
longest, of those who have the most connections. One whose request is being answered never goes. Whoever sent many requests at once
begins to wait anew with each answer, and would always be younger than who waits for a first one: it goes before.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.web.peers import Peer

# A request and the taking of an answer are a matter of milliseconds for whoever means it.
PATIENCE_SECONDS = 1.0


class Stage(Enum):
    """What a connection waits for."""

    REQUEST = "the client's request"
    ANSWER = "our answer"
    TAKING = "the client to take the answer"


@dataclass(slots=True, eq=False)
class OpenConnection:
    """A connection as the budget sees it; `end` ends it."""

    peer: Peer
    end: Callable[[], object]
    stage: Stage = Stage.REQUEST
    since: float = field(default_factory=time.monotonic)
    answers: int = 0

    def reach(self, stage: Stage) -> None:
        """It waits for something else from now on."""
        self.stage, self.since = stage, time.monotonic()
        self.answers += stage is Stage.TAKING


@dataclass(slots=True)
class ConnectionBudget:
    """The connections of some listeners together: so many in all, so many of one peer."""

    total: int
    per_peer: int
    _open: set[OpenConnection] = field(default_factory=set)

    def admit(self, newcomer: OpenConnection) -> bool:
        """Take it in, at the cost of another where there is no room. False where all that might go are being answered."""
        counts = Counter(one.peer.group for one in self._open)
        own = counts[newcomer.peer.group]
        if own >= self.per_peer:
            candidates = [one for one in self._open if one.peer.group == newcomer.peer.group]
        elif len(self._open) >= self.total:
            candidates = [one for one in self._open if counts[one.peer.group] >= own]
        else:
            candidates = []
        if own >= self.per_peer or len(self._open) >= self.total:
            victim = _first_to_go(candidates, counts)
            if victim is None:
                return False
            self.release(victim)
            victim.end()
        self._open.add(newcomer)
        return True

    def release(self, connection: OpenConnection) -> None:
        """It is over."""
        self._open.discard(connection)

    def __len__(self) -> int:
        return len(self._open)


def _first_to_go(candidates: Iterable[OpenConnection], counts: Counter[str]) -> OpenConnection | None:
    """Of the greediest: who owes a request, then who takes no answer; who has just begun to wait comes last, and last of these who has had one answer or none."""
    now = time.monotonic()

    def order(one: OpenConnection) -> tuple[int, bool, bool, float]:
        is_fresh = now - one.since < PATIENCE_SECONDS
        return (
            -counts[one.peer.group],
            is_fresh,
            one.answers <= 1 if is_fresh else one.stage is Stage.TAKING,
            one.since,
        )

    return min((one for one in candidates if one.stage is not Stage.ANSWER), key=order, default=None)
