"""Names in texts stand as SQL takes them: what a person copies out of a sentence is the table."""

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from tests.rules.test_cases import CASES, judged

# Of each rule: a name is written in the same place in all of them.
CASES_OF_A_RULE = 3
ODD = "`d name"
# Between backticks, where that one is doubled, or as a string literal (which a shell's line may quote once more).
QUOTED = re.compile(r"``d name`|(?<=')\w+`d name'")


def with_odd_names(case: dict[str, Any]) -> dict[str, Any]:
    odd: dict[str, Any] = copy.deepcopy(case)
    for table in ("tables", "indexes"):
        for row in odd["facts"].get(table, ()):
            for column in ("table_name", "index_name", "fullest_partition"):
                if row.get(column):
                    row[column] += ODD
    return odd


def cases_of(rule: str) -> Iterator[dict[str, Any]]:
    own = [case for stem, case in CASES if stem == rule and "tables" in case["facts"] and rule in (*case["expect"].get("fires", ()), *case["expect"].get("unknown", ()))]
    yield from own[:CASES_OF_A_RULE]


@pytest.mark.parametrize("rule", [rule.id for rule in shipped_rules()])
def test_no_text_has_a_name_that_sql_would_take_for_something_else(rule: str) -> None:
    for case in cases_of(rule):
        judgement = judged(with_odd_names(case))
        texts = [text for one in judgement.findings for text in (one.message, one.recommendation, one.expect, one.cost, one.undo, one.verify, one.object)]
        texts += [text for one in judgement.not_evaluated for text in (one.needs, one.how)]
        assert [text for text in texts if ODD in QUOTED.sub("", text)] == [], case["name"]


def test_tables_that_a_text_lists_are_quoted_where_they_must_be() -> None:
    told = {rule.id: [one.message for case in cases_of(rule.id) for one in judged(with_odd_names(case)).findings if "``d name`" in one.message] for rule in shipped_rules()}
    assert {"table-lock-contention", "gtid-mixed-engines", "upgrade-blockers", "duplicate-indexes"} <= {rule for rule, texts in told.items() if texts}
