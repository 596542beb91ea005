"""Short readings between two looks: how high rates rose in moments that an average over minutes hides.

A glance is one statement and, of a local server, the switches of its threads; it never connects.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field

from myisam_exporter.collectors.status import THREADS_RUNNING, connections_at_work
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.kernel.thread_switches import Switches, switches_between
from myisam_exporter.server.sql import quote_text, sql_list, statement

COUNTERS = ("Key_reads", "Key_writes", "Opened_tables", "Slow_queries", "Table_locks_waited")
STATEMENT = statement(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ({})", sql_list(map(quote_text, (THREADS_RUNNING, *COUNTERS)))
)
KEPT_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest of several readings, and what 95 % of them do not exceed."""

    maximum: float
    percentile_95: float


@dataclass(frozen=True, slots=True)
class Glance:
    """One reading: monotonic seconds, numbers of the status by name, voluntary and involuntary switches by thread."""

    moment: float
    status: Mapping[str, float]
    switches: Switches | None = None


@dataclass(slots=True)
class Glances:
    """Readings of the last quarter of an hour, as rates. One thread at a time."""

    _previous: Glance | None = None
    _rates: deque[tuple[float, Mapping[str, float]]] = field(default_factory=deque)

    def take(self, glance: Glance) -> None:
        """Add a reading; its rates are those since the one before."""
        rates = _rates(self._previous, glance)
        running = connections_at_work([glance.status[name] for name in (THREADS_RUNNING,) if name in glance.status])
        if running is not None:
            rates["threads_running"] = running
        self._previous = glance
        self._rates.append((glance.moment, rates))
        while self._rates[0][0] < glance.moment - KEPT_SECONDS:
            self._rates.popleft()

    def interrupt(self) -> None:
        """The next reading has no rates: the server may be another one by then."""
        self._previous = None

    def peaks(self, since: float) -> dict[str, Peak]:
        """The peaks since a moment, by name: `Key_reads`, `voluntary_switches`, ... per second; `threads_running`."""
        readings: dict[str, list[float]] = {}
        for moment, rates in list(self._rates):
            if moment >= since:
                for name, value in rates.items():
                    readings.setdefault(name, []).append(value)
        return {name: peak_of(values) for name, values in readings.items()}


def peak_of(values: Sequence[float]) -> Peak:
    """The peak of these readings, of which there is at least one. The percentile is the nearest rank."""
    ordered = sorted(values)
    return Peak(ordered[-1], ordered[math.ceil(0.95 * len(ordered)) - 1])


def _rates(before: Glance | None, now: Glance) -> dict[str, float]:
    if before is None or now.moment <= before.moment:
        return {}
    seconds = now.moment - before.moment
    rates = {
        name: (now.status[name] - before.status[name]) / seconds
        for name in COUNTERS
        if name in now.status and before.status.get(name, math.inf) <= now.status[name]
    }
    if now.switches and before.switches:  # of no thread, they are not told
        voluntary, involuntary = switches_between(before.switches, now.switches)
        rates |= {"voluntary_switches": voluntary / seconds, "involuntary_switches": involuntary / seconds}
    return rates
