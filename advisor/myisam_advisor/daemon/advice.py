"""The rules, judged after each look of the daemon, as metrics."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from myisam_advisor.daemon.board import Board
from myisam_advisor.daemon.history import History
from myisam_advisor.daemon.history_format import samples_of
from myisam_advisor.engine import judge
from myisam_advisor.facts import complete
from myisam_advisor.findings import Judgement
from myisam_advisor.page.look import look_at
from myisam_advisor.rules import SEVERITIES
from myisam_advisor.site import Site
from myisam_exporter.fact_set import FactSet
from myisam_exporter.metric import Metric, Value
from myisam_exporter.table_choice import Choice

MAXIMUM_SERIES_PER_RULE = 100
_log = logging.getLogger(__name__)


class Advice:
    """Findings of the last interval, put on the board. `site` is asked at each look: a reload may bring others."""

    name = "advice"
    metrics = (
        Metric(
            "advice_finding",
            "gauge",
            "Always 1; one for each finding of the last interval, at most 100 a rule: `myisam-advisor check` has the words.",
            ("rule", "severity", "scope", "object"),
        ),
        Metric(
            "advice_finding_first_seen_timestamp_seconds",
            "gauge",
            "Since when the finding has held without a pause; needs the history.",
            ("rule", "object"),
        ),
        Metric("advice_findings", "gauge", "Number of findings of the last interval.", ("severity",)),
        Metric(
            "advice_not_evaluated", "gauge", "Always 1; rules that lack a fact: `myisam-advisor doctor`.", ("rule",)
        ),
        Metric("advice_suppressed", "gauge", "Number of findings that the configuration suppresses."),
        Metric(
            "advice_interval_seconds", "gauge", "Length of the interval that was judged; absent before there is one."
        ),
    )

    def __init__(self, site: Callable[[], Site], history: History | None, board: Board) -> None:
        self._site = site
        self._history = history
        self._board = board

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Judge these facts."""
        if self._history is not None:
            facts = self._history.with_former_key_caches(label, facts)
        site, now = self._site(), time.time()
        facts = complete(facts)
        judgement = judge(facts, site)
        since = self._history.seen(label, judgement.findings, now) if self._history else {}
        look = look_at(_dated(judgement, since, now), site.without_ignored_schemas(facts), now)
        self._board.put(label, look, samples_of(facts, choice))
        yield Value("advice_interval_seconds", facts.interval_seconds)
        counted = Counter(finding.severity for finding in judgement.findings)
        for severity in SEVERITIES:
            yield Value("advice_findings", counted[severity], (severity,))
        yield Value("advice_suppressed", len(judgement.suppressed))
        for outcome in judgement.not_evaluated:
            yield Value("advice_not_evaluated", 1, (outcome.rule,))
        series: Counter[str] = Counter()
        for finding in judgement.findings:
            series[finding.rule] += 1
            if series[finding.rule] <= MAXIMUM_SERIES_PER_RULE:
                yield Value("advice_finding", 1, (finding.rule, finding.severity, finding.scope, finding.object))
                first = since.get((finding.rule, finding.object))
                yield Value("advice_finding_first_seen_timestamp_seconds", first, (finding.rule, finding.object))


def _dated(judgement: Judgement, since: Mapping[tuple[str, str], float], now: float) -> Judgement:
    """The findings with when each was first seen, where the history knows."""
    return replace(
        judgement,
        findings=[
            replace(finding, first_seen=since.get((finding.rule, finding.object)), last_seen=now if since else None)
            for finding in judgement.findings
        ],
    )
