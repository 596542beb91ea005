"""Which thread replays which recorded connection.

Connections that do not overlap share a thread, so that no more threads run than connections were there at once. Beyond what one machine
sends from, a thread holds several connections that were there at once, and sends their statements in their recorded order, one after
another.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from myisam_advisor.trial.statements.survey import ConnectionSpan
from myisam_exporter.declaring.lean_dataclasses import dataclass

MAXIMUM_THREADS = 200


@dataclass(frozen=True, slots=True)
class Threads:
    """The thread of each connection, how many there are, and how many connections have to share one with others of their time."""

    of_connection: Mapping[int, int]
    count: int
    crowded: int


def divide(connections: Mapping[int, ConnectionSpan], most: int = MAXIMUM_THREADS) -> Threads:
    """The earliest connection first; each on the thread that has been free longest, or on one of its own while there may be more."""
    # (when it is free, its number)
    threads: list[tuple[int, int]] = []
    chosen: dict[int, int] = {}
    crowded = 0
    for connection, span in sorted(connections.items(), key=lambda one: (one[1].begin, one[1].end, one[0])):
        free, is_crowded = span.end, False
        if len(threads) == most or (threads and threads[0][0] < span.begin):
            free, number = heapq.heappop(threads)
            is_crowded = free >= span.begin
        else:
            number = len(threads)
        crowded += is_crowded
        heapq.heappush(threads, (max(free, span.end), number))
        chosen[connection] = number
    return Threads(chosen, max(len(threads), 1), crowded)
