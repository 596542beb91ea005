"""The plan of a recorded machine's findings."""

from collections.abc import Sequence

from myisam_advisor.changes.formats.base import format_named
from myisam_advisor.changes.plan import ChangePlan, make_plan
from myisam_advisor.judging.findings import Finding
from tests.support.recorded import RecordedLook


def plan_of(look: RecordedLook, findings: Sequence[Finding] | None = None) -> ChangePlan:
    """Of all findings, or of these."""
    chosen = look.judgement.findings if findings is None else findings
    with look.machine.playing():
        return make_plan(chosen, look.facts)


def plan_text(form: str, plan: ChangePlan) -> str:
    """The plan in a form."""
    return str(format_named(form).render(plan))
