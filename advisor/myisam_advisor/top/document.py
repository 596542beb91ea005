"""A moment as JSON: what a daemon tells of its last look to whoever shows it on a screen, and that read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Blind, Finding, Judgement
from myisam_advisor.judging.verdict import CRITICAL, GOOD, INFO, UNKNOWN, WARNING, Verdict
from myisam_advisor.top.moment import Moment
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.outside.numbers import is_moment

SCHEMA_VERSION = 1
# What is on the screen; of the tables the chosen ones.
SHOWN = frozenset({"server", "totals", "key_cache", "status", "mysqld", "host"})
NOT_TOLD = Unknown("a daemon tells what is in the list and no more", "sudo myisam-advisor top")
TONES = frozenset({CRITICAL, WARNING, INFO, UNKNOWN, GOOD})
_VERDICT = ("kind", "headline", "detail", "tone")
_FINDING = ("rule", "title", "severity", "object", "message", "recommendation", "cost")
_BLIND = ("what", "sentence", "why", "remedy")


class MomentError(Exception):
    """What was read is no moment; the message says why."""


def shown_of(facts: FactSet, tables: FactRows) -> FactSet:
    """The facts that a screen shows, with these tables; small, whatever the number of tables."""
    kept = {name: rows if name in SHOWN else FactRows(rows.columns, []) for name, rows in facts.tables.items()}
    told = SHOWN | {"tables"}
    unknown = {name: reason for name, reason in facts.unknown.items() if name.partition(".")[0] in told}
    unknown |= dict.fromkeys(facts.tables.keys() - told, NOT_TOLD)
    return replace(facts, tables=kept | {"tables": tables}, unknown=unknown)


def document_of(moment: Moment, label: str) -> dict[str, Any]:
    """The moment, and how the server is called."""
    return {
        "schema": SCHEMA_VERSION,
        "label": label,
        "taken_at": moment.taken_at,
        "facts": as_document(moment.facts),
        "unknown": {name: [why.reason, why.remedy, why.off] for name, why in moment.facts.unknown.items()},
        "verdict": {name: getattr(moment.verdict, name) for name in _VERDICT},
        "findings": [{name: getattr(one, name) for name in _FINDING} for one in moment.judgement.findings],
        "blind": [{name: getattr(one, name) for name in _BLIND} for one in moment.judgement.blind],
    }


def read_moment(document: object) -> tuple[Moment, str]:
    """The moment and the server's name. Raises MomentError for anything else."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_VERSION:
        raise MomentError("it has another schema: daemon and program are of different versions")
    try:
        facts = facts_from_document(document["facts"])
        unknown = {str(name): _unknown(why) for name, why in document["unknown"].items()}
        findings = [_finding(_texts(one, _FINDING)) for one in document["findings"]]
        blind = [_blind(_texts(one, _BLIND)) for one in document["blind"]]
        kind, headline, detail, tone = _texts(document["verdict"], _VERDICT)
        if tone not in TONES:
            raise ValueError("its verdict has no tone")
        verdict = Verdict(kind, headline, detail, tone=tone)
        taken_at, label = document["taken_at"], document["label"]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MomentError(f"it cannot be read: {error}") from None
    if not is_moment(taken_at) or not isinstance(label, str):
        raise MomentError("it does not say when it was taken, or of what")
    known = replace(facts, unknown={**facts.unknown, **unknown})
    return Moment(known, Judgement(findings, blind=blind), verdict, float(taken_at)), label


def _texts(given: Mapping[str, object], names: tuple[str, ...]) -> list[str]:
    """These texts, in this order. Raises KeyError where one is missing, ValueError where one is none."""
    found = [given[name] for name in names]
    if not all(isinstance(text, str) for text in found):
        raise ValueError(f"{', '.join(names)} must be texts")
    return [str(text) for text in found]


def _unknown(why: object) -> Unknown:
    if not isinstance(why, list) or [type(part) for part in why] != [str, str, bool]:
        raise ValueError("a reason is not made of reason, remedy and whether it is off")
    return Unknown(*why)


def _blind(texts: Sequence[str]) -> Blind:
    what, sentence, why, remedy = texts
    return Blind(what, sentence, why, remedy)


def _finding(texts: Sequence[str]) -> Finding:
    """With what a screen shows of it; the rest is `explain`'s."""
    rule, title, severity, about, message, recommendation, cost = texts
    return Finding(rule, title, severity, "", "", about, None, message, (), recommendation, "", cost, "", "", ())
