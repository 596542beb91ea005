"""The dashboards say what they show, and lead to the daemon's pages. Whether their PromQL returns data is asked of a real Prometheus (tests/e2e)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import SEVERITIES, shipped_rules
from myisam_exporter.metrics.base import BACKGROUND, all_groups

ROOT = next(folder for folder in Path(__file__).parents if (folder / "setup.cfg").exists())
DASHBOARDS = sorted((ROOT / "dashboards").glob("*.json"))
RULE_PAGE = "${__data.fields.external_url}/rules/${__data.fields.rule}${__data.fields.query}"


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def overview() -> dict[str, dict[str, Any]]:
    return {panel["title"]: panel for panel in read(ROOT / "dashboards" / "myisam-overview.json")["panels"]}


def properties(panel: dict[str, Any], column: str) -> dict[str, Any]:
    return {one["id"]: one["value"] for rule in panel["fieldConfig"]["overrides"] if rule["matcher"]["options"] == column for one in rule["properties"]}


def places(document: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for panel in document["panels"]:
        place = panel["gridPos"]
        yield from ((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"]))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_says_what_it_shows_and_has_its_own_place(path: Path) -> None:
    document = read(path)
    for panel in document["panels"]:
        if panel["type"] != "row":
            assert panel["description"].endswith((".", '"')), panel["title"]
            assert len(panel["description"]) > 25, panel["title"]
    taken = list(places(document))
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
    numbers = [panel["id"] for panel in document["panels"]]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_what_comes_and_goes_is_marked_on_the_curves(path: Path) -> None:
    marks = {one["name"]: one for one in read(path)["annotations"]["list"] if "expr" in one}
    assert marks.keys() == {"Findings", "Restarts", "Server does not answer"}
    assert all(one["enable"] and 'instance=~"$instance"' in one["expr"] for one in marks.values())


def test_findings_are_coloured_and_lead_to_their_pages() -> None:
    panels = overview()
    for title in ("Findings", "Not evaluated"):
        assert properties(panels[title], "rule")["links"][0]["url"] == RULE_PAGE
        assert "myisam_exporter_web_info" in panels[title]["targets"][0]["expr"]
    for title in ("Findings", "Alerts"):
        found = properties(panels[title], "severity")
        colours = found["mappings"][0]["options"]
        assert colours.keys() == set(SEVERITIES)
        assert len({colour["color"] for colour in colours.values()}) == len(SEVERITIES)
        assert found["custom.cellOptions"]["type"] == "color-background"
    assert properties(panels["Servers"], "instance")["links"][0]["url"] == "${__data.fields.external_url}/${__data.fields.query}"


def test_the_rules_that_rules_of_thumb_name_are_there() -> None:
    known = {rule.id for rule in shipped_rules()}
    row = [panel for panel in overview().values() if panel.get("options", {}).get("textMode") == "value_and_name"]
    assert len(row) == 5
    for panel in row:
        named = {word.strip(".,") for word in panel["description"].rpartition("Rule")[2].split()[1:]}
        assert named
        assert named <= known
        assert len(panel["fieldConfig"]["defaults"]["thresholds"]["steps"]) == 3


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_rates_of_what_changes_once_a_minute_are_over_minutes(path: Path) -> None:
    """Grafana's window is four scrapes, a minute by default: a counter that grows once in that time shows nothing in one window and twice as much in the next."""
    slow = {metric.full_name for group in all_groups() for metric in group.metrics if metric.kind == "counter" and metric.help.endswith(BACKGROUND)}
    seen = 0
    for panel in read(path)["panels"]:
        for target in panel.get("targets", ()):
            if "$__rate_interval" in target["expr"] and slow & set(re.findall(r"\w+", target["expr"])):
                assert target["interval"] == "1m", panel["title"]
                seen += 1
    assert seen > 0


def test_tables_of_several_servers_are_told_apart() -> None:
    """A hundred servers with the same application have tables of the same names."""
    for panel in read(ROOT / "dashboards" / "myisam-tables.json")["panels"]:
        for target in panel.get("targets", ()):
            assert "{{instance}}" in target["legendFormat"], panel["title"]
            sums = re.findall(r"sum by \((.*?)\)", target["expr"])
            assert all("instance" in labels.split(", ") for labels in sums), panel["title"]
