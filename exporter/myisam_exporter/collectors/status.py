"""SHOW GLOBAL STATUS, and how fast its counters grow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Value, by_column, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import number_of
from myisam_exporter.outside.numbers import LARGEST_WHOLE, parse_number
from myisam_exporter.outside.shared_texts import SharedTexts
from myisam_exporter.server.asked_names import AskedNames, status_named

THREADS_RUNNING = "Threads_running"
UPTIME, UPTIME_SINCE_FLUSH = "Uptime", "Uptime_since_flush_status"
FLUSH_TOLERANCE_SECONDS = 2  # between two values of one answer
# States, not counters: growing from 3 to 5 they have no rate. Everything else in SHOW GLOBAL STATUS counts events.
GAUGES = re.compile(
    r"^(Threads_(running|connected|cached)|Open_(files|streams|table_definitions|tables)|Max_used_connections.*|Key_blocks_.*|Uptime.*"
    r"|Innodb_(buffer_pool_(pages_(data|dirty|free|misc|total|old)|bytes_(data|dirty)|dump_status|load_status)|page_size|row_lock_(current_waits|time_avg|time_max))"
    r"|Qcache_(free_blocks|free_memory|queries_in_cache|total_blocks)|Aria_pagecache_blocks_.*|Slave_(open_temp_tables|running)|Memory_used.*|Ssl_session_cache_size"
    r"|Prepared_stmt_count|Delayed_insert_threads|Not_flushed_delayed_rows|Last_query_cost|Table_open_cache_active_instances)$"
)


@dataclass(frozen=True, slots=True)
class Status:
    """Counters since start (or FLUSH STATUS) and states, as numbers where they are numbers.

    `threads_running` is the mean of all readings so far, as `connections_at_work` has it; `own_statements` counts what this
    connection has sent. `asked_at` is when the server was asked: seconds since 1970; None of a status that was kept in a file.
    """

    values: Mapping[str, Value]
    threads_running: float | None = None
    own_statements: int = 0
    asked_at: float | None = None

    def number(self, name: str) -> int | float | None:
        """A status value as a number; None when it does not exist here."""
        return number_of(self.values.get(name))

    @property
    def uptime_seconds(self) -> int | float | None:
        """Seconds since the server started; None where it says that it has not yet, by a clock that was set back: nearly 2^64 then."""
        seconds = self.number(UPTIME)
        return None if seconds is None or seconds > LARGEST_WHOLE else seconds

    @property
    def server_started(self) -> float | None:
        """When the server started, or up to a second later: its uptime has whole seconds. None where that is not known."""
        uptime = self.uptime_seconds
        return None if uptime is None or self.asked_at is None else self.asked_at - uptime


STATUS = SampleKey("status", Status)
_NAMES = SharedTexts()  # 500 for each target of a fleet, and twice: as they were and as they are


def connections_at_work(readings: Sequence[float]) -> float | None:
    """The mean of these readings of Threads_running, without our connection that reads it; unknown without any."""
    # A thread that ends while it is counted can make even our own one missing.
    return max(sum(readings) / len(readings) - 1, 0.0) if readings else None


class StatusCollector(Collector[Status]):
    """The server's counters."""

    name = STATUS.name
    source = "SHOW GLOBAL STATUS"
    reads = {STATUS.name: frozenset({THREADS_RUNNING, UPTIME, UPTIME_SINCE_FLUSH})}
    sections = {
        "status": columns(
            ("name", "text", "The status variable's name."),
            ("value", "text", "Its value now: a number where it is one, else the text."),
            ("per_second", "real", "Growth per second over the interval; unknown for states and after a reset."),
            source=source,
        ),
        "server": columns(
            (
                "own_statements_per_second",
                "real",
                "Statements of this program's own connection, which count in Questions; of a daemon those of its scrapes too.",
            ),
            source="counted by this program",
        ),
        "mysqld": columns(
            (
                "threads_running",
                "real",
                "Connections at work: Threads_running without our own, the mean of readings over the interval.",
            ),
            source=source,
        ),
    }

    def collect(self, context: Context) -> Status | Unknown:
        """One statement; no privilege is needed. Of some names where the context has them."""
        wanted, asked_at = context.names.get(self.name), context.clock.time()
        rows = context.session.rows_or_unknown(status_named(wanted) if wanted else "SHOW GLOBAL STATUS", 2)
        if isinstance(rows, Unknown):
            return rows
        names = _NAMES.each_once(name or "" for name, _ in rows)
        told = ((name, parse_number(value)) for name, (_, value) in zip(names, rows, strict=True))
        values = AskedNames(told, wanted) if wanted else dict(told)
        own = values.get(THREADS_RUNNING)
        if isinstance(own, int):
            context.threads_running.append(own)
        at_work = connections_at_work(context.threads_running)
        return Status(values, at_work, context.session.statements, asked_at)

    def facts(self, pair: Pair[Status]) -> Iterable[Block]:
        """One row a status variable, how many statements were our own, and how many connections were at work."""
        before = pair.before.values if pair.before else {}
        after = pair.after.values
        rates = [
            None if _is_gauge(name) else pair.rate(number_of(before.get(name)), number_of(value))
            for name, value in after.items()
        ]
        own = pair.rate(pair.before.own_statements, pair.after.own_statements) if pair.before else None
        return [
            by_column("status", {"name": after.keys(), "value": after.values(), "per_second": rates}),
            by_column("server", {"own_statements_per_second": [own]}, extends=True),
            *_at_work(pair.after),
        ]


@lru_cache(maxsize=2048)
def _is_gauge(name: str) -> bool:
    return GAUGES.match(name) is not None


def _at_work(status: Status) -> Iterable[Block]:
    """Part of the row of mysqld, also where its process is out of sight."""
    return [] if status.threads_running is None else [single("mysqld", {"threads_running": status.threads_running})]


COLLECTOR = StatusCollector()
