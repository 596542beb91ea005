"""What a rule's query found in many tables is kept while it is asked again as if another fact were known: the judgement is that of asking each time."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.steady_parts import SteadyParts
from myisam_advisor.judging import asking
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from tests.rules.test_cases import CASES

RULES = {rule.id: rule for rule in shipped_rules() if rule.not_quiet_without}
OF_TABLES = [(name, case) for name, case in CASES if name in RULES and case["facts"].get("tables")]


def judged(rule: str, case: dict[str, Any]) -> Judgement:
    found = judge(prepared(facts_from_document({"schema": 1, **case["facts"]}), Site((RULES[rule],))))
    return replace(found, seconds={})


def without(document: dict[str, Any], facts: set[str]) -> dict[str, Any]:
    """The facts without what would decide: so it has to be asked whether it does."""
    tables = {fact.partition(".")[0] for fact in facts} - {"tables", "indexes"}
    return {name: rows for name, rows in document.items() if name not in tables}


@pytest.mark.parametrize("rule", sorted({name for name, _ in OF_TABLES}))
def test_the_judgement_is_the_same(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deciders = {one.fact for one in RULES[rule].not_quiet_without}
    cases = [case for name, case in OF_TABLES if name == rule]
    cases += [{**case, "facts": without(case["facts"], deciders)} for case in cases]
    plain = [judged(rule, case) for case in cases]
    monkeypatch.setattr(asking, "MANY_TABLES", 0)
    for case, known in zip(cases, plain, strict=True):
        assert judged(rule, case) == known, case["name"]


def test_what_is_asked_again_of_many_tables_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    query = SteadyParts.query

    def counted(parts: SteadyParts, database: Any, statement: str, *words: Any) -> Any:
        asked.append(statement)
        return query(parts, database, statement, *words)

    monkeypatch.setattr(SteadyParts, "query", counted)
    rule = "key-cache-contention"
    bare = [{**case, "facts": without(case["facts"], {one.fact for one in RULES[rule].not_quiet_without})} for name, case in OF_TABLES if name == rule]
    for case in bare:
        judged(rule, case)
    assert asked == []
    monkeypatch.setattr(asking, "MANY_TABLES", 1)
    for case in bare:
        judged(rule, case)
    assert asked.count(RULES[rule].query) > len(bare)
