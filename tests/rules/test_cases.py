"""Every case of every rule: published symptoms with the experts' diagnosis, silences, and look-alikes that another rule must win."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from tests.support.judging import judged_document
from tests.support.proofs import kept
from tests.support.thoroughness import THOROUGH

FOLDER = Path(__file__).parent
CASE_FIELDS = {"name", "source", "note", "basis", "look_alike", "facts", "proofs", "expect"}
EXPECTATIONS = {"fires", "silent", "only", "unknown", "decided", "not_applicable", "dropped", "says", "commands", "severity", "confidence", "remedy", "not_remedy", "not_together", "suspicious", "within_memory", "proved", "dropped_because", "to_do", "not_says", "undoes", "undoes_not", "costs", "costs_not", "expects"}
BASES = ("expert", "author", "maintainer", "operator", "derived")
# Every worker reads all cases: libyaml does it in a tenth of the time, where PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
NO_RULES = {"healthy", "published", "contradictions", "memory"}


def load_cases() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.load(path.read_text("utf-8"), LOADER):
            yield path.stem, case


CASES = list(load_cases())
PLACES = {id(case): place for place, (_, case) in enumerate(CASES)}


def judged(case: dict[str, Any]) -> Judgement:
    """A case of the list is judged once for all tests of a worker; a copy that a test changed is judged for it."""
    place = PLACES.get(id(case))
    return _judge(case) if place is None else _judged(place)


@cache
def _judged(place: int) -> Judgement:
    return _judge(CASES[place][1])


def _judge(case: dict[str, Any]) -> Judgement:
    return judged_document(case["facts"], kept(case.get("proofs", ())))


def check_texts(expect: dict[str, Any], own: list[Finding]) -> None:
    """What the rule's findings say, and must not say."""
    said = [f"{finding.message} {finding.recommendation}" for finding in own]
    told = [f"{text} {finding.cost} {finding.verify}" for text, finding in zip(said, own, strict=True)]
    undone = [finding.undo for finding in own]
    costs, expected = [finding.cost for finding in own], [finding.expect for finding in own]
    for name, texts in (("says", told), ("undoes", undone), ("costs", costs), ("expects", expected)):
        for wanted in expect.get(name, ()):
            assert any(wanted in text for text in texts), texts
    for name, texts in (("not_says", said), ("undoes_not", undone), ("costs_not", costs)):
        for unwanted in expect.get(name, ()):
            assert not any(unwanted in text for text in texts), texts


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
    assert not set(expect.get("decided", ())) & {outcome.rule for outcome in judgement.not_evaluated}
    assert set(expect.get("not_applicable", ())) <= {outcome.rule for outcome in judgement.not_applicable}
    assert set(expect.get("dropped", ())) <= {outcome.rule for outcome in judgement.dropped}
    assert not expect.get("not_together") or not set(expect["not_together"]) <= fired
    remedies = "\n".join(line for finding in judgement.findings for line in (*finding.commands, *finding.my_cnf))
    assert all(remedy in remedies for remedy in expect.get("remedy", ()))
    assert not any(remedy in remedies for remedy in expect.get("not_remedy", ()))
    if "suspicious" in expect:
        assert set(expect["suspicious"]) == {suspicion.facts[0] for suspicion in judgement.suspicious}
    if "within_memory" in expect:
        memory = judgement.memory
        assert len(memory.granted) > 1
        assert memory.limit_bytes is not None
        assert memory.available_bytes is not None
        assert memory.row_data_bytes is not None
        assert memory.granted_bytes + memory.unfilled_key_cache_bytes + memory.row_data_bytes + 0.1 * memory.limit_bytes <= memory.available_bytes
    own = [finding for finding in judgement.findings if finding.rule == rule]
    check_texts(expect, own)
    for command in expect.get("commands", ()):
        assert command in [line for finding in own for line in (*finding.commands, *finding.my_cnf)]
    for name in ("severity", "confidence"):
        if name in expect:
            assert {getattr(finding, name) for finding in own} == {expect[name]}


@pytest.mark.parametrize(("rule", "case"), [one for one in CASES if {"proved", "dropped_because", "to_do"} & one[1]["expect"].keys()], ids=lambda one: one if isinstance(one, str) else one["name"])
def test_what_was_proved_and_why_something_is_dropped_is_said(rule: str, case: dict[str, Any]) -> None:
    expect, judgement = case["expect"], judged(case)
    own = [finding for finding in judgement.findings if finding.rule == rule]
    for text in expect.get("proved", ()):
        assert any(text in finding.proved for finding in own), [finding.proved for finding in own]
    for text in expect.get("dropped_because", ()):
        assert any(text in one.why for one in judgement.dropped if one.rule == rule), judgement.dropped
    for text in expect.get("to_do", ()):
        assert any(text in finding.to_do for finding in own), [finding.to_do for finding in own]


def unlike_cases() -> list[dict[str, Any]]:
    """The first case of each outcome, by what is found and what is dropped for it; all where the run is to be thorough."""
    if THOROUGH:
        return [case for _, case in CASES]
    first: dict[tuple[frozenset[str], frozenset[str]], dict[str, Any]] = {}
    for _, case in CASES:
        judgement = judged(case)
        first.setdefault((frozenset(one.rule for one in judgement.findings), frozenset(one.rule for one in judgement.dropped)), case)
    return list(first.values())


@pytest.mark.slow
def test_a_database_that_is_kept_changes_no_judgement() -> None:
    of_many = FactDatabase(of_many=True)
    for case in unlike_cases():
        facts = facts_from_document({"schema": 1, **case["facts"]})
        database = FactDatabase()
        ready = prepared(facts, Site(shipped_rules()), kept(case.get("proofs", ())))
        looks = [replace(judge(ready, one), seconds={}) for one in (database, database, of_many)]
        database.close()
        assert looks == [replace(judged(case), seconds={})] * 3, case["name"]
    of_many.close()


@pytest.mark.parametrize("rule", [rule.id for rule in shipped_rules()])
def test_every_rule_has_cases_that_fire_that_stay_silent_and_a_look_alike(rule: str) -> None:
    own = [case for stem, case in CASES if stem == rule]
    assert any(rule in (*case["expect"].get("fires", ()), *case["expect"].get("only", ())) for case in own)
    assert any(is_silent(rule, case) for case in own)
    # A look-alike shows the rule's symptom with another cause: another rule speaks, or none, and the case says which cause.
    assert any(case.get("look_alike") and is_silent(rule, case) for case in own)


def is_silent(rule: str, case: dict[str, Any]) -> bool:
    return rule in case["expect"].get("silent", ()) or ("only" in case["expect"] and rule not in case["expect"]["only"])


def test_every_finding_shows_what_it_was_found_by() -> None:
    assert [(case["name"], finding.rule) for _, case in CASES for finding in judged(case).findings if not finding.evidence] == []


def test_each_line_of_a_way_back_that_is_sql_is_one_whole_statement_and_words_come_last() -> None:
    ways_back = {(finding.rule, finding.undo) for _, case in CASES for finding in judged(case).findings}
    broken = []
    for rule, undo in sorted(ways_back):
        lines = undo.split("\n")
        # Upper-case words begin a statement; a sentence has one capital.
        begin_as_sql = [re.match(r"(?:SELECT|SHOW|USE|[A-Z]{4,}|SET|LET)\b", line) is not None for line in lines]
        whole = [line.endswith(";") and is_one_statement(line) for line in lines]
        if begin_as_sql != whole or begin_as_sql != sorted(begin_as_sql, reverse=True) or len(lines) - sum(whole) > 1:
            broken.append((rule, undo))
    assert broken == []
    assert {rule for rule, undo in ways_back if ";\n" in undo} >= {"full-scan-no-index", "query-cache-contention", "table-lock-contention"}


def is_one_statement(line: str) -> bool:
    """Nothing behind the one semicolon that is in no name and no text, and no dots where a name belongs."""
    bare = re.sub(r"'(?:[^'\\]|\\.|'')*'|`(?:[^`]|``)*`", "x", line)
    return bare.count(";") == 1 and "..." not in bare


def test_writes_that_are_unknown_are_no_evidence_of_none() -> None:
    (case,) = [case for rule, case in CASES if (rule, case["name"]) == ("cluster-not-replicated", "writes_that_are_unknown_are_no_evidence_of_none")]
    (finding,) = [one for one in judged(case).findings if one.rule == "cluster-not-replicated"]
    assert "tables.data_modified_seconds_ago" not in {shown.fact for shown in finding.evidence}


@pytest.mark.parametrize("rule", ["concurrent-insert-lock", "key-cache-contention"])
def test_servers_of_before_performance_schema_are_not_sent_there(rule: str) -> None:
    case = next(case for stem, case in CASES if stem == rule and rule in case["expect"].get("fires", ()) and "mutex_wait" not in case["facts"])
    sent = []
    for version in ("5.1.73", "5.5.62"):
        facts = {**case["facts"], "server": {**case["facts"].get("server", {}), "flavour": "mysql", "version": version}}
        (finding,) = [one for one in judged({**case, "facts": facts}).findings if one.rule == rule]
        sent.append("performance_schema" in finding.verify)
    assert sent == [False, True]


def test_every_case_names_its_source_and_every_published_one_its_basis() -> None:
    assert all(case.get("source") for _, case in CASES)
    assert all(case.get("basis") in BASES for stem, case in CASES if stem == "published")
    names = [(stem, case["name"]) for stem, case in CASES]
    assert len(names) == len(set(names))


def test_case_files_belong_to_rules() -> None:
    assert {stem for stem, _ in CASES} == {rule.id for rule in shipped_rules()} | NO_RULES


def test_no_case_gives_two_findings_for_one_variable_of_one_object() -> None:
    for _, case in CASES:
        findings = judged(case).findings
        knobs = [(finding.variable, finding.object) for finding in findings if finding.variable]
        assert len(knobs) == len(set(knobs)), case["name"]


def test_whoever_goes_back_is_told_of_the_lines_in_files() -> None:
    """They would bring the change back at the next start."""
    with_lines = [finding for _, case in CASES for finding in judged(case).findings if finding.my_cnf]
    places = ("my.cnf", "on the server's command line", "with SET PERSIST_ONLY again", "back into /", "parameter group")
    assert {finding.rule for finding in with_lines if not any(place in finding.undo for place in places)} == set()
    assert {finding.rule for finding in with_lines if finding.remedy.init_file and "init_file" not in finding.undo} == set()
