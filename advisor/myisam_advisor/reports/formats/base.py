"""Reports: `render(judgement, facts)` each. A module here is a format of `check`; nothing registers it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TextIO, cast

from myisam_advisor.reports.exit_status import by_severity
from myisam_advisor.texts.units import unit_named
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.judging.findings import Judgement
    from myisam_advisor.judging.past import Past
    from myisam_advisor.workload.kinds.seen import SeenStatements
    from myisam_exporter.look.fact_set import FactSet


@dataclass(frozen=True, slots=True)
class Shown:
    """What the user wants to see, from which severity on it is a failure, and as what Nagios counts it when nothing can be said of the server.

    `full` tells each finding in full, `chosen` only those of these numbers or rules.
    `reader` is the stream that the report is for, None for a file: on a terminal it is in colours, and as wide as that is.
    `moment` is when the facts were taken (seconds since 1970), None for now.
    `past` is what was found before, None where nothing is remembered.
    `statements` are the kinds that were seen meanwhile, None where nobody asked for them.
    """

    verbose: bool = False
    suppressed: bool = False
    fail_on: str = "warning"
    unknown_as: str = "unknown"
    reader: TextIO | None = None
    full: bool = False
    chosen: tuple[str, ...] = ()
    moment: float | None = None
    past: Past | None = None
    statements: SeenStatements | None = None


class Report(Protocol):
    """What a report module offers."""

    def render(self, judgement: Judgement, facts: FactSet, shown: Shown) -> str:
        """The report, with its last line break."""

    def exit_status(self, judgement: Judgement, facts: FactSet, shown: Shown) -> int:
        """The program's exit status."""


def exit_status(judgement: Judgement, facts: FactSet, shown: Shown) -> int:
    """1 when a finding is as bad as `fail_on`, else 0: what most reports mean by success."""
    return by_severity(judgement, shown.fail_on)


def tells_statements(name: str) -> bool:
    """Whether a report has a place for kinds of statements: its module says so (`TELLS_STATEMENTS`)."""
    return hasattr(report_named(name), "TELLS_STATEMENTS")


def report_named(name: str) -> Report:
    """The report module of that name."""
    return cast(Report, unit_named("myisam_advisor.reports.formats", name))
