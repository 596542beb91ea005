"""What the guide names is there: commands with their options, metrics, the servers that the tests run on."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from myisam_advisor.catalogue.rules import load_rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.group import cli
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.text import render
from tests.support.judging import judged_facts
from tests.support.repository import ROOT
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`", re.DOTALL)
# Words of a command: up to a remark, a pipe, a redirection, or what stands for more.
CALL = re.compile(r"^(?:[$#] )?(?:sudo )?myisam-advisor((?: +[^\s#|>&;()]+)*)", re.MULTILINE)
# A number with its unit, which is another one where the number is.
FIGURES = re.compile(r"\d[\d.]*(?: (?:[KMG]iB|[smhd])\b)?")
# Those whose first lines say which words they take.
SCRIPTS = [path.name for path in sorted((ROOT / "script").iterdir()) if re.search(rf"^#   script/{path.name}\b", path.read_text(), re.MULTILINE)]
METRIC = re.compile(r"`(myisam_[a-z_]+?)(?:\{[^`]*)?`")


def calls(text: str) -> Iterator[list[str]]:
    """The words of each call of the program in a page's code."""
    for fence, inline in CODE.findall(text):
        for words in CALL.findall(fence or inline):
            yield words.split()


def complaint(words: list[str]) -> str:
    """What is wrong with a call."""
    context = click.Context(cli, **cli.context_settings)
    options = {option for parameter in cli.get_params(context) for option in parameter.opts}
    command: click.Command | None = cli
    if words and not words[0].startswith("-"):
        command = cli.get_command(context, words[0])
        if command is None:
            return f"no command {words[0]}"
        options |= {option for parameter in command.get_params(click.Context(command, **command.context_settings)) for option in (*parameter.opts, *parameter.secondary_opts)}
        subcommands = command.commands if isinstance(command, click.Group) else {}
        options |= {option for one in subcommands.values() for parameter in one.params for option in (*parameter.opts, *parameter.secondary_opts)}
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0].rstrip(",.`'") not in options]
    return f"no option {unknown[0]} of {words[0]}" if unknown else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_their_options_are_there(page: Path) -> None:
    assert [f"{' '.join(words)}: {wrong}" for words in calls(page.read_text()) if (wrong := complaint(words))] == []


def test_calls_are_found() -> None:
    assert sum(len(list(calls(page.read_text()))) for page in PAGES) > 100
    assert list(calls("```\nsudo myisam-advisor check 2   # in full\n```\n`myisam-advisor snapshot --anonymise > facts.json`")) == [["check", "2"], ["snapshot", "--anonymise"]]
    assert complaint(["cheque"]) == "no command cheque"
    assert complaint(["check", "--wrong"]) == "no option --wrong of check"


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_that_takes_words_says_which_and_does_nothing_else(name: str) -> None:
    done = subprocess.run([ROOT / "script" / name, "--help"], capture_output=True, text=True, check=False, timeout=10, env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, "")
    assert f"  script/{name}" in done.stdout


def test_metrics_are_there() -> None:
    known = set(re.findall(r"^\| `(myisam_\w+)`", (ROOT / "docs" / "reference" / "metrics.md").read_text(), re.MULTILINE))
    # Munin's graphs have names of the same kind; the plugin is called like the project.
    graphs = set(re.findall(r"`(_?\w+)`", (ROOT / "docs" / "guide" / "munin.md").read_text()))
    settings = {"myisam_use_mmap", "myisam_mmap_size", "myisam_recover_options", "myisam_advisor"}
    named = {(page.name, name) for page in PAGES if page.name != "munin.md" for name in METRIC.findall(page.read_text())}
    assert len(named) > 60
    assert sorted(f"{page}: {name}" for page, name in named if name not in known | graphs | settings) == []


def test_the_example_of_a_first_look_counts_every_rule() -> None:
    """One finding, and what is quiet or does not apply: it was that of fewer rules for a while."""
    text = (ROOT / "docs" / "guide" / "first-look.md").read_text()
    ((quiet, elsewhere),) = re.findall(r"^ quiet +(\d+) rules found nothing; (\d+) do not apply here", text, re.MULTILINE)
    assert text.count("\n WARNING ") == 1
    assert 1 + int(quiet) + int(elsewhere) == len(shipped_rules()), "see what a healthy server's check says"


def test_the_example_of_a_first_look_is_what_check_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, but for figures; dots stand for the rest of a line, or for lines."""
    text = (ROOT / "docs" / "guide" / "first-look.md").read_text()
    (example,) = re.findall(r"```\n(MariaDB .*?)```", text, re.DOTALL)
    document = yaml.safe_load((ROOT / "tests" / "recorded" / "screens" / "healthy.yaml").read_text())
    document["variable"] |= {"myisam_recover_options": "OFF", "delay_key_write": "ON"}
    facts = facts_from_document(document)
    monkeypatch.setenv("COLUMNS", "100")
    lines = [FIGURES.sub("0", line) for line in render(judged_facts(facts), facts, Shown()).splitlines()]
    wrong = []
    for line in (FIGURES.sub("0", line) for line in example.splitlines() if line.strip() not in ("", "...")):
        beginning = line.removesuffix("...").rstrip()
        if not any(one.startswith(beginning) if line.endswith("...") else one == line for one in lines):
            wrong.append(line)
    assert wrong == []


def test_the_example_of_a_rule_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(id: .*?)```", (ROOT / "docs" / "guide" / "rules.md").read_text(), re.DOTALL)
    path = tmp_path / f"{yaml.safe_load(example)['id']}.yaml"
    path.write_text(example)
    site = Site([load_rule(path)])
    tables = [{"schema_name": "shop", "table_name": name, "data_bytes": octets} for name, octets in (("old words", 200 << 20), ("words", 50 << 20))]
    judgement = judge(prepared(facts_from_document({"schema": 1, "tables": tables}), site))
    assert [finding.message for finding in judgement.findings] == ["shop.`old words` has 200 MiB of words."]
    assert not judgement.not_evaluated


@pytest.mark.parametrize(("said", "servers"), [("tested: each collector", FETCHED_SERVERS), ("tested in each run: facts", FURTHER_SERVERS)])
def test_the_servers_of_the_tests_are_those_that_are_called_tested(said: str, servers: tuple[str, ...]) -> None:
    rows = re.findall(rf"^\| (.*) \| {said}", (ROOT / "docs" / "guide" / "support.md").read_text(), re.MULTILINE)
    spelled = {"mariadb": "MariaDB", "mysql": "MySQL"}
    assert len(rows) == 1
    assert set(rows[0].split(", ")) == {f"{spelled[name.partition('-')[0]]} {name.partition('-')[2]}" for name in servers}


def test_each_error_of_a_conversion_stands_in_the_index_of_errors() -> None:
    """People look for the number that their server gave: in the first column of a list, or behind the word error."""
    page = (ROOT / "docs" / "guide" / "migrate-errors.md").read_text()
    lists = page[page.index("### Columns and defaults") : page.index("## What behaves differently")]
    index = set(re.findall(r"\d+", " ".join(re.findall(r"^\| ([\d, ]+) \| \[", page[: page.index(lists)], re.MULTILINE))))
    named = {code for cell in re.findall(r"^\| ([^`|]*\d{4}[^|]*) \|", lists, re.MULTILINE) for code in re.findall(r"\b\d{4}\b", cell)}
    named |= set(re.findall(r"\berror (\d{3,4})", lists))
    assert {"1296", "1416", "4120"} <= named
    assert sorted(named - index) == []
