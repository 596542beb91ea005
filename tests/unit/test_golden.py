"""Everything that the program says of the recorded machines, word for word. `pytest tests/unit/test_golden.py --update-golden` writes it anew."""

import asyncio
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.changes.formats.base import format_named
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.daemon.pages import Pages
from myisam_advisor.factbase.document import as_document
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.top.drawing import draw
from myisam_advisor.top.moment import Moment
from myisam_advisor.top.scene import Scene
from myisam_advisor.top.screen import as_text
from myisam_advisor.top.view import View
from myisam_exporter.version import __version__
from myisam_exporter.web.access import Access
from myisam_exporter.web.application import Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.server import Request
from tests.support.recorded import MACHINES, PLACE, RecordedLook, RecordedMachine, report_of, watched
from tools.record_machine import FOLDER

GOLDEN = FOLDER / "golden"
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( ?UTC|Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"(_timestamp_seconds(?:\{[^}]*\})?) \S+"), r"\1 TIME"),
    (re.compile(r'python_version="[^"]*"'), 'python_version="PYTHON"'),
    (re.compile(rf"(?<![\w.]){re.escape(__version__)}(?!\w|\.\w)"), "VERSION"),
    (re.compile(r"<(style|script)>.*?</\1>", re.DOTALL), r"<\1>...</\1>"),
    (re.compile(r"'sha256-[^']*'"), "'sha256-...'"),
)
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{6,}(?:e[+-]?\d+)?(?![\w.])")


def masked(text: str, place: Path) -> str:
    """The text without what differs from run to run: where the machine was unpacked, times, our version, the last digits of sums, and style."""
    text = text.replace(str(place), PLACE)
    for pattern, stands_for in _MASKS:
        text = pattern.sub(stands_for, text)
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.10g}", text)


def report(name: str, look: RecordedLook) -> str:
    """What `check --format NAME` writes into a file."""
    judgement = look.judgement
    with look.machine.playing():
        return report_of(name, judgement, look.facts, Shown())


def plan(look: RecordedLook) -> str:
    """What `plan` writes."""
    findings = look.judgement.findings
    with look.machine.playing():
        return str(format_named("sql").render(make_plan(findings, look.facts)))


def screen(look: RecordedLook, width: int, height: int) -> str:
    """What `top` shows after one interval."""
    moment = Moment(look.facts, look.judgement, verdict_of(look.judgement, look.facts.interval_seconds), 0.0)
    scene = Scene("/run/mysqld/mysqld.sock", View(), moment)
    scene.trails.add(look.facts, 1.0)
    drawn = as_text(draw(Console(file=StringIO(), width=width, height=height), scene, width, height))
    return re.sub(r"\d\d:\d\d:\d\d$", "HH:MM:SS", drawn, flags=re.MULTILINE)


OUTPUTS: dict[str, Callable[[RecordedLook], str]] = {
    "facts.json": lambda look: json.dumps(as_document(look.facts), indent=1, ensure_ascii=False) + "\n",
    "check.txt": lambda look: report("text", look),
    "check.json": lambda look: report("json", look),
    "check.nagios": lambda look: report("nagios", look),
    "check.prom": lambda look: report("prometheus", look),
    "check.html": lambda look: report("html", look),
    "plan.sql": plan,
    "top-80.txt": lambda look: screen(look, 80, 24),
    "top-120.txt": lambda look: screen(look, 120, 40),
}
PATHS = {"metrics.txt": "/metrics", "munin.json": "/munin.json", "page.html": "/"}


def compare(name: str, text: str, update: bool) -> None:
    """Hold a text against its golden file, or write that."""
    path = GOLDEN / name
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.exists(), f"{path} is missing: pytest {Path(__file__).name} --update-golden"
    assert text.splitlines() == path.read_text("utf-8").splitlines(), "if this is meant: pytest --update-golden, and read the diff"


@pytest.fixture(scope="module")
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.mark.parametrize("output", OUTPUTS)
def test_of_a_recorded_machine_the_program_says_what_it_said(look: RecordedLook, output: str, update: bool) -> None:
    compare(f"{look.machine.name}/{output}", masked(OUTPUTS[output](look), look.machine.root), update)


@pytest.fixture(scope="module", params=MACHINES)
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    """What a daemon beside the machine answers, by path."""
    machine = RecordedMachine(request.param, tmp_path_factory.mktemp("watched"))
    with watched(machine) as (fleet, board, _):
        pages = Pages(fleet, board, shipped_rules)
        exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, further_routes=pages.routes(), own_process_metrics=False)
        found = {}
        for path in PATHS.values():
            response = asyncio.run(exporter.handle(Request("GET", path, "", {"host": "localhost"})))
            assert response.status == 200, response.body
            found[path] = masked(response.body.decode(), machine.root)
    return request.param, found


@pytest.mark.parametrize("output", PATHS)
def test_of_a_recorded_machine_the_daemon_answers_what_it_answered(answers: tuple[str, dict[str, str]], output: str, update: bool) -> None:
    machine, found = answers
    text = found[PATHS[output]]
    if output.endswith(".json"):
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    compare(f"{machine}/{output}", text, update)


def test_no_golden_file_is_left_over() -> None:
    assert {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file() and path.parent.name in MACHINES} == {f"{machine}/{output}" for machine in MACHINES for output in (*OUTPUTS, *PATHS)}


def test_what_differs_from_run_to_run_is_masked() -> None:
    text = f"{__version__} {__version__}. {__version__}.1 1{__version__} /tmp/x/data 2026-11-22 06:44 UTC 0.30000000000000004 a_timestamp_seconds{{b=\"c\"}} 1.7e+09 <style>p</style>"
    assert masked(text, Path("/tmp/x")) == f"VERSION VERSION. {__version__}.1 1{__version__} {PLACE}/data TIME 0.3 a_timestamp_seconds{{b=\"c\"}} TIME <style>...</style>"
