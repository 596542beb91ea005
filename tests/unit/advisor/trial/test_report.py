"""The report of a trial: its conclusion first, and no interval where there is none."""

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
