"""The first screen of `check`, word for word, at two widths. `pytest --update-golden` writes it anew, to be looked at."""

import io
import re
from dataclasses import replace
from functools import lru_cache

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import read_facts_file
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.text import render
from myisam_advisor.reports.told import told
from myisam_advisor.texts.drawing import TONES
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.rights import READ_FILES
from myisam_exporter.look.fact_set import FactSet
from tools.record_machine import FOLDER

SCREENS, GOLDEN = FOLDER / "screens", FOLDER / "golden" / "screens"
NAMES = sorted(path.stem for path in SCREENS.glob("*.yaml"))
WIDTHS = (80, 120)
# A window of the usual height; what is longer has thirteen findings.
LINES = {"thirteen": 40}
USUAL_LINES = 24
NO_RIGHT = Unknown("this account may not enter the data directory", READ_FILES)
COLOURS = {"bold red": "\x1b[1;31m", "bold yellow": "\x1b[1;33m", "bold cyan": "\x1b[1;36m", "bold green": "\x1b[1;32m"}


class Terminal(io.StringIO):
    """A stream that is one."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@lru_cache
def looked_at(name: str) -> tuple[Judgement, FactSet]:
    """The rules' judgement of a screen's facts. Of what a blind account lacks, the reason is the one that a real one is given."""
    facts = read_facts_file(str(SCREENS / f"{name}.yaml"))
    if name == "blind":
        facts = replace(facts, unknown={fact: NO_RIGHT if fact.partition(".")[0] in ("tables", "indexes", "totals") else why for fact, why in facts.unknown.items()})
    ready = prepared(facts, Site(shipped_rules()))
    return judge(ready), ready.judged


def screen(name: str, monkeypatch: pytest.MonkeyPatch, width: int, shown: Shown | None = None) -> str:
    """What is shown at this width."""
    monkeypatch.setenv("COLUMNS", str(width))
    return render(*looked_at(name), shown or Shown())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_a_screen_says_what_it_said(name: str, width: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    path, text = GOLDEN / f"{name}-{width}.txt", screen(name, monkeypatch, width)
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), "if this is meant: pytest --update-golden, and read the diff"


def test_no_screen_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}-{width}.txt" for name in NAMES for width in WIDTHS}
    assert {"healthy", "blind", "crashed", "four", "thirteen", "idle"} <= set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "crashed"])
def test_it_is_one_screen_and_no_word_is_broken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = screen(name, monkeypatch, 80).splitlines()
    assert len(lines) <= LINES.get(name, USUAL_LINES)
    assert max(map(len, lines)) <= 80
    wide = set(re.findall(r"\S+", screen(name, monkeypatch, 120)))
    assert set(re.findall(r"\S+", "\n".join(lines[1:]))) <= wide


@pytest.mark.parametrize("name", NAMES)
def test_the_server_has_the_first_line_and_the_verdict_the_second(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = told(*looked_at(name)).verdict
    for width in WIDTHS:
        assert screen(name, monkeypatch, width).splitlines()[1].startswith(verdict.headline[:60])


def test_each_rule_has_a_number_what_to_do_and_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement, facts = looked_at("thirteen")
    text = " ".join(screen("thirteen", monkeypatch, 80).split())
    rules = told(judgement, facts).rules
    assert len(rules) == 13
    for rule in rules:
        about = f": {rule.subject}" if rule.subject else ""
        unsure = " (suspected)" if rule.first.confidence == "suspected" else ""
        assert f"{rule.number} {rule.first.severity.upper()} {rule.first.title}{about}{unsure} -> {rule.to_do} ({rule.price})" in text


def test_what_costs_nothing_has_no_price_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement, facts = looked_at("four")
    free = replace(judgement, findings=tuple(replace(finding, to_do="nothing", cost="None.") for finding in judgement.findings))
    monkeypatch.setenv("COLUMNS", "80")
    assert re.search(r"-> nothing$", render(free, facts, Shown()), re.MULTILINE)


def test_what_is_only_suspected_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Hot tables share one key-cache lock (suspected)" in screen("four", monkeypatch, 80)


def test_the_worst_is_first_and_the_cause_before_what_it_causes() -> None:
    rules = [(rule.first.severity, rule.first.rule) for rule in told(*looked_at("thirteen")).rules]
    assert [rule for _, rule in rules[:4]] == ["table-crashed", "open-files-limit", "swap-pressure", "table-lock-contention"]
    assert [severity for severity, _ in rules] == sorted((severity for severity, _ in rules), key=["critical", "warning", "info"].index)


def test_what_is_missing_is_said_once_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(screen("blind", monkeypatch, 80).split())
    assert text.lower().count(NO_RIGHT.reason) == 1
    assert text.count("sudo myisam-advisor check") == 1
    assert text.count("not in the facts file") == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_has_the_colour_of_the_worst(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    verdict = told(*looked_at(name)).verdict
    coloured = screen(name, monkeypatch, 120, Shown(reader=Terminal()))
    assert f"{COLOURS[TONES[verdict.tone]]}{verdict.headline}" in coloured
    expected = {"healthy": "good", "idle": "unknown", "blind": "unknown", "crashed": "critical", "thirteen": "critical", "four": "warning"}
    assert verdict.tone == expected[name]


def chosen(*names: str) -> Shown:
    return Shown(chosen=names)


def test_a_number_and_a_rule_name_the_same_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    by_number, by_rule = (screen("thirteen", monkeypatch, 100, chosen(name)) for name in ("3", "swap-pressure"))
    assert by_number == by_rule
    judgement, _ = looked_at("thirteen")
    (finding,) = (one for one in judgement.findings if one.rule == "swap-pressure")
    text = " ".join(by_number.split())
    for said in (finding.message, finding.recommendation, finding.expect, finding.cost, finding.undo, finding.verify):
        assert " ".join(said.split()) in text
    assert "table-crashed" not in text


def test_of_a_rule_that_found_nothing_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet, lacking = looked_at("four")[0].quiet[0], looked_at("four")[0].not_evaluated[0]
    assert f"{quiet}: the rule found nothing." in screen("four", monkeypatch, 100, chosen(quiet))
    assert f"{lacking.rule}: it needs {lacking.needs}." in " ".join(screen("four", monkeypatch, 100, chosen(lacking.rule)).split())


def test_all_are_told_in_full_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    judgement, _ = looked_at("thirteen")
    full = screen("thirteen", monkeypatch, 100, Shown(full=True))
    assert full.count("\n verify ") == len({finding.rule for finding in judgement.findings})
    assert "check --full" not in full


def test_what_is_to_be_copied_is_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = screen("crashed", monkeypatch, 60).splitlines()
    run = next(place for place, line in enumerate(lines) if line.startswith(" run"))
    shown = [(line[:12].strip(), line[12:].partition(" ")[0]) for line in lines[run : run + 6]]
    assert shown == [("run", "FLUSH"), ("", ""), ("in a shell", "df"), ("", ""), ("then run", "CHECK"), ("", "REPAIR")]
    assert '"$(mktemp -d /var/tmp/forum.posts.XXXXXX)" && echo "$copied" && cp -p /var/lib/mysql/forum/posts.* "$copied"' in lines[run + 2]
    assert max(len(line) for line in lines if "mktemp" not in line) <= 60
