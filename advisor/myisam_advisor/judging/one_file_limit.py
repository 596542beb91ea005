"""One open_files_limit for all findings: an option file has one, and each of them needs no more than the largest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.file_limits import file_limit_of
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import FILE_LIMIT


def with_one_file_limit(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, where a line of my.cnf sets the limit with the largest that one of them asks for."""
    found = list(findings)
    limits = {limit for finding in found if (limit := file_limit_of(finding.my_cnf)) is not None}
    return found if len(limits) < 2 else [_with_limit(finding, max(limits)) for finding in found]


def _with_limit(finding: Finding, limit: int) -> Finding:
    if file_limit_of(finding.my_cnf) in (None, limit):
        return finding
    lines = tuple(option_line(FILE_LIMIT, limit) if line.option == FILE_LIMIT else line for line in finding.my_cnf)
    return replace(finding, remedy=replace(finding.remedy, my_cnf=lines))
