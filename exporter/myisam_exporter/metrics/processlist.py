"""How many connections wait for a table, by the state they are in."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.processlist import CONNECTIONS, Connections
from myisam_exporter.metrics.base import Group, Metric, Scene, Value

TABLE_LOCK_STATES = frozenset({"Waiting for table level lock", "Locked", "System lock", "Table lock"})
REPAIR_STATES = frozenset({"Repair by sorting", "Repair with keycache", "Repair done", "Checking table"})


class ProcesslistMetrics(Group[Connections]):
    """Connections that wait."""

    samples = (CONNECTIONS,)
    metrics = (
        Metric("connections_waiting_for_table_lock", "gauge", "Connections that wait for a table's lock: processlist."),
        Metric(
            "longest_table_lock_wait_seconds", "gauge", "How long the longest of them has been waiting: processlist."
        ),
        Metric("connections_repairing", "gauge", "Connections that check or repair a table: processlist."),
    )

    def values(self, pair: Pair[Connections], scene: Scene) -> Iterable[Value]:
        """Sums over the states."""
        waiting = [group for (_, state, _), group in pair.after.groups.items() if state in TABLE_LOCK_STATES]
        repairing = [group for (_, state, _), group in pair.after.groups.items() if state in REPAIR_STATES]
        yield Value("connections_waiting_for_table_lock", sum(threads for threads, _ in waiting))
        seconds = [seconds for _, seconds in waiting]
        longest = None if None in seconds else max((known for known in seconds if known is not None), default=0)
        yield Value("longest_table_lock_wait_seconds", longest)
        yield Value("connections_repairing", sum(threads for threads, _ in repairing))


GROUP = ProcesslistMetrics()
