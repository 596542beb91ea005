"""Damage that `script/bench advice` provokes: how a scenario describes it, what is left to try, what came of it."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.advice.averting import (
    AVERTS,
    DOES_NOT_AVERT,
    NOT_PROVOKED,
    REFUSED,
    Averted,
    damage_left,
    keys_of_all,
    verdict_of,
)
from benchmarks.advice.damage import Damage
from benchmarks.advice.left import is_known
from benchmarks.advice.model import Advice, Change
from benchmarks.advice.outcomes import NOTHING, Outcome
from benchmarks.advice.page import data, page
from benchmarks.advice.record import AVERTED, MEASURED, Line, advice_line
from benchmarks.advice.scenarios import Scenario, all_scenarios, read_scenario
from benchmarks.advice.tally import Case, tallies
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_exporter.errors import UserError

SCENARIOS = [one for one in all_scenarios() if one.damage]
TEXT = "group: crashed table\nfault: Index blocks are written late.\nnamed_by: {rules: [delay-key-write]}\nload: {statements: {of: {SELECT 1: 1}}}\n"
RULE = "delay-key-write"
DAMAGE = {RULE: Damage(("CHECK TABLE t",))}
SAID = Advice(
    "myisam-advisor", "1.0",
    (Change("delay_key_write", "OFF", None, "It is late.", "warning", RULE), Change(None, None, "FLUSH TABLES", "It is late.", "warning", RULE), Change("b", "2", None, "More.", "info", "other")),
    (),
)  # fmt: skip
KEYS = ["FLUSH TABLES", "delay_key_write=0"]


def averted(without: tuple[int, ...], with_change: tuple[int, ...], reason: str = "", keys: list[str] | None = None) -> Line:
    return {"kind": AVERTED, "rule": RULE, "keys": keys or KEYS, **Averted(without, with_change, reason).document()}


def test_a_scenario_says_how_damage_comes_and_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(TEXT + "damage: {delay-key-write: {provoked_by: [UPDATE t SET a = 1], killed: true, seen_by: [CHECK TABLE t]}}\n")
    assert read_scenario(path).damage == {RULE: Damage(("CHECK TABLE t",), ("UPDATE t SET a = 1",), killed=True)}
    for wrong in ("{}", "{delay-key-write: {killed: true}}", "{delay-key-write: {seen_by: []}}", "{delay-key-write: {seen_by: [SELECT 1], sessions: 0}}"):
        path.write_text(TEXT + f"damage: {wrong}\n")
        with pytest.raises(UserError, match="damage"):
            read_scenario(path)
    path.write_text(TEXT + "memory: 64M\ndamage: {delay-key-write: {killed: true, seen_by: [CHECK TABLE t]}}\n")
    with pytest.raises(UserError, match="comes back without memory"):
        read_scenario(path)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_damage_is_that_of_rules_that_promise_no_speed(scenario: Scenario) -> None:
    assert set(scenario.damage) <= {rule.id for rule in shipped_rules() if not rule.resource}


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (averted((1, 2, 1), (0, 0, 0)), AVERTS),
        (averted((1, 2, 1), (0, 0, 1)), DOES_NOT_AVERT),
        (averted((1, 0, 1), (0, 0, 0)), NOT_PROVOKED),
        (averted((), (), "cannot be applied: it is refused"), REFUSED),
    ],
)
def test_damage_is_averted_where_it_comes_each_time_and_never_with_the_change(line: Line, verdict: str) -> None:
    assert verdict_of(line) == verdict


def test_what_a_rule_proposes_is_tried_as_a_whole_and_once() -> None:
    left = damage_left(SAID, DAMAGE, [])
    assert {rule: keys_of_all(own) for rule, own in left.items()} == {RULE: KEYS}
    assert damage_left(SAID, DAMAGE, [averted((1,), (0,))]) == {}
    assert set(damage_left(SAID, DAMAGE, [averted((1,), (0,), keys=["delay_key_write=1"])])) == {RULE}, "it proposes another thing now"
    assert damage_left(SAID, {"table-crashed": Damage(("SELECT 1",))}, []) == {}


def test_a_scenario_is_not_whole_before_its_damage_was_provoked() -> None:
    measured: list[Mapping[str, object]] = [{"kind": MEASURED, "key": key, **Outcome(NOTHING, "it is so already").document()} for key in (*KEYS, "b=2")]
    together = {"kind": "whole", "adviser": "myisam-advisor", "keys": [*KEYS, "b=2"], **Outcome(NOTHING, ratio=1.0).document()}
    known = [advice_line(SAID), *measured, together]
    assert is_known(known, ["myisam-advisor"], 60.0, None)
    assert not is_known(known, ["myisam-advisor"], 60.0, None, damage=DAMAGE)
    assert is_known([*known, averted((1,), (0,))], ["myisam-advisor"], 60.0, None, damage=DAMAGE)


def test_what_was_averted_is_counted_and_told() -> None:
    def case(*lines: Line, said: Advice = SAID) -> Case:
        scenario = dataclasses.replace(all_scenarios()[0], name="one", damage=DAMAGE)
        return Case(scenario, "mariadb-10.11", [{"taken_at": "2026-11-26", "machine": "m", **line} for line in (advice_line(said), *lines)])

    untried, tried, failed = case(), case(averted((1, 1, 1), (0, 0, 0))), case(averted((1, 1, 1), (0, 2, 0)))
    untold = [case(averted((), (), "failed: it did not start")), case(averted((0, 0, 0), (0, 0, 0)))]
    (none,), (one,), (both,), (nothing,) = tallies([untried]), tallies([tried]), tallies([tried, failed]), tallies(untold)
    assert [(count.averted, count.provoked) for count in (none, one, both, nothing)] == [(0, 0), (1, 1), (1, 2), (0, 0)]
    quiet = dataclasses.replace(SAID, changes=tuple(dataclasses.replace(change, severity="info") for change in SAID.changes))
    (noticed,) = tallies([case(averted((1, 1, 1), (0, 0, 0)), said=quiet)])
    assert noticed.provoked == 0, "a notice is no warning"
    text = page([tried.scenario], [tried, failed], [both])
    assert "| delay-key-write | one | mariadb-10.11 | FLUSH TABLES; delay_key_write=0 | 1, 1, 1 | 0, 2, 0 | does not avert |" in text
    assert "| 1 of 2 |" in text
    assert "provoked, on fresh copies" not in page([untried.scenario], [untried], [none])
    (document,) = data([tried], [one])["advisers"]
    assert (document["damage_provoked"], document["damage_averted"]) == (1, 1)
