"""The last look at each server, and its curves of a day: what pages show between looks.

Kept in memory, so that showing them costs neither the server nor the history's file anything.
"""

from __future__ import annotations

import math
import threading
import time
from array import array
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from pathlib import Path

from myisam_advisor.reports.one_table import Points, curve_names
from myisam_advisor.reports.page.look import Look
from myisam_advisor.reports.page.view import CURVE_SECONDS, CURVES
from myisam_advisor.top.moment import Moment
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName

FACTS = tuple(fact for fact, _, _ in CURVES)
REMEMBERED_TABLES = 64


@dataclass(slots=True)
class DayOfCurves:
    """The facts that have curves, look by look, as numbers side by side: a third of what a pair of objects for each point takes.

    Measured: 0.33 MB for a day of looks a minute apart, 1.0 before, and a daemon may have 500 servers. NaN stands for unknown.
    """

    _looks: deque[tuple[float, array[float]]] = field(default_factory=deque)

    def add(self, moment: float, sample: Mapping[str, float | None]) -> None:
        """A further look; what was kept before the clock was set back is of the future, and goes, as what is older than a day."""
        while self._looks and self._looks[-1][0] > moment:
            self._looks.pop()
        values = (sample.get(fact) for fact in FACTS)
        self._looks.append((moment, array("d", (math.nan if value is None else value for value in values))))
        while self._looks[0][0] < moment - CURVE_SECONDS:
            self._looks.popleft()

    def by_fact(self) -> dict[str, list[tuple[float, float | None]]]:
        """The points of each fact."""
        return {
            fact: [(moment, None if math.isnan(values[place]) else values[place]) for moment, values in self._looks]
            for place, fact in enumerate(FACTS)
        }


@dataclass(slots=True)
class Board:
    """Written by the threads that look, read by those that answer."""

    history_file: Path | None = None
    _looks: dict[str, Look] = field(default_factory=dict)
    _moments: dict[str, Moment] = field(default_factory=dict)
    _curves: dict[str, DayOfCurves] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _table_curves: OrderedDict[tuple[str, float, TableName], Mapping[str, Points]] = field(default_factory=OrderedDict)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def put(self, label: str, look: Look, sample: Mapping[str, float | None]) -> None:
        """A further look at this server, with the facts that have curves among others."""
        if label not in self._curves:
            earlier = self._earlier(label)
            with self._lock:
                self._curves.setdefault(label, earlier)
        with self._lock:
            self._looks[label] = look
            self._curves[label].add(look.taken_at, sample)

    def put_moment(self, label: str, moment: Moment) -> None:
        """What a screen shows of that look."""
        self._moments[label] = moment

    def moment(self, label: str) -> Moment | None:
        """The last look, as a screen shows it."""
        return self._moments.get(label)

    def forget(self, label: str) -> None:
        """Drop what is shown of a server that is watched no more; curves of its tables go as others are read."""
        with self._lock:
            self._looks.pop(label, None)
            self._moments.pop(label, None)
            self._curves.pop(label, None)

    def look(self, label: str) -> Look | None:
        """The last look at it."""
        return self._looks.get(label)

    def curves(self, label: str) -> dict[str, list[tuple[float, float | None]]]:
        """Its curves, by fact."""
        with self._lock:
            known = self._curves.get(label)
            return known.by_fact() if known else {}

    def table_curves(self, label: str, look: Look, name: TableName) -> Mapping[str, Points]:
        """A table's curves of a day by column, from the history; read once for each look, and for one table at a time: a day has many samples."""
        key = (label, look.taken_at, name)
        with self._reading:
            if key not in self._table_curves:
                # Nobody asks again about a look before: 64 of a day each, of one active table, were 93 MB.
                for former in [one for one in self._table_curves if one[0] == label and one[1] != look.taken_at]:
                    del self._table_curves[former]
                while len(self._table_curves) >= REMEMBERED_TABLES:
                    self._table_curves.popitem(last=False)
                self._table_curves[key] = self._recorded(label, curve_names(*name), look.taken_at)
            return self._table_curves[key]

    def _recorded(self, label: str, names: Mapping[str, str], end: float) -> Mapping[str, Points]:
        """The curves of these names by what they stand for; without those that the history does not have."""
        points: dict[str, list[tuple[float, float | None]]] = {}
        for moment, sample in self._samples(label, end, names):
            for fact, value in sample.items():
                points.setdefault(names[fact], []).append((moment, value))
        return points

    def _samples(
        self, label: str, end: float, names: Collection[str]
    ) -> Iterable[tuple[float, Mapping[str, float | None]]]:
        """What the history has under these names of the day before; nothing of one that cannot be read."""
        if self.history_file is None:
            return ()
        from myisam_advisor.history.wanted_samples import wanted_samples

        try:
            return wanted_samples(self.history_file, label, end - CURVE_SECONDS, end, names)
        except UserError:
            return ()

    def _earlier(self, label: str) -> DayOfCurves:
        """What the history has from before this daemon started."""
        curves = DayOfCurves()
        for moment, sample in self._samples(label, time.time(), FACTS):
            curves.add(moment, sample)
        return curves
