"""Which scrapes are answered at once, and which wait for their turn: a target that hangs takes no turn from the others.

A scrape of a server that answers takes milliseconds, one of a server that hangs as long as a scrape may take: a few a second, by anybody, would
fill all slots. So a target has a share of them, and a part of the line of those who wait. Only for the event loop's thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter

# So many targets that hang fill all slots.
TARGETS_TO_FILL_ALL = 4


class ScrapeSlots:
    """So many scrapes at once: of one target a quarter of them, one at least, while as many wait as make it all of them."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._of_one = max(1, total // TARGETS_TO_FILL_ALL)
        self._waiting_of_one = total - self._of_one
        self._longest_line = 2 * self._waiting_of_one
        self._taken: Counter[str] = Counter()
        self._line: dict[asyncio.Future[None], str] = {}  # in the order in which they came

    def __len__(self) -> int:
        """How many are taken."""
        return sum(self._taken.values())

    async def take(self, target: str, seconds: float) -> bool:
        """Take a slot for this target; False where too many wait already, or none comes free within so many seconds."""
        if self._may_begin(target):
            self._taken[target] += 1
            return True
        waiting = sum(one == target for one in self._line.values())
        if waiting >= self._waiting_of_one or len(self._line) >= self._longest_line:
            return False
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line[turn] = target
        try:
            await asyncio.wait({turn}, timeout=seconds)
        except asyncio.CancelledError:
            if turn.done():
                self.give_back(target)
            raise
        finally:
            self._line.pop(turn, None)
        return turn.done()

    def give_back(self, target: str) -> None:
        """It is over: the first in line whose target may have a slot takes its turn."""
        self._taken[target] -= 1
        if not self._taken[target]:
            del self._taken[target]
        turn = next((turn for turn, one in self._line.items() if self._may_begin(one)), None)
        if turn is not None:
            self._taken[self._line.pop(turn)] += 1
            turn.set_result(None)

    def _may_begin(self, target: str) -> bool:
        return len(self) < self._total and self._taken[target] < self._of_one
