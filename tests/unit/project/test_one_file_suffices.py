"""A new collector, metric, rule, planner, form or command is one file: each is put into a copy of the packages, and nothing else is changed there."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.program import PROGRAM
from tests.support.recorded import kernel_files
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow
# NAME is one of two words.
UNITS = {
    "exporter/myisam_exporter/collectors/NAME.py": '''
from myisam_exporter.collectors.base import Collector, SampleKey
from myisam_exporter.facts.columns import columns, single
from myisam_exporter.outside.bounded_reading import bounded_text

ONE_MORE = SampleKey("one_more", int)


class OneMore(Collector[int]):
    name = ONE_MORE.name
    source = "/proc/stat"
    sections = {"host": columns(("booted_seconds", "integer", "When the machine was started."), source=source)}

    def collect(self, context):
        lines = bounded_text(context.proc / "stat").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("btime"))

    def facts(self, pair):
        return [single("host", {"booted_seconds": pair.after})]


COLLECTOR = OneMore()
''',
    "exporter/myisam_exporter/metrics/NAME.py": '''
from myisam_exporter.collectors.one_more import ONE_MORE
from myisam_exporter.metrics.base import Group, Metric, Value


class OneMore(Group[int]):
    samples = (ONE_MORE,)
    metrics = (Metric("host_booted_seconds", "gauge", "When the machine was started."),)

    def values(self, pair, scene):
        yield Value("host_booted_seconds", pair.after)


GROUP = OneMore()
''',
    "rules/advice/ID.yaml": '''
id: one-more
title: The machine was started
severity: critical
confidence: confirmed
scope: server
needs: [host.booted_seconds]
query: SELECT booted_seconds FROM host
evidence: [{fact: host.booted_seconds, value: booted_seconds, unit: seconds, label: start of the machine}]
planner: one_more
finding: "It was started {{ how }}."
to_do: Look
recommendation: Look.
expect: Nothing.
cost: None.
undo: None.
verify: "SELECT 1;"
why: It was.
when_wrong: Never.
sources: [proc(5)]
''',
    "advisor/myisam_advisor/remedies/planners/NAME.py": '''
from myisam_advisor.remedies.planners.base import Plan
from myisam_advisor.remedies.statements.variables import set_global


def plan(row, context):
    return Plan({"how": "as planned"}, commands=(set_global("one_more", 5),))
''',
    "advisor/myisam_advisor/reports/formats/NAME.py": '''
from myisam_advisor.reports.formats.base import exit_status


def render(judgement, facts, shown):
    return "".join(f"{one.rule}: {one.message}\\n" for one in judgement.findings)
''',
    "advisor/myisam_advisor/changes/formats/NAME.py": '''
FILE_NAME = "one-more.txt"


def render(plan):
    return "".join(f"{one.rule}: {len(plan.online)} steps\\n" for one in plan.findings)
''',
    "advisor/myisam_advisor/trial/experiments/NAME.py": '''
from myisam_advisor.trial.experiments.base import Experiment

EXPERIMENT = Experiment("One experiment more", lambda bench: [], lambda bench, results: "", 1)
''',
    "advisor/myisam_advisor/cli/commands/NAME.py": '''
import click

from myisam_advisor.cli.described import FIND, Described


@click.command(cls=Described, task=FIND, examples=(("myisam-advisor one-more", "Says so."),))
def one_more() -> None:
    """One command more."""
    print("here it is")
''',
}  # fmt: skip
LOOK = '''
import asyncio, json, sys
from pathlib import Path

from myisam_advisor.factbase.document import as_document
from myisam_exporter.web.access import Access
from myisam_exporter.web.application import Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.server import Request
from tests.support.recorded import MACHINES, RecordedMachine, look_at, watched

folders = [Path(sys.argv[1]) / name for name in ("looked", "watched")]
for folder in folders:
    folder.mkdir()
facts = as_document(look_at(MACHINES[0], folders[0]).facts)
with watched(RecordedMachine(MACHINES[0], folders[1])) as (fleet, _, _):
    exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, own_process_metrics=False)
    answer = asyncio.run(exporter.handle(Request("GET", "/metrics", "", {"host": "localhost"})))
print(json.dumps({"facts": facts, "metrics": answer.body.decode()}))
'''
Call = Callable[..., str]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both packages as they are installed, and one file more for each kind of unit."""
    tree = tmp_path_factory.mktemp("tree")
    rulebook = tree / "myisam_advisor" / "rulebook"
    for package in ("exporter/myisam_exporter", "advisor/myisam_advisor"):
        shutil.copytree(ROOT / package, tree / Path(package).name)
    shutil.copytree(ROOT / "rules", rulebook)
    for path, text in UNITS.items():
        is_rule = path.startswith("rules/")
        place = rulebook / "advice" / "one-more.yaml" if is_rule else tree / path.partition("/")[2].replace("NAME", "one_more")
        place.write_text(text)
    return tree


@pytest.fixture(scope="module")
def call(tree: Path) -> Call:
    """The copy's program, or with `-c` a script beside the tests."""

    def call(*words: object, stdin: str = "") -> str:
        program = [sys.executable] if words[0] == "-c" else [str(PROGRAM)]
        environment = os.environ | {"PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "HOME": "/nonexistent", "COLUMNS": "200"}
        done = subprocess.run([*program, *map(str, words)], check=False, input=stdin, capture_output=True, text=True, env=environment, timeout=120)
        assert "internal error" not in done.stderr
        assert done.returncode < 2, done.stderr
        return done.stdout

    return call


@pytest.fixture(scope="module")
def looked(call: Call, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a look at a recorded machine gives there: the facts as `snapshot` writes them, and /metrics."""
    found = json.loads(call("-c", LOOK, tmp_path_factory.mktemp("machine")))
    return {"facts": json.dumps(found["facts"]), "metrics": found["metrics"]}


@pytest.fixture(scope="module")
def booted() -> int:
    lines = kernel_files("mariadb-10.11", "second")["proc/stat"].splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("btime"))


@pytest.mark.parametrize("path", UNITS)
def test_it_is_the_file_that_we_tell_people_to_write(path: str) -> None:
    assert f"| `{path}`" in (ROOT / "CONTRIBUTING.md").read_text() or f"or `{path}`" in (ROOT / "CONTRIBUTING.md").read_text()


def test_a_collector_gives_a_fact_to_snapshots_and_queries(call: Call, looked: dict[str, str], booted: int) -> None:
    assert json.loads(looked["facts"])["host"]["booted_seconds"] == booted
    assert call("query", "SELECT booted_seconds FROM host", "--facts", "-", "--format", "csv", stdin=looked["facts"]).split() == ["booted_seconds", str(booted)]
    assert "When the machine was started." in call("facts", "--describe")


def test_a_metric_is_on_the_page(looked: dict[str, str], booted: int) -> None:
    line = next(line for line in looked["metrics"].splitlines() if line.startswith("myisam_host_booted_seconds "))
    assert float(line.split()[1]) == booted


def test_a_rule_asks_for_the_fact_and_its_planner_plans(call: Call, looked: dict[str, str]) -> None:
    found = next(one for one in json.loads(call("check", "--facts", "-", "--format", "json", stdin=looked["facts"]))["findings"] if one["rule"] == "one-more")
    assert (found["message"], found["commands"]) == ("It was started as planned.", ["SET GLOBAL one_more = 5;"])


def test_forms_of_the_report_and_of_the_plan(call: Call, looked: dict[str, str]) -> None:
    assert "one-more: It was started as planned.\n" in call("check", "--facts", "-", "--format", "one-more", stdin=looked["facts"])
    assert "one-more: " in call("plan", "--facts", "-", "--format", "one-more", stdin=looked["facts"])


def test_commands_and_experiments_are_called_by_their_names(call: Call) -> None:
    assert call("one-more") == "here it is\n"
    assert "one-more" in call("--help")
    assert "One experiment more: measured" in call("trial", "one-more", "--help")
