"""Who hears what a trial does while it works."""

from __future__ import annotations


class Listener:
    """Who hears what a trial does; this one does not care."""

    def doing(self, what: str) -> None:
        """What begins now."""

    def ran(self) -> None:
        """One run is done."""

    def left(self, seconds: float | None) -> None:
        """So many seconds are left at most; None is unknown."""
