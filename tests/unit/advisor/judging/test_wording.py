"""What is found to be tried: the change itself, also without a proof, and whatever was proved before."""

from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.tried_changes import of_finding
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.trial.statements.variants import Variant
from tests.rules.test_cases import CASES
from tests.support.proofs import kept

UNPACKED = "ALTER TABLE `log`.`hits` PACK_KEYS=0"
PACKED = ("pack-keys", "ten_rows_to_a_statement_are_worth_a_trial", UNPACKED)
FOUND = [
    PACKED,
    ("fixed-row-format", "fires_for_scans_where_a_fixed_row_is_hardly_longer", "ALTER TABLE `log`.`hits` ROW_FORMAT=FIXED"),
    ("mmap-enable", "fires_for_ranges_of_many_rows_from_memory", "myisam_use_mmap=ON"),
]
WORSE = {"times": 0.8, "low": 0.75, "high": 0.85, "verdict": "worse"}
NO_DIFFERENCE = {"times": 1.0, "low": 0.98, "high": 1.02, "verdict": "no difference"}


def judged(rule: str, name: str, proofs: list[dict[str, Any]], *, for_trial: bool) -> Judgement:
    case = next(one for stem, one in CASES if stem == rule and one["name"] == name)
    facts = facts_from_document({"schema": 1, **case["facts"]})
    return judge(prepared(facts, Site(shipped_rules()), kept(proofs)), for_trial=for_trial)


def finding(judgement: Judgement, rule: str) -> Finding:
    return next(one for one in judgement.findings if one.rule == rule)


def tried(judgement: Judgement, rule: str) -> Variant:
    variant = of_finding(finding(judgement, rule), None)
    assert variant is not None
    return variant


@pytest.mark.parametrize(("rule", "name", "change"), FOUND)
def test_what_is_recommended_from_a_proof_only_is_there_to_be_tried(rule: str, name: str, change: str) -> None:
    assert of_finding(finding(judged(rule, name, [], for_trial=False), rule), None) is None
    assert change in tried(judged(rule, name, [], for_trial=True), rule).tried


@pytest.mark.parametrize(("rule", "name", "change"), FOUND)
def test_what_is_tried_is_what_a_proof_of_it_recommends(rule: str, name: str, change: str) -> None:
    variant = tried(judged(rule, name, [], for_trial=True), rule)
    objects = ["log.hits"] if "log" in change else ["geo.points"]
    proof = {"rule_id": rule, "experiment": "replay", "change": list(variant.tried), "objects": objects}
    recommended = finding(judged(rule, name, [proof], for_trial=False), rule)
    assert recommended.proved.startswith("Proved here on ")
    assert tried(judged(rule, name, [proof], for_trial=False), rule).tried == variant.tried


@pytest.mark.parametrize("verdict", [WORSE, NO_DIFFERENCE])
def test_what_was_proved_before_is_tried_again(verdict: dict[str, Any]) -> None:
    rule, name, change = PACKED
    proof = {"experiment": "replay", "change": [change], **verdict}
    before = [one for one in judged(rule, name, [proof], for_trial=False).findings if one.rule == rule]
    assert [one for one in before if of_finding(one, None)] == []
    again = judged(rule, name, [proof], for_trial=True)
    assert tried(again, rule).tried == (change,)
    assert finding(again, rule).proved == ""


@pytest.mark.parametrize(
    ("name", "proofs"),
    [
        ("the_key_cache_grows_with_the_unpacked_indexes", []),
        ("without_a_proof_the_key_cache_is_sized_for_the_present_indexes", []),
        ("without_a_proof_the_key_cache_is_sized_for_the_present_indexes", [{"experiment": "replay", "change": [UNPACKED], "times": 1.4, "verdict": "worth it"}]),
    ],
)
def test_a_key_cache_is_tried_at_the_size_that_check_recommends(name: str, proofs: list[dict[str, Any]]) -> None:
    """Whether it is to hold the larger indexes, too: a proof of another size would say nothing of it."""
    sizes = [finding(judged("pack-keys", name, proofs, for_trial=one), "key-buffer-too-small").my_cnf for one in (False, True)]
    assert sizes[0] == sizes[1]
