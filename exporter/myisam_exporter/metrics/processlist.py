"""How many connections wait for a table, by the state they are in."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.processlist import CONNECTIONS, Connections
from myisam_exporter.metrics.base import Group, Metric, Scene, Value

# Not "System lock": MySQL's ANALYZE, CHECKSUM TABLE and LOAD INDEX are in it as long as they work (tried on 5.6 and 9.7), and rows that an applier writes.
TABLE_LOCK_STATES = frozenset({"Waiting for table level lock", "Locked", "Table lock"})
# Locks that the server keeps whatever the engine, by the states of their queues.
SERVER_LOCK_STATES: dict[str, frozenset[str]] = {
    "metadata": frozenset(),  # "Waiting for ... metadata lock": of a table, a schema, a trigger
    "global": frozenset({"Waiting for global read lock", "Waiting for commit lock", "Waiting for release of readlock"}),
    "backup": frozenset({"Waiting for backup lock"}),
    "flush": frozenset({"Waiting for table flush", "Waiting for table", "Waiting for tables", "Flushing tables"}),
}
# Beside those that begin with "Repair ", also "with 3 threads". The last two phases are OPTIMIZE's.
REPAIR_STATES = frozenset({"Parallel repair", "Checking table", "Sorting index", "Analyzing"})


class ProcesslistMetrics(Group[Connections]):
    """Connections that wait."""

    samples = (CONNECTIONS,)
    metrics = (
        Metric("connections_waiting_for_table_lock", "gauge", "Connections that wait for a table's lock: processlist."),
        Metric(
            "longest_table_lock_wait_seconds", "gauge", "How long the longest of them has been waiting: processlist."
        ),
        Metric(
            "connections_waiting_for_server_lock",
            "gauge",
            "Connections that wait for a lock of the server's own, by lock (metadata, global, backup, flush): processlist.",
            ("lock",),
        ),
        Metric("connections_repairing", "gauge", "Connections that check or repair a table: processlist."),
    )

    def values(self, pair: Pair[Connections], scene: Scene) -> Iterable[Value]:
        """Sums over the states."""
        waiting = [group for (_, state, _), group in pair.after.groups.items() if state in TABLE_LOCK_STATES]
        repairing = [group for (_, state, _), group in pair.after.groups.items() if is_repair(state)]
        yield Value("connections_waiting_for_table_lock", sum(threads for threads, _ in waiting))
        seconds = [seconds for _, seconds in waiting]
        longest = None if None in seconds else max((known for known in seconds if known is not None), default=0)
        yield Value("longest_table_lock_wait_seconds", longest)
        yield Value("connections_repairing", sum(threads for threads, _ in repairing))
        queues = dict.fromkeys(SERVER_LOCK_STATES, 0)
        for (_, state, _), (threads, _) in pair.after.groups.items():
            if (lock := lock_of(state)) is not None:
                queues[lock] += threads
        for lock, threads in queues.items():
            yield Value("connections_waiting_for_server_lock", threads, (lock,))


def is_repair(state: str) -> bool:
    """Whether MyISAM checks, repairs or optimizes a table in this state (thd_proc_info of ha_myisam.cc)."""
    return state.startswith("Repair ") or state in REPAIR_STATES


def lock_of(state: str) -> str | None:
    """Which of the server's own locks is waited for in this state; None in any other."""
    if state.startswith("Waiting for ") and state.endswith(" metadata lock"):
        return "metadata"
    return next((lock for lock, states in SERVER_LOCK_STATES.items() if state in states), None)


GROUP = ProcesslistMetrics()
