"""What `script/bench advice` makes of changes and results: which are the same, what came of them, what the table says."""

import dataclasses
import json
import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.advice.changes import piece_of, pieces, untouching, whole
from benchmarks.advice.model import Advice, Change
from benchmarks.advice.outcomes import IMPROVES, NOT_APPLICABLE, NOTHING, UNCLEAR, UNTOUCHED, WORSENS, Outcome, judged
from benchmarks.advice.page import data, page
from benchmarks.advice.record import BEST, MEASURED, WHOLE, Record, advice_line, advice_of, measured_of
from benchmarks.advice.scenarios import FAULT, HEALTHY, NamedBy, Scenario, all_scenarios
from benchmarks.advice.search import Search
from benchmarks.advice.tally import Case, Tally, names, tallies
from myisam_advisor.trial.rounds import Limits, run_rounds


def change(variable: str | None = None, value: str | None = None, statement: str | None = None, severity: str = "warning") -> Change:
    return Change(variable, value, statement, "Make the key buffer larger.", severity, "key-buffer-too-small")


def advice(*changes: Change, adviser: str = "somebody", named: tuple[str, ...] = ()) -> Advice:
    return Advice(adviser, "1.0", changes, named)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (change("key_buffer_size", "64M"), change("Key-Buffer-Size", "67108864")),
        (change("delay_key_write", "ON"), change("delay_key_write", "'on'")),
        (change("general_log", "OFF"), change("general_log", "0")),
        (change("concurrent_insert", "ALWAYS"), change("concurrent_insert", "2")),
        (change("delay_key_write", "ALL"), change("delay_key_write", "2")),
        (change(statement="ALTER TABLE t\n  ROW_FORMAT=FIXED;"), change(statement="ALTER TABLE t ROW_FORMAT=FIXED")),
    ],
)
def test_the_same_change_is_one(one: Change, other: Change) -> None:
    assert piece_of(one).key == piece_of(other).key
    assert len(pieces([one, other])) == 1


def test_other_changes_are_others() -> None:
    changes = [change("key_buffer_size", "64M"), change("key_buffer_size", "65M"), change("hot.key_buffer_size", "64M"), change(statement="ALTER TABLE `a b` FORCE"), change(statement="ALTER TABLE `A b` FORCE")]
    assert len(pieces(changes)) == 5


def test_of_a_variable_named_twice_the_whole_advice_has_the_last() -> None:
    assert [piece.key for piece in whole(advice(change("a", "1"), change("b", "2"), change("a", "3")))] == ["a=3", "b=2"]


def test_two_limits_of_which_the_smaller_counts_are_one_change() -> None:
    both = change("tmp_table_size", "1M"), change("max_heap_table_size", "1M"), change("tmp_table_size", "2M"), change("b", "2")
    joint = "max_heap_table_size=1048576; tmp_table_size=2097152"
    assert [piece.key for piece in pieces(both)] == ["tmp_table_size=1048576", "b=2", joint]
    assert [piece.key for piece in whole(advice(*both))] == [joint, "b=2"]
    assert [part.variable for part in pieces(both)[-1].each] == ["max_heap_table_size", "tmp_table_size"]
    assert [piece.key for piece in pieces(both[:1])] == ["tmp_table_size=1048576"]


def test_limits_that_were_measured_together_are_known_as_one_change() -> None:
    keys = ["tmp_table_size=1", "max_heap_table_size=2"]
    together = {"kind": WHOLE, "adviser": "somebody", "keys": keys, **Outcome(IMPROVES, "", 20.0, 18.0, 22.0, 8).document()}
    of_others = {"kind": WHOLE, "adviser": "somebody", "keys": ["a=1", "b=2"], **Outcome(WORSENS, "", 0.5, 0.4, 0.6, 8).document()}
    alone = [measured(key, NOTHING, 1.0) for key in keys]
    found = case(FAULT, advice_line(advice(change("tmp_table_size", "1"), change("max_heap_table_size", "2"))), *alone, together, of_others)
    assert list(measured_of(found.lines)) == ["max_heap_table_size=2; tmp_table_size=1", *keys]
    one = tally(found)["somebody"]
    assert dict(one.outcomes) == {IMPROVES: 1}
    assert (one.warnings, one.warnings_that_pay, len(one.whole)) == (1, 1, 1)
    assert "| somebody | one | mariadb-10.11 | max_heap_table_size=2; tmp_table_size=1 | 20.00 (18.00 - 22.00) | improves |" in page(scenarios(found), [found], [one])


def test_a_change_of_two_limits_is_a_warning_where_one_of_them_is() -> None:
    said = advice(change("tmp_table_size", "1"), change("max_heap_table_size", "2", severity="info"))
    keys = ["max_heap_table_size=2", "tmp_table_size=1"]
    found = case(FAULT, advice_line(said), measured("; ".join(keys), IMPROVES, 2.0))
    one = tally(found)["somebody"]
    assert (one.warnings, one.warnings_that_pay, one.warnings_of_speed_that_pay) == (1, 1, 1)


@pytest.mark.parametrize("wrong", [change(), change("a", None), change("a", "1", "SELECT 1")])
def test_what_is_no_change_is_refused(wrong: Change) -> None:
    with pytest.raises(ValueError, match="key-buffer-too-small"):
        piece_of(wrong)


def test_what_cannot_touch_a_load_has_a_reason() -> None:
    known = untouching(True)
    assert "slow log" in str(known.why(piece_of(change("long_query_time", "1"))))
    assert known.why(piece_of(change("key_buffer_size", "1M"))) is None
    assert known.why(piece_of(change(statement="ALTER TABLE t FORCE"))) is None


def test_what_innodb_alone_does_cannot_touch_a_load_without_it() -> None:
    log, pool = (piece_of(change(name, "64M")) for name in ("innodb_log_file_size", "innodb_buffer_pool_size"))
    assert untouching(True).why(log) is None
    assert "nothing to do" in str(untouching(False).why(log))
    assert untouching(False).why(pool) is None, "it takes memory"
    by_name = {one.name: one for one in all_scenarios()}
    assert not by_name["key-cache-too-small"].uses_innodb_on("mariadb-10.11")
    assert not by_name["temporary-tables-on-disk"].uses_innodb_on("mysql-5.6")
    assert by_name["temporary-tables-on-disk"].uses_innodb_on("mysql-9.7"), "temporary tables are in it there"
    assert by_name["healthy-innodb-only"].uses_innodb_on("mariadb-10.11"), "by its load"
    assert by_name["healthy-mixed-engines"].uses_innodb_on("mariadb-10.11"), "by a table's options"


def rounds_of(ratio: float, noise: float, count: int = 12) -> Outcome:
    draw = random.Random(5)

    def rate(truth: float) -> Callable[[], float]:
        return lambda: 1000 * truth * math.exp(draw.gauss(0, noise))

    return judged(run_rounds({"before": rate(1.0), "after": rate(ratio)}, float, Limits(count, count, None), lambda _: None))


@pytest.mark.parametrize(
    ("ratio", "noise", "outcome"), [(1.5, 0.01, IMPROVES), (1.0, 0.005, NOTHING), (0.7, 0.01, WORSENS), (1.05, 0.5, UNCLEAR)]
)
def test_rounds_are_judged_as_a_trial_judges(ratio: float, noise: float, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Others may have the processors while this runs: then nothing is concluded, rightly.
    monkeypatch.setattr("myisam_advisor.trial.private.load.DISTURBING_SHARE", 2.0)
    found = rounds_of(ratio, noise)
    assert found.outcome == outcome
    assert found.ratio is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.ratio <= found.high


def test_a_record_bears_being_cut_off(tmp_path: Path) -> None:
    record = Record(tmp_path, "mariadb-10.11", "one")
    record.keep(advice_line(advice(change("a", "1"))))
    with record.path.open("a") as file:
        file.write('{"kind": "measured", "key"')
    record.keep({"kind": MEASURED, "key": "a=1", **Outcome(NOTHING).document()})
    assert advice_of(record.lines()) == {"somebody": advice(change("a", "1"))}
    assert list(measured_of(record.lines())) == ["a=1"]


def test_the_fault_is_named_by_any_of_what_is_listed() -> None:
    by = NamedBy(rules=("other-rule",), variables=("key_buffer_size",), statements=("OPTIMIZE TABLE",), words=("Key Buffer",))
    assert names(advice(change("hot.key_buffer_size", "1M")), dataclasses.replace(by, words=()))
    assert names(advice(change(statement="optimize table t")), dataclasses.replace(by, words=()))
    assert names(advice(named=("the key buffer is small",)), by)
    assert names(advice(named=("other-rule: it is so",)), by)
    assert not names(advice(change("sort_buffer_size", "1M")), dataclasses.replace(by, words=()))
    assert not names(advice(named=("all is well",)), by)


def case(kind: str, *lines: Mapping[str, object]) -> Case:
    scenario = dataclasses.replace(all_scenarios()[0], name="one", kind=kind, named_by=NamedBy(variables=("key_buffer_size",)))
    return Case(scenario, "mariadb-10.11", [{"taken_at": "2026-11-23", "machine": "a | machine", **line} for line in lines])


def measured(key: str, outcome: str, ratio: float | None = None) -> Mapping[str, object]:
    low, high = (None, None) if ratio is None else (ratio * 0.99, ratio * 1.01)
    return {"kind": MEASURED, "key": key, **Outcome(outcome, "", ratio, low, high, 8).document()}


TWO = advice(change("key_buffer_size", "64M"), change("nonsense", "1"), change("b", "2", severity="info"))
FOUND = case(
    FAULT, advice_line(TWO), advice_line(advice(adviser="nobody")), measured("key_buffer_size=67108864", IMPROVES, 2.0), measured("nonsense=1", NOT_APPLICABLE),
    measured("b=2", NOTHING, 1.0), {"kind": WHOLE, "adviser": "somebody", "keys": ["key_buffer_size=67108864", "b=2"], **Outcome(IMPROVES, "", 1.9, 1.8, 2.0, 8).document()},
    {"kind": BEST, "settings": {}, **Outcome(IMPROVES, "", 2.0, 1.9, 2.1, 8).document()},
)  # fmt: skip


def tally(*cases: Case) -> Mapping[str, Tally]:
    return {one.adviser: one for one in tallies(cases)}


def test_an_adviser_is_counted_by_what_came_of_its_pieces() -> None:
    one = tally(FOUND)["somebody"]
    assert (one.faults, one.faults_named, one.pieces, one.unmeasured) == (1, 1, 3, 0)
    assert dict(one.outcomes) == {IMPROVES: 1, NOT_APPLICABLE: 1, NOTHING: 1}
    assert (one.warnings, one.warnings_that_pay) == (1, 1)  # what cannot be applied was not measured
    assert one.median_reached == pytest.approx(0.95)
    silent = tally(FOUND)["nobody"]
    assert (silent.faults, silent.faults_named, silent.pieces) == (1, 0, 0)
    assert silent.median_reached == pytest.approx(0.5)


def test_a_fault_that_no_configuration_mends_is_said() -> None:
    def best(outcome: str, ratio: float | None) -> Mapping[str, object]:
        return {"kind": BEST, "settings": {"b": "2"}, **Outcome(outcome, "", ratio, ratio and ratio * 0.9, ratio and ratio * 1.1, 30).document()}

    asked = advice_line(TWO)
    for line, shown in ((best(UNCLEAR, 1.02), False), (best(NOTHING, None), False), (best(IMPROVES, 1.3), True), (best(NOT_APPLICABLE, None), True)):
        one = tally(case(FAULT, asked, line))["somebody"]
        assert (one.faults, one.faults_named, one.felt, one.felt_named) == (1, 1, shown, shown)
    found = case(FAULT, asked, best(UNCLEAR, 1.3), best(UNCLEAR, 1.02))
    assert "on mariadb-10.11 no configuration was shown to help: the best of 0 is 1.02 (0.92 - 1.12) times as fast" in page(scenarios(found), [found], tallies([found]))


def test_what_only_looks_is_no_warning_that_could_pay() -> None:
    said = advice(change("slow_query_log", "ON"), change("b", "2"))
    found = case(FAULT, advice_line(said), measured("slow_query_log=1", IMPROVES, 1.1), measured("b=2", WORSENS, 0.5))
    one = tally(found)["somebody"]
    assert (one.warnings, one.warnings_that_pay) == (1, 0)
    assert dict(one.outcomes) == {UNTOUCHED: 1, WORSENS: 1}
    assert "1 changes that cannot touch a load were measured all the same: 1 of them came out as faster or slower." in page(scenarios(found), [found], [one])
    assert "| somebody | one | mariadb-10.11 | b=2 | 0.50 (0.49 - 0.51) | worse |" in page(scenarios(FOUND), [FOUND], [one])


@pytest.mark.parametrize(("with_change", "kept"), [([0, 0], 1), ([0, 1], 0)])
def test_a_warning_of_damage_holds_where_it_was_averted_on_this_server(with_change: list[int], kept: int) -> None:
    """In another scenario, too: it is the same warning. One of speed has to pay."""
    said = advice(dataclasses.replace(change("a", "1"), rule="recovery-disabled"), dataclasses.replace(change("b", "2"), rule="sort-buffer-too-small"))
    provoked = [{"kind": "averted", "rule": rule, "keys": ["a=1"], "without": [1, 1], "with_change": with_change, "reason": ""} for rule in ("recovery-disabled", "sort-buffer-too-small")]
    here = case(FAULT, advice_line(said), measured("a=1", NOTHING, 1.0), measured("b=2", NOTHING, 1.0))
    one = tally(here, case(FAULT, *provoked))["somebody"]
    assert (one.warnings, one.warnings_kept) == (2, kept)
    assert tally(here, dataclasses.replace(case(FAULT, *provoked), server="another"))["somebody"].warnings_kept == 0


def test_a_warning_of_damage_promises_no_speed() -> None:
    """Of ours is known which rules say that something holds the server back; of others every warning counts."""
    said = advice(dataclasses.replace(change("a", "1"), rule="recovery-disabled"), dataclasses.replace(change("b", "2"), rule="sort-buffer-too-small"), dataclasses.replace(change("c", "3"), rule="theirs"))
    one = tally(case(FAULT, advice_line(said), measured("a=1", NOTHING, 1.0), measured("b=2", IMPROVES, 1.2), measured("c=3", NOTHING, 1.0)))["somebody"]
    assert (one.warnings, one.warnings_that_pay, one.warnings_of_speed, one.warnings_of_speed_that_pay) == (3, 1, 2, 1)


def test_a_healthy_server_is_left_in_peace_by_whoever_proposes_nothing() -> None:
    def asked(adviser: str, *changes: Change, named: tuple[str, ...] = ()) -> Mapping[str, object]:
        return advice_line(advice(*changes, adviser=adviser, named=named))

    found = tally(case(HEALTHY, asked("loud", change("a", "1")), asked("notice", change("a", "1", severity="notice")), asked("talker", named=("x",)), asked("silent")))
    assert {name: (one.in_peace, one.without_a_word) for name, one in found.items()} == {"loud": (0, 0), "notice": (1, 0), "talker": (1, 0), "silent": (1, 1)}
    assert found["loud"].unmeasured == 1
    spoke = tally(case(HEALTHY, asked("warns", named=("a-rule [warning]: x",)), asked("informs", named=("a-rule [info]: [warning] is a word",))))
    assert {name: one.in_peace for name, one in spoke.items()} == {"warns": 0, "informs": 1}


def scenarios(*cases: Case) -> list[Scenario]:
    return [one.scenario for one in cases]


def test_the_page_says_what_was_measured() -> None:
    text = page(scenarios(FOUND), [FOUND], tallies([FOUND]))
    assert "1 of a scenario on a server (mariadb-10.11), 3 changes, 2026-11-23, on a | machine." in text
    row = next(line for line in text.splitlines() if line.startswith("| somebody | 1.0 |"))
    assert [cell.strip() for cell in row.split("|")][3:9] == ["1 of 1", "1 of 1", "not measured yet", "not measured yet", "3", "1"]
    assert "| somebody | one | mariadb-10.11 | 1.90 (1.80 - 2.00) | improves | 8 |" in text
    assert "somebody (1 of 1)" in text
    document = data([FOUND], tallies([FOUND]))
    assert json.loads(json.dumps(document))["advisers"][1]["outcomes"][IMPROVES] == 1
    assert document["measured"][0]["low"] == pytest.approx(1.98)


def test_where_nothing_was_measured_the_page_says_so() -> None:
    text = page(all_scenarios(), [], [])
    assert "Nothing was measured yet" in text
    assert "| not measured yet |" in text
    assert "0 of" not in text


def test_an_interval_beyond_measure_is_none() -> None:
    wild = {"kind": MEASURED, "key": "b=2", **Outcome(WORSENS, "", 0.1, 0.0, 1e6, 11).document()}
    found = case(FAULT, advice_line(advice(change("b", "2"))), wild)
    assert "| 0.10 (no interval) |" in page(scenarios(found), [found], tallies([found]))


def test_words_from_outside_do_not_break_the_table() -> None:
    wild = case(FAULT, {"kind": "skipped", "why": "no | group\n<b>here"})
    text = page(scenarios(wild), [wild], tallies([wild]))
    assert "no \\| group &lt;b>here |" in text


def test_a_search_finds_the_best_and_goes_on_where_it_was() -> None:
    space = {"a": [str(2**power) for power in range(10)], "b": ["0", "1"]}

    def gain(settings: Mapping[str, str]) -> float:
        return 1 + 0.1 * [str(2**power) for power in range(10)].index(settings["a"]) + int(settings["b"])

    tried: list[tuple[Mapping[str, str], float | None]] = []
    for most in (6, 18):
        search = Search(space, random.Random(1), most, tried)
        for settings in search:
            assert settings not in [one for one, _ in tried]
            search.note(settings, gain(settings))
            tried.append((settings, gain(settings)))
    assert len(tried) in range(7, 19), "a step that leads nowhere better ends it early"
    assert search.best == {"a": "512", "b": "1"}


def test_settings_that_cannot_be_had_are_not_the_best() -> None:
    search = Search({"a": ["1", "2"]}, random.Random(1), 2, [({"a": "1"}, None)])
    assert search.best is None
    assert next(iter(search)) == {"a": "2"}
    search.note({"a": "2"}, None)
    assert list(search) == []
