"""Random samples of advice: the same order in each run, one place for one change, and intervals that hold what was drawn."""

import random
from collections.abc import Sequence

import pytest

from benchmarks.advice.model import Advice, Change
from benchmarks.advice.outcomes import IMPROVES, NOTHING, UNTOUCHED
from benchmarks.advice.page import _samples
from benchmarks.advice.record import MEASURED, Line, advice_line
from benchmarks.advice.sample import FEWEST, drawn, known_outcomes, samples, wanted, wilson
from benchmarks.advice.scenarios import all_scenarios
from benchmarks.advice.tally import Case

SCENARIOS = all_scenarios()[:20]


def change(variable: str, value: str) -> Change:
    return Change(variable, value, None, "", "", "r")


def case(number: int, measured: Sequence[str] = (), outcome: str = NOTHING) -> Case:
    """Two advisers, of whose changes one is the same."""
    asked: list[Line] = [
        advice_line(Advice(name, "1", (change("key_buffer_size", f"{number}M"), change(variable, "1")), ()))
        for name, variable in (("one", "sort_buffer_size"), ("other", "long_query_time"))
    ]
    lines: list[Line] = [{"kind": MEASURED, "key": key, "outcome": outcome} for key in measured]
    return Case(SCENARIOS[number], "mysql-5.6", [*asked, *lines])


def test_the_order_is_the_same_whatever_order_the_cases_have_and_shared_by_all() -> None:
    cases = [case(number) for number in range(len(SCENARIOS))]
    one = [(found.case.scenario.name, found.piece.key) for found in drawn(cases, "one")]
    assert len(one) == 2 * len(cases)
    assert one == [(found.case.scenario.name, found.piece.key) for found in drawn(random.Random(1).sample(cases, len(cases)), "one")]
    assert one != sorted(one)
    shared = [place for place in one if place[1].startswith("key_buffer_size")]
    assert shared == [place for place in ((found.case.scenario.name, found.piece.key) for found in drawn(cases, "other")) if place in shared]


def test_what_is_wanted_is_the_beginning_of_everybodys_order_but_one() -> None:
    cases = [case(number) for number in range(len(SCENARIOS))]
    assert wanted(cases, 1000, "one") == {(one.scenario.name, one.server): frozenset(found.piece.key for found in drawn([one], "other")) for one in cases}
    few = wanted(cases, 3, "nobody")
    keys = {(found.case.scenario.name, found.piece.key) for name in ("one", "other") for found in drawn(cases, name)[:3]}
    assert {(name, key) for (name, _), own in few.items() for key in own} == keys


def test_a_sample_ends_before_the_first_change_that_is_not_known() -> None:
    keys = [[found.piece.key for found in drawn([case(number)], "one")] for number in range(len(SCENARIOS))]
    whole = [case(number, own) for number, own in enumerate(keys)]
    assert list(known_outcomes(whole, "one")) == [NOTHING] * 2 * len(whole)
    fifth = drawn(whole, "one")[4]
    broken = [case(number, [key for key in own if (SCENARIOS[number], key) != (fifth.case.scenario, fifth.piece.key)]) for number, own in enumerate(keys)]
    assert len(list(known_outcomes(broken, "one"))) == 4
    assert [one.adviser for one in samples(broken)] == ["other"], "half of the other's cannot touch a load"


def test_what_cannot_touch_a_load_is_known_beforehand() -> None:
    cases = [case(number, [f"key_buffer_size={number << 20}"], IMPROVES) for number in range(len(SCENARIOS))]
    (other,) = samples(cases)
    assert (other.adviser, other.size, other.all_pieces) == ("other", 40, 40)
    assert other.outcomes == {UNTOUCHED: 20, IMPROVES: 20}
    low, high = other.share(IMPROVES)
    assert low < 0.5 < high
    assert "| other | 40 of 40 | 20 |" in "\n".join(_samples([other]))
    assert _samples([]) == []


@pytest.mark.parametrize(("count", "size", "interval"), [(0, 10, (0.0, 0.2775)), (5, 10, (0.2366, 0.7634)), (10, 10, (0.7225, 1.0)), (1, 100, (0.0018, 0.0545)), (0, 0, (0.0, 1.0))])
def test_intervals_are_wilsons(count: int, size: int, interval: tuple[float, float]) -> None:
    """Of 5 of 10 and others as R's prop.test(correct=FALSE) and binom's binom.wilson have them."""
    assert wilson(count, size) == pytest.approx(interval, abs=5e-4)


def test_few_say_nothing() -> None:
    assert len(samples([case(number, [f"key_buffer_size={number << 20}", "sort_buffer_size=1"]) for number in range(FEWEST // 2 - 1)])) == 0
