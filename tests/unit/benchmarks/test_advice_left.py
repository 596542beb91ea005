"""`script/bench advice` goes on where it was: what is left of a record, and an end for what hangs."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.advice.__main__ import is_whole, paced
from benchmarks.advice.in_time import at_most
from benchmarks.advice.left import is_known, is_settled, pieces_left, search_of, whole_left
from benchmarks.advice.model import Advice, Change, WatchedServer
from benchmarks.advice.outcomes import IMPROVES, NOT_APPLICABLE, NOTHING, UNCLEAR, Outcome
from benchmarks.advice.record import BEST, MEASURED, SEARCHED, WHOLE, Line, Record, advice_line
from benchmarks.advice.scenarios import all_scenarios
from benchmarks.advice.work import Pace, answers
from myisam_advisor.errors import TrialError

PIECE_SECONDS = 60.0
SAID = Advice("somebody", "1.0", tuple(Change(name, "1", None, "Do it.", "warning", "rule") for name in ("a", "b", "c")), ())


def measured(key: str, outcome: str, seconds: float = 60.0, rounds: int = 8) -> Line:
    return {"kind": MEASURED, "key": key, **Outcome(outcome, ratio=1.0, rounds=rounds, seconds=seconds).document()}


def together(*keys: str) -> Line:
    return {"kind": WHOLE, "adviser": "somebody", "keys": list(keys), **Outcome(IMPROVES, ratio=1.5).document()}


EACH = [advice_line(SAID), measured("a=1", IMPROVES), measured("b=1", NOTHING), measured("c=1", NOT_APPLICABLE)]


@pytest.mark.parametrize(
    ("line", "settled"),
    [
        (None, False),
        (measured("a=1", IMPROVES, seconds=1), True),
        (measured("a=1", UNCLEAR, seconds=12), False),
        (measured("a=1", UNCLEAR, seconds=55), True),
        (measured("a=1", UNCLEAR, seconds=5, rounds=40), True),
    ],
)
def test_what_was_unclear_for_want_of_time_is_measured_again(line: Line | None, *, settled: bool) -> None:
    assert is_settled(line, PIECE_SECONDS) is settled


def test_what_is_left_shrinks_to_nothing() -> None:
    def left(known: list[Line]) -> tuple[list[str], list[str]]:
        return tuple([piece.key for piece in some(SAID, known, PIECE_SECONDS)] for some in (pieces_left, whole_left))  # type: ignore[return-value]

    assert left(EACH[:2]) == (["b=1", "c=1"], [])
    assert left(EACH) == ([], ["a=1", "b=1"]), "what cannot be applied is not applied with the others"
    assert left([*EACH, together("b=1", "a=1")]) == ([], [])
    assert not is_known(EACH, ["somebody"], PIECE_SECONDS, None)
    assert is_known([*EACH, together("a=1", "b=1")], ["somebody"], PIECE_SECONDS, None)
    assert not is_known([*EACH, together("a=1", "b=1")], ["somebody", "a newer one"], PIECE_SECONDS, None)
    assert is_known(EACH[:1], ["somebody"], PIECE_SECONDS, None, ["nobody"]), "asked, and not measured"
    assert not is_known(EACH, ["somebody"], PIECE_SECONDS, None, ["somebody"])


def test_a_search_is_at_its_end_when_the_best_was_measured_in_full() -> None:
    space = {"a": ["1", "2"]}
    done: list[Line] = [advice_line(Advice("somebody", "1.0", (), ()))]

    def tried(value: str, ratio: float) -> Line:
        return {"kind": SEARCHED, "settings": {"a": value}, **Outcome(IMPROVES, ratio=ratio).document()}

    def known(*lines: Mapping[str, object]) -> bool:
        return is_known([*done, *lines], ["somebody"], PIECE_SECONDS, search_of("one", space, [*done, *lines], 2))

    both = [tried("1", 1.1), tried("2", 1.4)]
    assert not known(both[0])
    assert not known(*both)
    assert known(*both, {"kind": BEST, "settings": {"a": "2"}, **Outcome(IMPROVES, ratio=1.4).document()})


def test_a_scenario_that_is_whole_is_not_begun_again(tmp_path: Path) -> None:
    scenario = next(one for one in all_scenarios() if one.search)
    record = Record(tmp_path, "mariadb-10.11", scenario.name)
    assert not is_whole(tmp_path, scenario, "mariadb-10.11", [Silent()], Pace(), 0)
    record.keep(advice_line(Silent().advice(WATCHED)))
    assert is_whole(tmp_path, scenario, "mariadb-10.11", [Silent()], Pace(), 0)
    assert not is_whole(tmp_path, scenario, "mariadb-10.11", [Silent()], Pace(), 5)
    assert not is_whole(tmp_path, scenario, "mysql-9.7", [Silent()], Pace(), 0)


WATCHED = WatchedServer(Path("/nonexistent/s"), "mariadb-10.11", Path("/nonexistent/data"), "root", None, 0.0)


class Silent:
    name = "silent"

    def why_not(self) -> str | None:
        return None

    def advice(self, server: WatchedServer) -> Advice:
        return Advice(self.name, server.product, (), ())


class Endless(Silent):
    name = "endless"

    def advice(self, server: WatchedServer) -> Advice:
        while True:
            time.sleep(0.01)


def test_an_adviser_that_hangs_is_ended_and_is_no_failure_of_its_own() -> None:
    with pytest.raises(TrialError, match="ended after"), at_most(0.2):
        answers(WATCHED, [Silent(), Endless()])
    with at_most(60.0):
        assert [line["adviser"] for line in answers(WATCHED, [Silent()])] == ["silent"]


def test_what_has_its_time_for_ever_is_never_ended() -> None:
    with at_most(float("inf")):
        time.sleep(0.01)


def test_each_has_its_share_of_what_is_left() -> None:
    two = [(scenario, "mariadb-10.11") for scenario in all_scenarios()[:2]]
    began = time.monotonic()
    first, second = (pace.until - began for _, _, pace in paced(two, Pace(), 100.0))
    assert first == pytest.approx(50, abs=5)
    assert second == pytest.approx(100, abs=5)
    assert not list(paced(two, Pace(), 0.0))
    assert [pace.until for _, _, pace in paced(two, Pace(), None)] == [float("inf")] * 2
