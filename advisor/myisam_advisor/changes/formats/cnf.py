"""The lines of my.cnf, with the value that each replaces."""

from __future__ import annotations

from myisam_advisor.changes.formats.base import option_file_text
from myisam_advisor.changes.plan import ChangePlan

FILE_NAME = "my.cnf"


def render(plan: ChangePlan) -> str:
    """A fragment for the server's section."""
    return option_file_text(plan)
