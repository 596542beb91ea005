"""What a metric is: declared once with its type, labels and help; and how a group of them is read off the samples.

A group is a module in `metrics/` with one object named GROUP. It is found by its folder; there is nothing to register. From the
declarations come the exposition, `name[]` and docs/reference/metrics.md. Conventions: prometheus.io, "Writing exporters".
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple

from myisam_exporter.collectors.base import Pair, Sample, SampleKey, units_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.table_choice import names_of

if TYPE_CHECKING:
    from myisam_exporter.look.fact_set import FactRows, FactSet
    from myisam_exporter.look.table_choice import Choice

PREFIX = "myisam_"
TABLE_LABELS = ("schema", "table")
BACKGROUND = "Looked at in the background."
Kind = Literal["counter", "gauge"]
# 200 bytes each. Programs that make tables by the minute left those of a day, of a month, until the daemon was out of memory.
MOST_TOTALS = 10_000


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `name` without the prefix, its type and labels, and where its value comes from."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """The name as it is exposed."""
        return PREFIX + self.name


class Value(NamedTuple):
    """A metric's value for one combination of its labels. None is unknown: no sample is exposed."""

    name: str
    number: float | None
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class Running:
    """Counters that we keep ourselves, where a source gives growth only; they begin at 0 with the daemon."""

    totals: dict[tuple[str, ...], float] = field(default_factory=lambda: defaultdict(float))

    def grow(self, growth: float | None, *key: str) -> float:
        """Add to a counter; what is unknown adds nothing. Returns its value."""
        if growth is not None and growth > 0:
            self.totals[key] += growth
        return self.totals.get(key, 0.0)

    def forget_tables_but(self, shown: Iterable[tuple[str, ...]]) -> None:
        """Where there are very many, forget those of tables that are not shown: some are gone for good. One that comes back begins at 0, as after a restart."""
        if len(self.totals) > MOST_TOTALS:
            names = set(shown)
            for key in [key for key in self.totals if len(key) == 1 + len(TABLE_LABELS) and key[1:] not in names]:
                del self.totals[key]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a group may look at: the samples now and before, counters that are kept, and in the background also facts and tables."""

    pairs: Mapping[str, Pair[object]]
    running: Running
    facts: FactSet | None = None
    choice: Choice | None = None

    def pair(self, key: SampleKey[Sample]) -> Pair[Sample] | Unknown:
        """A collector's samples now and before; why there is none now."""
        return key.pair(self.pairs)


class Group(ABC, Generic[Sample]):
    """Metrics that one collector's sample gives. `samples` are its key, or those of collectors of which one is enough; `reads` as of a collector."""

    samples: tuple[SampleKey[Sample], ...]
    metrics: tuple[Metric, ...]
    reads: Mapping[str, frozenset[str]] = {}

    @property
    def collectors(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(key.name for key in self.samples)

    @abstractmethod
    def values(self, pair: Pair[Sample], scene: Scene) -> Iterable[Value]:
        """The values, from this collector's samples."""


@lru_cache(maxsize=1)
def all_groups() -> tuple[Group[Any], ...]:
    """Every group in the folder, by the module's name."""
    from myisam_exporter import metrics

    return tuple(importlib.import_module(name).GROUP for name in units_of(metrics))


def bytes_of(blocks: int | None, block_size_bytes: int) -> int | None:
    """Blocks as bytes."""
    return None if blocks is None else blocks * block_size_bytes


def per_table(name: str, rows: FactRows, column: str, *labels: str) -> Iterable[Value]:
    """One value a table, with further labels."""
    for labelled, value in zip(table_labels(rows, *labels), rows.values(column), strict=True):
        yield Value(name, number_of(value), labelled)


def table_labels(rows: FactRows, *labels: str) -> Sequence[tuple[str, ...]]:
    """The labels of each table that has series, with further ones. Kept with the rows: all metrics share them."""
    return rows.once(("labels", labels), lambda rows: [(*table, *labels) for table in names_of(rows)])
