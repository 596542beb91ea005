"""What is shown, before it is drawn."""

from dataclasses import replace

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import verdict_of
from myisam_advisor.top.moment import Moment
from myisam_advisor.top.scene import Scene, findings_in_short, findings_naming, moment_of
from myisam_advisor.top.trails import GAUGES, Trails
from myisam_advisor.top.view import View
from tests.support.recorded import RecordedLook


def test_a_finding_names_a_table_by_its_object_or_in_its_text(look: RecordedLook) -> None:
    findings = look.judgement.findings
    crashed = next(one for one in findings if one.rule == "table-crashed")
    assert findings_naming(findings, "archive.broken")[0] == crashed
    assert findings_naming([crashed], "archive.brok") == []
    assert findings_naming([crashed], "e.broken") == []
    assert findings_naming([replace(crashed, object="", message="Look at shop.items.")], "shop.items") != []
    assert findings_naming([replace(crashed, object="", message="Look at `odd names`.`a b`.")], "`odd names`.`a b`") != []


def test_findings_are_counted_by_severity(look: RecordedLook) -> None:
    judgement = look.judgement
    scene = Scene("here", moment=Moment(look.facts, judgement, verdict_of(judgement, 2.0), 0.0))
    assert findings_in_short(scene).startswith(f"{len(judgement.findings)} findings: 1 critical, ")
    assert findings_in_short(Scene("here")) == ""


def test_the_pace_that_is_shown_is_the_real_one() -> None:
    def shown(seconds: float, view: View) -> str:
        facts = facts_from_document({"schema": 1, "interval_seconds": seconds})
        return moment_of(Scene("here", view, Moment(facts, Judgement(), verdict_of(Judgement(), seconds), 0.0)))

    assert shown(2.2, View()).startswith("every 2 s")
    assert shown(7.4, View()).startswith("every 7 s")
    assert shown(0.6, View(interval_seconds=0.5)).startswith("every 0.5 s")
    assert shown(2.2, View(paused=True)).startswith("PAUSED")


def test_a_recorded_machine_fills_every_gauge_that_it_knows(on_mariadb: RecordedLook) -> None:
    assert [gauge.label for gauge in GAUGES if gauge.value(on_mariadb.facts) is None] == []


def test_a_trail_keeps_a_look_once_and_a_gap_where_nobody_answered() -> None:
    trails = Trails()
    facts = facts_from_document({"schema": 1, "interval_seconds": 2, "mysqld": {"threads_running": 3.0}})
    trails.add(facts, 1.0)
    trails.add(facts, 1.0)
    trails.add_gap()
    trails.add(facts, 2.0)
    assert trails.of("running") == [3.0, None, 3.0]
    assert trails.of("I/O wait") == [None, None, None]


def test_a_rate_that_is_half_known_is_not_known() -> None:
    facts = facts_from_document({"schema": 1, "mysqld": {"cpu_user_ratio": 0.5}, "status_per_second": {"Questions": 10}, "key_cache": [{"name": "default", "reads_per_second": 2.0}]})
    values = {gauge.label: gauge.value(facts) for gauge in GAUGES}
    assert values["CPU"] is None
    assert values["statements"] == 10
    assert values["key misses"] == 2
