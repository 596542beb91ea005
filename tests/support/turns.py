"""Tests that take long take turns: `script/test` asks those of one turn in so many, and the commit says of which; `script/test all` asks each.

What each takes was measured (`script/test costs`) and lies in `tests/costs.json`: seconds from setup to teardown, beside three neighbours on two
processors. A test that is not in it is asked each time. Why so: docs/decisions/044-ten-minutes.md.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from tests.support.repository import ROOT

VARIABLE = "MYISAM_ADVISOR_TURN"  # script/test sets it to the commit's name, which a shallow clone has, too
TURNS = 8
COSTLY_SECONDS = 3.0
# What takes its turn test by test: units, and modules whose tests share nothing but servers and take minutes together.
BY_ITSELF = ("tests/unit/", "tests/rules/", "tests/servers/test_migrate_schemas.py", "tests/servers/test_hostile_names.py")
COSTS = ROOT / "tests" / "costs.json"


def costs() -> dict[str, float]:
    """Seconds by test, of those that take turns."""
    read: dict[str, float] = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    return read


def turn_now() -> int | None:
    """Whose turn it is in this run; None where each test is asked."""
    commit = os.environ.get(VARIABLE)
    return int(commit, 16) % TURNS if commit else None


def of_one_turn(test: str) -> str:
    """What takes its turn as one: a unit test; of others the module, whose tests share what was started, or go on where the one before ended."""
    return test if test.startswith(BY_ITSELF) else test.partition("::")[0]


def turns(seconds: Mapping[str, float]) -> dict[str, int]:
    """The turn of each, so that all turns take equally long: the longest first, each to the turn that has least."""
    together: dict[str, float] = {}
    for test, its in seconds.items():
        together[of_one_turn(test)] = together.get(of_one_turn(test), 0.0) + its
    taken = [0.0] * TURNS
    found = {}
    for one in sorted(together, key=lambda one: (-together[one], one)):
        turn = taken.index(min(taken))
        taken[turn] += together[one]
        found[one] = turn
    return found


def waiting(turn: int | None) -> set[str]:
    """What has another turn: unit tests, and modules of others."""
    return set() if turn is None else {test for test, its in turns(costs()).items() if its != turn}


class Stopwatch:
    """What each test of a run takes, of all workers; written at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = {}

    def add(self, test: str, seconds: float) -> None:
        """A phase of a test: setup, call or teardown."""
        self._seconds[test] = self._seconds.get(test, 0.0) + seconds

    def write(self) -> None:
        """Those that take turns, beside those of the file that this run did not ask and whose module is still there."""
        there = {test: seconds for test, seconds in costs().items() if (ROOT / test.partition("::")[0]).exists()}
        kept = {test: seconds for test, seconds in there.items() if test not in self._seconds}
        found = {test: round(seconds, 1) for test, seconds in self._seconds.items() if seconds >= COSTLY_SECONDS}
        self._path.write_text(json.dumps(dict(sorted({**kept, **found}.items())), indent=0) + "\n")
