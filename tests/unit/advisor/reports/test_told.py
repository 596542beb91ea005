"""What is told of a judgement: decided once, for every report."""

from dataclasses import replace

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Dropped, Finding, Judgement, ShownFact, Suspicion
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


def test_facts_have_units_and_a_threshold_only_where_there_is_one() -> None:
    with_threshold, without, unknown = told_facts((ShownFact("a.b", 2048, "bytes", 1024), ShownFact("a.c", 0.5, "ratio"), ShownFact("a.d", None, "number")))
    assert (with_threshold.value, with_threshold.threshold) == ("2 KiB", "1 KiB")
    assert (without.value, without.threshold) == ("50 %", None)
    assert unknown.value == "unknown"
