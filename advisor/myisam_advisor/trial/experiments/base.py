"""What an experiment is: workloads, each run under several variants in turn.

`experiments/NAME.py` holds `EXPERIMENT`; `myisam-advisor trial` finds it by its file name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from myisam_advisor.trial.comparison import Comparison, Run, compare

if TYPE_CHECKING:
    from myisam_advisor.trial.bench import Bench

FOLDER = Path(__file__).with_name("experiments")


@dataclass(frozen=True, slots=True)
class Published:
    """What a published source says of a workload: its figure as words, and as a ratio where it gives one."""

    workload: str
    variant: str
    figure: str
    source: str


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload: what it counts, and how to run it once under each variant.

    The first variant is the baseline. A callable makes everything ready, then measures; `client_waits` says that the client only waits
    for one statement at a time, so that its own speed does not matter.
    """

    name: str
    unit: str
    variants: Mapping[str, Callable[[], Run]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """All runs of a workload, by variant in the order of the variants."""

    name: str
    unit: str
    runs: Mapping[str, Sequence[Run]]
    note: str = ""

    @property
    def baseline(self) -> str:
        """The variant that the others are held against."""
        return next(iter(self.runs))

    @property
    def comparisons(self) -> Sequence[Comparison]:
        """Each other variant against the baseline."""
        base = self.runs[self.baseline]
        return [compare(name, base, runs) for name, runs in self.runs.items() if name != self.baseline]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What a trial of one experiment found.

    `server`, `version` and `binaries` name the private server; they are empty for an experiment that needs none. `skipped` says which workloads were
    not run, and why.
    """

    experiment: str
    server: str
    version: str
    tables: str
    settings: Sequence[str]
    workloads: Sequence[WorkloadResult]
    conclusion: str
    skipped: Mapping[str, str] = field(default_factory=dict)
    binaries: str = ""
    machine: str = ""
    taken_at: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment.

    `workloads` yields them one by one, each run before the next is asked for; `conclude` puts the results into a sentence; a round has
    `runs_a_round` runs at most.
    `memory_bytes` and `disk_bytes` are what it needs beside the copies of tables and the server itself.
    """

    title: str
    workloads: Callable[[Bench], Iterable[Workload]]
    conclude: Callable[[Bench, Sequence[WorkloadResult]], str]
    runs_a_round: int
    published: Sequence[Published] = ()
    options: Sequence[str] = ()
    disk_bytes: int = 512 << 20
    memory_bytes: int = 512 << 20
    needs_server: bool = True


def experiment_names() -> list[str]:
    """All experiments there are, by their names on the command line."""
    return sorted(path.stem.replace("_", "-") for path in FOLDER.glob("*.py") if path.stem != "__init__")


def experiment_named(name: str) -> Experiment:
    """The experiment in `experiments/NAME.py`."""
    module = importlib.import_module(f"myisam_advisor.trial.experiments.{name.replace('-', '_')}")
    return cast(Experiment, module.EXPERIMENT)


class Listener:
    """Who hears what a trial does; this one does not care."""

    def doing(self, what: str) -> None:
        """What begins now."""

    def ran(self) -> None:
        """One run is done."""


def run_workload(workload: Workload, rounds: int, listener: Listener) -> WorkloadResult:
    """Run the variants in turn, forwards and backwards (A B B A), `rounds` times each."""
    runs: dict[str, list[Run]] = {name: [] for name in workload.variants}
    for number in range(rounds):
        order = list(workload.variants.items())
        for name, run in order if number % 2 == 0 else reversed(order):
            listener.doing(f"{workload.name}: {name} ({number + 1} of {rounds})")
            runs[name].append(run())
            listener.ran()
    return WorkloadResult(workload.name, workload.unit, runs, workload.note)
