"""A trial's result as JSON holds it, taken from a process that is not believed: every type is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.intervals import PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.rounds import BUDGET, CLEAR, ROUNDS, Course, Noise
from myisam_exporter.outside.numbers import is_number

TIMES = ("server_cpu_seconds", "client_cpu_seconds")
COUNTS = ("voluntary_switches", "involuntary_switches", "minor_faults", "major_faults", "read_calls")
TEXTS = ("experiment", "server", "version", "tables", "conclusion", "binaries", "machine", "taken_at")
ENDINGS = (CLEAR, ROUNDS, BUDGET)
PRIORS = (PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY)
MAXIMUM_NUMBER = 1e18


class DocumentError(TrialError):
    """It is no result of a trial."""


def from_document(document: Any) -> TrialResult:
    """The result that was made JSON by dataclasses.asdict. Raises DocumentError for anything else."""
    whole = _mapping(document)
    texts = {name: _text(whole.get(name)) for name in TEXTS}
    settings = [_text(one) for one in _list(whole.get("settings"))]
    skipped = {_text(name): _text(why) for name, why in _mapping(whole.get("skipped")).items()}
    workloads = [_workload(one) for one in _list(whole.get("workloads"))]
    return TrialResult(**texts, settings=settings, workloads=workloads, skipped=skipped)


def _workload(document: Any) -> WorkloadResult:
    whole = _mapping(document)
    runs = {name: [_run(one) for one in _list(of_one)] for name, of_one in _mapping(whole.get("runs")).items()}
    lengths = {len(of_one) for of_one in runs.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise DocumentError("the trial's process sent a workload whose variants do not match.")
    course = None if whole.get("course") is None else _course(whole["course"])
    return WorkloadResult(_text(whole.get("name")), _text(whole.get("unit")), runs, _text(whole.get("note")), course)


def _course(document: Any) -> Course:
    whole = _mapping(document)
    noise = _mapping(whole.get("noise"))
    ended_by, is_busy = whole.get("ended_by"), whole.get("is_busy")
    if ended_by not in ENDINGS or not isinstance(is_busy, bool):
        raise DocumentError("the trial's process sent a workload that ended in no known way.")
    prior = number(whole.get("prior_variance"))
    if prior not in PRIORS:
        raise DocumentError("the trial's process sent a workload with intervals of no known kind.")
    counts = {name: int(number(whole.get(name))) for name in ("rounds", "warm_up_rounds", "disturbed_rounds")}
    return Course(
        **counts,
        seconds=number(whole.get("seconds")),
        ended_by=ended_by,
        noise=Noise(
            int(number(noise.get("pairs"))), _number_or_none(noise.get("median")), _number_or_none(noise.get("worst"))
        ),
        others_cpu_share=_number_or_none(whole.get("others_cpu_share")),
        is_busy=is_busy,
        prior_variance=prior,
    )


def _run(document: Any) -> Run:
    whole = _mapping(document)
    times = {name: None if whole.get(name) is None else number(whole[name]) for name in TIMES}
    counts = {name: None if whole.get(name) is None else int(number(whole[name])) for name in COUNTS}
    figures = {_text(name): number(value) for name, value in _mapping(whole.get("figures")).items()}
    return Run(number(whole.get("seconds")), number(whole.get("operations")), **times, **counts, figures=figures)  # type: ignore[arg-type]  # TIMES and COUNTS are its fields


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DocumentError("the trial's process sent something that is no result.")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DocumentError("the trial's process sent something that is no result.")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise DocumentError("the trial's process sent a result without the words that belong to it.")
    return value


def _number_or_none(value: Any) -> float | None:
    return None if value is None else number(value)


def number(value: Any) -> float:
    """A finite number of a size that occurs. Raises DocumentError for anything else."""
    if not is_number(value, MAXIMUM_NUMBER):
        raise DocumentError("the trial's process sent a result without the numbers that belong to it.")
    return value
