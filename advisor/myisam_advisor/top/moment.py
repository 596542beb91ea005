"""One look as the screen shows it."""

from __future__ import annotations

from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import Verdict
from myisam_advisor.workload.kinds.seen import SeenStatements
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactSet


@dataclass(frozen=True, slots=True)
class Moment:
    """What was seen since the look before, and what is said of a longer while.

    Rates are those of a few seconds, which is what a person wants to watch; a verdict over so little would come and go.
    `taken_at` is in seconds since 1970. `statements` were seen since the look before, none where their watch began with this one; None where they are not watched.
    """

    facts: FactSet
    judgement: Judgement
    verdict: Verdict
    taken_at: float
    statements: SeenStatements | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A look that failed: why, and when."""

    why: str
    taken_at: float
