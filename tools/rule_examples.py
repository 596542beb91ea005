"""What each rule says of one of its own cases: a reader of `explain` sees sentences with values, where the rule has a template.

A rule's cases stand in tests/rules; of those that it fires for, the one with the most evidence says most.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.rule_words import EXAMPLES, TEXTS

ROOT = Path(__file__).parents[1]
FILE = ROOT / "rules" / EXAMPLES
CASES = ROOT / "tests" / "rules"


def examples_document() -> str:
    """The file `rules/examples.json`."""
    examples = {rule.id: _texts(finding) for rule in shipped_rules() if (finding := _best(rule)) is not None}
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"


def _best(rule: Rule) -> Finding | None:
    """Of what the rule finds in its own cases, what shows the most facts; None where it finds nothing."""
    return max(_found(rule), key=lambda finding: sum(fact.value is not None for fact in finding.evidence), default=None)


def _found(rule: Rule) -> Iterable[Finding]:
    site = Site(shipped_rules())
    path = CASES / f"{rule.id}.yaml"
    cases: list[dict[str, Any]] = yaml.safe_load(path.read_text("utf-8")) if path.exists() else []
    for case in cases:
        if rule.id in (*case["expect"].get("fires", ()), *case["expect"].get("only", ())):
            judgement = judge(prepared(facts_from_document({"schema": 1, **case["facts"]}), site))
            yield from [finding for finding in judgement.findings if finding.rule == rule.id][:1]


def _texts(finding: Finding) -> dict[str, str]:
    return {field: getattr(finding, attribute) for field, attribute in TEXTS.items()}
