"""One open_files_limit for all findings: an option file has one, and each of them needs no more than the largest.

Which of them is the largest is known only when all are planned. Where they differ they are planned once more, with the largest given: so
what a finding says and the line that it sets agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.file_limits import file_limit_of
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import FILE_LIMIT


def largest_of_several(findings: Iterable[Finding]) -> int | None:
    """The largest limit that lines of my.cnf ask for; None where they do not differ."""
    limits = {limit for finding in findings if (limit := file_limit_of(finding.my_cnf)) is not None}
    return max(limits) if len(limits) > 1 else None


def with_file_limit(findings: Iterable[Finding], limit: int) -> list[Finding]:
    """The findings with this limit in every line that sets it: a site's own rule may name a number of its own."""
    return [_with_limit(finding, limit) for finding in findings]


def _with_limit(finding: Finding, limit: int) -> Finding:
    if file_limit_of(finding.my_cnf) in (None, limit):
        return finding
    lines = tuple(option_line(FILE_LIMIT, limit) if line.option == FILE_LIMIT else line for line in finding.my_cnf)
    return replace(finding, remedy=replace(finding.remedy, my_cnf=lines))
