"""All sources read at one instant."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from myisam_exporter.collectors.base import Collector, Context, Sample, SampleKey, all_collectors
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import MORE_MEMORY, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.wire import one_look

FAILED = "unexpected failure of the collector"
NO_MEMORY = "there was not enough memory to read it"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Each collector's sample (or Unknown), when it was taken (monotonic seconds: the middle of its reading) and how long it took."""

    taken_at: float
    samples: Mapping[str, object]
    moments: Mapping[str, float]
    durations: Mapping[str, float]

    @property
    def status(self) -> Status | None:
        """The status sample, where there is one."""
        sample = self.sample(STATUS)
        return None if isinstance(sample, Unknown) else sample

    def sample(self, key: SampleKey[Sample]) -> Sample | Unknown:
        """One collector's sample."""
        return key.of(self.samples)


def take_snapshot(context: Context, *, begins_interval: bool = False, only: Collection[str] | None = None) -> Snapshot:
    """Run every collector once, or `only` those named (with their prerequisites).

    A snapshot that only begins an interval leaves out the collectors that have no counters. A collector that fails unexpectedly
    gives Unknown: the others are worth having without it.
    Raises ServerLostError when the server goes away meanwhile.
    """
    context.samples = {}
    moments: dict[str, float] = {}
    durations: dict[str, float] = {}
    taken_at = context.clock.time()
    with one_look():
        for collector in all_collectors():
            if only is not None and collector.name not in only:
                continue
            started = context.clock.monotonic()
            if begins_interval and collector.states_only:
                context.samples[collector.name] = Unknown("no counters in it", off=True)
            else:
                context.samples[collector.name] = _collect(collector, context)
            took = durations[collector.name] = context.clock.monotonic() - started
            # When the server counted, or a file was read, nobody knows: of one answer that came late, either end would be wrong by all of that time.
            moments[collector.name] = moments.get(collector.counted_by(context), started + took / 2)
    return Snapshot(taken_at, context.samples, moments, durations)


def _collect(collector: Collector[Any], context: Context) -> object:
    try:
        return collector.collect(context)
    except UserError:
        raise
    except MemoryError:
        return Unknown(NO_MEMORY, MORE_MEMORY)
    except Exception as error:
        logging.getLogger(__name__).exception("the collector %s failed on %s", collector.name, context.target.label)
        return Unknown(f"{FAILED} {collector.name} ({type(error).__name__}: {error})", "report this as a bug")
