"""The plan as a script: fed to a client as it is, only what runs online runs."""

from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def live(script: str) -> list[str]:
    return [line for line in script.splitlines() if line and not line.startswith("--")]


def test_only_what_changes_no_table_runs(on_mariadb: RecordedLook, on_mysql: RecordedLook) -> None:
    assert not [line for line in live(plan_text("sql", plan_of(on_mariadb))) if "REPAIR" in line or "SET GLOBAL" in line]
    assert "SET GLOBAL table_open_cache = 400;" in live(plan_text("sql", plan_of(on_mysql)))


def test_the_parts_stand_in_their_order(look: RecordedLook) -> None:
    script = plan_text("sql", plan_of(look))
    headings = ["1. Online", "2. my.cnf and init_file", "3. Offline", "4. Rollback", "5. Verification"]
    places = [script.index(f"-- {heading}") for heading in headings]
    assert places == sorted(places)
    offline = script[places[2] : places[3]]
    assert "-- REPAIR TABLE `archive`.`broken`;" in offline
    assert "myisam_recover_options = BACKUP,QUICK" in script[places[1] : places[2]]


def test_every_finding_has_its_evidence(look: RecordedLook) -> None:
    plan = plan_of(look)
    script = plan_text("sql", plan)
    assert {finding.rule for finding in (*plan.findings, *plan.without_change)} == {finding.rule for finding in look.judgement.findings}
    for finding in plan.findings:
        assert f"{finding.severity} {finding.rule}" in script
        assert finding.evidence[0].fact in script


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    script = plan_text("sql", plan_of(look, []))
    assert "-- Nothing to change." in script
    assert live(script) == []
