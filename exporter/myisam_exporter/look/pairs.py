"""Samples of two moments put side by side, for every collector in one way: for facts, for metrics, and for the plugin that runs without a daemon.

A pair has no earlier half where there is none, where it was taken no earlier, and where FLUSH STATUS, or another size of a key cache, set its counters back since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.key_caches import KEY_CACHES, began_anew
from myisam_exporter.collectors.status import STATUS, UPTIME_SINCE_FLUSH
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown

FLUSHED_BY_FLUSH_STATUS = frozenset({STATUS.name, KEY_CACHES.name})
NONE_EARLIER = Unknown("not looked at before")


class Readings(Protocol):
    """Each collector's sample (or Unknown), and when it was taken (monotonic seconds). A snapshot is one of these."""

    @property
    def samples(self) -> Mapping[str, object]:
        """By collector."""

    @property
    def moments(self) -> Mapping[str, float]:
        """By collector; without one a sample is there for others to look at, and begins no interval of its own."""


@dataclass(slots=True)
class Latest:
    """The last sample of each collector, whichever reading took it: what several readings count on from."""

    samples: Mapping[str, object] = field(default_factory=dict)
    moments: Mapping[str, float] = field(default_factory=dict)

    def pairs_to(self, readings: Readings) -> dict[str, Pair[object]]:
        """The readings with what was before them; they are the last ones from now on, but for those that others have overtaken."""
        pairs = pairs_between(self, readings)
        newer = {
            name: moment for name, moment in readings.moments.items() if self.moments.get(name, moment - 1) < moment
        }
        # Replaced, never changed: the pairs go on looking at what was.
        self.samples = {**self.samples, **{name: readings.samples[name] for name in newer}}
        self.moments = {**self.moments, **newer}
        return pairs

    def forget(self) -> None:
        """Begin anew: the server may be another one by now."""
        self.samples, self.moments = {}, {}


def pairs_between(before: Readings | None, after: Readings) -> dict[str, Pair[object]]:
    """A pair for every collector that gave something now, Unknown included."""
    if before is None:
        return {name: Pair(sample, others=after.samples) for name, sample in after.samples.items()}
    reset = FLUSHED_BY_FLUSH_STATUS if _was_flushed(before, after) else _resized(before, after)
    return {name: _pair(before, after, name, name in reset) for name in after.samples}


def _pair(before: Readings, after: Readings, name: str, reset: bool) -> Pair[object]:
    earlier, seconds = before.samples.get(name, NONE_EARLIER), seconds_between(before, after, name)
    if reset or seconds is None or isinstance(earlier, Unknown):
        earlier = seconds = None
    return Pair(after.samples[name], earlier, seconds, after.samples, before.samples)


def seconds_between(before: Readings, after: Readings, collector: str) -> float | None:
    """The time between two samples of a collector; None where the second is none that follows the first."""
    if collector not in before.moments or collector not in after.moments:
        return None
    seconds = after.moments[collector] - before.moments[collector]
    # A reading that began before the last one and ended after it adds nothing to what is counted.
    return seconds if seconds > 0 else None


def _resized(before: Readings, after: Readings) -> frozenset[str]:
    """The key caches, where one of them was made anew: its counters begin at 0, and some may have overtaken their old value since."""
    earlier, later = KEY_CACHES.of(before.samples), KEY_CACHES.of(after.samples)
    if isinstance(earlier, Unknown) or isinstance(later, Unknown) or not began_anew(earlier, later):
        return frozenset()
    return frozenset({KEY_CACHES.name})


def _was_flushed(before: Readings, after: Readings) -> bool:
    """Whether FLUSH STATUS set counters back: some may have overtaken their old value since."""
    earlier, later = _flushed_at(before), _flushed_at(after)
    return earlier is not None and later is not None and earlier != later


def _flushed_at(readings: Readings) -> float | None:
    """At which second of its uptime the server's counters were last set back. Of both it counts whole seconds by one clock: their difference stays, also where that is set."""
    status = STATUS.of(readings.samples)
    if isinstance(status, Unknown):
        return None
    uptime, since_flush = status.uptime_seconds, status.number(UPTIME_SINCE_FLUSH)
    return None if uptime is None or since_flush is None else uptime - since_flush
