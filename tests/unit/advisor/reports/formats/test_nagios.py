"""The report for Nagios: a status line with performance data, a line a finding, statuses 0 to 3."""

import re
from dataclasses import replace

import pytest

from myisam_advisor.judging.findings import Blind, Judgement
from myisam_advisor.reports.formats.base import Shown, report_named
from myisam_advisor.reports.formats.nagios import plain
from tests.support.recorded import RecordedLook, report_of

HIDDEN = Blind("tables", "The tables were not seen.", "no right to read them", "sudo")


def status(judgement: Judgement, look: RecordedLook, shown: Shown) -> int:
    return report_named("nagios").exit_status(judgement, look.facts, shown)


def test_the_first_line_says_the_worst_and_counts(look: RecordedLook) -> None:
    first, *details = report_of("nagios", look.judgement, look.facts, Shown()).splitlines()
    said, _, data = first.partition(" | ")
    assert said.startswith("MYISAM CRITICAL - A table is crashed.")
    counts = dict(re.findall(r"(\w+)=(\d+);;;0", data))
    warnings = sum(finding.severity == "warning" for finding in look.judgement.findings)
    assert counts == {"critical": "1", "warning": str(warnings), "info": "0", "not_evaluated": str(len(look.judgement.not_evaluated)), "suppressed": "0", "blind": "0"}
    assert details[0] == "CRITICAL table-crashed archive.broken: archive.broken is marked crashed: statements on it fail, or return wrong rows."
    assert len(details) == len(look.judgement.findings)


@pytest.mark.parametrize(("severities", "fail_on", "expected"), [
    (("critical", "warning"), "warning", 2), (("warning",), "warning", 1), (("warning",), "critical", 0), (("critical",), "never", 0), ((), "warning", 0),
])  # fmt: skip
def test_the_status_follows_the_worst_that_counts(look: RecordedLook, severities: tuple[str, ...], fail_on: str, expected: int) -> None:
    judgement = replace(look.judgement, findings=[one for one in look.judgement.findings if one.severity in severities])
    assert status(judgement, look, Shown(fail_on=fail_on)) == expected


@pytest.mark.parametrize(("unknown_as", "expected"), [("ok", 0), ("warning", 1), ("unknown", 3)])
def test_what_was_not_seen_is_what_the_site_says(look: RecordedLook, unknown_as: str, expected: int) -> None:
    blind = replace(look.judgement, findings=[], blind=[HIDDEN])
    shown = Shown(unknown_as=unknown_as)
    assert status(blind, look, shown) == expected
    assert "NOT SEEN The tables were not seen. no right to read them. -> sudo" in report_of("nagios", blind, look.facts, shown)


def test_no_name_begins_performance_data() -> None:
    assert plain("a|b\nc") == "a/b\\nc"


def test_the_first_line_fits_a_message_to_a_telephone_and_begins_with_the_worst(look: RecordedLook) -> None:
    crashed = next(finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    many = [replace(crashed, object=f"{'archive' * 20}.t{number}") for number in range(40)]
    others = [replace(crashed, rule=f"rule-{number}", severity="warning") for number in range(13)]
    for findings, ending in (([crashed], "archive.broken."), ([crashed, others[0]], "archive.broken; 1 more finding."), ([*many, *others], "; 13 more findings.")):
        message = report_of("nagios", replace(look.judgement, findings=findings), look.facts, Shown()).partition(" | ")[0]
        assert message.startswith("MYISAM CRITICAL - A table is crashed. ")
        assert message.endswith(ending)
        assert len(message) <= len("MYISAM CRITICAL - ") + 120


def test_hints_are_no_state_and_are_told_by_the_first(look: RecordedLook) -> None:
    hint = replace(look.judgement.findings[0], severity="info", title="A hint", object="")
    first = report_of("nagios", replace(look.judgement, findings=[hint, replace(hint, rule="other")]), look.facts, Shown())
    assert first.startswith("MYISAM OK - A hint. 1 more finding. | ")
