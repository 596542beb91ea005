"""Texts that come from outside again and again, kept once: all servers have the same variables."""

from __future__ import annotations

from collections.abc import Iterable

KEPT_TEXTS = 10_000
LONGEST_CHARACTERS = 255


class SharedTexts:
    """Gives for texts the equal ones that it was given before. Beyond so many it begins anew. Thread-safe.

    Not sys.intern: Python 3.12 never gives up what was interned, and names may come and go for years.
    """

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def each_once(self, texts: Iterable[str]) -> list[str]:
        """The same texts, as the objects that were kept of them; long ones are not kept."""
        if len(self._kept) >= KEPT_TEXTS:
            self._kept.clear()
        keep = self._kept.setdefault
        return [keep(text, text) if len(text) <= LONGEST_CHARACTERS else text for text in texts]
