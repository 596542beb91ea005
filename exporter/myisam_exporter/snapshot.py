"""All sources read at one instant."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from myisam_exporter.collector import Context, all_collectors
from myisam_exporter.collectors.status import Status
from myisam_exporter.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Each collector's sample (or Unknown), when it was taken (monotonic seconds) and how long it took."""

    taken_at: float
    samples: Mapping[str, Any]
    moments: Mapping[str, float]
    durations: Mapping[str, float]

    @property
    def status(self) -> Status | None:
        """The status sample, where there is one."""
        sample = self.samples.get("status")
        return sample if isinstance(sample, Status) else None


def take_snapshot(context: Context, *, begins_interval: bool = False) -> Snapshot:
    """Run every collector once.

    A snapshot that only begins an interval leaves out the collectors that have no counters.
    Raises ServerLostError when the server goes away meanwhile.
    """
    context.samples = {}
    moments, durations = {}, {}
    taken_at = time.time()
    for collector in all_collectors():
        started = moments[collector.name] = time.monotonic()
        if begins_interval and collector.states_only:
            context.samples[collector.name] = Unknown("no counters in it", off=True)
        else:
            context.samples[collector.name] = collector.collect(context)
        durations[collector.name] = time.monotonic() - started
    return Snapshot(taken_at, context.samples, moments, durations)
