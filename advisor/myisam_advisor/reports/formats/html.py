"""The report for a browser: the daemon's page as one file, to be mailed or kept."""

from __future__ import annotations

import time

from myisam_advisor.judging.findings import Judgement
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_exporter.look.fact_set import FactSet

__all__ = ["exit_status", "render"]


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The document."""
    from myisam_advisor.reports.page.look import look_at
    from myisam_advisor.reports.page.render import render as page
    from myisam_advisor.reports.page.view import view_of

    return page(view_of(look_at(judgement, facts, time.time(), shown.past))) + "\n"
