"""The plan for programs has what the script has, in its order."""

import json
from dataclasses import replace

from myisam_advisor.remedies.statements.base import text_of
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


def test_what_is_done_before_a_repair_is_there_as_in_the_script(look: RecordedLook) -> None:
    plan = plan_of(look)
    copied = [one for one in json.loads(plan_text("json", plan))["offline"] if one["before"]]
    assert [[command["text"] for command in one["before"]] for one in copied] == [[str(text_of(command)) for command in one.before] for one in plan.offline if one.before]
    before = copied[0]["before"]
    assert before[0] == {"in_shell": False, "text": "FLUSH TABLES `archive`.`broken`;"}
    assert [command["in_shell"] for command in before][:2] == [False, True]
    assert copied[0]["statements"] == ["CHECK TABLE `archive`.`broken`;"]


def test_what_the_script_says_of_a_finding_is_there(look: RecordedLook) -> None:
    plan = plan_of(look, [replace(finding, expect="Waits become fewer.", measured="It was measured.", proved="It was proved.") for finding in look.judgement.findings])
    document = json.loads(plan_text("json", plan))
    script = " ".join(plan_text("sql", plan).replace("-- ", "").split())
    for name in ("message", "expect", "measured", "proved", "cost", "confidence"):
        told = [one[name] for one in document["findings"]]
        assert told == [getattr(finding, name) for finding in plan.findings]
        assert " ".join(told[0].split()) in script
    assert [[fact["fact"] for fact in one["evidence"]] for one in document["findings"]] == [[fact.fact for fact in finding.evidence] for finding in plan.findings]
    assert [one["waits"] for one in document["my_cnf"]] == [setting.waits for setting in plan.settings]
    assert [one["undo"] for one in document["rollback"]] == ["" if lines else finding.undo for finding, lines in plan.rollback]


def test_what_nobody_could_judge_is_there(look: RecordedLook) -> None:
    plan = replace(plan_of(look, []), not_seen=["9 rules could not be judged."])
    assert json.loads(plan_text("json", plan))["not_seen"] == ["9 rules could not be judged."]
    assert "9 rules could not be judged." in plan_text("sql", plan)
