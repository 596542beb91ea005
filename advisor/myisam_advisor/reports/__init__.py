"""Reports: `render(judgement, facts)` each. A module here is a format of `check`; nothing registers it."""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from myisam_advisor.findings import Judgement
from myisam_exporter.fact_set import FactSet


class Report(Protocol):
    """What a report module offers."""

    def render(self, judgement: Judgement, facts: FactSet, *, verbose: bool, fail_on: str) -> None:
        """Print the report to standard output."""

    def exit_status(self, judgement: Judgement, fail_on: str) -> int:
        """The program's exit status."""


def report_named(name: str) -> Report:
    """The report module of that name."""
    return cast(Report, importlib.import_module(f"{__name__}.{name}"))
