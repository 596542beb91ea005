"""What findings quote is there, and says so of the kind of server it was measured on."""

import re

import pytest

from myisam_advisor.catalogue import measured
from myisam_advisor.catalogue.measured import evidence, quotation
from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.trial.experiments.base import experiment_named, experiment_names
from tests.support.repository import ROOT
from tools.fetched_servers import FETCHED_SERVERS

QUOTING = [rule for rule in shipped_rules() if rule.measured]
PAGE = ROOT / "docs" / "reference" / "evidence.md"


def test_all_four_servers_and_all_experiments_were_measured() -> None:
    assert set(evidence()["servers"]) == set(FETCHED_SERVERS)
    found = {(entry["experiment"], entry["server"]) for entry in evidence()["measured"]}
    for name in experiment_names():
        for server in FETCHED_SERVERS if experiment_named(name).needs_server else [""]:
            assert (name, server) in found


@pytest.mark.parametrize("rule", QUOTING, ids=lambda rule: rule.id)
def test_every_quote_was_measured_somewhere(rule: Rule) -> None:
    assert rule.measured is not None
    for quote in rule.measured.quotes:
        servers = {
            entry["server"]
            for entry in evidence()["measured"]
            if (entry["experiment"], entry["workload"], entry["variant"]) == (rule.measured.experiment, quote.workload, quote.variant)
        }
        assert {evidence()["servers"][server]["flavour"] for server in servers} >= {"mysql" if flavour == "percona" else flavour for flavour in quote.flavours}


def test_published_figures_stand_beside_workloads_that_exist() -> None:
    found = {(entry["experiment"], entry["workload"], entry["variant"]) for entry in evidence()["measured"]}
    for name in experiment_names():
        for one in experiment_named(name).published:
            assert (name, one.workload, one.variant) in found


def test_a_finding_quotes_the_nearest_server_and_says_when_it_does_not_apply() -> None:
    rule = next(rule for rule in QUOTING if rule.id == "key-cache-contention")
    mysql, mariadb = quotation(rule.measured, "mysql", 50744), quotation(rule.measured, "mariadb", 101119)
    assert "Measured on this kind of server (MySQL 5.6.24" in mysql
    assert "with a cache for each table: inserts of 20 rows" in mysql
    assert "Measured on this kind of server (MariaDB 10.11" in mariadb
    assert "with segments: inserts of 20 rows" in mariadb
    assert "It does not hold where" in mysql
    assert "on this kind of server (MySQL 9.7" in quotation(rule.measured, "percona", 80036)
    assert "on the nearest kind of server (MySQL 5.6" in quotation(rule.measured, "mysql", 50067)
    assert re.search(r"inserts of 20 rows \d+\.\d\d times \(\d+\.\d\d to \d+\.\d\d\)", mysql)
    assert quotation(rule.measured, None, None) == ""


def test_what_was_measured_again_tells_its_own_day_and_server() -> None:
    rule = next(rule for rule in QUOTING if rule.id == "key-cache-contention")
    again = {(entry["taken_at"], entry["server_version"]) for entry in evidence()["measured"] if entry["experiment"] == "key-cache" and entry["server"] == "mariadb-11.8"}
    ((day, version),) = again
    assert day > evidence()["taken_at"]
    assert f"(MariaDB {version}, 2 cores, made-up tables, {day})" in quotation(rule.measured, "mariadb", 110806)


@pytest.mark.parametrize(("cores", "said"), [(16, "16 cores"), (None, "2 cores")])
def test_each_experiment_tells_the_cores_that_it_was_measured_on_where_the_file_has_them(monkeypatch: pytest.MonkeyPatch, cores: int | None, said: str) -> None:
    """Files of before have one number for all."""
    rule = next(rule for rule in QUOTING if rule.id == "key-cache-contention")
    known, others = evidence(), quotation(next(rule for rule in QUOTING if rule.id == "read-buffer-too-large").measured, "mariadb", 101119)
    own = {} if cores is None else {"cores": cores}
    entries = [entry if entry["experiment"] != "key-cache" else {name: value for name, value in entry.items() if name != "cores"} | own for entry in known["measured"]]
    monkeypatch.setattr(measured, "evidence", lambda: {**known, "measured": entries})
    assert f", {said}, made-up tables, " in quotation(rule.measured, "mariadb", 101119)
    assert ", 2 cores, made-up tables, " in others


def test_the_page_tells_date_machine_and_command() -> None:
    text = PAGE.read_text("utf-8")
    assert re.search(r"`script/bench evidence` \(version [\d.]+\) on \d{4}-\d\d-\d\d: \d+ cores", text)
    for name, about in evidence()["servers"].items():
        assert f"| {name} ({about['version']}) |" in text
    for entry in evidence()["measured"]:
        assert entry["server_version"] in text


@pytest.mark.parametrize(("value", "said"), [(84.96, "85.0"), (71.51, "71.5"), (101.4, "101"), (1.158, "1.16"), (0.754, "0.75")])
def test_a_ratio_has_no_more_digits_than_were_measured(value: float, said: str) -> None:
    assert measured._figure(value) == said
