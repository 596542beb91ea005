"""The time as a parameter: a test hands in a clock that it moves itself, so that pauses and ages take no time."""

from __future__ import annotations

import time


class Clock:
    """The machine's clock."""

    def time(self) -> float:
        """Seconds since 1970: for what is told to people and kept in files; it may be set back."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only grow: for how long something takes."""
        return time.monotonic()


CLOCK = Clock()
