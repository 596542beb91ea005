"""Reports: `render(judgement, facts)` each. A module here is a format of `check`; nothing registers it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol, cast

from myisam_advisor.findings import Judgement
from myisam_exporter.fact_set import FactSet


@dataclass(frozen=True, slots=True)
class Shown:
    """What the user wants to see, and from which severity on it is a failure."""

    verbose: bool = False
    suppressed: bool = False
    fail_on: str = "warning"


class Report(Protocol):
    """What a report module offers."""

    def render(self, judgement: Judgement, facts: FactSet, shown: Shown) -> None:
        """Print the report to standard output."""

    def exit_status(self, judgement: Judgement, fail_on: str) -> int:
        """The program's exit status."""


def report_named(name: str) -> Report:
    """The report module of that name."""
    return cast(Report, importlib.import_module(f"{__name__}.{name}"))
