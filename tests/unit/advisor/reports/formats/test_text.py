"""The report for a person, of the recorded machines: worst first, and everything that a finding has to say."""

import re
from dataclasses import replace

import pytest

from myisam_advisor.judging.findings import Blind, Dropped, Judgement, ShownFact
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.texts.width import PAGE_WIDTH
from tests.support.recorded import RecordedLook, report_of


def report(look: RecordedLook, judgement: Judgement | None = None, shown: Shown | None = None) -> str:
    return report_of("text", judgement or look.judgement, look.facts, shown or Shown())


FULL = Shown(full=True)


def test_the_server_comes_first_then_the_verdict_and_the_worst_finding_before_the_others(look: RecordedLook) -> None:
    lines = report(look).splitlines()
    assert look.sample("server").version.partition("-")[0] in lines[0]
    assert f"{look.facts.single('totals')['myisam_tables']} MyISAM tables" in lines[0]
    assert next(line for line in lines[1:4] if line.startswith("A table is crashed."))
    numbered = [line for line in lines if re.match(r" +\d+  (CRITICAL|WARNING|INFO) ", line)]
    assert "A table is crashed: archive.broken" in numbered[0]
    assert sorted(numbered, key=lambda line: ("CRITICAL" not in line, "WARNING" not in line)) == numbered
    assert len(numbered) == len({finding.rule for finding in look.judgement.findings})


def test_in_full_each_finding_says_what_it_saw_what_to_do_and_what_that_costs(look: RecordedLook) -> None:
    brief, text = (" ".join(report(look, shown=shown).split()) for shown in (Shown(), FULL))
    for finding in look.judgement.findings:
        for said in (finding.message, finding.expect, finding.cost, finding.undo, finding.verify):
            assert " ".join(said.split()) in text
        assert " ".join(finding.verify.split()) not in brief


def test_a_single_finding_is_told_in_full_at_once(look: RecordedLook) -> None:
    alone = next(finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    text = " ".join(report(look, replace(look.judgement, findings=[alone])).split())
    assert " ".join(alone.verify.split()) in text
    assert "check --full" not in text


def test_how_many_lines_are_left_out_is_a_number_as_any_other(look: RecordedLook) -> None:
    alone = next(finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    many = [replace(alone, object=f"archive.t{number}") for number in range(1000)]
    assert re.search(r"\.\.\. and \d,\d{3} more: --format json has them all", report(look, replace(look.judgement, findings=many)))


def test_a_sentence_among_the_evidence_goes_below_its_name_and_leaves_the_others_theirs(look: RecordedLook) -> None:
    alone = next(finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    why = "its data file would have 18446744073709551615 bytes, more than any file can have"
    facts = (ShownFact("tables.data_bytes", 4096, "bytes", label="size of the data file"), ShownFact("tables.header_problem", why, "number", label="what is wrong with it"))
    lines = report(look, replace(look.judgement, findings=[replace(alone, evidence=facts)]), Shown(full=True)).splitlines()
    assert any(re.search(r"size of the data file +4 KiB", line) for line in lines)
    (place,) = (number for number, line in enumerate(lines) if line.endswith(" what is wrong with it"))
    assert " ".join(lines[place + 1 :]).split()[: len(why.split())] == why.split()


def test_a_finding_that_shows_no_fact_has_no_evidence(look: RecordedLook) -> None:
    alone = next(finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    labels = [
        [line.split()[0] for line in report(look, replace(look.judgement, findings=[one])).splitlines() if line.strip()]
        for one in (alone, replace(alone, evidence=()))
    ]
    assert ["evidence" in one for one in labels] == [True, False]


def test_lines_are_no_wider_than_a_page_and_end_in_no_blank(look: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = report(look).splitlines()
    assert max(map(len, lines)) <= PAGE_WIDTH
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in "".join(lines)


def test_verbose_adds_the_names_of_facts_the_quiet_rules_by_name_and_the_account_of_memory(look: RecordedLook) -> None:
    brief, verbose = report(look), report(look, shown=Shown(verbose=True))
    assert "rules found nothing" in brief
    assert all(rule in verbose for rule in look.judgement.quiet)
    assert "tables.crashed" in verbose
    assert "tables.crashed" not in report(look, shown=FULL)
    assert len(verbose) > len(brief)


def test_the_name_of_a_fact_that_is_broken_goes_on_below_itself(look: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = report(look, shown=Shown(verbose=True)).splitlines()
    broken = [number for number, line in enumerate(lines) if re.match(r" {14}[a-z_]+\.[\w.]+ \([^)]*$", line)]
    assert broken
    assert all(re.match(r" {14}\S", lines[number + 1]) for number in broken)


def test_on_a_narrow_terminal_no_name_of_evidence_is_cut(look: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    letters = re.sub(r"\s", "", report(look, shown=FULL))
    assert "…" not in letters


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    assert "Nothing holds this server back. Nothing to change." in report(look, replace(look.judgement, findings=[]))


def test_what_was_not_seen_is_in_the_first_words_beside_a_finding_too(look: RecordedLook) -> None:
    hidden = Blind("tables", "The tables were not seen.", "No right to read them", "sudo myisam-advisor check")
    for number in (1, 2):
        judgement = replace(look.judgement, findings=look.judgement.findings[:number], blind=[hidden])
        text = " ".join(report(look, judgement).split())
        assert text.count("The tables were not seen.") == 1
        assert "No right to read them -> sudo myisam-advisor check" in text


def test_what_another_sign_explains_is_not_called_nothing(look: RecordedLook) -> None:
    why = "428 table locks a second had to wait, but nobody waits for long"
    rule = next(iter(look.judgement.quiet))
    explained = replace(look.judgement, dropped=[Dropped(rule, "", why, contradicted=True)])
    before = replace(look.judgement, dropped=[])
    (found,), (now,) = (re.findall(r"quiet (\d+) rules found nothing; (.*)", " ".join(report(look, one).split())) for one in (before, explained))
    assert int(now[0]) == int(found[0]) - 1
    assert now[1].startswith("1 found what another sign explains; ")
    assert now[1].endswith("(-v says why)")
    verbose = " ".join(report(look, explained, Shown(verbose=True)).split())
    assert f"dropped {rule}: {why}" in verbose
    assert f"quiet {rule}," not in verbose
