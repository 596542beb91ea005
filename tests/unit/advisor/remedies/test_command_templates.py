"""Commands of rules, a site's own among them: a value reaches a command quoted, or the rule is at fault and says so."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.remedies.command_templates import fill_command, fill_option_line
from myisam_advisor.remedies.option_lines import OptionLine
from myisam_advisor.texts.templates import TextError, fill
from myisam_exporter.server.sql import Sql, quote_identifier
from tests.support.hostile import NAMES

EVIL = "x`; DROP TABLE y; -- \n\\! touch z"
VALUES: dict[str, object] = {"name": EVIL, "number": 5, "ratio": 0.5, "nothing": None, "flag": True, "word": "ON"}


@pytest.mark.parametrize(
    "text",
    [
        "SET GLOBAL {{ name }}.key_buffer_size = 1;",
        "SET GLOBAL x = {{ word }};",
        "SET GLOBAL x = {{ nothing }};",
        "SET GLOBAL x = {{ 'x' }};",
        "CHECK TABLE {{ name | upper }};",
        "CHECK TABLE {{ name | identifier | lower }};",
        "CHECK TABLE {{ (name | identifier) ~ name }};",
        "CHECK TABLE {{ name | trim | default('x') }};",
        "{% set x = name %}CHECK TABLE {{ x }};",
        "{% set x %}{{ name | identifier }}{% endset %}CHECK TABLE {{ x }};",
        "ALTER TABLE t COMMENT '{{ name | identifier }}';",
        'ALTER TABLE t COMMENT "{{ number }}";',
        "ALTER TABLE `{{ name | identifier }}`;",
        "CHECK TABLE a; -- {{ name | identifier }}",
        "CHECK TABLE a; # {{ name | identifier }}",
        "CHECK TABLE a /* {{ name | identifier }} */;",
        "SELECT 'it\\'s {{ number }}';",
        "SELECT 'a\\' , {{ name | identifier }};",
        "{% if flag %}-- {% endif %}CHECK TABLE {{ name | identifier }};",
        "CHECK TABLE {% filter identifier %}{{ number }}{% endfilter %};",
        "SELECT 1 /0 ;\0{{ number }}",
    ],
)
def test_a_value_that_is_not_quoted_or_not_where_quotes_hold_is_refused(text: str) -> None:
    with pytest.raises(TextError):
        fill_command(text, VALUES)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("SET GLOBAL x = {{ number }};", "SET GLOBAL x = 5;"),
        ("SET GLOBAL x = {{ ratio * 10 }};", "SET GLOBAL x = 5;"),
        ("SET GLOBAL x = {{ word | text }};", "SET GLOBAL x = 'ON';"),
        ("SET GLOBAL x = {{ number | text }};", "SET GLOBAL x = 5;"),
        ("CHECK TABLE {{ name | identifier }};", f"CHECK TABLE {quote_identifier(EVIL)};"),
        ("{% if flag %}OPTIMIZE{% else %}CHECK{% endif %} TABLE {{ 'a' | identifier }};", "OPTIMIZE TABLE `a`;"),
        ("SELECT 'it''s', \"-- x\", {{ number }}; -- it's done", "SELECT 'it''s', \"-- x\", 5; -- it's done"),
        ("-- first\nSELECT 1 / {{ number }} - 1;", "-- first SELECT 1 / 5 - 1;"),
        ("SELECT 1; -- first\nSELECT {{ number }};", "SELECT 1; -- first\nSELECT 5;"),
        ("-- load {{ name }}, then:", "-- load x`; DROP TABLE y; -- \\n\\! touch z, then:"),
        ("# load {{ name }}, then:", "# load x`; DROP TABLE y; -- \\n\\! touch z, then:"),
        ("{% if not flag %}SELECT 1;{% endif %}", ""),
    ],
)
def test_numbers_and_quoted_values_stand_where_they_are_put(text: str, command: str) -> None:
    made = fill_command(text, VALUES)
    assert made == command
    assert isinstance(made, Sql)


@pytest.mark.parametrize("text", ["{{ name }} = 1", "x = {{ name }}", "x = {{ name | identifier }}", "x = 1\ny = {{ number }}", "{{ word }} = 1", "!include {{ number }}", "x = {{ number }} # {{ number }}", "x = {{ nothing }}"])
def test_an_option_takes_plain_values_behind_its_name(text: str) -> None:
    with pytest.raises(TextError):
        fill_option_line(text, VALUES)


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = {{ number }}", "x = 5"), ("x={{ word }}", "x=ON"), ("skip-name-resolve", "skip-name-resolve"), ("init_file = /etc/a.sql", "init_file = /etc/a.sql"), ("{% if not flag %}x = 1{% endif %}", ""), ("# of {{ name }}", "# of x`; DROP TABLE y; -- \\n\\! touch z")],
)
def test_an_option_line_is_what_the_rule_says(text: str, line: str) -> None:
    made = fill_option_line(text, VALUES)
    assert made == line
    assert isinstance(made, OptionLine)


@pytest.mark.slow
@given(some.sampled_from(NAMES) | some.text())
def test_any_name_comes_back_out_of_a_command(name: str) -> None:
    assert fill_command("CHECK TABLE {{ a | identifier }}.{{ b | identifier }};", {"a": name, "b": "t"}) == f"CHECK TABLE {quote_identifier(name)}.`t`;"


@pytest.mark.parametrize("rule", shipped_rules(), ids=lambda rule: rule.id)
def test_values_of_statements_in_texts_are_quoted_too(rule: Rule) -> None:
    """`undo` and `verify` are sentences, and are copied all the same."""
    for text in (rule.undo, rule.verify, rule.recommendation, rule.cost, rule.expect):
        for value in re.findall(r"SET GLOBAL [^=;]* = \{\{(.*?)\}\}", text):
            assert value.strip().endswith(("| text", "| identifier")), (rule.id, text)


def test_a_rule_that_forgets_to_quote_is_not_evaluated_and_says_what_to_write(tmp_path: Any) -> None:
    from tests.support.rules import outcome

    facts = {"tables": [{"schema_name": "a", "table_name": EVIL}]}
    judgement = outcome(tmp_path, facts, scope="table", query="SELECT schema_name, table_name FROM tables", commands=["CHECK TABLE {{ table_name }};"])
    assert judgement.findings == []
    (fault,) = judgement.not_evaluated
    assert "quote it first, as an identifier or as text" in fault.needs


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{% set a = 9999999999 %}{{ a * a }}", "set a name"),
        ("{% with t = t ~ t %}" * 40 + "{{ t }}" + "{% endwith %}" * 40, "With"),
        ("{% block a %}{{ t }}{% endblock %}", "Block"),
        ("{% filter upper %}{{ t }}{% endfilter %}", "FilterBlock"),
        ("{% extends t %}", "Extends"),
        ("{{ {'a': t}['a'] }}", "Dict"),
        ("{{ 1 | round(-30000000) }}", "20 places at most"),
        ("{{ a | round(precision=-a) }}", "20 places at most"),
        ("{{ " + " * ".join(["a"] * 60) + " > 1 }}", "more than 1024 bits"),
        ("{{ " + " + ".join(["t"] * 60) + " }}", "may not use"),
        ("{{ " + "(" * 300 + "1" + ")" * 300 + " }}", "nested"),
        ("{% if 1 %}" * 200 + "{% endif %}" * 200, "nested"),
        ("x" * 30_000, "longer than"),
        ("{{ long }}" * 3, "may not become longer than 131,072 characters"),
    ],
    ids=["a name", "a name for a while", "a block", "a filter of a block", "another template", "a dictionary", "constant places", "places", "long numbers", "long texts", "parentheses", "conditions", "a long text", "a long text of values"],
)
def test_no_text_of_a_rule_takes_all_time_or_memory(text: str, why: str) -> None:
    with pytest.raises(TextError, match=why):
        fill(text, {"a": 9999999999, "t": "text", "long": "x" * (1 << 16)})


def test_arithmetic_that_texts_need_is_done() -> None:
    assert fill("{{ 1000 * rows + 1 }}", {"rows": 12}) == "12001"
    assert fill("{{ a | round | int }} {{ a | round(2) }} {{ 1234 | round(-2) }} {{ a | round(method='floor') }}", {"a": 2.718}) == "3 2.72 1200 2.0"
