"""Facts as files and servers may have them, odd ones: no shipped rule is at fault by them."""

import json
from typing import Any

import pytest

from myisam_advisor.factbase.numeric_names import is_numeric
from myisam_advisor.judging.faults import OUR_FAULT
from tests.rules.test_cases import CASES, judged

NAMES = ("schema_name", "table_name")


def without_names(facts: dict[str, Any]) -> None:
    for table in ("tables", "indexes", "key_cache"):
        for row in facts.get(table) or ():
            for name in (*NAMES, "name"):
                row.pop(name, None)


def with_texts(facts: dict[str, Any]) -> None:
    for table in ("variable", "status"):
        for name, value in (facts.get(table) or {}).items():
            facts[table][name] = "abc" if isinstance(value, int | float) and is_numeric(table, name) else value


def with_largest_numbers(facts: dict[str, Any]) -> None:
    for table in ("tables", "key_cache", "indexes", "processlist"):
        for row in facts.get(table) or ():
            row |= {name: 2**63 - 1 for name, value in row.items() if type(value) is int and value > 1 and name != "index_number"}


@pytest.mark.parametrize("change", [without_names, with_texts, with_largest_numbers])
def test_no_rule_is_at_fault(change: Any) -> None:
    faults = set()
    for name, case in CASES:
        changed = json.loads(json.dumps(case, default=str))
        change(changed["facts"])
        if changed["facts"] == case["facts"]:
            continue
        judgement = judged(changed)
        faults |= {(name, case["name"], one.rule, one.needs) for one in judgement.not_evaluated if OUR_FAULT in one.how}
    assert not faults
