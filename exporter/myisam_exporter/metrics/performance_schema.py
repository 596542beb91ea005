"""Waits for the server's own locks, where performance_schema times them."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.performance_schema import PERFORMANCE_SCHEMA, PICOSECONDS_PER_SECOND, Waits
from myisam_exporter.metrics.base import BACKGROUND, Group, Metric, Scene, Value


class MutexMetrics(Group[Waits]):
    """events_waits_summary_global_by_event_name."""

    samples = (PERFORMANCE_SCHEMA,)
    metrics = (
        Metric(
            "mutex_acquisitions_total", "counter", f"Acquisitions of the lock: COUNT_STAR. {BACKGROUND}", ("mutex",)
        ),
        Metric(
            "mutex_wait_seconds_total",
            "counter",
            f"Time to acquire it, over all threads: SUM_TIMER_WAIT. {BACKGROUND}",
            ("mutex",),
        ),
    )

    def values(self, pair: Pair[Waits], scene: Scene) -> Iterable[Value]:
        """Locks whose instrument is on."""
        for mutex, (count, picoseconds) in pair.after.mutexes.items():
            yield Value("mutex_acquisitions_total", count, (mutex,))
            yield Value("mutex_wait_seconds_total", picoseconds / PICOSECONDS_PER_SECOND, (mutex,))


GROUP = MutexMetrics()
