"""A rule's page: this server's finding on top, no remains of templates, every rule readable whatever became of it."""

import re
from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import read_facts_file
from myisam_advisor.judging.findings import Dropped, NotApplicable, NotEvaluated, Suppressed
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.explanation import texts_of
from myisam_advisor.reports.page.links import Links
from myisam_advisor.reports.page.look import Look, look_at
from myisam_advisor.reports.page.render import render
from myisam_advisor.reports.page.rule_view import (
    COMPLETED,
    FOUND,
    NOT_FOR_THIS,
    NOT_JUDGED,
    QUIET,
    SET_ASIDE,
    rule_list_view,
    rule_view,
)

RULES = shipped_rules()
LINKS = Links("../")
FACTS = """
schema: 1
server: {flavour: mariadb, version: 10.11.6-MariaDB, hostname: "<b>db</b>", data_directory: /var/lib/mysql, local: 1}
tables:
  - {schema_name: "<i>s</i>", table_name: "</pre><script>x</script>", crashed: 1, data_bytes: 1000, index_bytes: 2048}
"""


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    file = tmp_path_factory.mktemp("facts") / "facts.yaml"
    file.write_text(FACTS)
    facts = complete(read_facts_file(str(file)))
    return look_at(judge(prepared(facts, Site(RULES))), facts, 1_700_000_000.0)


def rule(name: str) -> Rule:
    return next(rule for rule in RULES if rule.id == name)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_reads_as_prose(rule: Rule, look: Look) -> None:
    for known in (None, look):
        view = rule_view(rule, known, LINKS, paths=False)
        assert view.sections
        assert {"Why", "When it is wrong"} <= {section.heading for section in view.sections}
        page = render(view)
        prose = re.sub(r"<(pre|style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
        assert not re.search(r"\{\{|\}\}|\{%|\[[a-z]+ [a-z ]+\]|\[advice\]|\[price\]", prose)
        assert "<details>\n<summary>The query" in page
        identifiers = re.findall(r'\bid="([^"]+)"', page)
        assert len(identifiers) == len(set(identifiers))
        assert re.findall(r'href="/', page) == []


def test_the_texts_that_findings_complete_are_those_of_explain() -> None:
    headings = {heading for one in RULES for heading, _ in texts_of(one)}
    assert COMPLETED.keys() <= headings


def test_this_servers_finding_is_on_top(look: Look) -> None:
    view = rule_view(rule("table-crashed"), look, LINKS, paths=False)
    assert (view.outcome.state, view.outcome.tone) == (FOUND, "critical")
    page = render(view)
    assert "&lt;/pre&gt;&lt;script&gt;x&lt;/script&gt;" in page
    assert "<script>x" not in page
    assert "<b>db" not in page
    assert page.index("is marked crashed") < page.index('id="why"')


def test_what_became_of_a_rule_is_said_in_a_sentence(look: Look) -> None:
    one, found = rule("swap-pressure"), look.judgement.findings[0]
    empty = replace(look.judgement, findings=(), quiet=(), not_evaluated=(), not_applicable=(), dropped=(), suppressed=())
    said = {
        QUIET: empty,
        NOT_JUDGED: replace(empty, not_evaluated=(NotEvaluated(one.id, "rates", "--interval 10s"),)),
        NOT_FOR_THIS: replace(empty, not_applicable=(NotApplicable(one.id, "only on Linux"),)),
        SET_ASIDE: replace(empty, dropped=(Dropped(one.id, "", "memory has no room."),)),
    }
    for state, judgement in said.items():
        view = rule_view(one, replace(look, judgement=judgement), LINKS, paths=False)
        assert view.outcome.state == state
        assert view.outcome.sentence.endswith(".")
        assert not view.outcome.sentence.endswith("..")
    hidden = replace(empty, suppressed=(Suppressed(replace(found, rule=one.id), "known", "2030-01-01"),))
    assert "the configuration hides it (known, until 2030-01-01)" in rule_view(one, replace(look, judgement=hidden), LINKS, paths=False).outcome.sentence
    assert rule_view(one, None, LINKS, paths=False).outcome.sentence == "No server was looked at yet."


def test_the_list_has_every_rule_and_what_was_found_first(look: Look) -> None:
    view = rule_list_view(RULES, look, Links())
    assert {line.id for line in view.rules} == {one.id for one in RULES}
    assert view.rules[0].id == "table-crashed"
    assert [line.is_found for line in view.rules] == sorted((line.is_found for line in view.rules), reverse=True)
    page = render(view)
    for one in RULES:
        assert f'href="./rules/{one.id}"' in page
    assert all(line.state == "" for line in rule_list_view(RULES, None, Links()).rules)


def test_an_example_stands_where_no_finding_does(look: Look) -> None:
    view = rule_view(rule("key-cache-contention"), look, LINKS, paths=False)
    undo = next(section for section in view.sections if section.heading == "How to undo it")
    assert (undo.text, undo.cases) == ("", ())
    assert undo.example
    assert f"<strong>For example:</strong> {undo.example[:20]}" in render(view)
    found = render(rule_view(rule("table-crashed"), look, LINKS, paths=False))
    assert "For example:" not in found


def test_addresses_of_sources_are_links_and_nothing_else_is() -> None:
    said = ("https://a.example/x.html: it says so; http://b.example/y?z=1&w;", "see (https://c.example/d), javascript:alert(1) and <https>")
    page = render(rule_view(replace(RULES[0], sources=said), None, LINKS, paths=True))
    sources = page.partition('id="sources"')[2]
    assert re.findall(r'href="(http[^"]*)" rel="noreferrer">([^<]*)</a>', sources) == [(one, one) for one in ("https://a.example/x.html", "http://b.example/y?z=1&amp;w", "https://c.example/d")]
    assert "</a>: it says so; <a" in sources
    assert "</a>), javascript:alert(1) and &lt;https&gt;</li>" in sources


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_link_of_a_shipped_rule_ends_with_what_ends_a_sentence(rule: Rule) -> None:
    addresses = re.findall(r'href="(http[^"]*)" rel="noreferrer"', render(rule_view(rule, None, LINKS, paths=True)))
    assert len(addresses) == sum(source.count("://") for source in rule.sources)
    assert [address for address in addresses if address[-1] in ".,:;)"] == []
