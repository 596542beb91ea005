"""Texts that come from outside again and again, kept once: hosting has one table name in every database, all servers have the same variables."""

from __future__ import annotations

KEPT_TEXTS = 10_000
LONGEST_CHARACTERS = 255


class SharedTexts:
    """Gives for a text the equal one that it was given before. What it keeps is bounded; beyond that it begins anew. Thread-safe.

    Not sys.intern: Python 3.12 never gives up what was interned, and names may come and go for years.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def once(self, text: str) -> str:
        """The same text, as the object that was kept of it; a long one is not kept."""
        if len(text) > LONGEST_CHARACTERS:
            return text
        if len(self._kept) >= KEPT_TEXTS:
            self._kept.clear()
        return self._kept.setdefault(text, text)
