"""What a proof says of a finding, and the sentence that quotes it."""

from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Deciding, Proving, shipped_rules
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.proofs.proof import server_key
from myisam_advisor.proofs.settled import Settled, day_in_words, decided, settled
from myisam_advisor.trial.experiments.base import experiment_names
from tests.support.proofs import DAY, NOW, kept, kind, proof

RULES = {rule.id: rule for rule in shipped_rules()}
UNPACKED = ["ALTER TABLE `log`.`hits` PACK_KEYS=0;"]
PROVING = Proving("mmap", "mmap", "myisam_use_mmap = ON", (Deciding("points", "singles"), Deciding("ranges", "many"), Deciding("always")))


def said(cases: list[dict[str, Any]], texts: list[str] = UNPACKED, about: str = "log.hits", **facts: Any) -> Settled | None:
    known = complete(facts_from_document({"schema": 1, **facts}))
    return settled(RULES["pack-keys"], about, {"inserted": 1}, texts, kept(cases), known)


def test_the_newest_that_holds_is_quoted_else_the_newest() -> None:
    found = said([{"days": 100, "server": "", "times": 1.3}, {"days": 5, "experiment": "replay"}])
    assert found is not None
    assert (found.proof.experiment, found.why_not) == ("replay", "")
    old = said([{"days": 100}, {"days": 120, "experiment": "replay"}])
    assert old is not None
    assert (old.proof.experiment, old.verdict) == ("pack-keys", "unclear")
    assert old.sentence == "Proved here on 10 August (trial pack-keys on log.hits): 1.4 times, 1.3 to 1.5. It is no longer used: it is 100 days old (90 at most)."


def test_a_clear_one_that_holds_is_quoted_before_a_newer_one_that_is_not() -> None:
    unclear = {"verdict": "unclear", "times": 1.02, "low": 0.8, "high": 1.3}
    found = said([{"days": 9, "experiment": "replay"}, {**unclear, "days": 1}])
    assert found is not None
    assert found.verdict == "worth it"
    found = said([{"days": 100, "experiment": "replay"}, {**unclear, "days": 1}])
    assert found is not None
    assert (found.why_not, found.verdict) == ("", "unclear")


def test_another_rule_table_change_or_server_says_nothing() -> None:
    assert said([{"rule_id": "mmap-enable"}]) is None
    assert said([{}], about="log.other") is None
    assert said([{}], texts=["ALTER TABLE `log`.`hits` PACK_KEYS=1;"]) is None
    assert said([{}], texts=[]) is None
    server: dict[str, Any] = {"server": {"hostname": "db1", "data_directory": "/data"}, "variable": {"port": 3306}}
    assert said([{"server": "other"}], **server) is None
    assert said([{"server": server_key("db1", 3306, "/data")}], **server) is not None
    assert said([{"server": server_key("db1", 3306, "/data")}]) is None


def test_what_was_slower_stands_first() -> None:
    kinds = [kind("reads", 2.0, "worth it", 0.7), kind("joins", 1.5, "worth it", 0.2), kind("writes", 0.8, "worse", 0.05), kind("rest", 1, "no difference", 0.05)]
    found = said([{"experiment": "replay", "kinds": kinds}])
    assert found is not None
    assert found.sentence.endswith('; "writes" 0.8 times, "reads" 2.0 times, "joins" 1.5 times and 1 more.')


def test_a_kind_of_which_nothing_is_clear_has_no_figure_behind_the_word_proved() -> None:
    found = said([{"experiment": "replay", "kinds": [kind("reads", 3.7, "unclear", 0.7), kind("joins", 1.5, "worth it", 0.2), kind("writes", 0.8, "worse", 0.1)]}])
    assert found is not None
    assert found.sentence.startswith("Proved here on ")
    assert found.sentence.endswith('; "writes" 0.8 times, "joins" 1.5 times, "reads" unclear.')


def test_a_clear_interval_without_a_verdict_says_why() -> None:
    for interval in ({"times": 1.68, "low": 1.03, "high": 2.75}, {"times": 0.8, "low": 0.7, "high": 0.9}, {"times": 1.0, "low": 0.98, "high": 1.02}):
        found = said([{"experiment": "replay", "verdict": "unclear", **interval}])
        assert found is not None
        assert found.sentence.endswith(", which was measured while others had the processors, and decides nothing.")


def test_kinds_of_which_none_is_clear_are_not_listed() -> None:
    unclear = {"verdict": "unclear", "times": 0.98, "low": 0.83, "high": 1.16}
    found = said([{"experiment": "replay", **unclear, "kinds": [kind("reads", 0.97, "unclear", 0.7), kind("writes", 1.1, "unclear", 0.1)]}])
    assert found is not None
    assert found.sentence.endswith(": 0.98 times, 0.83 to 1.16, which is not clear and decides nothing.")


def test_an_unclear_one_is_told_and_decides_nothing() -> None:
    found = said([{"verdict": "unclear", "times": 1.02, "low": 0.8, "high": 1.3}])
    assert found is not None
    assert found.sentence == "Tried here on 11 November (trial pack-keys on log.hits): 1.02 times, 0.8 to 1.3, which is not clear and decides nothing."


@pytest.mark.parametrize(
    ("row", "verdict"),
    [({"singles": 1}, "no difference"), ({"many": 1}, "worth it"), ({"singles": 1, "many": 1}, "worth it"), ({"singles": 0, "many": None}, "unclear")],
)
def test_the_workloads_that_the_finding_is_about_decide(row: dict[str, Any], verdict: str) -> None:
    made = proof(experiment="mmap", kinds=[kind("points", 1.0, "no difference"), kind("ranges", 1.3, "worth it")])
    assert decided(made, PROVING, row).verdict == verdict


def test_a_replay_decides_as_a_whole() -> None:
    made = proof(experiment="replay", times=0.9, low=0.85, high=0.94, verdict="worse", kinds=[kind("points", 1.5, "worth it")])
    assert decided(made, PROVING, {"singles": 1}).verdict == "worse"


def test_a_moment_has_its_year_where_that_is_another() -> None:
    assert day_in_words(NOW, NOW + DAY) == "18 November"
    assert day_in_words(NOW - 365 * DAY, NOW).endswith(" 2025")


def test_every_rule_that_is_proved_by_a_trial_names_one_with_its_variant_and_workloads() -> None:
    from myisam_advisor.catalogue.measured import evidence

    for rule in RULES.values():
        if rule.proof is None:
            continue
        assert rule.proof.experiment in experiment_names()
        measured = [one for one in evidence()["measured"] if one["experiment"] == rule.proof.experiment and one["variant"] == rule.proof.variant]
        assert {one.workload for one in rule.proof.decided_by} <= {one["workload"] for one in measured}, rule.id
        assert all(not one.when or f" AS {one.when}" in rule.query for one in rule.proof.decided_by), rule.id
