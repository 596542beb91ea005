"""What findings say that a change gains: by a model of their rule, or that nobody can tell; and what a history and verify make of it."""

import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.catalogue import forecasts
from myisam_advisor.catalogue.forecasts import Forecast, Model, forecast_of, models
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.forecasts import forecast_before, forecasts_of
from myisam_advisor.history.format import CHANGE
from myisam_advisor.history.ledger import Ledger
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.records import Records
from myisam_advisor.history.writer import History
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import NO_SILENCE
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.forecasts_in_words import UNTOLD, gain_in_words
from myisam_exporter.look.table_choice import TableChooser
from tests.support import program

RULE = "sort-buffer-too-small"
MODEL = Model(seconds=1e-9, largest_share=0.5, low=-0.05, high=0.1, changes=20, scenarios=5, covered=0.8)
SERVER = {"flavour": "mariadb", "version": "10.11.19", "hostname": "h", "data_directory": "/d/", "uptime_seconds": 90_000.0}
SORTS = {
    "schema": 1, "interval_seconds": 10, "server": SERVER, "host": {"cpu_count": 2},
    "mysqld": {"threads_running": 1.8, "cpu_user_ratio": 1.2, "cpu_system_ratio": 0.5}, "variable": {"sort_buffer_size": 32768, "port": 3306},
    "status_per_second": {"Sort_merge_passes": 1409, "Sort_scan": 128, "Sort_range": 0, "Sort_rows": 2436290, "Questions": 149},
}  # fmt: skip


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    models.cache_clear()
    monkeypatch.setattr(forecasts, "models", lambda: {RULE: MODEL})
    yield
    models.cache_clear()


def test_the_interval_lies_about_what_the_spared_work_takes() -> None:
    low, high = MODEL.times(2e8)
    assert low == pytest.approx(1.25 * math.exp(-0.05))
    assert high == pytest.approx(1.25 * math.exp(0.1))
    assert MODEL.times(1e30)[1] == pytest.approx(math.exp(0.1) / (1 - 0.5))


@pytest.mark.usefixtures("fitted")
def test_work_that_is_unknown_or_none_forecasts_nothing() -> None:
    assert [forecast_of(RULE, work) for work in (None, "much", math.inf, -1.0)] == [None] * 4
    assert forecast_of("another", 5.0) == Forecast(5.0)
    assert forecast_of(RULE, 0.0) == Forecast(0.0, math.exp(-0.05), math.exp(0.1), 20)


def test_shipped_models_are_those_of_rules_that_reckon() -> None:
    for rule, model in models().items():
        assert "forecast:" in Path(f"rules/advice/{rule}.yaml").read_text("utf-8")
        assert model.low <= 0 <= model.high
        assert model.changes >= model.scenarios >= 4


def found() -> Finding:
    judgement = judge(prepared(facts_from_document(SORTS), Site(shipped_rules())))
    (finding,) = [one for one in judgement.findings if one.rule == RULE]
    return finding


@pytest.mark.usefixtures("fitted")
def test_a_finding_forecasts_what_its_rule_reckons() -> None:
    finding = found()
    assert finding.forecast is not None
    assert finding.forecast.low is not None
    work = finding.forecast.work
    assert work == pytest.approx(1409 * 7 * 32768 / 1.8)
    assert (finding.forecast.low, finding.forecast.high) == MODEL.times(work)
    assert gain_in_words(finding) == f"Forecast: {finding.forecast.low:.2f} to {finding.forecast.high:.2f} times the statements under this load (in 80 of 100 cases, by 20 measurements)."


def test_without_a_model_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "models", dict)
    finding = found()
    assert finding.forecast is not None
    assert (finding.forecast.low, finding.forecast.changes) == (None, 0)
    assert gain_in_words(finding) == UNTOLD
    assert gain_in_words(replace(finding, forecast=None)) == UNTOLD
    assert gain_in_words(replace(finding, forecast=None, measured="1.2 times")) == ""
    assert gain_in_words(replace(finding, forecast=None, resource="")) == ""


def test_of_several_findings_the_widest_ends_count_and_those_without_none() -> None:
    one = replace(found(), forecast=Forecast(1.0, 1.1, 1.3, 20))
    assert forecasts_of([one, replace(one, forecast=Forecast(1.0, 1.0, 1.2, 20)), replace(one, rule="other", forecast=Forecast(2.0)), replace(one, rule="third", forecast=None)]) == {
        f"forecast.{RULE}.low": 1.0, f"forecast.{RULE}.high": 1.3,
    }  # fmt: skip


@pytest.mark.parametrize("samples", [[], [{}], [{f"forecast.{RULE}.low": 1.1}], [{f"forecast.{RULE}.low": 1.3, f"forecast.{RULE}.high": 1.1}], [{f"forecast.{RULE}.low": -1.0, f"forecast.{RULE}.high": 1.1}], [{f"forecast.{RULE}.low": 1e-300, f"forecast.{RULE}.high": 1.1}]])  # fmt: skip
def test_what_was_not_forecast_or_makes_no_interval_is_none(samples: list[dict[str, float | None]]) -> None:
    assert forecast_before(RULE, samples) is None


@pytest.mark.parametrize(("after", "said"), [(0.8, "it came true"), (0.4, "it did not come true")])
def test_verify_holds_what_came_of_a_change_against_what_was_forecast_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: float, said: str) -> None:
    """A daemon that looked each minute, half an hour before and after; a statement then takes `after` of its time."""
    path, state = tmp_path / "h", tmp_path / "state"
    changed = time.time() - 1900
    finding = replace(found(), forecast=Forecast(1.0, 1.2, 1.4, 20))
    now = changed
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: now)
        history = History(path)
        for minute in range(-30, 30):
            now = changed + 60 * minute + 30
            at_work = 1.8 * (after if minute >= 0 else 1.0) + (minute % 3) / 100
            server = {**SERVER, "uptime_seconds": 90_000.0 + now - changed}
            known = complete(facts_from_document(SORTS | {"server": server, "mysqld": {"threads_running": at_work}}))
            list(history.follow("here", known, TableChooser().choose(known.tables["tables"])))
            history.remember("here", [finding] if minute < 0 else [], NO_SILENCE, Clocks(now, now))
        history.close()
    with closing(sqlite3.connect(path)) as database, database:
        Records(database).put(CHANGE, [(database.execute("SELECT target FROM sample").fetchone()[0], changed, "sort_buffer_size", "32768", "262144")])
    done = program.run("verify", RULE, "--history", path, environment={"STATE_DIRECTORY": str(state)})
    assert done.returncode == 0, done.stdout + done.stderr
    (noted,) = Ledger(state / "forecasts").entries()[0]
    assert noted.forecast is not None
    assert (noted.forecast.low, noted.forecast.high) == pytest.approx((1 / 1.4, 1 / 1.2))
    assert noted.measured[0].name.startswith("mysqld.threads_running")
    assert said in program.run("history", "--forecasts", environment={"STATE_DIRECTORY": str(state)}).stdout
