"""The agreement table: how often the rules say what the experts said, by whose diagnosis it was."""

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

CASE = "test_cases.py::test_case[published:"


def pytest_terminal_summary(terminalreporter: "TerminalReporter") -> None:
    from tests.rules.test_cases import BASES, CASES

    outcomes = {
        report.nodeid.partition(CASE)[2].removesuffix("]"): outcome
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        if CASE in report.nodeid
    }
    if not outcomes:
        return
    bases = {case["name"]: case["basis"] for stem, case in CASES if stem == "published"}
    agreed = Counter(bases[name] for name, outcome in outcomes.items() if outcome == "passed")
    asked = Counter(bases[name] for name in outcomes)
    terminalreporter.section("agreement with published diagnoses")
    for basis in BASES:
        terminalreporter.line(f"{basis:12} {agreed[basis]:3} of {asked[basis]:3}")
    terminalreporter.line(f"{'all':12} {agreed.total():3} of {asked.total():3}")
    for name, outcome in sorted(outcomes.items()):
        if outcome == "failed":
            terminalreporter.line(f"  not: {name} ({bases[name]})")
