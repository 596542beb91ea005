"""The report for programs: one JSON document, built from values and never from prose."""

from __future__ import annotations

import json
from dataclasses import asdict

from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_exporter.look.fact_set import FactSet

__all__ = ["document", "exit_status", "render"]

SCHEMA_VERSION = 1


def document(judgement: Judgement, facts: FactSet, shown: Shown) -> dict[str, object]:
    """The judgement as JSON-ready values; what is suppressed is only counted unless it is asked for."""
    return {
        "schema": SCHEMA_VERSION,
        "server": {name: value for name, value in facts.single("server").items() if value is not None},
        "interval_seconds": facts.interval_seconds,
        "origin": facts.origin or None,
        "findings": [finding_document(finding) for finding in judgement.findings],
        "not_evaluated": [
            {"rule": outcome.rule, "needs": outcome.needs, "how": outcome.how} for outcome in judgement.not_evaluated
        ],
        "not_applicable": [asdict(outcome) for outcome in judgement.not_applicable],
        "dropped": [asdict(outcome) for outcome in judgement.dropped],
        "suppressed_count": len(judgement.suppressed),
        "suppressed": [
            asdict(one) | {"finding": finding_document(one.finding)} for one in judgement.suppressed if shown.suppressed
        ],
        "blind": [asdict(spot) for spot in judgement.blind],
        "suspicious": [asdict(suspicion) for suspicion in judgement.suspicious],
        "warnings": list(judgement.warnings),
        "memory": _memory(judgement.memory),
        "quiet": list(judgement.quiet),
        "notes": [{"reason": note.reason, "remedy": note.remedy} for note in facts.notes if not note.off],
    }


def finding_document(finding: Finding) -> dict[str, object]:
    """Its values, with what it would have one run as text."""
    shown: dict[str, object] = {}
    for name, value in asdict(finding).items():
        if name == "evidence":
            # A program goes by the fact's name.
            shown[name] = [{key: part for key, part in fact.items() if key != "label"} for fact in value]
        elif name == "remedy":
            shown |= {text: getattr(finding, text) for text in ("commands", "undo_commands", "my_cnf", "init_file")}
        else:
            shown[name] = value
    return shown


def _memory(budget: MemoryBudget) -> dict[str, object]:
    """The account that all remedies share."""
    return asdict(budget) | {"room_bytes": budget.room_bytes}


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The document; `verbose` adds how long each rule took."""
    whole = document(judgement, facts, shown) | ({"rule_seconds": judgement.seconds} if shown.verbose else {})
    return json.dumps(whole, indent=2) + "\n"
