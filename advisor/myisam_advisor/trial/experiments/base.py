"""What an experiment is: workloads, each run under several variants in turn.

`experiments/NAME.py` holds `EXPERIMENT`; `myisam-advisor trial` finds it by its file name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from myisam_advisor.texts.units import unit_named, unit_names
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.rounds import Limits, run_rounds
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.trial.bench import Bench

FOLDER = Path(__file__).parent
DISK_BYTES = 512 << 20
# Of what several experiments held to.
SOURCE_2008 = "MySQL Performance Blog, 12 August 2008"
SOURCE_2014 = "blog series of April 2014"


@dataclass(frozen=True, slots=True)
class Published:
    """What a published source says of a workload: its figure as words, and as a ratio where it gives one."""

    workload: str
    variant: str
    figure: str
    source: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment.

    `workloads` yields them one by one, each run before the next is asked for; `conclude` puts the results into a sentence; a round has
    `runs_a_round` runs at most.
    Where it `takes_few_rows`, a copy may have fewer than are needed to look any up: it is read as a whole.
    `memory_bytes` is what it needs beside the copies of tables and the server itself; of the disk each needs DISK_BYTES.
    """

    title: str
    workloads: Callable[[Bench], Iterable[Workload]]
    conclude: Callable[[Bench, Sequence[WorkloadResult]], str]
    runs_a_round: int
    published: Sequence[Published] = ()
    options: Sequence[str] = ()
    memory_bytes: int = 512 << 20
    needs_server: bool = True
    takes_few_rows: bool = False


def experiment_names() -> list[str]:
    """All experiments there are, by their names on the command line."""
    return unit_names(FOLDER)


def experiment_named(name: str) -> Experiment:
    """The experiment in `experiments/NAME.py`."""
    return cast(Experiment, unit_named("myisam_advisor.trial.experiments", name).EXPERIMENT)


def run_workload(workload: Workload, limits: Limits, listener: Listener) -> WorkloadResult:
    """Run the variants in rounds, until each is clear against the first."""
    rounds = run_rounds(
        workload.variants,
        lambda run: run.operations_per_second,
        limits,
        lambda what: listener.doing(f"{workload.name}: {what}"),
        ran=listener.ran,
    )
    return WorkloadResult(workload.name, workload.unit, rounds.runs, workload.note, rounds.course)
