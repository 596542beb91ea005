"""The report for a person, of the recorded machines: worst first, and everything that a finding has to say."""

from dataclasses import replace

from myisam_advisor.judging.findings import Judgement
from myisam_advisor.reports.formats.base import Shown
from tests.support.recorded import RecordedLook, report_of


def report(look: RecordedLook, judgement: Judgement | None = None, shown: Shown | None = None) -> str:
    return report_of("text", judgement or look.judgement, look.facts, shown or Shown())


def test_the_server_comes_first_and_the_worst_finding_before_the_others(look: RecordedLook) -> None:
    lines = report(look).splitlines()
    assert look.sample("server").version.partition("-")[0] in lines[0]
    assert f"{look.facts.single('totals')['myisam_tables']} MyISAM tables" in lines[0]
    assert lines[1].startswith("A table is crashed.")
    titles = [line for line in lines if line.startswith((" CRITICAL ", " WARNING ", " INFO "))]
    assert titles[0].endswith("table-crashed")
    assert sorted(titles, key=lambda line: ("CRITICAL" not in line, "WARNING" not in line)) == titles
    assert len(titles) == len({finding.rule for finding in look.judgement.findings})


def test_each_finding_says_what_it_saw_what_to_do_and_what_that_costs(look: RecordedLook) -> None:
    text = " ".join(report(look).split())
    for finding in look.judgement.findings:
        for said in (finding.message, finding.expect, finding.cost, finding.undo, finding.verify):
            assert " ".join(said.split()) in text


def test_lines_are_no_wider_than_a_page_and_end_in_no_blank(look: RecordedLook) -> None:
    lines = report(look).splitlines()
    assert max(map(len, lines)) <= 110
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in "".join(lines)


def test_verbose_adds_the_quiet_rules_by_name_and_the_account_of_memory(look: RecordedLook) -> None:
    brief, verbose = report(look), report(look, shown=Shown(verbose=True))
    assert "rules looked, and found nothing" in brief
    assert all(rule in verbose for rule in look.judgement.quiet)
    assert len(verbose) > len(brief)


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    assert "Nothing to change." in report(look, replace(look.judgement, findings=[]))
