"""Hand-made workloads: events with the moments and rows that a recording would tell."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter

BEGAN = 1_790_000_000_000_000


def event(
    connection: int, at: int, statement: bytes, rows: int | None = 0, database: bytes | None = b"shop", duration: int = 100
) -> Event:  # fmt: skip
    """One statement, so many microseconds after the beginning."""
    return Event(connection, BEGAN + at, duration, database, statement, rows)


def write(path: Path, events: Iterable[Event], began: int = BEGAN) -> Path:
    """A workload file of them."""
    with WorkloadWriter(path, Header("slow_log", "10.11.6", "mariadb", began)) as writer:
        for one in events:
            writer.write(one)
    return path


def shop(connections: int, rounds: int, rows: int) -> list[Event]:
    """Connections that look up and insert in turn: each insert writes the number of its place in the order of all."""
    events = []
    for number in range(rounds):
        for connection in range(connections):
            at = (number * connections + connection) * 1000
            key = (number * 7919 + connection) % rows + 1
            events.append(event(connection, at, b"SELECT name FROM words WHERE id = %d" % key, 1))
            place = number * connections + connection
            events.append(event(connection, at + 500, b"INSERT INTO log (place, what) VALUES (%d, 'a\0\n\\\\')" % place))
    return events
