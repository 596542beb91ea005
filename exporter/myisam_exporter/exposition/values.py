"""The values that groups of metrics read off one snapshot."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import field

from myisam_exporter.collectors.base import Sample, SampleKey
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.metrics.base import Group, Metric, Scene, Value, all_groups

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GroupValues:
    """By collector: the metrics declared and their values. `failed` names collectors of groups that failed: those are left out."""

    metrics: dict[str, list[Metric]] = field(default_factory=dict)
    values: dict[str, list[Value]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)


def group_values(snapshot: Snapshot, scene: Scene, names: Collection[str]) -> GroupValues:
    """The values of each collector among `names` that gave a sample."""
    found = GroupValues()
    for group in all_groups():
        key = _key_of(group, snapshot, names)
        if key is None:
            continue
        name = key.name
        try:
            pair = scene.pair(key)
            values = [] if isinstance(pair, Unknown) else list(group.values(pair, scene))
        except Exception:
            _log.exception("the metrics of %s failed", name)
            found.failed.add(name)
            continue
        found.values.setdefault(name, []).extend(values)
        found.metrics.setdefault(name, []).extend(group.metrics)
    return found


def _key_of(group: Group[Sample], snapshot: Snapshot, names: Collection[str]) -> SampleKey[Sample] | None:
    """The first of its keys whose collector, among `names`, gave a sample."""
    return next(
        (
            key
            for key in group.samples
            if key.name in names and not isinstance(snapshot.samples.get(key.name, Unknown("")), Unknown)
        ),
        None,
    )
