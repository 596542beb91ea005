"""One voice: what is said, in which order, and why the rest is not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.resolver import Candidate, CandidateOutcome, Resolution, Worded, resolve
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.remedies.planners.base import NoRoom, NotWorth, PlanNeeds

RULES = {rule.id: rule for rule in shipped_rules()}


def candidate(rule: str, about: str = "", severity: str | None = None, **row: int | str | None) -> Candidate:
    known = RULES[rule]
    return Candidate(known, row, severity or known.severity, about, known.variable)


def finding_of(one: Candidate) -> CandidateOutcome:
    return Worded(Finding(one.rule.id, one.rule.title, one.severity, "likely", one.rule.scope, one.object, one.variable, "", (), "", "", "", "", "", ()))


def resolved(*candidates: Candidate, outcome: Callable[[Candidate], CandidateOutcome] = finding_of, suppressed: str = "") -> Resolution:
    return resolve(candidates, tuple(RULES.values()), outcome, lambda one: ("why", "") if one.rule.id == suppressed else None)


def said(resolution: Resolution) -> list[tuple[str, str]]:
    return [(finding.rule, finding.object) for finding in resolution.kept]


def test_the_worst_comes_first_and_among_equals_the_cause_that_is_nearest_to_the_hardware() -> None:
    resolution = resolved(candidate("swap-pressure"), candidate("query-cache-contention"), candidate("slow-queries"), candidate("table-crashed", "a.b"))
    assert [rule for rule, _ in said(resolution)] == ["table-crashed", "swap-pressure", "query-cache-contention", "slow-queries"]


def test_what_makes_others_pointless_stands_where_they_would_and_what_holds_nobody_back_comes_last() -> None:
    resolution = resolved(candidate("mmap-size"), candidate("table-cache-too-small"), candidate("key-cache-layout-lost"), candidate("table-lock-contention"))
    assert [rule for rule, _ in said(resolution)] == ["table-lock-contention", "key-cache-layout-lost", "table-cache-too-small", "mmap-size"]


def test_a_crashed_table_is_told_before_every_cause() -> None:
    assert said(resolved(candidate("swap-pressure", severity="critical"), candidate("table-crashed", "a.b")))[0] == ("table-crashed", "a.b")


def test_what_the_site_does_not_want_to_see_is_listed_with_its_reason_where_it_would_be_advised() -> None:
    locks = candidate("concurrent-insert-lock")
    listed = resolved(locks, candidate("query-cache-contention"), suppressed="concurrent-insert-lock")
    assert [(one.finding.rule, one.reason) for one in listed.suppressed] == [("concurrent-insert-lock", "why")]
    assert said(listed) == [("query-cache-contention", "")]
    assert listed.dropped == []
    assert resolved(locks, outcome=lambda _: NotWorth("no"), suppressed="concurrent-insert-lock") == Resolution()


def test_one_finding_for_a_variable_of_an_object_and_the_worse_one() -> None:
    small, large = candidate("key-buffer-too-small", "default"), candidate("key-buffer-too-large", "default", "info")
    resolution = resolved(large, small, candidate("key-buffer-too-large", "hot"))
    assert said(resolution) == [("key-buffer-too-small", "default"), ("key-buffer-too-large", "hot")]
    assert [(one.rule, one.object, one.why) for one in resolution.dropped] == [("key-buffer-too-large", "default", "key_buffer_size is already advised on by key-buffer-too-small")]


def test_many_tables_of_one_rule_share_no_variable() -> None:
    assert len(resolved(candidate("pack-keys", "a.b"), candidate("pack-keys", "a.c")).kept) == 2


def test_of_one_rule_the_worst_is_asked_first_and_has_what_there_is() -> None:
    asked = []

    def outcome(one: Candidate) -> CandidateOutcome:
        asked.append(one.object)
        return finding_of(one)

    resolved(candidate("pack-keys", "a.b", "info"), candidate("pack-keys", "a.d", "warning"), candidate("pack-keys", "a.c", "warning"), outcome=outcome)
    assert asked == ["a.c", "a.d", "a.b"]


def test_what_concerns_the_server_makes_a_rule_pointless_for_every_object() -> None:
    resolution = resolved(candidate("fragmented-table", "a.b"), candidate("swap-pressure"), candidate("no-myisam"))
    assert said(resolution) == [("no-myisam", "")]
    assert set(resolution.mooted) == RULES.keys() - {"no-myisam"}
    of_few = resolved(candidate("query-cache-contention"), candidate("swap-pressure"))
    why = "pointless while query-cache-contention holds: " + RULES["query-cache-contention"].title
    assert of_few.mooted == dict.fromkeys(RULES["query-cache-contention"].moots, why)


def test_what_concerns_a_table_makes_pointless_what_concerns_the_same_table_and_nothing_else_but_what_it_names() -> None:
    load = candidate("bulk-load-with-keys", "a.b")
    resolution = resolved(load, candidate("pack-keys", "a.b"), candidate("pack-keys", "a.c"), candidate("key-buffer-too-small", "default"), candidate("swap-pressure"))
    assert sorted(said(resolution)) == [("bulk-load-with-keys", "a.b"), ("pack-keys", "a.c"), ("swap-pressure", "")]
    assert "bulk-load-with-keys holds for a.b" in resolution.dropped[0].why
    crashed = resolved(candidate("table-crashed", "a.b"), candidate("fragmented-table", "a.b"), candidate("swap-pressure"))
    assert said(crashed) == [("table-crashed", "a.b"), ("swap-pressure", "")]
    assert crashed.mooted == {}


@pytest.mark.parametrize(("rule", "pointless"), [
    ("bulk-load-with-keys", ["key-buffer-too-small", "key-cache-contention", "pack-keys"]),
    ("concurrent-insert-lock", ["key-cache-contention"]),
    ("disk-nearly-full", ["table-lock-contention"]),
    ("key-cache-flushed-by-table-closes", ["key-buffer-too-small", "key-buffer-too-large"]),
    ("key-cache-layout-lost", ["key-cache-contention"]),
    ("limits-lowered-at-start", ["table-cache-too-small"]),
    ("lock-pile-up", ["table-lock-contention", "query-cache-contention", "migrate-engine", "key-cache-contention", "concurrent-insert-lock"]),
    ("page-cache-cold", ["io-bound-data"]),
    ("query-cache-contention", ["key-cache-contention", "concurrent-insert-lock"]),
    ("repair-with-keycache", ["key-buffer-too-small", "bulk-load-with-keys"]),
    ("table-cache-too-large", ["table-cache-too-small"]),
])  # fmt: skip
def test_which_rule_makes_which_pointless(rule: str, pointless: list[str]) -> None:
    """As the rules are shipped: each of these is advice that would not help while the other one holds."""
    resolution = resolved(*(candidate(other, "a.b") for other in pointless), candidate(rule, "a.b"), candidate("swap-pressure"))
    assert {one for one, _ in said(resolution)} == {rule, "swap-pressure"}
    assert sorted(dropped.rule for dropped in resolution.dropped) == sorted(pointless)
    assert all(dropped.why.startswith("pointless while ") for dropped in resolution.dropped)


def test_a_finding_that_is_itself_dropped_makes_nothing_pointless() -> None:
    query_cache, locks, mutex = candidate("query-cache-contention"), candidate("concurrent-insert-lock"), candidate("key-cache-contention", "default")
    without = resolve([locks, mutex], tuple(RULES.values()), lambda one: NotWorth("no") if one is locks else finding_of(one), lambda _: None)
    assert said(without) == [("key-cache-contention", "default")]
    assert said(resolved(query_cache, locks, mutex)) == [("query-cache-contention", "")]
    assert said(resolved(query_cache, mutex, suppressed="query-cache-contention")) == [("key-cache-contention", "default")]


def test_a_row_can_say_that_it_makes_nothing_pointless() -> None:
    foreseen, seen = candidate("repair-with-keycache", "a.b", "info", moots=0), candidate("repair-with-keycache", "", moots=1)
    small = candidate("key-buffer-too-small", "default")
    assert ("key-buffer-too-small", "default") in said(resolved(foreseen, small))
    assert ("key-buffer-too-small", "default") not in said(resolved(seen, small))


def test_a_suspicion_hides_nothing_that_is_confirmed() -> None:
    suspicion, proof = replace(candidate("query-cache-contention"), confidence="suspected"), replace(candidate("key-cache-contention", "default"), confidence="confirmed")
    assert len(said(resolved(suspicion, proof))) == 2
    for known in (replace(proof, confidence="likely"), replace(proof, confidence="suspected")):
        assert said(resolved(suspicion, known)) == [("query-cache-contention", "")]
    assert said(resolved(replace(suspicion, confidence="confirmed"), proof)) == [("query-cache-contention", "")]
    # Without MyISAM tables there is nothing to advise on, however well it is proven.
    assert said(resolved(replace(candidate("no-myisam"), confidence="suspected"), proof)) == [("no-myisam", "")]


def test_what_cannot_be_planned_is_dropped_or_undecided_and_takes_no_variable() -> None:
    def outcome(one: Candidate) -> CandidateOutcome:
        unplanned: dict[str, CandidateOutcome] = {"key-buffer-too-small": NoRoom("no room"), "table-cache-too-small": PlanNeeds("more", "how")}
        return unplanned.get(one.rule.id) or finding_of(one)

    resolution = resolved(candidate("key-buffer-too-small", "default"), candidate("key-buffer-too-large", "default", "info"), candidate("table-cache-too-small"), outcome=outcome)
    assert said(resolution) == [("key-buffer-too-large", "default")]
    assert [(one.rule, one.why) for one in resolution.dropped] == [("key-buffer-too-small", "no room")]
    assert [(one.rule, one.needs) for one in resolution.undecided] == [("table-cache-too-small", "more")]


def test_memory_goes_to_the_remedies_that_others_are_planned_after() -> None:
    asked: list[str] = []

    def outcome(one: Candidate) -> CandidateOutcome:
        asked.append(one.rule.id)
        return finding_of(one)

    resolved(candidate("key-buffer-too-small", "default"), candidate("key-cache-contention", "default"), candidate("slow-queries"), outcome=outcome)
    assert asked == ["key-cache-contention", "key-buffer-too-small", "slow-queries"]


def test_only_what_stands_takes_memory() -> None:
    kept: list[str] = []
    candidates = [candidate("slow-queries"), candidate("swap-pressure"), candidate("query-cache-contention"), candidate("key-cache-contention", "default")]
    resolve(candidates, tuple(RULES.values()), finding_of, lambda one: ("why", "") if one.rule.id == "slow-queries" else None, lambda worded: kept.append(worded.finding.rule))
    assert kept == ["query-cache-contention", "swap-pressure"]


def test_rules_that_point_at_each_other_end() -> None:
    first = Candidate(replace(RULES["mmap-size"], moots=("mmap-enable",), variable=None), {}, "warning", "", None)
    second = Candidate(replace(RULES["mmap-enable"], moots=("mmap-size",), variable=None), {}, "warning", "", None)
    assert len(resolved(first, second).kept) == 1


def test_the_account_of_memory_keeps_row_data_headroom_and_what_was_granted() -> None:
    budget = MemoryBudget(8e9, 6e9, unfilled_key_cache_bytes=1e8, row_data_bytes=1e9)
    assert budget.room_bytes == 2e9  # never more than a quarter for one remedy
    budget.grant("a", 2e9)
    assert budget.room_bytes == 2e9
    budget.grant("b", 2e9)
    assert budget.room_bytes == 6e9 - 1e9 - 1e8 - 0.8e9 - 4e9
    budget.grant("b", 5e7)  # further caches of the same finding
    assert (budget.granted_bytes, budget.room_bytes) == (4.05e9, 5e7)
    assert MemoryBudget(8e9, 6e9, row_data_bytes=90e9).room_bytes == 2e9
    assert MemoryBudget(8e9, 1e9, row_data_bytes=90e9).room_bytes == 0
    assert MemoryBudget(8e9).room_bytes == 2e9
    assert MemoryBudget(8e9, promised_bytes=6e9).room_bytes == pytest.approx(0.2e9)
    assert MemoryBudget(8e9, promised_bytes=9e9).room_bytes == 0
    assert MemoryBudget().room_bytes is None
