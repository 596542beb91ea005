"""Rules of a site, written for a test."""

from pathlib import Path
from typing import Any

import yaml

from myisam_advisor.catalogue.rules import load_rule
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared

MINIMAL = {
    "id": "own-rule", "title": "A title", "severity": "info", "scope": "server", "query": "SELECT 1 AS one", "finding": "One is {{ one }}.", "recommendation": "Do nothing.", "why": "Because.",
    "when_wrong": "Never.", "expect": "Nothing.", "cost": "None.", "undo": "Nothing.", "verify": "Look.", "sources": ["here"],
}  # fmt: skip


def write(folder: Path, name: str = "own-rule", **changes: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in {**MINIMAL, **changes}.items() if value is not None}, sort_keys=False), "utf-8")
    return path


def outcome(folder: Path, facts: dict[str, Any] | None = None, **changes: Any) -> Any:
    return judge(prepared(facts_from_document({"schema": 1, **(facts or {})}), Site([load_rule(write(folder, **changes))])))
