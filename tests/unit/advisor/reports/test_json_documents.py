"""Every JSON document keeps to its published schema, says when and by what it was made, and is there when the program fails too."""

import json
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from myisam_advisor.cli.commands.verify import Compared
from myisam_advisor.cli.commands.verify import _as_json as verify_as_json
from myisam_advisor.cli.kept_trials import Keeping
from myisam_advisor.daemon.pages import _advice_of
from myisam_advisor.factbase.document import as_document
from myisam_advisor.history.noticed_changes import Change
from myisam_advisor.history.verification import MeasureOutcome, Window
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.one_table import one_table, table_names
from myisam_advisor.reports.one_table_text import one_table_as_json
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.reports.proofs_in_words import as_document as proofs_as_document
from myisam_advisor.reports.proofs_in_words import standings
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.report import as_json
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.upgrade.upgrade_report import as_json as upgrade_as_json
from myisam_advisor.workload.kinds.seen import Gathered, MyisamTables, Sums, not_told
from myisam_exporter.version import __version__
from tests.support.plans import plan_of, plan_text
from tests.support.program import run
from tests.support.proofs import kept, kind
from tests.support.recorded import RecordedLook, report_of
from tests.support.repository import ROOT
from tests.support.upgrades import UPGRADED

REFERENCE = ROOT / "docs" / "reference"
GOLDEN = sorted((ROOT / "tests" / "recorded" / "golden").glob("*/*.json"))
SCHEMAS = sorted(path.name.partition(".")[0] for path in REFERENCE.glob("*.schema.json"))


def strict(schema: Any) -> Any:
    """The schema without room for a key that it does not name: what is written must be published."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: {key: strict(one) for key, one in value.items()} if name == "properties" else strict(value) for name, value in schema.items()}
    return inner | ({"additionalProperties": False} if "properties" in inner else {})


def schema_of(name: str) -> Any:
    return json.loads((REFERENCE / f"{name}.schema.json").read_text())


def assert_keeps(name: str, text: str) -> Any:
    document = json.loads(text)
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(strict(schema_of(name))).iter_errors(document)]
    assert errors == []
    assert document["tool"] == {"name": "myisam-advisor", "version": __version__}
    return document


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema_of(name))


def test_each_document_has_one() -> None:
    assert SCHEMAS == ["check", "doctor", "engine", "error", "facts", "migrate", "plan", "proofs", "record", "replay", "rights", "table", "trial", "upgrade", "verify"]


def test_of_a_recorded_machine(look: RecordedLook) -> None:
    for shown in (Shown(), Shown(verbose=True, suppressed=True)):
        assert assert_keeps("check", report_of("json", look.judgement, look.facts, shown))["findings"]
    assert assert_keeps("facts", json.dumps(as_document(look.facts)))["tables"]
    plan = assert_keeps("plan", plan_text("json", plan_of(look)))
    assert plan["offline"]
    assert plan["without_change"]


def test_of_statements_that_were_seen_and_of_those_that_could_not_be_told(look: RecordedLook) -> None:
    gathered = Gathered()
    for text in (b"SELECT a FROM items", b"CALL work()", b"COMMIT"):
        gathered.add(text, b"shop", Sums(2, 1.0, 0.5, 1, 1, 0))
    seen = gathered.seen("a test", 3.0, MyisamTables([("shop", "items")], "a directory cannot be read"), ["A note."])
    told = assert_keeps("check", report_of("json", look.judgement, look.facts, Shown(statements=seen)))["statements"]
    assert [kind["is_whole"] for kind in told["kinds"]] == [True]
    assert (told["unknown"]["count"], told["others"]["count"], told["tables_unknown"]) == (2, 2, "a directory cannot be read")
    told = assert_keeps("check", report_of("json", look.judgement, look.facts, Shown(statements=not_told("lost the server."))))["statements"]
    assert (told["source"], told["notes"]) == ("", ["The statements could not be read: lost the server."])


@pytest.mark.parametrize("path", [path for path in GOLDEN if path.name in ("check.json", "facts.json")], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_recorded_keeps_to_it(path: Path) -> None:
    errors = [error.message for error in Draft202012Validator(strict(schema_of(path.stem))).iter_errors(json.loads(path.read_text()))]
    assert errors == []


@pytest.mark.parametrize("paths", [True, False])
def test_what_the_daemon_answers(look: RecordedLook, paths: bool) -> None:
    kept = look_at(look.judgement, look.facts, 0.0)
    assert assert_keeps("check", _advice_of(kept, paths).decode())["time"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize("moments", [0, 3])
def test_of_one_table(look: RecordedLook, moments: int) -> None:
    name = next(iter(table_names(look.facts)))
    points = {"rows": [(60.0 * moment, None if moment == 1 else 5.0) for moment in range(moments)]}
    told = one_table(look.facts, look.judgement, name, points)
    assert told is not None
    document = assert_keeps("table", one_table_as_json(told))
    assert (document["table"]["schema_name"], document["table"]["table_name"]) == name
    assert document["curves"] == ({"rows": [[0.0, 5.0], [60.0, None], [120.0, 5.0]]} if moments else {})
    assert document["indexes"]


def test_of_each_table_of_a_machine(look: RecordedLook) -> None:
    named = {name: one_table(look.facts, look.judgement, name) for name in table_names(look.facts)}
    assert len(named) > 3
    for told in named.values():
        assert told is not None
        assert_keeps("table", one_table_as_json(told))


def test_of_an_upgrade_with_recorded_statements() -> None:
    document = assert_keeps("upgrade", upgrade_as_json(UPGRADED))
    assert document["recorded"]["only_newer"][0]["code"] == 1064
    assert assert_keeps("upgrade", upgrade_as_json(replace(UPGRADED, recorded=None)))["recorded"] is None


def test_what_was_proved() -> None:
    kept_now = kept([{"kinds": [kind("inserts of 10 rows", 1.4, "worth it")], "workload": {"statements_per_second": 3.5, "tables": {"log.hits": 1}}}, {"rule_id": "x", "days": 95}])
    document = assert_keeps("proofs", json.dumps(proofs_as_document(standings(kept_now, None, ""), kept_now, "no server")))
    assert [(one["used"], one["why_not"]) for one in document["proofs"]] == [(True, ""), (False, "it is 95 days old (90 at most)")]


def test_a_trial() -> None:
    runs = {"old": [Run(1.0, 10.0)] * 3, "new": [Run(1.0, 20.0, 0.5, figures={"x_bytes": 3})] * 3}
    result = TrialResult("mmap", "mariadb", "10.11", "made up", ["a=1"], [WorkloadResult("reads", "rows", runs)], "Faster.")
    document = assert_keeps("trial", as_json(result, Keeping().as_values()))
    assert document["conclusion"] == asdict(result)["conclusion"]


def test_a_change_verified() -> None:
    outcome = MeasureOutcome("status.Questions.per_second", "lower", 5.0, 3.0, (9, 9), 0.6, 0.5, 0.7, "improved")
    for load in (outcome, None):
        found = Compared(Window(1.0, 2.0, 3.0, 4.0), [outcome], load, {}, (), (-inf, inf))
        document = assert_keeps("verify", verify_as_json(9.0, [Change(2.5, "key_buffer_size", "1", None)], found, ["One.", "Two."]))
        assert (document["verdict"], document["caution"]) == ("improved", "One. Two.")


def test_a_document_that_misses_or_adds_something_does_not_keep_to_it(look: RecordedLook) -> None:
    document = json.loads(report_of("json", look.judgement, look.facts, Shown()))
    validator = Draft202012Validator(strict(schema_of("check")))
    for spoiled in ({**document, "more": 1}, {key: value for key, value in document.items() if key != "time"}, {**document, "interval_seconds": "ten"}):
        assert list(validator.iter_errors(spoiled))
    del document["findings"][0]["evidence"]
    assert list(validator.iter_errors(document))


def test_the_moment_is_told_in_utc() -> None:
    assert heading(0.0)["time"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "--format", "json", "--socket", "/nowhere/s"), "the socket /nowhere/s does not exist"),
        (("check", "--format=json", "--facts", "/nowhere"), "cannot read the facts file /nowhere"),
        (("facts", "--format", "json", "-S", "/nowhere/s"), "the socket /nowhere/s does not exist"),
        (("query", "SELECT 1", "--format", "json", "--bogus"), "No such option"),
        (("plan", "--format", "json", "-S", "/nowhere/s"), "the socket /nowhere/s does not exist"),
        (("verify", "--format", "json", "--history", "/nowhere/h"), "/nowhere/h"),
        (("trial", "key-cache", "--format", "json", "--seconds", "0"), "--seconds must be more than 0"),
    ],
)
def test_a_run_that_fails_says_so_in_json_too(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    document = assert_keeps("error", done.stdout)
    assert message in document["error"]
    assert "Usage:" not in document["error"]
    assert message in done.stderr


def test_nothing_of_it_where_nobody_asked_for_json() -> None:
    assert run("check", "--socket", "/nowhere/s").stdout == ""
    assert run("check", "--format", "json", "--format", "text", "--socket", "/nowhere/s").stdout == ""


def test_facts_of_a_snapshot_are_read_and_wrong_ones_named() -> None:
    begin = {"schema": 1, "time": "2026-11-22T10:00:00Z", "tool": {"name": "myisam-advisor", "version": "9"}}
    assert run("facts", "totals", "--facts", "-", stdin=json.dumps({**begin, "totals": {"myisam_tables": 4}})).returncode == 0
    done = run("facts", "--facts", "-", stdin=json.dumps({**begin, "time": 7}))
    assert done.returncode == 2
    assert "time is what snapshot writes, not 7: take it out" in done.stderr
