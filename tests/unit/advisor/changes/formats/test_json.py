"""The plan for programs has what the script has, in its order."""

import json

from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def test_each_part_is_there(look: RecordedLook) -> None:
    plan = plan_of(look)
    document = json.loads(plan_text("json", plan))
    script = plan_text("sql", plan)
    assert [one["rule"] for one in document["findings"]] == [finding.rule for finding in plan.findings]
    statements = [text for part in ("online", "offline", "rollback") for one in document[part] for text in one["statements"]]
    assert "REPAIR TABLE `archive`.`broken`;" in statements
    assert all(line.strip() in script for text in statements for line in text.splitlines())
    assert [one["line"] for one in document["my_cnf"]] == [str(setting.line) for setting in plan.settings]
    assert len(document["without_change"]) == len(plan.without_change)


def test_without_findings_it_is_empty(look: RecordedLook) -> None:
    document = json.loads(plan_text("json", plan_of(look, [])))
    assert (document["findings"], document["online"], document["offline"], document["my_cnf"]) == ([], [], [], [])
