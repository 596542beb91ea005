"""The report of a trial: its conclusion first, no interval where there is none, and no number that is cut."""

import io
import re

import pytest

from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.base import experiment_named
from myisam_advisor.trial.report import as_json, as_text
from myisam_advisor.trial.results import TrialResult, WorkloadResult


def result(rounds: int) -> TrialResult:
    runs = {name: [Run(1.0, rate + number) for number in range(rounds)] for name, rate in (("packed", 100.0), ("unpacked", 150.0))}
    return TrialResult("pack-keys", "mariadbd", "10.11.6", "made up", (), [WorkloadResult("inserts", "rows", runs)], "Unpacked keys are worth it.")


def test_the_conclusion_is_the_first_line_and_said_once() -> None:
    text = as_text(experiment_named("pack-keys"), result(6))
    assert text.splitlines()[0] == "Unpacked keys are worth it."
    assert text.count("Unpacked keys are worth it.") == 1
    assert "95 % interval" in text


def test_one_round_has_no_interval() -> None:
    text = as_text(experiment_named("pack-keys"), result(1))
    assert "1.50" in text
    assert "interval" not in text
    assert "1.50 - 1.50" not in text
    assert '"low": null' in as_json(result(1))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def wide_result() -> TrialResult:
    """A number of seven digits, three figures, and all that is counted of the process."""
    figures = {"key_blocks_read_per_key": 9.34, "index_bytes": 5_873_664.0, "key_cache_blocks": 5735.0}
    run = Run(1.0, 110_640.0, 0.5, 0.1, 60, 5, 70, 80, 500, figures=figures)
    counts = WorkloadResult("counts of 100 keys", "keys", {"index kept": [run] * 4, "index dropped": [run] * 4})
    return TrialResult("drop-index", "MariaDB", "10.11.6", "made up", (), [counts], "It is worth dropping.")


@pytest.mark.parametrize(("width", "counted"), [(140, True), (135, True), (100, False), (80, False)])
def test_no_number_and_no_word_is_cut(monkeypatch: pytest.MonkeyPatch, width: int, counted: bool) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    text = re.sub(r"\x1b\[[\d;]*m", "", as_text(experiment_named("drop-index"), wide_result(), Terminal()))
    assert max(map(len, text.splitlines())) <= width
    for word in ("5,873,664", "110,640", "baseline", "dropped", "interval"):
        assert word in text
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert ("faults" in text) == counted
