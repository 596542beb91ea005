"""Which tables a sweep after the first asks about: where nothing moves, some of them in turn; where much does, more.

Pages come and go without a word: nobody is told but who asks. So those that did not change are asked about a few at a time. Where many of
these are not as they were, the rest of the largest tables and more of the others are asked about in the same sweep.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence

# Of these the calm ones are asked about once in so many sweeps, and so many of all others in each.
LARGEST_TABLES, SWEEPS_OF_LARGEST, TABLES_IN_TURN = 1000, 4, 1000
# Of tables that no sweep had the time for, so many more.
NEVER_ASKED_IN_TURN = 2000
# Of the calm tables that are asked about, so many changed where much moves: one in eight.
CALM_BY_MOVED = 8
# So many may have become one of the largest until all are put in order anew, which takes a tenth of a second with 100,000: where all are of
# one size, each that is written does.
MOST_GROWN = 100


class SweepTurns:
    """The turns of one server's tables, by their places. `order` has those that can be asked about, the largest first.

    `grown` are those that became one of the largest since: they are asked about each time.
    """

    def __init__(self) -> None:
        self.order = array("i")
        self.largest: frozenset[int] = frozenset()
        self.grown: set[int] = set()
        self.never_asked: Sequence[int] = ()
        self._restless: frozenset[int] = frozenset()
        self._calm: frozenset[int] = frozenset()
        self._sweep = self._turn = 0
        # Of the others so many are asked about in a sweep: fewer where there was no time for them.
        self._in_turn = TABLES_IN_TURN
        self._pace = 1

    def take(self, order: array[int], never_asked: Sequence[int]) -> None:
        """Other tables, or the same in another order."""
        self.order, self.never_asked = order, never_asked
        self.largest, self.grown = frozenset(order[:LARGEST_TABLES]), set()
        self._restless = frozenset()

    @property
    def are_few(self) -> bool:
        """Whether each sweep asks about all, and everything that differs is told."""
        return len(self.order) <= LARGEST_TABLES

    @property
    def order_is_old(self) -> bool:
        """Whether many of the largest are others by now."""
        return len(self.grown) > MOST_GROWN

    @property
    def sweeps_in_turn(self) -> int:
        """How many sweeps it takes until each of the smaller tables was asked about."""
        return -(-max(len(self.order) - LARGEST_TABLES, 0) // self._in_turn)

    def of_next_sweep(self, written: Sequence[int], pace: int = 1) -> list[int]:
        """The tables that a further sweep asks about first; of the calm ones so many times fewer (sweep_pace.py)."""
        self._sweep += 1
        self._pace = pace
        largest = self.order[:LARGEST_TABLES]
        if not self.are_few:
            step = SWEEPS_OF_LARGEST * pace
            largest = largest[self._sweep % step :: step]
        new, turn = self.never_asked[:NEVER_ASKED_IN_TURN], self._of_turn(self._share)
        self._calm = frozenset(largest).union(turn).difference(self._restless, self.grown, written, new)
        return list(dict.fromkeys([*self._restless, *self.grown, *largest, *written, *new, *turn]))

    def after(self, asked: Collection[int], differing: frozenset[int]) -> list[int]:
        """What the same sweep asks about too, now that all those `asked` were, and these were found not to be as before."""
        self._restless = differing & self.largest
        # Only now: those whose turn it was keep it where there was no time for them.
        behind = self._turn + self._share
        self._turn = behind if behind < len(self.order) - LARGEST_TABLES else 0
        self._in_turn = min(2 * self._in_turn, TABLES_IN_TURN)
        if len(differing & self._calm) * CALM_BY_MOVED <= len(self._calm):
            return []
        known = frozenset(asked)
        return [place for place in (*self.order[:LARGEST_TABLES], *self._of_turn(self._in_turn)) if place not in known]

    def had_too_little_time(self) -> None:
        """The time was over before all of them were asked about."""
        self._in_turn = max(self._in_turn // 2, 1)

    def are_restless(self, differing: frozenset[int]) -> None:
        """These were found not to be as before, too."""
        self._restless |= differing & self.largest

    @property
    def _share(self) -> int:
        """Of the others so many are asked about at this pace."""
        return max(self._in_turn // self._pace, 1)

    def _of_turn(self, count: int) -> Sequence[int]:
        begin = LARGEST_TABLES + self._turn
        return self.order[begin : begin + count]
