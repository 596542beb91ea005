"""The plan for programs: every step as values, in the order in which it would be carried out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from myisam_advisor.changes.offline import Offline
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import Command, Statement, text_of
from myisam_advisor.texts.json_documents import heading

FILE_NAME = "plan.json"


def render(plan: ChangePlan) -> str:
    """The document."""
    document = {
        **heading(),
        "server": plan.server,
        "notes": [*plan.notes, *filter(None, [plan.settings_note])],
        "findings": [_finding(one) for one in plan.findings],
        "online": [
            {**_about(step.finding), "phase": step.phase.name.lower(), "statements": _texts(step.statements)}
            for step in plan.online
        ],
        "shell": [str(line) for line in plan.shell],
        "my_cnf": [
            {
                "line": str(one.line),
                "variable": one.variable,
                "rule": one.rule,
                "present": one.present,
                "waits": one.waits,
                "remarks": [str(remark) for remark in one.remarks],
            }
            for one in plan.settings
        ],
        "init_file": _texts(plan.init_file),
        "init_file_present": plan.init_file_present,
        "offline": [_offline(one) for one in plan.offline],
        "rollback": [
            {**_about(finding), "statements": _texts(undo), "undo": "" if undo else finding.undo}
            for finding, undo in plan.rollback
        ],
        "verification": [
            {**_about(finding), "verify": finding.verify, "statements": _texts(queries)}
            for finding, queries in plan.verification
        ],
        "without_change": [{**_about(one), "recommendation": one.recommendation} for one in plan.without_change],
        "not_seen": list(plan.not_seen),
    }
    return json.dumps(document, indent=2) + "\n"


def _about(finding: Finding) -> dict[str, object]:
    return {"rule": finding.rule, "object": finding.object}


def _finding(one: Finding) -> dict[str, object]:
    """What the reader of a script sees of it before its statements."""
    return {
        **_about(one),
        "severity": one.severity,
        "confidence": one.confidence,
        "message": one.message,
        "evidence": [{name: value for name, value in asdict(fact).items() if name != "label"} for fact in one.evidence],
        "proved": one.proved,
        "expect": one.expect,
        "measured": one.measured,
        "cost": one.cost,
        "refused": list(one.refused),
    }


def _texts(statements: Iterable[Statement]) -> list[str]:
    return [str(text_of(statement)) for statement in statements]


def _offline(one: Offline) -> dict[str, object]:
    return {
        "findings": [_about(finding) for finding in one.findings],
        "before": [_command(command) for command in one.before],
        "statements": _texts(one.statements),
        "lock": one.lock,
        "lasts": one.lasts,
        "needed_bytes": one.needed_bytes,
        "free_bytes": one.free_bytes,
        "fits": one.fits,
        "afterwards": one.afterwards,
    }


def _command(command: Command) -> dict[str, object]:
    return {"in_shell": isinstance(command, ShellLine), "text": str(text_of(command))}
