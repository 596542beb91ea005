"""The plan as a script: fed to a client as it is, only what runs online runs."""

from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from tests.support.plans import plan_of, plan_text
from tests.support.read_comments import read
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
    assert "Run as it is, this script changes nothing." in script
    assert len(script.splitlines()) <= 50
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
    assert "my.cnf and init_file: takes effect at the next restart" in alone
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
    assert "No statement and no setting fixes what was found." in script
    assert "Nothing to change." not in script


def test_an_empty_plan_says_what_nobody_could_see(look: RecordedLook) -> None:
    seen, unseen = plan_of(look, []), replace(plan_of(look, []), not_seen=["Tables cannot be seen: 14 rules could not judge."])
    assert "-- Nothing to change.\n" in plan_text("sql", seen)
    for form in ("sql", "markdown"):
        text = plan_text(form, unseen)
        assert "Nothing to change in what was seen. Tables cannot be seen: 14 rules could not judge." in read(text)
        assert "Nothing to change." not in text


def crashed_tables(tables: int, large: int = 0) -> str:
    """The script for so many crashed tables; one of them may be large."""
    rows = [
        {"schema_name": "shop", "table_name": f"t{number:03}", "rows": 1, "data_bytes": large if large and number == 7 else 9000, "index_bytes": 1024, "crashed": 1}
        for number in range(tables)
    ]
    document = {"schema": 1, "server": {"flavour": "mariadb", "version": "10.11.19", "data_directory": "/d"}, "host": {"data_directory_free_bytes": 10**12}, "tables": rows}
    facts = facts_from_document(document)
    findings = judge(prepared(facts, Site(shipped_rules()))).findings
    return plan_text("sql", make_plan([finding for finding in findings if finding.rule == "table-crashed"], facts))


def test_of_many_tables_alike_one_is_told_in_full_and_of_each_stand_its_statements() -> None:
    """Three hundred crashed tables had eight thousand lines."""
    script = crashed_tables(40)
    assert script.count("Lock: ") == 2  # of CHECK, and of REPAIR
    assert read(script).count("Stop the server, and copy the files back") == read(script).count("CHECK TABLE says OK; ") == 1
    assert "critical table-crashed: 39 more like it" in script
    for number in range(40):
        name = f"`shop`.`t{number:03}`"
        for statement in (f"FLUSH TABLES {name};", f"CHECK TABLE {name};", f"REPAIR TABLE {name};", f"CHECK TABLE {name} FAST;"):
            assert f"\n-- {statement}\n" in script
    assert len(script.splitlines()) < 8 * 40


def test_a_table_that_takes_longer_than_the_others_says_so() -> None:
    assert "Lasts a time that was not measured" in crashed_tables(40, 40 << 30).split("CHECK TABLE `shop`.`t007`;")[1].split("REPAIR TABLE")[0]
    assert crashed_tables(5).count("Lock: ") == 10
