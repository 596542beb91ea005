"""The facts of a busy server in which nothing is wrong, of which most rules can judge."""

from typing import Any

import yaml

from tests.support.repository import ROOT

NAME = "stays_silent_on_a_busy_healthy_server"


def healthy_facts() -> dict[str, Any]:
    """As tests/rules/healthy.yaml has them, without the schema's number."""
    cases = yaml.safe_load((ROOT / "tests" / "rules" / "healthy.yaml").read_text("utf-8"))
    facts: dict[str, Any] = next(case["facts"] for case in cases if case["name"] == NAME)
    return facts
