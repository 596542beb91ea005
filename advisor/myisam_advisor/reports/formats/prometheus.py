"""The report for node_exporter's textfile collector: the daemon's advice metrics, and when they were taken.

`check --format prometheus --output /var/lib/prometheus/node-exporter/myisam_advisor.prom`, from a timer: for who runs no daemon.
"""

from __future__ import annotations

import time

from myisam_advisor.judging.findings import Judgement
from myisam_advisor.reports.advice_metrics import METRICS, advice_values
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_advisor.texts.drawing import as_read_by
from myisam_exporter.exposition.text import page_of
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.metrics.base import Metric, Value

__all__ = ["exit_status", "render"]

CHECKED = Metric("advice_check_timestamp_seconds", "gauge", "When `myisam-advisor check` judged this server.")


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The exposition."""
    values = [*advice_values(judgement, facts.interval_seconds), Value(CHECKED.name, time.time())]
    return as_read_by(shown.reader, page_of((*METRICS, CHECKED), values).text.decode(), keep_newlines=True)
