"""The plan for a ticket: headings, code in fences, and names that stay text."""

from dataclasses import replace

from tests.support.plans import plan_of, plan_text
from tests.support.recorded import RecordedLook


def test_the_page_has_every_part(look: RecordedLook) -> None:
    plan = plan_of(look)
    page = plan_text("markdown", plan)
    lines = page.splitlines()
    assert lines[0].startswith("# Change plan: M")
    headings = [line for line in lines if line.startswith("## ")]
    assert headings[:5] == ["## 1. Online", "## 2. my.cnf and init_file", "## 3. Offline", "## 4. Rollback", "## 5. Verification"]
    assert sum(line.startswith("```") for line in lines) % 2 == 0
    assert "REPAIR TABLE `archive`.`broken`;" in page
    for finding in plan.findings:
        assert f"**{finding.severity}: {finding.title}**" in page
    rest = page.partition("## Not in this plan")[2]
    assert plan.without_change
    assert all(f"**{finding.rule}**" in rest for finding in plan.without_change)


def test_names_become_no_markup(look: RecordedLook) -> None:
    finding = replace(look.judgement.findings[0], object="<b>*x*</b>", message="# <script>")
    page = plan_text("markdown", plan_of(look, [finding]))
    assert "\\<b\\>\\*x\\*\\</b\\>" in page
    assert "<script>" not in page


def test_without_findings_there_is_nothing_to_change(look: RecordedLook) -> None:
    assert "Nothing to change." in plan_text("markdown", plan_of(look, []))
