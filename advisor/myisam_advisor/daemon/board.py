"""The last look at each server, and its curves of a day: what pages show between looks.

Kept in memory, so that showing them costs neither the server nor the history's file anything.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.view import CURVE_SECONDS, CURVES
from myisam_exporter.errors import UserError

FACTS = tuple(fact for fact, _, _ in CURVES)
Points = deque[tuple[float, float | None]]


@dataclass(slots=True)
class Board:
    """Written by the threads that look, read by those that answer."""

    history_file: Path | None = None
    _looks: dict[str, Look] = field(default_factory=dict)
    _curves: dict[str, dict[str, Points]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, label: str, look: Look, sample: Mapping[str, float | None]) -> None:
        """A further look at this server, with the facts that have curves among others."""
        if label not in self._curves:
            earlier = self._earlier(label)
            with self._lock:
                self._curves.setdefault(label, earlier)
        with self._lock:
            self._looks[label] = look
            for fact, points in self._curves[label].items():
                # What was kept before the clock was set back is of the future.
                while points and points[-1][0] > look.taken_at:
                    points.pop()
                points.append((look.taken_at, sample.get(fact)))
                while points[0][0] < look.taken_at - CURVE_SECONDS:
                    points.popleft()

    def look(self, label: str) -> Look | None:
        """The last look at it."""
        return self._looks.get(label)

    def curves(self, label: str) -> dict[str, list[tuple[float, float | None]]]:
        """Its curves, by fact."""
        with self._lock:
            return {fact: list(points) for fact, points in self._curves.get(label, {}).items()}

    def _earlier(self, label: str) -> dict[str, Points]:
        """What the history has from before this daemon started."""
        curves: dict[str, Points] = {fact: deque() for fact in FACTS}
        if self.history_file is None:
            return curves
        from myisam_advisor.history.reader import samples_of_target

        now = time.time()
        try:
            samples = samples_of_target(
                self.history_file, label, now - CURVE_SECONDS, now, frozenset(FACTS).__contains__
            )
        except UserError:
            return curves
        for moment, _, sample in samples:
            for fact, points in curves.items():
                points.append((moment, sample.get(fact)))
        return curves
