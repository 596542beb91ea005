"""Whether a sweep must ask about as many calm tables as usual, or fewer will do, because hardly any page can have moved."""

from __future__ import annotations

# So many times fewer tables. Not none: what a program gives up itself is counted nowhere (page_cache_traffic.py).
STILL_PACE = 8
# Of all pages that are known of the tables, so many may have moved before as many tables as usual are asked about again.
PAGES_THAT_MATTER = 0.01


class SweepPace:
    """The pace of one server's sweeps.

    The fewer pages move, the fewer tables are asked about: until each had its turn, as many pages may have moved unseen as where sweeps are usual and a
    hundredth of the pages moves between two of them.
    """

    def __init__(self) -> None:
        self._pages_moved: int | None = None
        self._unasked = 0

    def of_next_sweep(self, pages_moved: int | None, known_pages: int) -> int:
        """By what the number of tables in turn is divided. `pages_moved` is a counter; None, or one that went back, tells nothing."""
        before, self._pages_moved = self._pages_moved, pages_moved
        if pages_moved is None or before is None or pages_moved < before:
            return 1
        self._unasked += pages_moved - before
        if self._unasked <= PAGES_THAT_MATTER * known_pages:
            return STILL_PACE
        self._unasked = 0
        return 1
