"""What a change is expected to gain, in words: an interval that was worked out of the facts, or that nobody can tell."""

from __future__ import annotations

from myisam_advisor.judging.findings import Finding

UNTOLD = "How much it gains is not known."


def gain_in_words(finding: Finding) -> str:
    """A sentence; empty where nothing is changed for speed, or where a proof or a measurement says what came of it."""
    forecast = finding.forecast
    if forecast is None:
        is_told = finding.proof is not None or finding.measured
        return UNTOLD if finding.resource and (finding.commands or finding.my_cnf) and not is_told else ""
    if forecast.low is None or forecast.high is None:
        return UNTOLD
    return (
        f"Forecast: {forecast.low:.2f} to {forecast.high:.2f} times the statements under this load "
        f"(in 80 of 100 cases, by {forecast.changes} measurements)."
    )
