"""Every case of every rule: published symptoms with the experts' diagnosis, silences, and look-alikes that another rule must win."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from myisam_advisor.engine import judge
from myisam_advisor.facts_file import facts_from_document
from myisam_advisor.findings import Judgement
from myisam_advisor.rules import shipped_rules
from myisam_advisor.site import Site

FOLDER = Path(__file__).parent
CASE_FIELDS = {"name", "source", "note", "facts", "expect"}
EXPECTATIONS = {"fires", "silent", "only", "unknown", "not_applicable", "says", "commands", "severity", "confidence"}


def load_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.safe_load(path.read_text("utf-8")):
            yield path.stem, case


CASES = list(load_cases())


def judged(case: dict[str, Any]) -> Judgement:
    return judge(facts_from_document({"schema": 1, **case["facts"]}), Site(shipped_rules()))


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule}:{case['name']}" for rule, case in CASES])
def test_case(rule: str, case: dict[str, Any]) -> None:
    assert case.keys() <= CASE_FIELDS
    expect = case["expect"]
    assert expect.keys() <= EXPECTATIONS
    assert expect
    judgement = judged(case)
    fired = {finding.rule for finding in judgement.findings}
    assert set(expect.get("fires", ())) <= fired
    assert not fired & set(expect.get("silent", ()))
    if "only" in expect:
        assert fired == set(expect["only"])
    assert set(expect.get("unknown", ())) <= {outcome.rule for outcome in judgement.not_evaluated}
    assert set(expect.get("not_applicable", ())) <= {outcome.rule for outcome in judgement.not_applicable}
    own = [finding for finding in judgement.findings if finding.rule == rule]
    for text in expect.get("says", ()):
        assert any(text in f"{finding.message} {finding.recommendation} {finding.verify}" for finding in own), [f.message + f.recommendation for f in own]
    for command in expect.get("commands", ()):
        assert command in [line for finding in own for line in (*finding.commands, *finding.my_cnf)]
    for name in ("severity", "confidence"):
        if name in expect:
            assert {getattr(finding, name) for finding in own} == {expect[name]}


@pytest.mark.parametrize("rule", [rule.id for rule in shipped_rules()])
def test_every_rule_has_cases_that_fire_and_that_stay_silent(rule: str) -> None:
    own = [case["expect"] for stem, case in CASES if stem == rule]
    assert any(rule in (*expect.get("fires", ()), *expect.get("only", ())) for expect in own)
    assert any(rule in expect.get("silent", ()) or expect.get("only") == [] for expect in own)


def test_case_files_belong_to_rules() -> None:
    assert {stem for stem, _ in CASES} == {rule.id for rule in shipped_rules()} | {"healthy"}


def test_no_case_gives_two_findings_for_one_variable_of_one_object() -> None:
    for _, case in CASES:
        findings = judged(case).findings
        knobs = [(finding.variable, finding.object) for finding in findings if finding.variable]
        assert len(knobs) == len(set(knobs)), case["name"]
