"""Exit statuses, named in one place. Nagios has its own: plugin API, "Return codes"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from myisam_advisor.judging.findings import Judgement

OK = 0
FINDINGS = 1
USER_ERROR = 2
INTERRUPTED = 130
# What shells make of a program that SIGPIPE ended: its reader left (docs/decisions/063-a-reader-that-leaves.md).
READER_LEFT = 141

NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN = 0, 1, 2, 3
NAGIOS_STATUSES = range(4)

NEVER = "never"


def by_severity(judgement: Judgement, fail_on: str) -> int:
    """1 when a finding is as bad as `fail_on`, else 0."""
    from myisam_advisor.catalogue.rules import SEVERITIES

    if fail_on == NEVER or judgement.worst is None:
        return OK
    return FINDINGS if SEVERITIES.index(judgement.worst) <= SEVERITIES.index(fail_on) else OK
