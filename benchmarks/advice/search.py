"""The best configuration that a search finds: random ones first, then steps from the best of them, variable by variable.

What an adviser's whole advice falls short of it is its regret. A setting is judged by a short pair; the best one is measured like any advice.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.advice.changes import Piece

RANDOM_SHARE = 0.85
Settings = dict[str, str]


class Search:
    """Settings to try, each once; what is known already is not tried again, so that a search that was ended goes on."""

    def __init__(
        self,
        space: Mapping[str, Sequence[str]],
        draw: random.Random,
        most: int,
        tried: Sequence[tuple[Mapping[str, str], float | None]] = (),
    ) -> None:
        self._space, self._draw, self._most = space, draw, most
        self._ratios: dict[tuple[tuple[str, str], ...], float] = {}
        for settings, ratio in tried:
            self.note(settings, ratio)

    def note(self, settings: Mapping[str, str], ratio: float | None) -> None:
        """What came of one; None: it cannot be applied, or is unsafe."""
        self._ratios[_key(settings)] = 0.0 if ratio is None else ratio

    @property
    def best(self) -> Settings | None:
        """The best so far."""
        key, ratio = max(self._ratios.items(), key=lambda one: one[1], default=((), 0.0))
        return dict(key) if ratio > 0 else None

    def __iter__(self) -> Iterator[Settings]:
        """What to try next, until there have been so many, or there are no more."""
        while len(self._ratios) < self._most:
            settings = self._random() if len(self._ratios) < self._most * RANDOM_SHARE else self._step()
            if settings is None:
                return
            yield settings

    def _random(self) -> Settings | None:
        """One that was not tried; of a small space what is left of it is found by steps."""
        for _ in range(50):
            settings = {name: self._draw.choice(list(values)) for name, values in self._space.items()}
            if _key(settings) not in self._ratios:
                return settings
        return self._step()

    def _step(self) -> Settings | None:
        """A neighbour of the best that was not tried: one variable, the next value up or down."""
        best = self.best
        if best is None:
            return None
        for name, values in self._space.items():
            place = list(values).index(best[name])
            for other in (place + 1, place - 1):
                if 0 <= other < len(values):
                    settings = {**best, name: values[other]}
                    if _key(settings) not in self._ratios:
                        return settings
        return None


def as_pieces(settings: Mapping[str, str]) -> list[Piece]:
    """Settings as changes."""
    return [Piece(f"{name}={value}", name, value, None) for name, value in settings.items()]


def _key(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(settings.items()))
