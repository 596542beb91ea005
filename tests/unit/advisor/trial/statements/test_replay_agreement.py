"""The cases of `script/bench replay agreement`: forty, the same again, and measured in as many pieces as one likes."""

import random
from collections import Counter
from pathlib import Path

from benchmarks.kept_lines import keep_line, kept_lines
from benchmarks.production import MIXES
from benchmarks.replay import CHANGES, SERVERS, cases, clear_cases, left


def test_there_are_forty_cases_of_all_mixes() -> None:
    found = cases()
    assert (len(found), len(set(found))) == (40, 40)
    assert Counter(case.server for case in found) == dict.fromkeys(SERVERS, 2 * (len(CHANGES) - 1))
    assert {case.mix for case in found} == set(MIXES) == {"forum", "statistics", "catalogue"}


def test_a_mix_is_the_same_again_and_reads_and_writes_what_changes_are_about() -> None:
    for mix in MIXES.values():
        first, second = ([mix(draw) for _ in range(500)] for draw in (random.Random("1"), random.Random("1")))
        assert first == second
        assert any(b"items" in statement for statement in first) or any(b"events" in statement for statement in first)
        assert {statement.split()[0] for statement in first} >= {b"SELECT"}


def test_what_was_measured_is_not_measured_again_whatever_ended_it(tmp_path: Path) -> None:
    record = tmp_path / "replay.jsonl"
    assert len(left(kept_lines(record), (), ())) == 40
    first, second = cases()[:2]
    keep_line(record, {"server": first.server, "mix": first.mix, "change": first.change})
    with record.open("a") as file:
        file.write('{"server": "mariadb-10.')
    keep_line(record, {"server": second.server, "mix": second.mix, "change": second.change})
    assert len(kept_lines(record)) == 2
    waiting = left(kept_lines(record), (), ())
    assert (len(waiting), first in waiting, second in waiting) == (38, False, False)
    assert {case.server for case in left(kept_lines(record), ("mysql-5.6",), ("catalogue",))} <= {"mysql-5.6"}


def test_where_production_is_clear_the_replay_is_held_against_it() -> None:
    def case(production: list[float], replay: list[float]) -> dict[str, list[float]]:
        return {"production_interval": production, "replay_interval": replay}

    found = [case([1.1, 1.2], [1.05, 1.3]), case([0.5, 0.7], [0.9, 1.1]), case([0.5, 0.7], [1.1, 1.2]), case([0.9, 1.1], [2.0, 3.0])]
    assert clear_cases(found) == {"same": 1, "unclear": 1, "contrary": 1}
