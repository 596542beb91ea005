"""A judgement as metrics: for the daemon's exposition, and for node_exporter's textfile collector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.judging.findings import Judgement
from myisam_exporter.metrics.base import Metric, Value

MAXIMUM_SERIES_PER_RULE = 100
METRICS = (
    Metric(
        "advice_finding",
        "gauge",
        "Always 1; one for each finding of the last interval, at most 100 a rule: `myisam-advisor check` has the words.",
        ("rule", "severity", "scope", "object"),
    ),
    Metric(
        "advice_finding_first_seen_timestamp_seconds",
        "gauge",
        "Since when the finding has held, pauses of up to 15 minutes aside; needs the history.",
        ("rule", "object"),
    ),
    Metric(
        "advice_rule_info",
        "gauge",
        "Always 1; one for each rule that has a finding: its title, and the resource that is short (empty where the rule names none): words for an annotation.",
        ("rule", "title", "resource"),
    ),
    Metric(
        "advice_findings",
        "gauge",
        "Number of findings of the last interval; none is absent where not all was seen (advice_blind).",
        ("severity",),
    ),
    Metric(
        "advice_blind",
        "gauge",
        "Always 1; what was not seen, so that silence means nothing: tables (out of sight), load (next to nothing happened), stopped (rules ran out of time or memory), "
        "counters (set back within the interval).",
        ("what",),
    ),
    Metric("advice_not_evaluated", "gauge", "Always 1; rules that lack a fact: `myisam-advisor doctor`.", ("rule",)),
    Metric("advice_suppressed", "gauge", "Number of findings that the configuration suppresses."),
    Metric("advice_interval_seconds", "gauge", "Length of the interval that was judged; absent before there is one."),
)


def advice_values(judgement: Judgement, interval_seconds: float | None) -> Iterable[Value]:
    """The values; since when findings hold where a history knows.

    What is told on (told.py) is no finding of this interval: whoever keeps series damps them there, as the alerts do (max_over_time).
    """
    judgement = replace(judgement, findings=[one for one in judgement.findings if one.away_seconds is None])
    yield Value("advice_interval_seconds", interval_seconds)
    for severity in SEVERITIES:
        # Where not all was seen, none found is not none there: absent, not 0.
        yield Value("advice_findings", judgement.count(severity), (severity,))
    for spot in judgement.blind:
        yield Value("advice_blind", 1, (spot.what,))
    yield Value("advice_suppressed", len(judgement.suppressed))
    for outcome in judgement.not_evaluated:
        yield Value("advice_not_evaluated", 1, (outcome.rule,))
    series: Counter[str] = Counter()
    for finding in judgement.findings:
        series[finding.rule] += 1
        if series[finding.rule] <= MAXIMUM_SERIES_PER_RULE:
            yield Value("advice_finding", 1, (finding.rule, finding.severity, finding.scope, finding.object))
            labels = (finding.rule, finding.object)
            yield Value("advice_finding_first_seen_timestamp_seconds", finding.first_seen, labels)
    for rule, (title, resource) in {one.rule: (one.title, one.resource) for one in judgement.findings}.items():
        yield Value("advice_rule_info", 1, (rule, title, resource))
