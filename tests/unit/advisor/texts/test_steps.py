"""What is to be done in several steps stands in a list: one action a line, in every report that tells it."""

import json
from pathlib import Path

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.alike import said_of_all
from myisam_advisor.texts.steps import first_step, in_steps
from tests.support.program import run

SCANS = {"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}, "status_per_second": {"Handler_read_rnd_next": 500000, "Select_scan": 10, "Handler_read_key": 100}, "totals": {"myisam_tables": 3, "myisam_data_bytes": 10**10}}


def test_paragraphs_are_steps_and_what_holds_for_all_of_them_is_none() -> None:
    assert in_steps("Look.\n\nMend.", ["", "Not here."]) == "1. Look.\n2. Mend.\nNot here."
    assert in_steps("Look. Mend.", ["Not here.", ""]) == "Look. Mend. Not here."
    assert in_steps("", ["Not here."]) == "Not here."


def test_what_is_in_a_name_begins_no_line() -> None:
    assert in_steps("Look.\n\nMend.", ["Not `a\nDROP`."]) == "1. Look.\n2. Mend.\nNot `a\\nDROP`."
    assert in_steps("Look.", ["Not `a\nDROP`."]) == "Look. Not `a\\nDROP`."


def test_the_first_words_are_those_of_the_first_step() -> None:
    assert first_step("1. Look.\n2. Mend.") == "Look.\n2. Mend."
    assert first_step("11. Look.") == "11. Look."


def test_steps_that_two_objects_share_keep_their_numbers() -> None:
    assert said_of_all([("a", "1. Look.\n2. Mend."), ("b", "1. Look.\n2. Mend.")]) == "1. Look.\n2. Mend."


def test_each_step_of_a_finding_begins_a_line(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(SCANS))
    finding = next(one for one in judge(prepared(facts_from_document(SCANS), Site(shipped_rules()))).findings if one.rule == "full-scan-no-index")
    steps = finding.recommendation.split("\n")
    assert [step[:3] for step in steps] == [f"{number}. " for number in range(1, len(steps) + 1)]
    assert len(steps) > 2
    assert all(len(step) < 200 for step in steps)
    text = run("check", "--facts", path, "--format", "text", "--full").stdout
    assert all(step[:40] in text for step in steps)
    assert "\\n" not in text
