"""A rule that decides on some objects and lacks a fact of others: what it found is told, and what it could not decide too."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.chosen import why_not
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import silence_of
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown, report_named
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet
from tests.rules.test_cases import CASES
from tests.support.rules import outcome

SHIPPED = next(rule for rule in shipped_rules() if rule.id == "recovery-disabled")
FACTS = facts_from_document({"schema": 1, "interval_seconds": 10})
TEXTS = ("finding", "recommendation", "to_do", "expect", "cost", "undo", "verify")
FOUND = "SELECT 'hot' AS object, 1 AS verdict, NULL AS needs, NULL AS how"


def lacking(name: str, needs: str, how: str = "") -> str:
    return f"SELECT '{name}' AS object, NULL AS verdict, '{needs}' AS needs, '{how}' AS how"


def judged(*rows: str, facts: FactSet = FACTS) -> Judgement:
    texts: dict[str, Any] = dict.fromkeys(TEXTS, "Words.")
    rule: Rule = replace(
        SHIPPED, query=" UNION ALL ".join(rows), evidence=(), parameters={}, needs=(), applicable=(), not_if=(), planner=None, versions={}, variable=None,
        flavours=("mysql", "percona", "mariadb"), commands=(), my_cnf=(), **texts,
    )  # fmt: skip
    judgement = judge(prepared(facts, Site((rule,))))
    assert not [one for one in judgement.not_evaluated if "works" in one.needs], judgement.not_evaluated
    return judgement


@pytest.mark.parametrize(("condition", "applies"), [("SELECT 1", True), ("SELECT 0", False), ("SELECT NULL", True), ("SELECT 1 WHERE 0", True)])
def test_a_condition_that_nobody_knows_excludes_no_rule(tmp_path: Path, condition: str, applies: bool) -> None:
    judgement = outcome(tmp_path, applicable=[{"when": condition, "otherwise": "Not here."}])
    assert [one.rule for one in judgement.findings] == ["own-rule"] * applies
    assert [one.why for one in judgement.not_applicable] == ["Not here."] * (not applies)


def test_what_was_found_stands_and_what_is_undecided_is_told_beside_it() -> None:
    judgement = judged(FOUND, lacking("cold", "the blocks of it"), lacking("third", "a longer look"))
    assert [one.object for one in judgement.findings] == ["hot"]
    assert not judgement.not_evaluated, "the rule spoke: it does not say of itself that it could not"
    assert not judgement.quiet
    assert [(one.object, one.why) for one in judgement.dropped] == [
        ("third", "not decided for third: that needs a longer look"), ("cold", "not decided for cold: that needs the blocks of it"),
    ]  # fmt: skip
    assert why_not(judgement, SHIPPED.id, "cold") == "it speaks of hot"


def test_many_that_lack_the_same_are_told_together() -> None:
    judgement = judged(FOUND, *(lacking(f"t{number}", "rates") for number in range(5)))
    assert {one.why for one in judgement.dropped} == {"not decided for these: that needs rates"}
    assert [one.object for one in judgement.dropped] == ["t0", "t1", "t2", "t3", "t4"]
    said = " ".join(report_named("text").render(judgement, FACTS, Shown()).split())
    assert "(t0, t1" in said
    assert "not decided for these: that needs rates" in said


def test_silence_about_what_is_undecided_does_not_say_that_it_is_gone() -> None:
    silence = silence_of(judged(FOUND, lacking("cold", "rates")), 10.0)
    assert not silence.says_gone((SHIPPED.id, "cold"))
    assert silence.says_gone((SHIPPED.id, "other"))


def test_a_rule_that_could_decide_nothing_says_all_that_it_needs() -> None:
    (one,) = judged(lacking("a", "rates"), lacking("b", "blocks", "look again"), lacking("c", "rates")).not_evaluated
    assert (one.needs, one.how) == ("rates; blocks", "look again")
    (many,) = judged(*(lacking("a", f"fact {number}") for number in range(5))).not_evaluated
    assert many.needs == "fact 0; fact 1; fact 2; and 2 more"


READERS, JOINS = ("key-cache-contention", "readers_that_cannot_be_told_apart_leave_it_open_on_mysql"), ("fixed-row-format", "joins_read_rows_of_two_tables")


@pytest.mark.parametrize(("case", "version", "variables", "how"), [
    (READERS, {"flavour": "mysql", "version": "5.5.34"}, {}, ""),  # has neither
    (READERS, {"flavour": "mysql", "version": "5.6.51"}, {}, "performance_schema with wait/io/table/sql/handler"),
    (READERS, {"flavour": "percona", "version": "5.5.62"}, {"userstat": "OFF"}, "SET GLOBAL userstat = ON;"),
    (JOINS, {"flavour": "mysql", "version": "5.5.34"}, {}, ""),
    (JOINS, {"flavour": "mysql", "version": "5.6.51"}, {}, "performance_schema with wait/io/table/sql/handler"),
    (JOINS, {"flavour": "mariadb", "version": "10.5.23"}, {"userstat": "OFF"}, "SET GLOBAL userstat = ON;"),
])  # fmt: skip
def test_what_would_count_rows_by_table_is_what_this_version_has(case: tuple[str, str], version: dict[str, str], variables: dict[str, str], how: str) -> None:
    facts = next(one["facts"] for rule, one in CASES if (rule, one["name"]) == case)
    changed = {"server": facts.get("server", {}) | version, "variable": facts.get("variable", {}) | variables}
    judgement = judge(prepared(facts_from_document({"schema": 1, **facts, **changed}), Site(shipped_rules())))
    assert [one.how for one in judgement.not_evaluated if one.rule == case[0]] == [how]


def test_of_a_fact_that_cannot_be_seen_the_reason_is_told_with_its_own_remedy() -> None:
    far = "the server is on another host"
    unknown = {**FACTS.unknown, "host.data_directory_free_bytes": Unknown(far, "look there"), "host.memory_bytes": Unknown(far)}
    (disk,) = judged(lacking("disk", "host.data_directory_free_bytes", "stand beside it"), facts=replace(FACTS, unknown=unknown)).not_evaluated
    assert (disk.needs, disk.how, disk.why) == (f"host.data_directory_free_bytes ({far})", "look there", far)
    (memory,) = judged(lacking("memory", "host.memory_bytes", "stand beside it"), facts=replace(FACTS, unknown=unknown)).not_evaluated
    assert (memory.how, memory.why) == ("stand beside it", far)
    (words,) = judged(lacking("cache", "a cache that is filled", "wait"), facts=replace(FACTS, unknown=unknown)).not_evaluated
    assert (words.needs, words.how, words.why) == ("a cache that is filled", "wait", "")


def test_what_an_undecided_rule_lacks_is_a_text(tmp_path: Path) -> None:
    query = "SELECT NULL AS verdict, 'a' AS schema_name, 'b c' AS table_name, 1234567 AS rows, NULL AS seconds"
    texts = {"needs": "the lock of {{ object }}\n{% if seconds is none %}({{ rows | count }} rows){% endif %}", "how": "{% if seconds %}wait{% endif %}"}
    (lacking,) = outcome(tmp_path, query=query, scope="table", undecided=texts).not_evaluated
    assert (lacking.needs, lacking.how) == ("the lock of a.`b c` (1,234,567 rows)", "")
    (plain,) = outcome(tmp_path, query=query, undecided={"needs": "{{ seconds or '' }}"}).not_evaluated
    assert plain.needs == "facts that are unknown here"
    # A fact that is out of sight is told with its reason, as one that the query names.
    (fact,) = outcome(tmp_path, query=query, undecided={"needs": "host.cpu_count", "how": "look there"}).not_evaluated
    assert (fact.needs, fact.how) == ("host.cpu_count (not in the facts file)", "look there")


def test_details_stand_beside_what_was_found_and_are_asked_only_then(tmp_path: Path) -> None:
    details = ["SELECT 2 AS one, 3 AS two", "SELECT name AS nobody FROM key_cache"]
    found = outcome(tmp_path, finding="{{ one }}, {{ two }}, {{ nobody is none }}", details=details)
    assert [one.message for one in found.findings] == ["1, 3, True"], "what it was found by is not what a detail says"
    broken = ["SELECT no_such_fact FROM host"]
    assert outcome(tmp_path, query="SELECT 1 AS one WHERE 0", details=broken).quiet == ["own-rule"]
    assert [one.needs for one in outcome(tmp_path, query="SELECT 1 AS one", details=broken).not_evaluated] != []


@pytest.mark.parametrize("column", ["severity", "verdict", "moots", "table_name"])
def test_details_decide_nothing(tmp_path: Path, column: str) -> None:
    """What decides is the query's: a severity beside it stood in the finding's row, and a table in what was said of the server."""
    judgement = outcome(tmp_path, details=["SELECT 3 AS two", f"SELECT 'critical' AS {column}"])
    assert judgement.findings == []
    (fault,) = judgement.not_evaluated
    assert fault.needs == f"details that decide nothing: the column {column} is the query's to give"
    assert fault.how == f"mend {tmp_path / 'own-rule.yaml'}"


def test_no_shipped_query_says_what_it_lacks() -> None:
    """That is prose, and stands in the rule's texts (decision 071)."""
    assert [rule.id for rule in shipped_rules() if re.search(r"\bAS\s+(needs|how)\b", rule.query)] == []
