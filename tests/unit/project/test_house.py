"""The house is as its documents say: rooms, decisions, and what collectors may know of each other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.collectors.base import all_collectors
from tests.support.repository import ROOT
from tools.links import documents

PACKAGES = {"exporter": ROOT / "exporter" / "myisam_exporter", "advisor": ROOT / "advisor" / "myisam_advisor"}
LOOSE = {"exporter": {"__init__.py", "errors.py", "version.py", "py.typed"}, "advisor": {"__init__.py", "errors.py", "py.typed"}}
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


def rooms(package: str) -> set[str]:
    return {path.name for path in PACKAGES[package].iterdir() if (path / "__init__.py").exists()}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_each_room_is_named_where_the_house_is_described(package: str) -> None:
    architecture, tree = (ROOT / "docs" / "architecture.md").read_text(), (ROOT / package / "README.md").read_text()
    assert [room for room in rooms(package) if f"| `{room}/` |" not in architecture] == []
    assert [room for room in rooms(package) if f"\n{room}/ " not in tree] == []
    assert set(re.findall(r"^(\w+)/ ", tree, re.MULTILINE)) == rooms(package), "the tree names rooms that are not there"


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_nothing_lies_loose(package: str) -> None:
    assert {path.name for path in PACKAGES[package].iterdir() if path.is_file()} == LOOSE[package]


def test_each_decision_is_cited_where_somebody_reads() -> None:
    cited = "\n".join(path.read_text() for path in documents(ROOT) if path.parent.name != "decisions")
    assert [path.name for path in DECISIONS if path.name not in cited] == []


def test_each_decision_has_one_line_in_the_index() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert sorted(re.findall(r"^\| \[\d{3}\]\((\S+)\) \| .+ \| .*\|$", index, re.MULTILINE)) == [path.name for path in DECISIONS]


def collectors_imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("myisam_exporter.collectors."):
            yield (node.module or "").removeprefix("myisam_exporter.collectors.")


@pytest.mark.parametrize("collector", all_collectors(), ids=lambda collector: collector.name)
def test_a_collector_knows_those_whose_samples_it_reads(collector: object) -> None:
    module = type(collector).__module__.rpartition(".")[2]
    known = set(collectors_imported(PACKAGES["exporter"] / "collectors" / f"{module}.py")) - {"base"}
    assert known <= set(getattr(collector, "after")), f"{module} imports what it does not name in `after`"  # noqa: B009
