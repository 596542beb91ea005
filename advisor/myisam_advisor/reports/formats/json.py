"""The report for programs: one JSON document, built from values and never from prose."""

from __future__ import annotations

import json
from dataclasses import asdict

from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.past import Episode, Past
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.remedies.script import now_and_later
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.moments import iso_moment
from myisam_exporter.look.fact_set import FactSet

__all__ = ["document", "exit_status", "past_document", "render"]

TELLS_STATEMENTS = True


def document(judgement: Judgement, facts: FactSet, shown: Shown) -> dict[str, object]:
    """The judgement as JSON-ready values; what is suppressed is only counted unless it is asked for."""
    return {
        **heading(shown.moment),
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
        "past": past_document(shown.past),
        "statements": _statements(shown),
    }


def _statements(shown: Shown) -> dict[str, object] | None:
    if shown.statements is None:
        return None
    from myisam_advisor.reports.seen_statements import statements_document

    return statements_document(shown.statements)


def finding_document(finding: Finding) -> dict[str, object]:
    """Its values, with what it would have one run as text."""
    shown: dict[str, object] = {}
    for name, value in asdict(finding).items():
        if name == "evidence":
            # A program goes by the fact's name.
            shown[name] = [{key: part for key, part in fact.items() if key != "label"} for fact in value]
        elif name == "remedy":
            shown |= _remedy(finding)
        else:
            shown[name] = value
    return shown | {"since": None if finding.first_seen is None else iso_moment(finding.first_seen)}


def _remedy(finding: Finding) -> dict[str, object]:
    """What a program may run as it stands, and apart from it what its words want something else done before."""
    commands, offered = now_and_later(finding.remedy.commands)
    undo, offered_undo = now_and_later(finding.remedy.undo_commands)
    return {
        "commands": tuple(map(text_of, commands)),
        "offered_commands": tuple(map(text_of, offered)),
        "undo_commands": tuple(map(text_of, undo)),
        "offered_undo_commands": tuple(map(text_of, offered_undo)),
        "my_cnf": finding.my_cnf,
        "init_file": finding.init_file,
    }


def past_document(past: Past | None) -> dict[str, object] | None:
    """What was found before, as JSON-ready values; None where nothing is remembered."""
    if past is None:
        return None
    return {
        "since": iso_moment(past.begin),
        "until": iso_moment(past.end),
        "episodes": [_episode(past, one) for one in past.episodes],
        "omitted_episodes": past.unnamed,
        "gaps": [{"since": iso_moment(begin), "until": iso_moment(end)} for begin, end in past.gaps()],
        "restarts": [iso_moment(moment) for moment in past.restarts],
    }


def _episode(past: Past, one: Episode) -> dict[str, object]:
    named = {"title": (past.titles or {}).get(one.rule, ""), "resource": (past.resources or {}).get(one.rule, "")}
    return {name: value for name, value in asdict(one).items() if name != "target"} | {
        **named,
        "standing": past.standing(one),
        "since": iso_moment(one.first_seen),
        "until": iso_moment(one.last_seen),
    }


def _memory(budget: MemoryBudget) -> dict[str, object]:
    """The account that all remedies share."""
    return asdict(budget) | {"room_bytes": budget.room_bytes}


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The document; `verbose` adds how long each rule took."""
    whole = document(judgement, facts, shown) | ({"rule_seconds": judgement.seconds} if shown.verbose else {})
    return json.dumps(whole, indent=2) + "\n"
