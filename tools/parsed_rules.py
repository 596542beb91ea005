"""The shipped rules, parsed: what advisor/myisam_advisor/catalogue/parsed_rules.py reads instead of YAML."""

from __future__ import annotations

import json
from pathlib import Path

from myisam_advisor.catalogue.parsed_rules import PARSED, digest_of
from myisam_advisor.texts.yaml_files import read_yaml

RULES = Path(__file__).parents[1] / "rules"
FILE = RULES / PARSED


def parsed_rules() -> str:
    """The file `rules/parsed.json`: a line for each part, so that a change of one rule changes its own lines. Raises ValueError."""
    found = {}
    for path in sorted((RULES / "advice").glob("[!_]*.yaml")):
        file = read_yaml(path, "rule")
        if json.loads(json.dumps(file.document)) != file.document:
            raise ValueError(f"{path} holds what JSON does not tell as YAML does: write it otherwise")
        found[path.name] = {"sha256": digest_of(file.text), "document": file.document}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
