"""Which scrapes and pages are answered at once, and which wait for their turn: a target that hangs takes no turn from the others.

A scrape of a server that answers takes milliseconds, one of a server that hangs as long as a scrape may take: a few a second, by anybody, would
fill all slots. So a target has a share of them, and a part of the line of those who wait. Nor does a crowd that scrapes one target take the line
from the others who do: who waits most gives way to who waits less, and whose turn it is goes by who has the fewest slots. Pages have slots of their
own, in which a path is what a target is to scrapes. Only for the event loop's thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from myisam_exporter.declaring.lean_dataclasses import dataclass

# So many targets that hang fill all slots.
TARGETS_TO_FILL_ALL = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A scrape of this target, or a page of this path, by whom its connection counts with (peers.py)."""

    target: str
    peer: str


class ScrapeSlots:
    """So many scrapes at once: of one target a quarter of them, one at least, while as many wait as make it all of them."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._of_one = max(1, total // TARGETS_TO_FILL_ALL)
        self._waiting_of_one = total - self._of_one
        self._longest_line = 2 * self._waiting_of_one
        self._taken: Counter[str] = Counter()
        self._by_peer: Counter[str] = Counter()
        self._line: dict[asyncio.Future[bool], Asked] = {}  # in the order in which they came

    def __len__(self) -> int:
        """How many are taken."""
        return sum(self._taken.values())

    async def take(self, asked: Asked, seconds: float) -> bool:
        """Take a slot; False where too many wait already, or none comes free within so many seconds."""
        if self._may_begin(asked):
            self._count(asked)
            return True
        if not self._has_room(asked):
            return False
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._line[turn] = asked
        try:
            await asyncio.wait({turn}, timeout=seconds)
        except asyncio.CancelledError:
            if turn.done() and turn.result():
                self.give_back(asked)
            raise
        finally:
            self._line.pop(turn, None)
        return turn.done() and turn.result()

    def give_back(self, asked: Asked) -> None:
        """It is over: of those in line whose target may have a slot, the first of the peer that has the fewest takes its turn."""
        for counts, name in ((self._taken, asked.target), (self._by_peer, asked.peer)):
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
        ready = (turn for turn, one in self._line.items() if self._may_begin(one))
        turn = min(ready, key=lambda turn: self._by_peer[self._line[turn].peer], default=None)
        if turn is not None:
            self._count(self._line.pop(turn))
            turn.set_result(True)

    def _count(self, asked: Asked) -> None:
        self._taken[asked.target] += 1
        self._by_peer[asked.peer] += 1

    def _may_begin(self, asked: Asked) -> bool:
        return len(self) < self._total and self._taken[asked.target] < self._of_one

    def _has_room(self, asked: Asked) -> bool:
        """Whether one more may wait. Where the line is full, the last of the peer that has most in it is sent away for one that has fewer."""
        same = [turn for turn, one in self._line.items() if one.target == asked.target]
        full = same if len(same) >= self._waiting_of_one else list(self._line)
        if full is not same and len(full) < self._longest_line:
            return True
        waiting = Counter(self._line[turn].peer for turn in full)
        most = max(waiting, key=lambda peer: waiting[peer], default=asked.peer)
        # One more of this peer must not be as many as are left of that one: two would send each other away for ever.
        if waiting[most] <= waiting[asked.peer] + 1:
            return False
        last = next(turn for turn in reversed(full) if self._line[turn].peer == most)
        del self._line[last]
        last.set_result(False)
        return True
