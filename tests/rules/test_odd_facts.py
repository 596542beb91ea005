"""Facts as files and servers may have them, odd ones: no shipped rule is at fault by them."""

import json
import re
from typing import Any

import pytest

from myisam_advisor.factbase.numeric_names import is_numeric
from myisam_advisor.judging.faults import OUR_FAULT
from myisam_advisor.judging.findings import Finding
from myisam_advisor.texts.templates import with_unit
from myisam_exporter.collectors.base import declared_columns
from tests.rules.test_cases import CASES, judged

# The largest number that a server counts has twenty digits.
LINE_OF_DIGITS = re.compile(r"(?:[0-9],?){21}")
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


def with_absurd_numbers(facts: dict[str, Any]) -> None:
    """Rates and settings as no server has them: 1e308 a second."""
    real = {(table, column.name) for table, columns in declared_columns().items() for column in columns if column.type == "real"}
    for table, content in facts.items():
        rows = content if isinstance(content, list) else [content] if isinstance(content, dict) else []
        for row in rows:
            odd = {name for name, value in row.items() if type(value) in (int, float) and ((table, name) in real or table in ("status", "status_per_second"))}
            row.update(dict.fromkeys(odd, 1e308))


def texts_of(finding: Finding) -> tuple[str, ...]:
    shown = [with_unit(fact.value, fact.unit) for fact in finding.evidence]
    return (finding.message, finding.recommendation, finding.to_do, finding.expect, finding.cost, finding.undo, finding.verify, *shown, *map(str, finding.my_cnf), *map(str, finding.commands))


@pytest.mark.parametrize("change", [without_names, with_texts, with_largest_numbers, with_absurd_numbers])
def test_no_rule_is_at_fault(change: Any) -> None:
    faults = set()
    for name, case in CASES:
        changed = json.loads(json.dumps(case, default=str))
        change(changed["facts"])
        if changed["facts"] == case["facts"]:
            continue
        judgement = judged(changed)
        faults |= {(name, case["name"], one.rule, one.needs) for one in judgement.not_evaluated if OUR_FAULT in one.how}
        faults |= {(name, case["name"], one.rule, text) for one in judgement.findings for text in texts_of(one) if LINE_OF_DIGITS.search(text)}
    assert not faults
