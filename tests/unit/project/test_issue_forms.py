"""The forms of issues are forms that GitHub takes, and ask for what helps by commands that there are."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from myisam_advisor.cli.group import cli
from tests.support.repository import ROOT

FOLDER = ROOT / ".github" / "ISSUE_TEMPLATE"
FORMS = sorted(path for path in FOLDER.glob("*.yml") if path.stem != "config")
# https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
ATTRIBUTES = {
    "markdown": {"value"},
    "input": {"label", "description", "placeholder", "value"},
    "textarea": {"label", "description", "placeholder", "value", "render"},
}


def form(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def test_there_are_forms_and_no_way_around_them() -> None:
    assert {path.stem for path in FORMS} == {"fault", "wish", "wrong-advice"}
    assert form(FOLDER / "config.yml") == {"blank_issues_enabled": False}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_has_what_github_asks_for(path: Path) -> None:
    document = form(path)
    assert set(document) == {"name", "description", "labels", "body"}
    ids = [part["id"] for part in document["body"] if part["type"] != "markdown"]
    labels = [part["attributes"]["label"] for part in document["body"] if part["type"] != "markdown"]
    assert len(set(ids)) == len(ids) > 0
    assert len(set(labels)) == len(labels)
    for part in document["body"]:
        assert set(part) <= {"type", "id", "attributes", "validations"}
        assert set(part["attributes"]) <= ATTRIBUTES[part["type"]]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_facts_without_names_and_for_what_can_be_seen(path: Path) -> None:
    assert "`myisam-advisor snapshot --anonymise" in path.read_text()
    assert "`myisam-advisor doctor`" in path.read_text()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_its_commands_are_there(path: Path) -> None:
    for command in re.findall(r"`myisam-advisor ([^`]+)`", path.read_text()):
        name, *words = command.split()
        told = CliRunner().invoke(cli, ["--help"] if name.startswith("-") else [name, "--help"])
        assert told.exit_code == 0, told.output
        assert [word for word in (name, *words) if word.startswith("--") and word not in told.output] == []
