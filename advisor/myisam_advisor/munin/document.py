"""The numbers that the munin plugin graphs, as one JSON document: asked of the daemon, or printed by `myisam-advisor munin`.

Names are those of the metrics (docs/reference/metrics.md) without their prefix, a label in brackets: `key_cache_reads_total[default]`. What is
not known is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.texts.moments import moment_in_words
from myisam_exporter.metrics.base import Value
from myisam_exporter.watching.glances import Peak

SCHEMA_VERSION = 1
MAXIMUM_TABLES = 50
MAXIMUM_MESSAGES = 20
# Sums over all tables: name, the metric of a table, its file.
SUMS = (
    ("data_bytes", "data_bytes", None),
    ("index_bytes", "index_bytes", None),
    ("data_resident_bytes", "page_cache_resident_bytes", "data"),
    ("data_dirty_bytes", "page_cache_dirty_bytes", "data"),
    ("data_recently_evicted_bytes", "page_cache_recently_evicted_bytes", "data"),
    ("index_resident_bytes", "page_cache_resident_bytes", "index"),
)
ACTIVITY = ("write_statements_total", "rows_read_total")


def document(
    values: Sequence[Value],
    judgement: Judgement | None,
    peaks: Mapping[str, Peak] | None = None,
    failure: str = "",
    further: Mapping[str, float | None] | None = None,
    interval_seconds: float | None = None,
) -> dict[str, Any]:
    """The document. `judgement` is None where advice is not known; `interval_seconds` is the time that was judged.

    `further` are numbers that no metric has; `failure` says why there is nothing.
    """
    numbers = {
        value.name + (f"[{value.labels[0]}]" if value.labels else ""): value.number
        for value in values
        if len(value.labels) < 2
    }
    tables = _tables(values)
    numbers |= {f"tables_{name}": _sum(numbers, tables.values(), metric, file) for name, metric, file in SUMS}
    numbers |= further or {}
    return {
        "schema": SCHEMA_VERSION,
        "up": not failure,
        "reason": failure,
        "values": {name: number for name, number in numbers.items() if number is not None},
        "peaks": {
            name: {"maximum": peak.maximum, "percentile_95": peak.percentile_95} for name, peak in (peaks or {}).items()
        },
        "key_caches": sorted({value.labels[0] for value in values if value.name == "key_cache_size_bytes"}),
        "tables": [
            {"schema": schema, "table": table, "values": of_table}
            for (schema, table), of_table in sorted(tables.items(), key=_rank)[:MAXIMUM_TABLES]
        ],
        "advice": _advice(judgement, interval_seconds) if judgement is not None and not failure else None,
    }


def _tables(values: Iterable[Value]) -> dict[tuple[str, str], dict[str, float]]:
    """The numbers of each table, by the metric's name without `table_`, its file in brackets."""
    tables: dict[tuple[str, str], dict[str, float]] = {}
    for name, number, labels in values:
        if name.startswith("table_") and len(labels) >= 2:
            of_table = tables.setdefault((labels[0], labels[1]), {})
            if number is not None:
                of_table[name.removeprefix("table_") + (f"[{labels[2]}]" if len(labels) > 2 else "")] = number
    return tables


def _rank(item: tuple[tuple[str, str], Mapping[str, float]]) -> tuple[float, float, tuple[str, str]]:
    """What did most since the counters began, then what is largest: an order that does not change with every sample."""
    name, numbers = item
    return -sum(numbers.get(one, 0.0) for one in ACTIVITY), -numbers.get("data_bytes", 0.0), name


def _sum(
    numbers: Mapping[str, float | None], tables: Iterable[Mapping[str, float]], metric: str, file: str | None
) -> float | None:
    """Over the tables that have series and those that have none; unknown when a part of it is."""
    name = metric + (f"[{file}]" if file else "")
    omitted = numbers.get(f"omitted_tables_{name}")
    each = [of_table.get(name) for of_table in tables]
    known = [number for number in each if number is not None]
    return None if omitted is None or len(known) < len(each) else omitted + sum(known)


def _advice(judgement: Judgement, interval_seconds: float | None) -> dict[str, Any]:
    texts: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
    for finding in judgement.findings:
        texts[finding.severity].append(
            f"{finding.rule}{f' {finding.object}' if finding.object else ''}: {finding.title}{_since(finding)}"
        )
    return {
        "verdict": verdict_of(judgement, interval_seconds).headline,
        "blind": [spot.sentence for spot in judgement.blind],
        "counts": {severity: judgement.count(severity) for severity in texts},
        "messages": {severity: of_one[:MAXIMUM_MESSAGES] for severity, of_one in texts.items()},
        "not_evaluated": len(judgement.not_evaluated),
    }


def _since(finding: Finding) -> str:
    if finding.first_seen is None:
        return ""
    since = moment_in_words(finding.first_seen, finding.last_seen or finding.first_seen)
    return f" (since {since}{'' if finding.begin_seen else ' or before'})"
