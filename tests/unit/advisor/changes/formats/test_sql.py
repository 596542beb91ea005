"""The plan as a script: fed to a client as it is, only what runs online runs."""

from dataclasses import replace

import pytest

from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def live(script: str) -> list[str]:
    return [line for line in script.splitlines() if line and not line.startswith("--")]


def test_only_what_changes_no_table_runs(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    assert not [line for line in live(plan_text("sql", plan_of(on_mariadb))) if "REPAIR" in line or "SET GLOBAL" in line]
    assert "SET GLOBAL table_open_cache = 400;" in live(plan_text("sql", plan_of(on_mysql)))


def heading(name: str) -> str:
    return f"-- ==== {name}"


PARTS = ("Online", "my.cnf and init_file", "Offline", "Rollback", "Verification")


def test_the_parts_stand_in_their_order(look: RecordedLook) -> None:
    script = plan_text("sql", plan_of(look))
    places = [script.index(heading(name)) for name in PARTS if heading(name) in script]
    assert places == sorted(places)
    assert len(places) >= 4
    offline = script.split(heading("Offline"))[1].split("-- ====")[0]
    assert "-- REPAIR TABLE `archive`.`broken`;" in offline
    assert "myisam_recover_options = BACKUP,QUICK" in script.split(heading("my.cnf"))[1].split("-- ====")[0]


def test_a_part_that_has_nothing_to_say_is_left_out(look: RecordedLook) -> None:
    crashed = [finding for finding in look.judgement.findings if finding.rule == "table-crashed"]
    script = plan_text("sql", plan_of(look, crashed))
    assert [name for name in PARTS if heading(name) in script] == ["Offline", "Rollback", "Verification"]
    assert "Fed to a client as it is, nothing runs." in script
    assert len(script.splitlines()) <= 40
    assert live(script) == []


def test_a_repair_stands_behind_the_copy_of_its_files_and_its_rollback_is_that_copy(look: RecordedLook) -> None:
    (crashed,) = (finding for finding in look.judgement.findings if finding.rule == "table-crashed")
    script = plan_text("sql", plan_of(look))
    steps = ["-- FLUSH ", "-- in a shell: df -h /var/tmp && copied=", "-- CHECK TABLE", "-- REPAIR "]
    assert [script.index(step) for step in steps] == sorted(script.index(step) for step in steps)
    assert crashed.undo in " ".join(script.split(heading("Rollback"))[1].replace("\n--", " ").split())
    assert "nothing to take back" not in script


def test_every_finding_has_its_evidence(look: RecordedLook) -> None:
    plan = plan_of(look)
    script = plan_text("sql", plan)
    assert {finding.rule for finding in (*plan.findings, *plan.without_change)} == {finding.rule for finding in look.judgement.findings}
    for finding in plan.findings:
        assert f"{finding.severity} {finding.rule}" in script
        first = finding.evidence[0]
        assert f"{first.label or first.fact} = " in " ".join(script.replace("\n--   ", " ").split())


def test_a_setting_that_wants_a_restart_is_not_said_to_survive_one(on_mysql: RecordedLook) -> None:
    alone = plan_text("sql", plan_of(on_mysql, [one for one in on_mysql.judgement.findings if one.rule == "recovery-disabled"]))
    assert "my.cnf and init_file: in force from the next restart on" in alone
    assert "my.cnf and init_file: so that it survives a restart" in plan_text("sql", plan_of(on_mysql))


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    script = plan_text("sql", plan_of(look, []))
    assert "-- Nothing to change." in script
    assert live(script) == []


@pytest.mark.parametrize("form", ["sql", "markdown"])
def test_what_no_statement_mends_is_not_called_nothing_to_change(look: RecordedLook, form: str) -> None:
    by_hand = [one for one in look.judgement.findings if not (one.commands or one.my_cnf or one.init_file)]
    assert by_hand
    script = plan_text(form, plan_of(look, by_hand))
    assert "No statement and no setting mends what was found." in script
    assert "Nothing to change." not in script


def test_an_empty_plan_says_what_nobody_could_see(look: RecordedLook) -> None:
    seen, unseen = plan_of(look, []), replace(plan_of(look, []), not_seen=["Tables cannot be seen: 14 rules could not judge."])
    assert "-- Nothing to change.\n" in plan_text("sql", seen)
    for form in ("sql", "markdown"):
        text = plan_text(form, unseen)
        assert "Nothing to change in what was seen. Tables cannot be seen: 14 rules could not judge." in text
        assert "Nothing to change." not in text
