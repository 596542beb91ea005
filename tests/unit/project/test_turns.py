"""Tests that take long take turns: each has one, all turns take equally long, and what is left out is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ASK_THE_SAME, scope_of
from tests.support import turns as module
from tests.support.repository import ROOT
from tests.support.turns import TURNS, VARIABLE, Stopwatch, costs, of_one_turn, turn_now, turns, waiting

KEPT = "tests/unit/project/test_turns.py::test_what_a_test_takes"


@given(st.dictionaries(st.text(max_size=5).map("tests/unit/{}".format), st.floats(3, 300), max_size=60))
def test_each_has_one_turn_and_no_turn_is_longer_than_another_by_more_than_a_test(seconds: dict[str, float]) -> None:
    found = turns(seconds)
    assert found.keys() == seconds.keys()
    taken = [sum(seconds[test] for test, its in found.items() if its == turn) for turn in range(TURNS)]
    assert max(taken) - min(taken) <= max(seconds.values(), default=0) + 1e-6


def test_in_as_many_runs_as_there_are_turns_each_test_is_asked_once() -> None:
    assert costs(), "tests/costs.json: script/test costs"
    each = {of_one_turn(test) for test in costs()}
    asked = [one for turn in range(TURNS) for one in each - waiting(turn)]
    assert sorted(asked) == sorted(each)
    assert waiting(None) == set()


def test_a_module_with_servers_has_one_turn_for_all_of_it() -> None:
    found = turns({"tests/e2e/a.py::first": 5.0, "tests/e2e/a.py::second": 9.0, "tests/unit/b.py::one": 3.0, "tests/unit/b.py::two": 3.0})
    assert found.keys() == {"tests/e2e/a.py", "tests/unit/b.py::one", "tests/unit/b.py::two"}


def test_what_asks_the_same_stays_with_one_worker() -> None:
    for scope, tests in ASK_THE_SAME.items():
        modules = [str(path.relative_to(ROOT)) for one in tests for path in (ROOT / one).parent.glob(f"{Path(one).name}*")]
        assert len(modules) >= 2, scope
        assert {scope_of(f"{module}::test_any") for module in modules} == {scope}


@pytest.mark.parametrize(("commit", "turn"), [("0", 0), ("6f0eb4a07c21", 0x6F0EB4A07C21 % TURNS), ("", None)])
def test_the_commit_says_whose_turn_it_is(monkeypatch: pytest.MonkeyPatch, commit: str, turn: int | None) -> None:
    monkeypatch.setenv(VARIABLE, commit)
    assert turn_now() == turn
    monkeypatch.delenv(VARIABLE)
    assert turn_now() is None


def test_what_a_test_takes_is_kept_with_what_others_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps({KEPT: 4.0, "faster now": 9.0, "tests/gone.py::test": 5.0}))
    monkeypatch.setattr(module, "COSTS", path)
    stopwatch = Stopwatch(path)
    for test, seconds in (("slow", 2.0), ("slow", 2.04), ("faster now", 1.0)):
        stopwatch.add(test, seconds)
    stopwatch.write()
    assert json.loads(path.read_text()) == {KEPT: 4.0, "slow": 4.0}


def test_what_has_another_turn_is_left_out_and_the_output_says_so() -> None:
    test = next(test for test in sorted(costs()) if test.startswith("tests/unit/") and "[" not in test)
    (its,) = {turn for turn in range(TURNS) if test not in waiting(turn)}
    words = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", test]
    for turn, told in ((its, "1 test collected"), ((its + 1) % TURNS, "1 deselected")):
        done = subprocess.run(words, cwd=ROOT, env={**os.environ, VARIABLE: str(turn)}, capture_output=True, text=True, check=False)
        assert told in done.stdout
        assert f"turn {turn + 1} of {TURNS}" in done.stdout
