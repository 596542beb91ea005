"""The report for node_exporter's textfile collector."""

from prometheus_client.parser import text_string_to_metric_families

from myisam_advisor.reports.formats.base import Shown
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
