"""What is run in a trial, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from myisam_advisor.trial.comparison import Comparison, Run, compare
from myisam_advisor.trial.intervals import PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.rounds import BUDGET, CLEAR, ROUNDS, Course, doubted
from myisam_advisor.trial.typed_documents import ResultError, made
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload: what it counts, and how to run it once under each variant.

    The first variant is the baseline. A callable makes everything ready, then measures.
    """

    name: str
    unit: str
    variants: Mapping[str, Callable[[], Run]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """The runs of a workload that count, by variant in the order of the variants, and how they went (None: nobody watched)."""

    name: str
    unit: str
    runs: Mapping[str, Sequence[Run]]
    note: str = ""
    course: Course | None = None

    @property
    def baseline(self) -> str:
        """The variant that the others are held against."""
        return next(iter(self.runs))

    @property
    def comparisons(self) -> Sequence[Comparison]:
        """Each other variant against the baseline."""
        base, course = self.runs[self.baseline], self.course
        prior = PRIOR_VARIANCE if course is None else course.prior_variance
        others = [(name, runs) for name, runs in self.runs.items() if name != self.baseline]
        return [doubted(compare(name, base, runs, prior), course) for name, runs in others]


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


def from_document(document: Any) -> TrialResult:
    """The result that dataclasses.asdict made a document. Raises ResultError for whatever is of another form or type."""
    result = made(TrialResult, document)
    for workload in result.workloads:
        lengths, course = {len(runs) for runs in workload.runs.values()}, workload.course
        if len(lengths) != 1 or lengths == {0}:
            raise ResultError("the trial's process sent a workload whose variants do not match.")
        if course is not None and course.ended_by not in (CLEAR, ROUNDS, BUDGET):
            raise ResultError("the trial's process sent a workload that ended in no known way.")
        if course is not None and course.prior_variance not in (PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY):
            raise ResultError("the trial's process sent a workload with intervals of no known kind.")
    return result
