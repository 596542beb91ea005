"""Models of gains: what made-up outcomes were drawn from is found again, too few tell nothing, and each scenario is judged by the others."""

import json
import random
from pathlib import Path

import pytest

from benchmarks.advice.forecasts import FEWEST_CHANGES, Outcome, document, fitted, outcomes
from benchmarks.advice.model import Advice, Change
from benchmarks.advice.record import Record, advice_line

SECONDS = 2e-6


def drawn(scenarios: int, each: int, noise: float = 0.03, seed: int = 1) -> list[Outcome]:
    draw = random.Random(seed)
    found = []
    for number in range(scenarios):
        for _ in range(each):
            work = draw.uniform(20_000, 200_000)
            found.append(Outcome(f"s{number}", work, 1 / (1 - work * SECONDS) * draw.lognormvariate(0, noise)))
    return found


def test_a_model_finds_what_a_piece_of_work_takes_and_how_far_outcomes_are_off() -> None:
    model = fitted(drawn(20, 5))
    assert model is not None
    assert model.seconds == pytest.approx(SECONDS, rel=0.05)
    assert model.low == pytest.approx(-1.28 * 0.03, abs=0.012)
    assert model.high == pytest.approx(1.28 * 0.03, abs=0.012)
    assert 0.7 <= model.covered <= 0.9
    assert (model.changes, model.scenarios) == (100, 20)


def test_too_few_outcomes_or_scenarios_tell_nothing() -> None:
    assert fitted(drawn(4, 2)) is None
    assert fitted(drawn(2, FEWEST_CHANGES)) is None
    assert fitted([]) is None


def test_scenarios_that_are_all_unlike_are_not_covered_by_the_others() -> None:
    known = [Outcome(f"s{times}", work, 1 / (1 - work * times * 1e-6)) for times in range(1, 5) for work in range(50_000, 100_000, 10_000)]
    model = fitted(known)
    assert model is not None
    assert model.covered <= 0.6


def record(folder: Path, scenario: str, change: Change, line: dict[str, object]) -> None:
    kept = Record(folder, "mariadb-10.11", scenario)
    kept.keep(advice_line(Advice("myisam-advisor", "1", (change,), ())))
    kept.keep({"kind": "measured", "key": "key_buffer_size=8388608", "outcome": "improves", "machine": "2 cores (one), 4 GiB of memory", **line})


def test_outcomes_are_those_of_changes_that_say_what_they_spare_and_were_measured_closely_enough(tmp_path: Path) -> None:
    change = Change("key_buffer_size", "8M", None, "said", "info", "key-buffer-too-small", 50_000.0)
    record(tmp_path, "good", change, {"ratio": 1.1, "low": 1.0, "high": 1.2})
    record(tmp_path, "wide", change, {"ratio": 1.1, "low": 0.5, "high": 2.4})
    record(tmp_path, "unmeasured", change, {"ratio": None, "low": None, "high": None})
    record(tmp_path, "silent", Change("key_buffer_size", "8M", None, "said", "info", "key-buffer-too-small"), {"ratio": 1.1, "low": 1.0, "high": 1.2})
    assert outcomes(tmp_path) == {"key-buffer-too-small": [Outcome("good", 50_000.0, 1.1)]}
    assert json.loads(document(tmp_path)) == {"rules": {}}


def test_each_kind_of_processor_has_its_last_outcome(tmp_path: Path) -> None:
    change = Change("key_buffer_size", "8M", None, "said", "info", "key-buffer-too-small", 50_000.0)
    for ratio, machine in ((1.3, "2 cores (one), 4 GiB"), (1.2, "2 cores (other), 4 GiB"), (1.1, "2 cores (one), 8 GiB")):
        record(tmp_path, "twice", change, {"ratio": ratio, "low": 1.0, "high": 1.4, "machine": machine})
    assert outcomes(tmp_path) == {"key-buffer-too-small": [Outcome("twice", 50_000.0, 1.2), Outcome("twice", 50_000.0, 1.1)]}
