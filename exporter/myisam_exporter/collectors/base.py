"""What a collector is: one source, read once, giving typed facts or saying why it could not.

A collector is a module in `collectors/` with one object named COLLECTOR. It is found by its folder; there is nothing to register.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Column
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.index_names import IndexNames
from myisam_exporter.kernel.thread_switches import ThreadSwitches
from myisam_exporter.outside.clock import CLOCK, Clock

if TYPE_CHECKING:
    from myisam_exporter.files.directory_scanner import DirectoryScanner
    from myisam_exporter.files.sweeper import Sweeper
    from myisam_exporter.kernel.tracepoints import Following
    from myisam_exporter.server.session import Session
    from myisam_exporter.server.target import Target

Sample = TypeVar("Sample")
Other = TypeVar("Other")
Number = TypeVar("Number", int, float)
Sample_co = TypeVar("Sample_co", covariant=True)
PAGE_CACHE_SWEEP_SECONDS = 2.0
# Rows of an answer that has one for each table of the server.
MAXIMUM_TABLE_ROWS = 500_000
NOT_TAKEN = Unknown("not looked at")
NOT_TRACED = Unknown(
    "page-cache lookups are not traced",
    "myisam-advisor serve --collect.page-cache.precise, as root or with CAP_PERFMON",
    off=True,
)


@dataclass(frozen=True, slots=True)
class SampleKey(Generic[Sample_co]):
    """A collector's name, and what its sample is: whoever looks it up by this has its type."""

    name: str
    type: type[Sample_co]

    def expect(self, found: object) -> Sample_co | Unknown:
        """What was found under the name, which is of no other type."""
        if isinstance(found, (self.type, Unknown)):
            return found
        raise TypeError(f"the sample of {self.name} is {type(found).__name__}, not {self.type.__name__}")

    def of(self, samples: Mapping[str, object]) -> Sample_co | Unknown:
        """The sample among these."""
        return self.expect(samples.get(self.name, NOT_TAKEN))

    def pair(self, pairs: Mapping[str, Pair[object]]) -> Pair[Sample_co] | Unknown:
        """The samples at both ends, among these pairs; why there is none at the second."""
        found = pairs.get(self.name)
        if found is None:
            return NOT_TAKEN
        after = self.expect(found.after)
        if isinstance(after, Unknown):
            return after
        before = None if found.before is None else self.expect(found.before)
        if isinstance(before, Unknown):
            return Pair(after, None, None, found.others, found.others_before)
        return Pair(after, before, found.seconds, found.others, found.others_before)


@dataclass(slots=True)
class Context:
    """What a collector may use: the session with the server, the roots it reads below, and the samples taken before its own.

    `threads_running` and `in_query_cache` hold readings of such states from within the interval: one at each end says little. A daemon gives a `scanner`,
    a `sweeper`, `index_names` and `switches`, which remember from look to look, and `following`, by which the kernel counts; in `one_pass` pages
    are asked about while headers are read.
    `before` are the samples of its last look.
    `names` are those of the server's status and variables that are wanted, by collector; without them all are.
    """

    target: Target
    session: Session
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    page_cache_sweep_seconds: float = PAGE_CACHE_SWEEP_SECONDS
    following: Following | Unknown = NOT_TRACED
    key_caches: tuple[str, ...] = ()
    threads_running: list[float] = field(default_factory=list)
    in_query_cache: list[int] = field(default_factory=list)
    scanner: DirectoryScanner | None = None
    sweeper: Sweeper | None = None
    one_pass: bool = False
    index_names: IndexNames = field(default_factory=IndexNames)
    switches: ThreadSwitches = field(default_factory=ThreadSwitches)
    clock: Clock = CLOCK
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    samples: dict[str, object] = field(default_factory=dict)
    before: Mapping[str, object] = field(default_factory=dict)

    def sample(self, key: SampleKey[Sample]) -> Sample | Unknown:
        """The sample of a collector named in `after`. Raises KeyError for another one: it may not have been taken yet."""
        return key.expect(self.samples[key.name])


@dataclass(frozen=True, slots=True)
class Pair(Generic[Sample_co]):
    """One collector's samples at both ends of an interval.

    `before` is None and `seconds` None where there is no interval, or where the counters were reset within it. `others` and
    `others_before` are the samples of all collectors at both ends, by name. Made by look/pairs.py.
    """

    after: Sample_co
    before: Sample_co | None = None
    seconds: float | None = None
    others: Mapping[str, object] = field(default_factory=dict)
    others_before: Mapping[str, object] = field(default_factory=dict)

    def other(self, key: SampleKey[Other]) -> Other | Unknown:
        """What another collector gave at the end of the interval."""
        return key.of(self.others)

    def other_before(self, key: SampleKey[Other]) -> Other | Unknown:
        """What it gave at the beginning."""
        return key.of(self.others_before)

    def rate(self, before: float | None, after: float | None) -> float | None:
        """A counter's growth per second; None without an interval, or when the counter went backwards."""
        if self.seconds is None or before is None or after is None or after < before:
            return None
        return (after - before) / self.seconds

    def per_second(self, growth: float | None, unit: float = 1) -> float | None:
        """A growth, counted in parts of which `unit` make one, as a rate; None without an interval."""
        return None if growth is None or self.seconds is None else growth / self.seconds / unit


def grown(before: Number | None, after: Number | None) -> Number | None:
    """How much a counter grew; None where one end is not known, or when it went backwards."""
    return None if before is None or after is None or after < before else after - before


class Collector(ABC, Generic[Sample]):
    """One source of facts.

    `sections` names the fact tables it fills and their columns; `after` the collectors whose samples it reads. One that gives
    `states_only` has no counters: it is left out of the sample that begins an interval. One that is `expensive` takes longer the more
    tables there are: a daemon reads it in the background, never while somebody waits. Where `steady` says so, its
    samples have a generation (see facts/generation.py): facts of the same two are worked out once. One that is not expensive names in `reads`
    what it reads of the server's status and variables, by their collector: a scrape asks for no others.
    """

    name: str
    source: str
    sections: Mapping[str, Sequence[Column]]
    after: tuple[str, ...] = ()
    states_only: bool = False
    steady: bool = False
    expensive: bool = False
    reads: Mapping[str, frozenset[str]] = {}

    @abstractmethod
    def collect(self, context: Context) -> Sample | Unknown:
        """Read the source once. What is missing is Unknown, never an exception; only a lost server raises ServerLostError."""

    def counted_by(self, context: Context) -> str:
        """The collector that read the counters which this one tells: they are of that moment."""
        return self.name

    @abstractmethod
    def facts(self, pair: Pair[Sample]) -> Iterable[Block]:
        """Rows for the fact tables; the rates among them need `pair.before`."""

    def notes(self, sample: Sample) -> Iterable[Unknown]:
        """What this sample lacks, when it is there but not whole."""
        return ()

    def incomplete(self, sample: Sample) -> Unknown | None:
        """Why this sample is only a part of what there is; a part must not pass for the whole."""
        return None

    def unknown_columns(self, sample: Sample) -> Mapping[str, Unknown]:
        """Columns (`table.column`) that this sample could not fill, with the reason."""
        return {}

    def unknown_over_interval(self) -> Mapping[str, Unknown]:
        """Columns (`table.column`) that even an interval may leave unknown, with the reason."""
        return {}


def units_of(package: ModuleType) -> list[str]:
    """The full names of a folder's modules but `base`, which says what a unit is: the order is that of the names."""
    prefix = f"{package.__name__}."
    return sorted(unit.name for unit in pkgutil.iter_modules(package.__path__, prefix) if unit.name != f"{prefix}base")


@lru_cache(maxsize=1)
def all_collectors() -> tuple[Collector[Any], ...]:
    """Every collector in the folder, each behind those it builds on."""
    from myisam_exporter import collectors

    found: dict[str, Collector[Any]] = {}
    for module in units_of(collectors):
        collector: Collector[Any] = importlib.import_module(module).COLLECTOR
        found[collector.name] = collector
    order = TopologicalSorter({name: collector.after for name, collector in sorted(found.items())}).static_order()
    return tuple(found[name] for name in order)


@lru_cache(maxsize=1)
def declared_columns() -> Mapping[str, tuple[Column, ...]]:
    """The columns of each fact table, over all collectors, in the order of declaration."""
    gathered: dict[str, dict[str, Column]] = {}
    for collector in all_collectors():
        for table, declared in collector.sections.items():
            for column in declared:
                gathered.setdefault(table, {}).setdefault(column.name, column)
    return {table: tuple(by_name.values()) for table, by_name in gathered.items()}


def with_prerequisites(names: Iterable[str]) -> frozenset[str]:
    """These collectors and all that they build on."""
    by_name = {collector.name: collector for collector in all_collectors()}
    wanted, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += by_name[name].after
    return frozenset(wanted)
