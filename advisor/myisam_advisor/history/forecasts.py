"""What findings forecast, as curves of a history: `verify` holds what came of a change against what was forecast before it.

A look's forecasts are written with the next sample: it is taken before the rules are asked.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.history.ledger import MAXIMUM_TIMES, Forecast
from myisam_advisor.judging.findings import Finding

PREFIX = "forecast."
LOW, HIGH = "low", "high"
CONDITIONS = "seconds at work for a statement, after/before, under a like load; 80 of 100 cases"


def forecasts_of(findings: Iterable[Finding]) -> Mapping[str, float | None]:
    """The ends of each rule's forecasts, the widest of several: how many times as fast statements become."""
    found: dict[str, float] = {}
    for finding in findings:
        forecast = finding.forecast
        if forecast is not None and forecast.low is not None and forecast.high is not None:
            low, high = (f"{PREFIX}{finding.rule}.{end}" for end in (LOW, HIGH))
            found[low] = min(found.get(low, forecast.low), forecast.low)
            found[high] = max(found.get(high, forecast.high), forecast.high)
    return found


def is_forecast_of(name: str, rules: Iterable[str]) -> bool:
    """Whether a curve is one of these rules'."""
    return name.startswith(PREFIX) and name[len(PREFIX) :].rpartition(".")[0] in rules


def forecast_before(rule: str, samples: Sequence[Mapping[str, float | None]]) -> Forecast | None:
    """What was forecast on average, as the time that a statement takes after/before; None where nothing was."""
    ends = []
    for end in (LOW, HIGH):
        told = [value for one in samples if (value := one.get(f"{PREFIX}{rule}.{end}"))]
        ends.append(statistics.fmean(told) if told else None)
    low, high = ends
    if low is None or high is None or not 1 / MAXIMUM_TIMES <= low <= high <= MAXIMUM_TIMES:
        return None
    return Forecast(1 / high, 1 / low, CONDITIONS)
