"""How collectors fared: what the exporter says of itself, in a watch's page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.collectors.cgroup import HIDDEN
from myisam_exporter.exposition.reading import CollectorOutcome
from myisam_exporter.exposition.text import Page, page_of
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.metrics.base import Metric, Value
from myisam_exporter.server.location import ELSEWHERE

# What a daemon elsewhere, or in a container of its own, can never see is no failure of it.
OUT_OF_SIGHT = (ELSEWHERE, HIDDEN)
LAST_RUN = "at the collector's last run"
UP = Metric("up", "gauge", "1 when the server answered this scrape, else 0.")
COLLECTOR_METRICS = (
    Metric("exporter_collector_success", "gauge", f"1 when it gave everything there is, else 0, {LAST_RUN}.", ("collector",)),
    Metric("exporter_collector_supported", "gauge", "0 where this server, kernel or configuration does not have the source, else 1.", ("collector",)),
    Metric("exporter_collector_duration_seconds", "gauge", "Duration of the collector's last run.", ("collector",)),
    Metric("exporter_collector_last_success_timestamp_seconds", "gauge", "When it last gave everything there is.", ("collector",)),
)  # fmt: skip


def outcomes_of(
    snapshot: Snapshot, names: Collection[str], failed_groups: Collection[str]
) -> dict[str, CollectorOutcome]:
    """How these collectors fared in a snapshot; one whose group of metrics failed did not succeed either."""
    outcomes = {}
    for collector in all_collectors():
        if collector.name in names:
            sample = snapshot.samples[collector.name]
            missing = sample if isinstance(sample, Unknown) else None
            whole = missing is None and collector.incomplete(sample) is None and collector.name not in failed_groups
            supported = missing is None or not (missing.off or missing in OUT_OF_SIGHT)
            outcomes[collector.name] = CollectorOutcome(whole, supported, snapshot.durations[collector.name])
    return outcomes


def successes(outcomes: Mapping[str, CollectorOutcome], moment: float) -> dict[str, float]:
    """When those that gave everything did so."""
    return {name: moment for name, outcome in outcomes.items() if outcome.success}


def own_page(
    answers: bool,
    outcomes: Mapping[str, CollectorOutcome],
    last_success: Mapping[str, float],
    selected: Collection[str],
) -> Page:
    """The page of `up`, and of how the selected collectors fared."""
    return page_of((UP, *COLLECTOR_METRICS), _values(answers, outcomes, last_success, selected))


def _values(
    answers: bool,
    outcomes: Mapping[str, CollectorOutcome],
    last_success: Mapping[str, float],
    selected: Collection[str],
) -> Iterable[Value]:
    yield Value("up", int(answers))
    for name, outcome in outcomes.items():
        if name not in selected:
            continue
        if outcome.supported:
            yield Value("exporter_collector_success", int(outcome.success), (name,))
        yield Value("exporter_collector_supported", int(outcome.supported), (name,))
        yield Value("exporter_collector_duration_seconds", outcome.seconds, (name,))
        yield Value("exporter_collector_last_success_timestamp_seconds", last_success.get(name), (name,))
