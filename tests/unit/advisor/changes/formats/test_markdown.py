"""The plan for a ticket: headings, code in fences, and names that stay text."""

from dataclasses import replace

from myisam_advisor.remedies.statements.base import remark
from myisam_advisor.remedies.statements.closing import FlushTables
from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def test_the_page_has_every_part(look: RecordedLook) -> None:
    plan = plan_of(look)
    page = plan_text("markdown", plan)
    lines = page.splitlines()
    assert lines[0].startswith("# Change plan: M")
    headings = [line for line in lines if line.startswith("## ")]
    parts = ["## Online"] if plan.online or plan.shell else []
    assert headings[: len(parts) + 4] == [*parts, "## my.cnf and init_file", "## Offline", "## Rollback", "## Verification"]
    offline = page.partition("## Offline")[2]
    assert offline.index("cp -p ") < offline.index("CHECK TABLE") < offline.index("REPAIR TABLE")
    assert sum(line.startswith("```") for line in lines) % 2 == 0
    assert "REPAIR TABLE `archive`.`broken`;" in page
    for finding in plan.findings:
        assert f"**{finding.severity}: {finding.title}**" in page
    rest = page.partition("## Not in this plan")[2]
    assert plan.without_change
    assert all(f"**{finding.rule}**" in rest for finding in plan.without_change)


def test_a_part_that_has_nothing_to_say_is_left_out(look: RecordedLook) -> None:
    crashed = [finding for finding in look.judgement.findings if finding.rule == "table-crashed"]
    page = plan_text("markdown", plan_of(look, crashed))
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## Offline", "## Rollback", "## Verification"]
    assert "nothing to set" not in page
    assert crashed[0].undo in page


def test_settings_alone_have_a_way_back(look: RecordedLook) -> None:
    """The finding's own undo is to put back what stood there: the ticket says what that was, as the script does."""
    plan = plan_of(look)
    variables = [one.variable for one in plan.settings if one.variable]
    assert variables
    rollback = plan_text("markdown", replace(plan, rollback=[])).partition("## Rollback")[2].partition("\n## ")[0]
    assert "my.cnf: put back what stood there" in rollback
    script = plan_text("sql", plan).replace("--   ", "  - ")
    for line in (line for line in rollback.splitlines() if line.startswith("  - ")):
        assert line.replace("\\", "") in script
    assert all(f"- {variable}: was " in rollback.replace("\\", "") for variable in variables)


def test_names_become_no_markup(look: RecordedLook) -> None:
    finding = replace(look.judgement.findings[0], object="<b>*x*</b>", message="# <script>")
    page = plan_text("markdown", plan_of(look, [finding]))
    assert "\\<b\\>\\*x\\*\\</b\\>" in page
    assert "<script>" not in page


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    assert "Nothing to change." in plan_text("markdown", plan_of(look, []))


def test_a_remark_of_one_way_back_puts_nothing_of_another_into_comments(look: RecordedLook) -> None:
    plan = plan_of(look)
    finding = plan.findings[0]
    odd, plain = FlushTables((("shop", "a;b"),)), FlushTables((("shop", "c"),))
    page = plan_text("markdown", replace(plan, rollback=[(finding, [plain]), (finding, [remark("by hand, then:"), odd])]))
    rollback = page.partition("## Rollback")[2].splitlines()
    assert "FLUSH TABLES `shop`.`c`;" in rollback
    assert "-- FLUSH TABLES `shop`.`a;b`;" in rollback
