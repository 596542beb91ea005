"""The report of a trial: its conclusion first, no interval where there is none, and no number that is cut."""

import io
import re

import pytest

from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.experiments.base import experiment_named
from myisam_advisor.trial.report import as_json, as_text
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.rounds import BUDGET, CLEAR, Course, Noise


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
    assert '"low": null' in as_json(result(1), {})


def course_of(course: Course) -> str:
    runs = {"packed": [Run(1.0, 100.0)] * course.rounds, "unpacked": [Run(1.0, 150.0)] * course.rounds}
    whole = TrialResult("pack-keys", "mariadbd", "10.11.6", "made up", (), [WorkloadResult("inserts", "rows", runs, course=course)], "Said.")
    return as_text(experiment_named("pack-keys"), whole)


def test_noise_and_what_ended_the_rounds_are_said() -> None:
    text = course_of(Course(9, 2, 1, 20.0, CLEAR, Noise(8, 0.021, 0.058), 0.1))
    assert "  9 rounds until it was clear; 2 more before the rates had settled; 1 more while others had the processors\n" in text
    assert "Noise of this machine: two equal runs differ by 2.1 % in the median, 5.8 % at most." in text
    assert "budget" not in text
    assert "worth it" in text


def test_a_budget_that_ended_it_has_a_word() -> None:
    text = course_of(Course(9, ended_by=BUDGET))
    assert "  9 rounds, ended by the budget\n" in text
    assert "The budget ended these before they were clear (--budget gives them more): inserts." in text
    assert "Noise" not in text


def test_a_busy_machine_is_named_in_the_place_of_a_verdict() -> None:
    text = course_of(Course(9, ended_by=BUDGET, others_cpu_share=0.91, is_busy=True))
    assert "others took 91 % of the processors: nothing is concluded" in text
    assert "unclear" in text
    assert "worth it" not in text
    assert "gives them more" not in text


def test_the_clients_share_of_a_single_workload_is_said_once() -> None:
    runs = {name: [Run(1.0, 100.0, server_cpu_seconds=0.71, client_cpu_seconds=0.29)] for name in ("packed", "unpacked")}
    whole = TrialResult("pack-keys", "mariadbd", "10.11.6", "made up", (), [WorkloadResult("inserts", "rows", runs)], "Said.")
    assert "The client took 29 % of the CPU time" in as_text(experiment_named("pack-keys"), whole)


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
    assert "1.00 - 1.00" in text, "an interval stands in one line"
