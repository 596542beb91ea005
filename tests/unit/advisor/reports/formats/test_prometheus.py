"""The report for node_exporter's textfile collector."""

import io

from prometheus_client.parser import text_string_to_metric_families

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.prometheus import render
from tests.support.recorded import RecordedLook, report_of


def test_findings_are_series_and_the_check_has_its_time(look: RecordedLook) -> None:
    with look.machine.playing():
        text = report_of("prometheus", look.judgement, look.facts, Shown())
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    named = {(sample.labels["rule"], sample.labels["object"]) for sample in samples if "object" in sample.labels}
    assert named == {(finding.rule, finding.object) for finding in look.judgement.findings}
    (checked,) = (sample.value for sample in samples if sample.name == "myisam_advice_check_timestamp_seconds")
    assert checked == look.machine.moment["taken_at"]
    assert text.endswith("\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_names_cannot_steer_a_terminal_and_labels_in_a_pipe_are_as_they_are() -> None:
    name = "\x1b[31m\x9b\u202e"
    document = {"schema": 1, "tables": [{"schema_name": "s", "table_name": name, "row_format": "fixed", "crashed": 1, "recovery_failed": 0}]}
    facts = complete(facts_from_document(document))
    judgement = judge(prepared(facts, Site(shipped_rules())))
    on_terminal, piped = (render(judgement, facts, Shown(reader=reader)) for reader in (Terminal(), io.StringIO()))
    assert name in piped
    assert "x1b[31m" in on_terminal
    assert on_terminal.replace("\n", "").isprintable()
    assert on_terminal.count("\n") == piped.count("\n")
