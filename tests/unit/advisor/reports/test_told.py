"""What is told of a judgement: decided once, for every report."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Blind, Dropped, Finding, Judgement, NotEvaluated, ShownFact, Suspicion
from myisam_advisor.remedies.price import Price
from myisam_advisor.reports.formats.text import _gap
from myisam_advisor.reports.told import told, told_facts
from myisam_exporter.facts.unknown import Unknown

FACTS = facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}})


def finding(name: str, rule: str = "table-crashed", confidence: str = "confirmed") -> Finding:
    return Finding(rule, "A title", "critical", confidence, "table", name, None, f"{name} is crashed.", (), "", "", "", "", "", ())


@pytest.mark.parametrize(
    ("number", "in_words", "likewise", "unnamed"),
    [(1, 1, 0, 0), (3, 3, 0, 0), (4, 1, 3, 0), (13, 1, 12, 0), (14, 1, 12, 1), (40, 1, 12, 27)],
)
def test_a_few_are_told_in_words_and_of_many_the_names(number: int, in_words: int, likewise: int, unnamed: int) -> None:
    (rule,) = told(Judgement(tuple(finding(f"s.t{place}") for place in range(number))), FACTS).rules
    assert (len(rule.sentences), len(rule.likewise), rule.unnamed) == (in_words, likewise, unnamed)
    assert in_words + likewise + unnamed == number == len(rule.findings)
    sentence = rule.likewise_sentence(" elsewhere")
    assert bool(sentence) is bool(likewise)
    assert (f"and {unnamed} more elsewhere." in sentence) is bool(unnamed)


def test_what_is_only_suspected_says_so() -> None:
    judgement = Judgement((finding("s.a"), finding("s.b", confidence="suspected")))
    assert told(judgement, FACTS).rules[0].sentences == ("s.a is crashed.", "Suspected: s.b is crashed.")


def test_rules_keep_their_order_and_are_not_mixed() -> None:
    judgement = Judgement((finding("a", "one"), finding("b", "one"), finding("c", "two"), replace(finding("d", "two"), severity="info")))
    assert [(rule.first.rule, len(rule.findings)) for rule in told(judgement, FACTS).rules] == [("one", 2), ("two", 1), ("two", 1)]


def test_alike_drops_are_one_and_contradicted_ones_are_for_who_asks() -> None:
    dropped = (Dropped("a", "s.t", "no room"), Dropped("a", "s.u", "no room"), Dropped("a", "", "pointless"), Dropped("b", "", "quiet", True))
    known = told(Judgement(dropped=dropped), FACTS).dropped
    assert [(one.rule, one.why, one.objects) for one in known] == [("a", "no room", ("s.t", "s.u")), ("a", "pointless", ())]
    assert [one.rule for one in told(Judgement(dropped=dropped), FACTS, contradicted=True).dropped] == ["a", "a", "b"]


def test_suspicions_are_sentences_and_what_is_off_is_no_note() -> None:
    facts = replace(FACTS, notes=(Unknown("not to be had", "", off=True), Unknown("not allowed", "grant it")))
    known = told(Judgement(suspicious=(Suspicion(("a.b",), "s.t", "it is twice as long as itself"), Suspicion(("a.b",), "", "no"))), facts)
    assert known.suspicious == ("s.t: it is twice as long as itself. Set aside.", "no. Set aside.")
    assert [note.reason for note in known.notes] == ["not allowed"]


def gaps(**outcomes: Any) -> list[tuple[tuple[str, ...], str, tuple[str, ...]]]:
    return [(gap.causes, gap.remedy, gap.rules) for gap in told(Judgement(quiet=("z",), **outcomes), FACTS).gaps]


def test_what_one_remedy_mends_is_one_gap() -> None:
    lacking = (NotEvaluated("a", "x (no interval)", "--interval 10s", why="no interval"), NotEvaluated("b", "y (no interval)", "--interval 10s", why="no interval"), NotEvaluated("c", "a query that works"))
    assert gaps(not_evaluated=lacking) == [(("no interval",), "--interval 10s", ("a", "b")), (("needs a query that works",), "", ("c",))]


def test_what_was_not_seen_and_the_rules_that_lack_it_are_one_gap_and_the_verdict_is_not_said_again() -> None:
    spot = Blind("tables", "Tables cannot be seen: 1 rule could not judge.", "No right", "sudo", ("a",))
    lacking = (NotEvaluated("a", "tables (no right)", "sudo", ("tables",), "no right"), NotEvaluated("b", "x (no right)", "sudo", why="no right"))
    assert gaps(blind=(spot,), not_evaluated=lacking) == [(("no right",), "sudo", ("a", "b"))]
    second = Blind("load", "There was hardly any activity: 4 statements.", "So quiet a time says little", "look again")
    assert gaps(blind=(spot, second))[1] == (("There was hardly any activity: 4 statements. So quiet a time says little",), "look again", ())


@pytest.mark.parametrize(("counted", "further", "begins"), [(16, 4, "these 16 rules and 4 more: no right"), (16, 0, "16 rules: no right")])
def test_rules_that_the_verdict_counted_are_not_counted_otherwise(counted: int, further: int, begins: str) -> None:
    """`16 rules could not judge` stood above `20 rules`: which were the others, nobody could tell."""
    names = tuple(f"r{number}" for number in range(counted))
    spot = Blind("tables", f"Tables cannot be seen: {counted} rules could not judge.", "No right", "sudo", names)
    others = tuple(NotEvaluated(f"s{number}", "x (no right)", "sudo", why="no right") for number in range(further))
    (gap,) = told(Judgement(quiet=("z",), blind=(spot,), not_evaluated=others), FACTS).gaps
    assert str(_gap(gap)).lower().startswith(begins)


@pytest.mark.parametrize(("names", "subject"), [([""], ""), (["s.a"], "s.a"), (["s.a", "s.b", "s.c"], "s.a, s.b, s.c"), (["s.a", "s.b", "s.c", "s.d"], "s.a, s.b and 2 more")])
def test_the_overview_names_a_few_objects(names: list[str], subject: str) -> None:
    (rule,) = told(Judgement(tuple(map(finding, names))), FACTS).rules
    assert (rule.number, rule.subject) == (1, subject)


def test_the_only_key_cache_is_not_named() -> None:
    cache = replace(finding("default", "key-cache-contention"), scope="key_cache")
    assert told(Judgement((cache,)), FACTS).rules[0].subject == ""
    assert told(Judgement((cache, replace(cache, object="hot"))), FACTS).rules[0].subject == "default, hot"


def test_a_rule_without_a_phrase_of_its_own_has_the_beginning_of_its_recommendation() -> None:
    def to_do(recommendation: str, **changes: Any) -> str:
        return told(Judgement((replace(finding("s.a"), recommendation=recommendation, **changes),)), FACTS).rules[0].to_do

    assert to_do("Set x = 3.5 (the default). Then wait.") == "Set x = 3.5"
    assert to_do("word " * 40) == f"{'word ' * 11}word ..."
    assert to_do("Long and wide.", to_do="short") == "short"
    assert to_do("", to_do="ALTER", refused=("the server is read-only",)) == "not on this server as it is: ALTER"


def test_what_is_done_by_hand_is_not_impossible_because_a_log_cannot_be_switched_on() -> None:
    of_server = replace(finding(""), to_do="find the statements", refused=("log_queries_not_using_indexes is left off",))
    assert told(Judgement((of_server,)), FACTS).rules[0].to_do == "find the statements"


def test_the_price_is_that_of_all_findings_and_none_where_the_rule_says_so() -> None:
    locking = replace(finding("s.a"), price=Price(is_done_by_hand=False, locked_tables=1, locked_seconds=20.0))
    assert told(Judgement((locking, replace(locking, object="s.b"))), FACTS).rules[0].price == "locks 2 tables, 40 s in all"
    assert told(Judgement((replace(locking, cost="None."),)), FACTS).rules[0].price == ""


def test_facts_have_units_and_a_threshold_only_where_there_is_one() -> None:
    with_threshold, without, unknown = told_facts((ShownFact("a.b", 2048, "bytes", 1024, label="size"), ShownFact("a.c", 0.5, "ratio"), ShownFact("a.d", None, "number")))
    assert (with_threshold.label, with_threshold.fact, without.label) == ("size", "a.b", "a.c")
    assert (with_threshold.value, with_threshold.threshold) == ("2 KiB", "1 KiB")
    assert (without.value, without.threshold) == ("50 %", None)
    assert unknown.value == "unknown"


def test_a_cause_that_only_repeats_another_is_told_once() -> None:
    reason, remedy = "/data could not be verified as this server's", "sudo"
    lacking = [NotEvaluated("one", "a fact", remedy, why=reason), NotEvaluated("two", "a fact", remedy, why=f"the server's disk is not known: {reason}"), NotEvaluated("three", "a fact", remedy, why="no cgroup")]
    (gap,) = told(Judgement(not_evaluated=lacking), FACTS).gaps
    assert gap.causes == (reason, "no cgroup")
    assert gap.rules == ("one", "two", "three")
