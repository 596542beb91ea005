"""Models of what changes gain, one for a rule, fitted on the results: what a piece of the spared work takes, and how far outcomes are from that.

A change that was measured on two kinds of processors has two outcomes: which kind a reader's server has nobody knows here.
Each scenario's outcomes are held against a model that was fitted without them: the share that lies within is how far the others can be believed.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.advice.changes import piece_of, pieces
from benchmarks.advice.record import RESULTS, advice_of, all_records
from benchmarks.advice.twice import by_processor
from benchmarks.advice.work import OURS
from myisam_advisor.catalogue.forecasts import Model

# With fewer nobody can tell: an interval for 80 of 100 wants ten outcomes, and a model that left one scenario out still has several.
FEWEST_CHANGES, FEWEST_SCENARIOS = 10, 4
# An outcome that may be twice another says nothing of a gain.
WIDEST = 1.5
TENTHS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """One measured change: the work that it spares (in a second, for each processor at work), and how many times as fast it made the load."""

    scenario: str
    work: float
    ratio: float


def outcomes(folder: Path = RESULTS) -> Mapping[str, list[Outcome]]:
    """Of each rule of ours."""
    found = defaultdict[str, list[Outcome]](list)
    for record in all_records(folder):
        lines = record.lines()
        ours, measured = advice_of(lines).get(OURS), by_processor(lines)
        known = {part.key: piece.key for piece in pieces(ours.changes if ours else ()) for part in piece.each}
        for change in ours.changes if ours else ():
            if change.work is None:
                continue
            for line in measured.get(known[piece_of(change).key], ()):
                if line["ratio"] and line["low"] and line["high"] <= WIDEST * line["low"]:
                    found[change.rule].append(Outcome(record.scenario, change.work, line["ratio"]))
    return found


def fitted(known: Sequence[Outcome]) -> Model | None:
    """The model of one rule; None where too little is known."""
    model = _fitted(known)
    scenarios = {one.scenario for one in known}
    if model is None or len(known) < FEWEST_CHANGES or len(scenarios) < FEWEST_SCENARIOS:
        return None
    within = 0
    for name in scenarios:
        without = _fitted([one for one in known if one.scenario != name])
        for one in known:
            if one.scenario == name and without is not None:
                low, high = without.times(one.work)
                within += low <= one.ratio <= high
    return replace(model, scenarios=len(scenarios), covered=round(within / len(known), 2))


def _fitted(known: Sequence[Outcome]) -> Model | None:
    """What a piece takes: the middle of what each change says; and the tenths of how far outcomes are from that."""
    if len(known) < 2:
        return None
    shares = [1 - 1 / one.ratio for one in known]
    told = [share / one.work for share, one in zip(shares, known, strict=True) if one.work]
    seconds = max(statistics.median(told), 0.0) if told else 0.0
    model = Model(_short(seconds), round(max(*shares, 0.0), 4), 0.0, 0.0, len(known), 0, 0.0)
    off = [math.log(one.ratio / model.times(one.work)[0]) for one in known]
    tenths = statistics.quantiles(off, n=TENTHS)
    return replace(model, low=round(tenths[0], 4), high=round(tenths[-1], 4))


def _short(seconds: float) -> float:
    return float(f"{seconds:.3g}")


def document(folder: Path = RESULTS) -> str:
    """The file `rules/forecasts.json`."""
    models = {rule: model for rule, known in sorted(outcomes(folder).items()) if (model := fitted(known))}
    return json.dumps({"rules": {rule: asdict(model) for rule, model in models.items()}}, indent=1) + "\n"
