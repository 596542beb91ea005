"""Two snapshots: states from the later, rates from both. A counter that was reset in between has no rate."""

from __future__ import annotations

from typing import Any

from myisam_exporter.collectors.base import Collector, all_collectors, declared_columns, grown
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import ServerLostError
from myisam_exporter.facts.columns import TABLES
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet, mark_unknown
from myisam_exporter.look.merging import Contribution, Remembered
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.snapshot import Snapshot

RESTART_TOLERANCE_SECONDS = 2.0
CONNECTIONS = "Connections"  # FLUSH STATUS leaves it as it is
# What a server keeps while it runs, and another one behind the same address has otherwise.
KEPT_WHILE_IT_RUNS = ("hostname", "port", "datadir", "version", "server_uuid")
NO_INTERVAL = Unknown("one sample only: rates need two", "--interval 10s")
RESET = Unknown("the counters were reset within the interval (FLUSH STATUS, or another key_buffer_size)", "run again")
BEGAN_WITHIN = Unknown("it was not counted yet when the interval began", "run again")


@dataclass(frozen=True, slots=True)
class Interval:
    """Facts of `after`, with rates since `before` where that is given."""

    after: Snapshot
    before: Snapshot | None = None

    @property
    def seconds(self) -> float | None:
        """The interval's length by the status counters; None for a single snapshot."""
        return None if self.before is None else self.after.moments[STATUS.name] - self.before.moments[STATUS.name]

    def refuse_restart(self) -> None:
        """Raise ServerLostError when the server restarted between the snapshots: half of each server is no interval.

        A server reckons its Uptime from the machine's clock, which may be set: one that was set back makes it smaller, and no restart.
        An address that moves (a failover) leads to another server, which may be up for longer than the first.
        """
        if self.before is not None and _is_another(self.before, self.after):
            raise ServerLostError(
                "another server answers at this address since the first sample: nothing can be said of this interval. "
                "Run again; where a proxy sends statements to several servers, at one server's own address."
            )
        before, after = self.before.status if self.before else None, self.after.status
        if before is None or after is None or self.seconds is None:
            return
        earlier, later = before.uptime_seconds, after.uptime_seconds
        if earlier is None or later is None or later >= earlier + self.seconds - RESTART_TOLERANCE_SECONDS:
            return
        # Who restarted in between is younger than the interval is long; and begins to count connections anew, which nothing else does.
        connections = grown(before.number(CONNECTIONS), after.number(CONNECTIONS))
        if later <= self.seconds + RESTART_TOLERANCE_SECONDS or connections is None:
            raise ServerLostError(
                f"the server restarted between the two samples (it is up for {later:.0f} s): nothing can be said of this interval. Run again."
            )

    def facts(self, remembered: Remembered | None = None) -> FactSet:
        """The fact tables. What is `remembered` of the interval before is used where it holds, and renewed."""
        remembered = remembered or Remembered()
        given: list[Contribution] = []
        silent: dict[str, Unknown] = {}
        partial: dict[str, Unknown] = {}
        notes: list[Unknown] = []
        pairs = pairs_between(self.before, self.after)
        for collector in all_collectors():
            sample = self.after.samples[collector.name]
            if isinstance(sample, Unknown):
                silent |= {name: _telling(silent.get(name), sample) for name in _all_columns(collector, sample)}
                continue
            pair = pairs[collector.name]
            given.append(remembered.contribution(collector, pair))
            notes += collector.notes(sample)
            if pair.before is None and not collector.states_only:
                partial |= _rates(collector, self._why_no_rates(collector.name))
            partial |= collector.unknown_over_interval() if pair.before is not None else {}
            partial |= collector.unknown_columns(sample)
        answered = {name for contribution in given for name in contribution.answered}
        reasons = {name: reason for name, reason in silent.items() if name not in answered} | partial
        tables = remembered.merged(given)
        read_at = self.after.moments.get(STATUS.name)
        return FactSet(tables, mark_unknown(tables, reasons), self.seconds, tuple(notes), status_read_at=read_at)

    def _why_no_rates(self, collector: str) -> Unknown:
        """Of a collector that tells something now, and has no earlier half: what was set back was known before."""
        if self.before is None:
            return NO_INTERVAL
        return BEGAN_WITHIN if isinstance(self.before.samples.get(collector, BEGAN_WITHIN), Unknown) else RESET


def _is_another(before: Snapshot, after: Snapshot) -> bool:
    """Whether both tell which server they are of, and it is not the same."""
    earlier, later = before.sample(VARIABLES), after.sample(VARIABLES)
    if isinstance(earlier, Unknown) or isinstance(later, Unknown):
        return False
    return any(earlier.values.get(name) != later.values.get(name) for name in KEPT_WHILE_IT_RUNS)


def _telling(earlier: Unknown | None, reason: Unknown) -> Unknown:
    """Of two sources' reasons the one that can be helped: that a source is off here tells nothing of another that failed."""
    return earlier if earlier is not None and reason.off and not earlier.off else reason


def _all_columns(collector: Collector[Any], reason: Unknown) -> dict[str, Unknown]:
    by_column = {
        f"{table}.{column.name}": reason for table, declared in collector.sections.items() for column in declared
    }
    return by_column | dict.fromkeys(collector.sections, reason)


def _rates(collector: Collector[Any], reason: Unknown) -> dict[str, Unknown]:
    return {
        f"{table}.{column.name}": reason
        for table, declared in collector.sections.items()
        for column in declared
        if column.needs_interval
    }


def empty_facts(reason: Unknown) -> dict[str, Unknown]:
    """Every table and column unknown for one reason: where facts begin before a file is read."""
    unknown = {table.name: reason for table in TABLES}
    return unknown | {
        f"{table}.{column.name}": reason for table, declared in declared_columns().items() for column in declared
    }
