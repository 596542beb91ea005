"""The report for programs: every finding with its evidence, and nothing that is only prose."""

import json
from dataclasses import replace
from typing import Any

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown
from tests.support.recorded import RecordedLook, report_of


def document(look: RecordedLook, shown: Shown | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report_of("json", look.judgement, look.facts, shown or Shown()))
    return found


def test_it_is_one_document_of_this_schema(look: RecordedLook) -> None:
    found = document(look)
    assert found["schema"] == 1
    assert found["server"]["flavour"] == look.sample("server").flavour
    assert found["interval_seconds"] == look.facts.interval_seconds
    assert found["quiet"] == list(look.judgement.quiet)
    assert found["memory"]["limit_bytes"] == look.facts.single("host")["memory_bytes"]


def test_findings_have_all_their_parts(look: RecordedLook) -> None:
    found = {(one["rule"], one["object"]): one for one in document(look)["findings"]}
    assert len(found) == len(look.judgement.findings)
    for finding in look.judgement.findings:
        one = found[finding.rule, finding.object]
        assert one["severity"] == finding.severity
        assert [fact["fact"] for fact in one["evidence"]] == [fact.fact for fact in finding.evidence]
        assert [fact["value"] for fact in one["evidence"]] == [fact.value for fact in finding.evidence]
        assert len(one["commands"]) + len(one["offered_commands"]) == len(finding.commands)
    crashed = found["table-crashed", "archive.broken"]
    assert crashed["commands"][0] == "FLUSH TABLES `archive`.`broken`;"


def test_what_is_suppressed_is_counted_and_only_told_when_asked(look: RecordedLook) -> None:
    finding = look.judgement.findings[0]
    from myisam_advisor.judging.findings import Suppressed

    judgement = replace(look.judgement, findings=[], suppressed=[Suppressed(finding, "known", "")])
    told = [json.loads(report_of("json", judgement, look.facts, Shown(suppressed=asked))) for asked in (False, True)]
    assert [one["suppressed_count"] for one in told] == [1, 1]
    assert [len(one["suppressed"]) for one in told] == [0, 1]
    assert told[1]["suppressed"][0]["reason"] == "known"


def test_verbose_adds_how_long_each_rule_took(look: RecordedLook) -> None:
    assert "rule_seconds" not in document(look)
    assert document(look, Shown(verbose=True))["rule_seconds"].keys() == look.judgement.seconds.keys()


def test_a_conversion_that_wants_a_copy_first_is_no_command_that_a_program_may_run() -> None:
    table = {"schema_name": "shop", "table_name": "hits", "row_format": "dynamic", "rows": 500_000, "data_bytes": 100_000_000, "index_bytes": 50_000_000, "crashed": 0}
    waited_for = {"lock_wait_seconds_per_second": 2.5, "rows_changed_per_second": 20, "rows_added_per_second": 0}
    facts = facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"flavour": "mysql", "version": "5.7.30"}, "status_per_second": {"Table_locks_waited": 300, "Table_locks_immediate": 600}, "tables": [table | waited_for]})
    shown = json.loads(report_of("json", judge(prepared(facts, Site(shipped_rules()))), facts, Shown()))
    (found,) = [one for one in shown["findings"] if one["rule"] == "migrate-engine"]
    assert (found["commands"], found["undo_commands"]) == ([], [])
    assert found["offered_commands"][0].startswith("ALTER TABLE `shop`.`hits` ENGINE=InnoDB")
    assert found["offered_undo_commands"] == ["ALTER TABLE `shop`.`hits` ENGINE=MyISAM;"]
