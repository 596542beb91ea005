"""Numbers by which a daemon tells whether anything changed since its last look: the same generation, the same contents.

Each scan, sweep and fact table has one. It is given when it is made and to no other: a copy with other contents (`dataclasses.replace`)
has a number of its own, so a careless one costs time and never truth. See docs/decisions/014-looks-that-cost-what-changed.md.
"""

from __future__ import annotations

from itertools import count
from typing import Protocol

# Counted by the whole process, in any thread: numbers of two targets never meet.
_generations = count(1)


class OfGeneration(Protocol):
    """What has one: a scan, a sweep, a fact table."""

    @property
    def generation(self) -> int:
        """The number; that of another only where the contents are the same."""


def new_generation() -> int:
    """A number that nothing else has."""
    return next(_generations)
