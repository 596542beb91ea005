"""The ledger of forecasts: what verify measured is found again, what cannot be told is said so, and what others put there is refused."""

import json
import os
import time
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.cli.commands.verify import _note
from myisam_advisor.history.ledger import (
    Entry,
    Forecast,
    Ledger,
    LedgerError,
    Measured,
    entry_of,
    ledger_in_words,
    text_of,
)
from myisam_advisor.history.verification import IMPROVED, NOT_ENOUGH, UNCHANGED, MeasureOutcome
from tests.support import program
from tests.unit.advisor.history.test_verification import SEGMENTS, Noticed, history

NOW = 1_795_400_000.0


def entry(forecast: Forecast | None = None, ratio: float | None = 0.5, noted_at: float = NOW) -> Entry:
    measured = Measured("mysqld.voluntary_switches_per_second", ratio, ratio and ratio - 0.1, ratio and ratio + 0.1, IMPROVED)
    return Entry("here", "key-cache-contention", NOW - 100, noted_at, forecast, (measured,), IMPROVED)


def test_what_is_noted_is_found_again_and_a_later_look_takes_its_place(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "forecasts")
    assert ledger.entries() == ([], [])
    ledger.note(entry())
    ledger.note(entry(Forecast(0.4, 0.6, "two tables"), noted_at=NOW + 5))
    assert ledger.entries() == ([entry(Forecast(0.4, 0.6, "two tables"), noted_at=NOW + 5)], [])


@pytest.mark.parametrize(
    ("forecast", "ratio", "low", "high", "verdict", "came_true"),
    [
        (None, 0.5, 0.4, 0.6, IMPROVED, None), (Forecast(0.4, 0.6, ""), 0.5, 0.45, 0.55, IMPROVED, True), (Forecast(0.7, 0.9, ""), 0.5, 0.4, 0.6, IMPROVED, False),
        (Forecast(0.1, 0.3, ""), 0.5, 0.4, 0.6, IMPROVED, False), (Forecast(0.4, 0.6, ""), None, None, None, NOT_ENOUGH, None),
        # Its middle is right, or wrong, by chance.
        (Forecast(0.9, 1.1, ""), 1.0, 0.3, 3.0, NOT_ENOUGH, None), (Forecast(0.9, 1.1, ""), 1.0, None, None, NOT_ENOUGH, None), (Forecast(0.8, 0.9, ""), 1.0, 0.85, 1.15, UNCHANGED, None),
        (Forecast(0.8, 0.9, ""), 0.95, 0.85, 1.05, UNCHANGED, None), (Forecast(0.95, 0.99, ""), 0.97, 0.85, 1.1, UNCHANGED, True),
    ],
)  # fmt: skip
def test_a_forecast_comes_true_or_not_or_nobody_can_tell(forecast: Forecast | None, ratio: float | None, low: float | None, high: float | None, verdict: str, came_true: bool | None) -> None:
    entry = Entry("here", "key-cache-contention", NOW - 100, NOW, forecast, (Measured("x", ratio, low, high, verdict),), IMPROVED)
    assert entry.came_true is came_true


def test_verify_notes_what_came_of_a_rule_and_history_shows_that_nothing_was_forecast(tmp_path: Path) -> None:
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    history(tmp_path / "h", 50, 10)
    assert program.run("verify", "key-cache-contention", "--history", tmp_path / "h", environment=state).returncode == 0
    said = program.run("history", "--forecasts", environment=state).stdout
    assert "here  key-cache-contention: improved\n    forecast: cannot tell\n    measured: mysqld.voluntary_switches_per_second" in said
    (noted,) = Ledger(tmp_path / "state" / "forecasts").entries()[0]
    assert noted.forecast is None
    assert noted.measured[0].ratio == pytest.approx(0.2, rel=0.1)
    assert noted.noted_at == pytest.approx(time.time(), abs=60)


SLOW_LOG: Noticed = ("slow_query_log", "0", "1")
RESTART: Noticed = ("restart", None, None)


@pytest.mark.parametrize(
    ("changes", "said", "noted"),
    [
        ([SLOW_LOG], False, 0), ([RESTART], False, 0), ([*SEGMENTS, RESTART], False, 1), ([*SEGMENTS, SLOW_LOG], False, 0),
        ([("named key caches", "", "hot (5)")], False, 1), ([("named key caches", "hot (5)", ""), RESTART], False, 0),
        ([], True, 1), (SEGMENTS, True, 1), ([SLOW_LOG], True, 0),
    ],
)  # fmt: skip
def test_an_outcome_is_noted_of_the_change_that_the_rule_is_about_and_of_no_other(tmp_path: Path, changes: list[Noticed], said: bool, noted: int) -> None:
    changed = history(tmp_path / "h", 50, 10, changes=changes)
    at = ["--at", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(changed))] if said else []
    done = program.run("verify", "key-cache-contention", *at, "--history", tmp_path / "h", environment={"STATE_DIRECTORY": str(tmp_path / "state")})
    assert (done.returncode, done.stderr) == (0, "")
    assert len(Ledger(tmp_path / "state" / "forecasts").entries()[0]) == noted
    assert ("Several changes" in done.stdout) == (len(set(changes) - {RESTART}) > 1)


def test_a_rule_without_a_variable_is_noted_at_a_time_that_was_said_only(tmp_path: Path) -> None:
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    changed = history(tmp_path / "h", 50, 10, changes=[SLOW_LOG])
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(changed))
    for words, noted in ([], 0), (["--at", at], 1):
        program.run("verify", "page-cache-cold", *words, "--history", tmp_path / "h", environment=state)
        assert len(Ledger(tmp_path / "state" / "forecasts").entries()[0]) == noted


def test_two_loads_or_too_few_samples_are_no_outcome(tmp_path: Path) -> None:
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    history(tmp_path / "other-load", 50, 50, load=(100, 500))
    history(tmp_path / "few", 50, 10, samples=8)
    for name in ("other-load", "few"):
        program.run("verify", "key-cache-contention", "--history", tmp_path / name, environment=state)
    assert Ledger(tmp_path / "state" / "forecasts").entries() == ([], [])
    assert ledger_in_words([Ledger(tmp_path / "none")], NOW).startswith("no change was verified yet")


@pytest.mark.parametrize(("first", "other", "noted"), [(NOT_ENOUGH, UNCHANGED, 0), (NOT_ENOUGH, IMPROVED, 1), (UNCHANGED, NOT_ENOUGH, 1), (UNCHANGED, UNCHANGED, 1), (NOT_ENOUGH, NOT_ENOUGH, 0)])
def test_that_the_others_are_unchanged_is_no_outcome_where_the_first_measure_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, other: str, noted: int) -> None:
    """It was noted as *unchanged*: the figure that the rule is about scatters too much, and another one stands still."""
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    rule = next(one for one in shipped_rules() if one.id == "key-cache-contention")
    facts = [measure.fact for measure in rule.measures][:2]
    outcomes = [MeasureOutcome(fact, "lower", 1.0, 1.0, (60, 60), 1.0, 0.9, 1.1, verdict) for fact, verdict in zip(facts, (first, other), strict=True)]
    _note("here", NOW, [rule], outcomes, {})
    assert len(Ledger(tmp_path / "forecasts").entries()[0]) == noted


def test_a_ledger_that_cannot_be_written_is_named_and_the_answer_stands(tmp_path: Path) -> None:
    history(tmp_path / "h", 50, 10)
    (tmp_path / "state").write_text("a file")
    done = program.run("verify", "key-cache-contention", "--history", tmp_path / "h", environment={"STATE_DIRECTORY": str(tmp_path / "state")})
    assert done.returncode == 0
    assert "not noted: " in done.stderr
    assert "Improved." in done.stdout


def test_forecasts_go_with_no_fact(tmp_path: Path) -> None:
    done = program.run("history", "status.Questions.per_second", "--forecasts", environment={"STATE_DIRECTORY": str(tmp_path)})
    assert done.returncode == 2
    assert "leave out FACT" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "another"), ("version", 2), ("target", 5), ("rule", "x" * 2000), ("changed_at", -1), ("noted_at", "now"), ("measured", "all"), ("measured", [5]),
        ("measured", [{"name": "a", "ratio": 1e9, "verdict": "improved"}]), ("forecast", {"low": 2, "high": 1, "conditions": ""}), ("forecast", []), ("verdict", None),
    ],
)  # fmt: skip
def test_what_others_wrote_is_believed_nothing(name: str, value: object) -> None:
    with pytest.raises(LedgerError):
        entry_of(json.dumps({**json.loads(text_of(entry())), name: value}))


def test_a_forecast_of_another_version_is_told_as_that() -> None:
    with pytest.raises(LedgerError, match="another version of this program wrote it: that one reads it"):
        entry_of(json.dumps({**json.loads(text_of(entry())), "version": 2}))


def test_files_that_are_none_of_ours_are_named_and_names_are_shown_without_control_characters(tmp_path: Path) -> None:
    (tmp_path / "0123456789abcdef.json").write_text("{")
    Ledger(tmp_path).note(Entry("here\x1b[2J", "rule", NOW, NOW, Forecast(0.4, 0.6, "half as many tables"), (), IMPROVED))
    said = ledger_in_words([Ledger(tmp_path)], NOW)
    assert "\x1b" not in said
    assert "0.40 to 0.60 times (half as many tables); it cannot be held against" in said
    assert "0123456789abcdef.json is not used: no JSON" in said


@pytest.mark.parametrize("call", ["stat", "open", "read"])
def test_what_a_disk_refuses_is_not_told_as_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    ledger = Ledger(tmp_path / "forecasts")
    ledger.note(entry())

    def failed(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    owner: object = Path if call == "stat" else os
    with monkeypatch.context() as patched:
        patched.setattr(owner, call, failed)
        if call == "stat":
            patched.setattr(os, "open", failed)  # a disk that says nothing of a directory lists none either
        told = ledger_in_words([ledger], NOW)
    assert "Input/output error" in told
    assert "no change was verified yet" not in told
    assert "no change was verified yet" in ledger_in_words([Ledger(tmp_path / "nothing")], NOW)


def test_changes_that_were_made_before_are_left_out_and_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for rule, days in (("young", 1), ("old", 3)):
        ledger.note(Entry("db", rule, NOW - days * 86400, NOW, None, (), IMPROVED))
    assert [name in ledger_in_words([ledger], NOW) for name in ("young", "old")] == [True, True]
    assert [name in ledger_in_words([ledger], NOW, 2 * 86400.0) for name in ("young", "old")] == [True, False]
    assert ledger_in_words([ledger], NOW, 3600.0) == "no change of the last 60 min was verified; 2 changes are older: --since reaches further back"
    assert ledger_in_words([Ledger(tmp_path / "none")], NOW, 3600.0).startswith("no change was verified yet")
