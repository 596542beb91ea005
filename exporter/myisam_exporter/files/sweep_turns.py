"""Which tables a sweep after the first asks about: where nothing moves, some of them in turn; where much does, more.

Pages come and go without a word: nobody is told but who asks. So those that did not change are asked about a few at a time. Where many of
these are not as they were, the rest of the largest tables and more of the others are asked about in the same sweep.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence

# Of these the calm ones are asked about once in so many sweeps, and so many of all others in each.
LARGEST_TABLES, SWEEPS_OF_LARGEST, TABLES_IN_TURN = 1000, 4, 1000
# Tables that no sweep had the time for come sooner.
NEVER_ASKED_IN_TURN = 2000
# Of the calm tables that are asked about, so many changed where much moves: one in eight.
CALM_BY_MOVED = 8


class SweepTurns:
    """The turns of one server's tables, by their places. `order` has those that can be asked about, the largest first."""

    def __init__(self) -> None:
        self.order = array("l")
        self.largest: frozenset[int] = frozenset()
        self.never_asked: Sequence[int] = ()
        self._restless: frozenset[int] = frozenset()
        self._calm: frozenset[int] = frozenset()
        self._sweep = self._turn = 0

    def take(self, order: array[int], never_asked: Sequence[int]) -> None:
        """Other tables, or the same in another order."""
        self.order, self.never_asked = order, never_asked
        self.largest = frozenset(order[:LARGEST_TABLES])
        self._restless = frozenset()

    @property
    def are_few(self) -> bool:
        """Whether each sweep asks about all, and everything that differs is told."""
        return len(self.order) <= LARGEST_TABLES

    @property
    def sweeps_in_turn(self) -> int:
        """How many sweeps it takes until each of the smaller tables was asked about."""
        return -(-max(len(self.order) - LARGEST_TABLES, 0) // TABLES_IN_TURN)

    def of_next_sweep(self, written: Sequence[int]) -> list[int]:
        """The tables that a further sweep asks about first."""
        self._sweep += 1
        largest = self.order[:LARGEST_TABLES]
        if not self.are_few:
            largest = largest[self._sweep % SWEEPS_OF_LARGEST :: SWEEPS_OF_LARGEST]
        new, turn = self.never_asked[:NEVER_ASKED_IN_TURN], self._of_turn()
        self._calm = frozenset(largest).union(turn).difference(self._restless, written)
        return list(dict.fromkeys([*self._restless, *largest, *written, *(new or turn)]))

    def after(self, asked: Collection[int], differing: frozenset[int]) -> list[int]:
        """What the same sweep asks about too, now that of those `asked` these were found not to be as before."""
        self._restless = differing & self.largest
        if len(differing & self._calm) * CALM_BY_MOVED <= len(self._calm):
            return []
        known = frozenset(asked)
        return [place for place in (*self.order[:LARGEST_TABLES], *self._of_turn()) if place not in known]

    def _of_turn(self) -> Sequence[int]:
        if self.never_asked:
            return ()
        others = self.order[LARGEST_TABLES:]
        turn = others[self._turn : self._turn + TABLES_IN_TURN]
        self._turn = self._turn + TABLES_IN_TURN if self._turn + TABLES_IN_TURN < len(others) else 0
        return turn
