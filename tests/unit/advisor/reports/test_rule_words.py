"""A rule as a page: sentences of an example, no template's mark, SQL only where it is asked for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import load_rule, shipped_rules
from myisam_advisor.reports.explanation import explain_rule, list_rules, texts_of
from myisam_advisor.reports.rule_words import EXAMPLES, TEXTS, outline, rule_text
from tests.support.program import run
from tests.support.repository import ROOT
from tests.support.rules import write

RULES = shipped_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_page_shows_the_name_of_what_a_finding_fills_in(rule: Any) -> None:
    for heading, text in texts_of(rule):
        assert not re.search(r"\[[a-z][a-z ]*\]|\{\{|\{%|\bhot table\.\.\.", text), (heading, text)
        if heading.startswith("What to do"):
            assert len(text.split()) > 4


def test_every_shipped_rule_has_an_example_of_its_own() -> None:
    examples = json.loads((ROOT / "rules" / EXAMPLES).read_text("utf-8"))
    assert examples.keys() == {rule.id for rule in RULES}, "run script/generate-docs"
    assert all(example.keys() == TEXTS.keys() for example in examples.values())


def test_a_text_without_a_template_is_as_its_author_wrote_it(tmp_path: Path) -> None:
    own = load_rule(write(tmp_path))
    assert rule_text(own, "recommendation") == "Do nothing."
    assert rule_text(own, "finding") == "One is ...."  # a rule of the site has no example


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ hot | count }} hot table{{ 's' if hot != 1 }}", "N hot tables"),
        ('{{ n | rate }} rows, {{ part | percent }} of {{ data_bytes | bytes }} {{- " more" if n }}.', "N/s rows, N % of N bytes more."),
        ("{% if a %}One{% elif b %}Two{% else %}Three{% endif %} .", "One / Two / Three."),
        ("{{ object }} waits {{ x }}", "the key cache waits ..."),
        ("ALTER TABLE {{ schema_name | identifier }}", "ALTER TABLE NAME"),
        ("the .frm files{% if a %} there{% endif %} .", "the .frm files there."),
    ],
)
def test_an_outline_reads_as_a_sentence(template: str, said: str) -> None:
    assert outline(template, "key_cache") == said


def test_the_query_is_shown_where_it_is_asked_for() -> None:
    assert "Query\n" not in explain_rule("swap-pressure", RULES, with_sql=False)
    assert "Query\n" in explain_rule("swap-pressure", RULES)
    assert "Query\n" in run("explain", "table-crashed", "--sql").stdout
    assert "Query\n" not in run("explain", "table-crashed").stdout


def test_the_list_tells_every_severity_that_a_rule_can_have() -> None:
    lines = {line.split()[0]: line for line in list_rules(RULES).splitlines()}
    assert re.search(r"^delay-key-write +warning, info  ", lines["delay-key-write"])
    assert re.search(r"^recovery-disabled +warning  ", lines["recovery-disabled"])
    assert "critical, warning, info" in lines["open-files-limit"]
    assert re.search(r"^table-crashed +critical  ", lines["table-crashed"])


def test_a_wrong_rule_is_told_what_is_nearly_so() -> None:
    done = run("explain", "keycache-contention")
    assert done.returncode == 2
    assert "Did you mean key-cache-contention" in done.stderr
    assert "[RULE]" in run("explain", "--help").stdout


def test_a_rule_says_what_it_needs_where_it_cannot_decide() -> None:
    """Each choice of what it may need, without a template's marks: nothing told it but a look at a server that lacks it."""
    said = explain_rule("table-cache-too-small", RULES, width=10_000)
    assert "What it needs where it cannot decide\n  status.Open_tables (there are more tables than the table cache holds: is it full?) / status.Opened_tables.per_second" in said
    assert "To have it: run again with --interval 1min.\n" in said
    assert "what it needs" not in explain_rule("table-crashed", RULES).lower()
    assert [rule.id for rule in RULES if rule.undecided and not any(heading == "What it needs where it cannot decide" for heading, _ in texts_of(rule))] == []
