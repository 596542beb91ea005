import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from myisam_advisor.catalogue.fact_labels import LABELS, label_of
from myisam_advisor.catalogue.rules import load_rule, load_rules, schema, shipped_rules
from myisam_advisor.catalogue.thresholds import threshold_value
from myisam_advisor.judging.asking import version_matches
from myisam_advisor.remedies.planners.base import planner_named
from myisam_advisor.reports.explanation import explain_rule, list_rules
from myisam_advisor.reports.rule_words import outline
from myisam_advisor.texts.templates import with_unit
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.errors import UserError
from tests.support.repository import ROOT
from tests.support.rules import outcome, write

RULES = shipped_rules()
STORAGE_READS_PER_SECOND = 100  # of one disk that turns: what `storage_share` is a share of, as rules/schema.json says
TEXTS = ("finding", "recommendation", "why", "when_wrong", "expect", "cost", "undo", "verify")


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_shipped_rules_fit_the_schema(rule: Any) -> None:
    content = yaml.safe_load(rule.path.read_text("utf-8"))
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(content)) == []
    assert all(getattr(rule, text).rstrip('."}') for text in TEXTS)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_shipped_rules_name_only_facts_planners_and_parameters_that_exist(rule: Any) -> None:
    needs = [name for need in rule.needs for name in need]
    for fact in [*needs, *(evidence.fact for evidence in rule.evidence)]:
        table, _, column = fact.partition(".")
        assert table in declared_columns(), fact
        assert table in ("variable", "status") or not column or column in {declared.name for declared in declared_columns()[table]}, fact
    assert all(evidence.threshold is None or evidence.threshold in rule.parameters or f"AS {evidence.threshold}" in rule.query for evidence in rule.evidence)
    assert rule.planner is None or callable(planner_named(rule.planner))
    queries = " ".join(rule.statements)
    assert all(f":{name}" in queries or rule.planner for name in rule.parameters)
    assert all(parameter.default == parameter.storage_share * STORAGE_READS_PER_SECOND for parameter in rule.parameters.values() if parameter.storage_share)
    assert rule.id in explain_rule(rule.id, RULES)
    words = [line for line in explain_rule(rule.id, RULES, 60).partition("\n\nQuery\n")[0].splitlines() if " " in line.strip()]
    assert max(map(len, words[2:])) <= 60


WORDS = re.compile(r"--[^\n]*|'(?:[^']|'')*'|:\w+|[A-Za-z_][\w.]*|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+|[<>]=?|\S")
MAXIMUM_QUERY_LINES, MAXIMUM_QUERY_COLUMNS = 39, 180
# Nothing, a flag, a whole: no measure of anything.
PLAIN_NUMBERS = {"0", "1", "1.0"}


def judging_numbers(query: str) -> list[str]:
    """Numbers of a query that say how much is much, with what stands before them. Versions, and how many names are told, do not."""
    words = [word for word in WORDS.findall(query) if not word.startswith("--")]
    found = []
    for place, word in enumerate(words):
        before = words[max(0, place - 2) : place]
        compared = bool(before) and before[-1] in ("<", "<=", ">", ">=")
        version = compared and before[0].rpartition(".")[2] == "version_number"
        bare = re.fullmatch(r"[\d.][\d.e+-]*", word) and any(letter.isdigit() for letter in word)
        if bare and not version and before[-1:] != ["LIMIT"] and not (word in PLAIN_NUMBERS and not (compared and word != "0")):
            found.append(" ".join([*before, word]))
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_is_much_stands_in_a_parameter_with_its_reason(rule: Any) -> None:
    queries = [*rule.statements, *(condition.when for condition in rule.applicable)]
    assert [number for query in queries for number in judging_numbers(query)] == []


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("SELECT 1 WHERE reads >= 0.05 * requests", ["reads >= 0.05"]), ("SELECT COALESCE(a, 1e9)", ["a , 1e9"]), ("SELECT 3 * rows_added", ["SELECT 3"]),
        ("SELECT a WHERE reads >= 1", ["reads >= 1"]), ("SELECT a / .5", ["a / .5"]), ("SELECT rows * 1100.0", ["rows * 1100.0"]),
        ("SELECT a2, 'of 5' WHERE b = 1 AND c > 0 AND s.version_number < 50500 AND d >= :at_least_10 -- 7 of 10\n LIMIT 5", []),
        ("SELECT COALESCE(is_enabled, 1), 1.0 * a / NULLIF(b, 0)", []),
    ],
)  # fmt: skip
def test_numbers_that_judge_are_told_from_those_that_do_not(query: str, numbers: list[str]) -> None:
    assert judging_numbers(query) == numbers


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_query_has_few_lines_and_is_not_wide_instead(rule: Any) -> None:
    lines = rule.query.splitlines()
    assert len(lines) <= MAXIMUM_QUERY_LINES
    texts = (*rule.statements, *(condition.when for condition in rule.applicable))
    assert [line for text in texts for line in text.splitlines() if len(line) > MAXIMUM_QUERY_COLUMNS] == []
    assert not (rule.undecided and re.search(r"\bAS (needs|how)\b", rule.query)), "said twice"


def test_rules_and_planners_belong_together() -> None:
    from myisam_advisor.remedies import planners

    used = {rule.planner for rule in RULES if rule.planner}
    assert used == {path.stem for path in Path(planners.__path__[0]).glob("*.py")} - {"__init__", "base"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"severity": "bad"}, "line 3: severity: 'bad' is not one of"),
        ({"finding": None}, "line 1: the key finding is missing"),
        ({"colour": "red"}, "line 1: there is no key 'colour'. Known are "),
        ({"parameters": {"p": {"default": "x", "unit": "u", "why": "w"}}}, r"line \d+: parameters.p.default: 'x' is not a number"),
        ({"applies_to": {"versions": {"mysql": "<eight"}}}, r"line \d+: applies_to.versions.mysql: '<eight' does not match"),
        ({"sources": []}, r"line \d+: sources: \[\] "),
    ],
)
def test_a_broken_rule_names_file_line_and_fault(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(UserError, match=message) as caught:
        load_rule(path)
    assert str(path) in str(caught.value)


def test_other_faults_of_rule_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be the same"):
        load_rule(write(tmp_path, "another-name"))
    (tmp_path / "another-name.yaml").write_text("id: [\n")
    with pytest.raises(UserError, match="line 2: not valid YAML"):
        load_rule(tmp_path / "another-name.yaml")
    with pytest.raises(UserError, match="does not exist"):
        load_rules([tmp_path / "gone"])
    with pytest.raises(UserError, match=r"cannot be read: File name too long\. Check"):
        load_rules([tmp_path / ("x" * 300)])
    with pytest.raises(UserError, match=r"cannot be read: .*embedded null (byte|character)"):
        load_rules([tmp_path / "a\0b"])
    with pytest.raises(UserError, match=r"another-name.yaml is not a directory\. Check --rules"):
        load_rules([tmp_path / "another-name.yaml"])
    (tmp_path / "another-name.yaml").unlink()
    other = tmp_path / "other"
    other.mkdir()
    write(tmp_path)
    write(other)
    with pytest.raises(UserError, match="taken by"):
        load_rules([tmp_path, other])


def test_a_directory_that_may_not_be_read_is_not_one_without_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service's user may go there and not list it: all of the site's rules were gone, without a word."""
    write(tmp_path)

    def refused(path: object) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refused)
    with pytest.raises(UserError, match=f"{tmp_path} cannot be read: Permission denied. Check its permissions"):
        load_rules([tmp_path])


def test_a_rule_ends_in_one_of_four_ways(tmp_path: Path) -> None:
    assert outcome(tmp_path).findings[0].message == "One is 1."
    assert outcome(tmp_path, query="SELECT 1 AS one WHERE 0").quiet == ["own-rule"]
    missing = outcome(tmp_path, needs=["host.cpu_count"]).not_evaluated[0]
    assert missing.needs == "host.cpu_count (not in the facts file)"
    undecided = outcome(tmp_path, query="SELECT NULL AS verdict, 'more light' AS needs, 'a lamp' AS how, 1 AS one").not_evaluated[0]
    assert (undecided.needs, undecided.how) == ("more light", "a lamp")
    elsewhere = outcome(tmp_path, {"server": {"version": "9.7.4"}}, applies_to={"versions": {"mysql": "<8.0"}, "otherwise": "gone in 8.0"})
    assert elsewhere.not_applicable[0].why == "gone in 8.0"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": "SELECT no_such_fact FROM host"}, "unknown fact"),
        ({"query": "DELETE FROM host"}, "may only read"),
        ({"applicable": [{"when": "SELECT no_such_fact FROM host", "otherwise": "never"}]}, "unknown fact"),
        ({"query": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS one FROM n"}, "longer than|recursive"),
        ({"finding": "{{ two }}"}, "'two' is undefined"),
        ({"finding": "{{ one | nofilter }}"}, "nofilter"),
        ({"finding": "{{ one.__class__.__mro__ }}"}, "unsafe|undefined"),
        ({"finding": "{{ 1 // 0 }}"}, "zero"),
        ({"not_if": [{"when": "SELECT no_such_fact FROM host", "because": "no"}]}, "unknown fact"),
        ({"not_if": [{"when": "SELECT 1", "because": "{{ two }}"}]}, "'two' is undefined"),
        ({"details": ["SELECT no_such_fact FROM host"]}, "unknown fact"),
        ({"query": "SELECT NULL AS verdict, 1 AS one", "undecided": {"needs": "{{ two }}"}}, "'two' is undefined"),
        ({"needs": ["nowhere.column"]}, "there is no nowhere.column"),
        ({"needs": ["host.no_such_column"]}, "there is no host.no_such_column"),
        ({"planner": "no_such_planner"}, "no_such_planner"),
        ({"planner": "key_cache_layout"}, "key_cache_layout failed"),
    ],
)
def test_a_rule_at_fault_is_not_evaluated_and_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    judgement = outcome(tmp_path, **changes)
    assert judgement.findings == []
    (fault,) = judgement.not_evaluated
    assert fault.rule == "own-rule"
    assert any(word in fault.needs for word in message.split("|"))


def test_a_second_sign_silences_what_it_speaks_of(tmp_path: Path) -> None:
    busy = "SELECT 1 FROM host WHERE io_pressure_some_ratio < :low_pressure"
    low = {"low_pressure": {"default": 0.05, "unit": "ratio", "why": "so"}}
    calm = {"not_if": [{"when": busy, "because": "nobody waits below {{ low_pressure | percent }}"}], "parameters": low}
    silenced = outcome(tmp_path, {"host": {"io_pressure_some_ratio": 0.01}}, **calm)
    assert (silenced.findings, silenced.quiet) == ([], ["own-rule"])
    assert [(one.rule, one.why, one.contradicted) for one in silenced.dropped] == [("own-rule", "nobody waits below 5 %", True)]
    for facts in ({"host": {"io_pressure_some_ratio": 0.5}}, {"host": {"cpu_count": 4}}, {}):
        assert outcome(tmp_path, facts, **calm).findings, "what is unknown contradicts nothing"
    # It says no to what could not be judged too, and stays unasked where nothing was found.
    undecided = {"query": "SELECT NULL AS verdict, 'more light' AS needs, 1 AS one"}
    assert outcome(tmp_path, {"host": {"io_pressure_some_ratio": 0.01}}, **calm, **undecided).quiet == ["own-rule"]
    assert outcome(tmp_path, query="SELECT 1 AS one WHERE 0", not_if=[{"when": "SELECT no_such_fact", "because": "no"}]).quiet == ["own-rule"]


def test_a_second_sign_may_speak_of_one_thing(tmp_path: Path) -> None:
    facts = {"tables": [{"schema_name": "a", "table_name": name, "rows": rows} for name, rows in (("b", 0), ("c`d", 0), ("e", 9))]}
    query = "SELECT schema_name, table_name, 1 AS one, iif(table_name = 'b', 'confirmed', 'suspected') AS confidence FROM tables"
    of_tables = {"when": "SELECT schema_name, table_name FROM tables WHERE rows = 0", "because": "{{ object }} is empty"}
    judged = outcome(tmp_path, facts, query=query, scope="table", not_if=[of_tables])
    assert [finding.object for finding in judged.findings] == ["a.e"]
    assert {one.why for one in judged.dropped} == {"a.b is empty", "a.`c``d` is empty"}
    assert judged.quiet == []
    of_suspicions = {"when": "SELECT 'suspected' AS confidence", "because": "it is known better"}
    assert [finding.object for finding in outcome(tmp_path, facts, query=query, scope="table", not_if=[of_suspicions]).findings] == ["a.b"]
    by_name = {"when": "SELECT 'one' AS object", "because": "no"}
    caches = "SELECT column1 AS object, 1 AS one FROM (VALUES ('one'), ('two'))"
    assert [finding.object for finding in outcome(tmp_path, query=caches, scope="key_cache", not_if=[by_name]).findings] == ["two"]


def test_a_rule_that_returns_a_million_rows_is_bounded(tmp_path: Path) -> None:
    many = "WITH n(i) AS (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 0)"
    judgement = outcome(tmp_path, query=f"{many} SELECT a.i AS one, a.i || b.i || c.i || d.i AS object FROM n a, n b, n c, n d, n e, n f")
    assert 0 < len(judgement.findings) <= 1000


def test_names_in_commands_are_quoted_and_in_texts_printable(tmp_path: Path) -> None:
    facts = {"tables": [{"schema_name": "a/b", "table_name": "x`\n\x1b[31m<script>"}]}
    judgement = outcome(
        tmp_path, facts, scope="table", query="SELECT schema_name, table_name FROM tables", finding="{{ object }} {{ table_name }}", commands=["CHECK TABLE {{ schema_name | identifier }}.{{ table_name | identifier }};"]
    )
    finding = judgement.findings[0]
    assert finding.commands == ("CHECK TABLE `a/b`.`x``\n\x1b[31m<script>`;",)
    assert "\x1b" not in finding.message
    assert "\\x1b[31m<script>" in finding.message


@pytest.mark.parametrize(("number", "wanted", "fits"), [(50624, "<8.0", True), (80000, "<8.0", False), (101119, ">=10.4,<11", True), (110806, ">=10.4,<11", False), (50709, ">=5.7.9", True), (50708, ">=5.7.9", False)])
def test_version_conditions_hold_above_and_below_their_edge(number: int, wanted: str, fits: bool) -> None:
    assert version_matches(number, wanted) is fits


def test_explanations_list_every_rule() -> None:
    assert [line.split()[0] for line in list_rules(RULES).splitlines()] == [rule.id for rule in RULES]
    with pytest.raises(UserError, match="no rule 'nonsense'"):
        explain_rule("nonsense", RULES)


@pytest.mark.parametrize(
    "text",
    [
        "{% for letter in 'abc' %}{{ letter }}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ 'x' | center(1000000000) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ range(10) }}",
        "{% include 'rules.py' %}",
    ],
)
def test_a_text_that_could_run_without_end_is_refused(tmp_path: Path, text: str) -> None:
    (fault,) = outcome(tmp_path, finding=text).not_evaluated
    assert fault.rule == "own-rule"
    assert "a text may not" in fault.needs


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH DATABASE '/tmp/x.db' AS x", "PRAGMA database_list", "SELECT load_extension('x')", "SELECT * FROM sqlite_master", "SELECT 1; SELECT 2", "",
        "CREATE TABLE x (a)", "SELECT printf('%.*c', 900000000, 'x') AS one", "SELECT no_such_function() AS one",
    ],
)  # fmt: skip
def test_a_query_that_writes_attaches_or_calls_out_is_not_evaluated(tmp_path: Path, query: str) -> None:
    (fault,) = outcome(tmp_path, query=query or " ").not_evaluated
    assert fault.rule == "own-rule"
    assert "a query that works" in fault.needs
    assert str(tmp_path) in fault.how


def test_division_by_zero_is_unknown_and_not_a_finding(tmp_path: Path) -> None:
    assert outcome(tmp_path, query="SELECT 1 AS one WHERE 1 / 0 > 5").quiet == ["own-rule"]
    assert outcome(tmp_path, query="SELECT 1 AS one, 1 / 0 AS verdict").not_evaluated


@pytest.mark.parametrize(("default", "unit", "message"), [(20, "ratio", "is not a ratio"), (-1, "rows", "out of range"), (1e30, "bytes", "out of range")])
def test_own_parameters_must_fit_their_unit(tmp_path: Path, default: float, unit: str, message: str) -> None:
    with pytest.raises(UserError, match=rf"line \d+: parameters.p.default: .*{message}"):
        load_rule(write(tmp_path, parameters={"p": {"default": default, "unit": unit, "why": "because"}}))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_shipped_parameters_fit_their_unit_and_say_why(rule: Any) -> None:
    for parameter in rule.parameters.values():
        assert threshold_value(parameter.default, parameter.unit) == parameter.default
        assert parameter.why.endswith((".", "\"", ")"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_a_page_and_an_explanation_that_tell_everything(rule: Any) -> None:
    path = ROOT / "docs" / "reference" / "rules" / f"{rule.id}.md"
    assert path.exists(), "run script/generate-docs"
    page = path.read_text("utf-8")
    explained = explain_rule(rule.id, RULES)
    for heading in ("What it says", "Why", "What to do", "What it costs", "How to undo it", "How to verify it", "When it is wrong", "Where it applies", "Sources"):
        assert heading in page
        assert heading in explained
    assert all(source in page for source in rule.sources)
    assert all(name in page and name in explained for name in rule.parameters)
    assert not re.search(r"\{[{%]", page.replace("```", ""))


def test_mooted_rules_exist() -> None:
    known = {rule.id for rule in RULES} | {"*"}
    assert all(set(rule.moots) | set(rule.plans_after) <= known for rule in RULES)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1, "tables", "1 table"), (2, "tables", "2 tables"), (1, "hot tables", "1 hot table"), (1, "indexes", "1 index"), (1, "caches of size 0", "1 cache of size 0"),
        (1, "channels", "1 channel"), (1, "nodes", "1 node"), (1, "days", "1 day"), (1, "statements since start", "1 statement since start"), (1, "requests", "1 request"),
        (1, "times all indexes", "1 times all indexes"), (1, "misses per second", "1 misses per second"), (0.5, "ratio", "50 %"), (None, "tables", "unknown"),
    ],
)  # fmt: skip
def test_values_are_shown_with_their_unit(value: float | None, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_in_a_few_words_what_to_do(rule: Any) -> None:
    for words in outline(rule.to_do, "").split(" / "):
        assert 0 < len(words) <= 60
        # What is filled in stands as three dots.
        assert not words.endswith(".") or words.endswith(" = ...")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_all_evidence_has_a_name_for_people(rule: Any) -> None:
    labels = [label_of(evidence) for evidence in rule.evidence]
    assert len(set(labels)) == len(labels), "two facts of one name"
    for evidence, label in zip(rule.evidence, labels, strict=True):
        named = evidence.fact.startswith("variable.") or label != evidence.fact
        assert named, f"{evidence.fact} has no label: give it one here, or in catalogue/fact_labels.py for all rules"
        # A fact shown under another unit than its name has is another thing: how many, how much of something.
        if evidence.fact.endswith("per_second") and "per second" not in evidence.unit:
            assert evidence.label, f"{evidence.value} ({evidence.unit}) is not {evidence.fact}: give it a label"


def test_each_name_is_that_of_a_fact_that_is_shown() -> None:
    shown = {evidence.fact for rule in RULES for evidence in rule.evidence if not evidence.label}
    assert set(LABELS) - shown == set(), "no rule shows these: take them out of catalogue/fact_labels.py"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_330_039, "per second", "1.33 million/s"), (48_095.3, "per second", "48,100/s"), (999_950, "per second", "1 million/s"), (12.345, "per second", "12.3/s"), (0.5, "per second", "0.5/s"),
        (7, "per second", "7/s"), (5230.4, "per second and core", "5,230/s"), (2_500_000_000, "rows", "2.5 billion rows"), (999_999, "tables", "999,999 tables"),
        (0.00083, "seconds per second", "0.83 ms/s"), (2.55, "seconds per second", "2.55 s/s"), (101119, "version", "10.11.19"), (1, "per statement", "1 per statement"), (4096, "tables", "4,096 tables"),
    ],
)  # fmt: skip
def test_what_is_measured_has_three_digits_and_what_is_counted_all(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_others_gained_is_for_explain_alone(rule: Any) -> None:
    assert "ublished" not in rule.expect
    if rule.measured:
        assert not re.search(r"\d\.\d+ (to \d|times)", rule.expect), "the figures that were measured are quoted for the server that is judged"
    if rule.published:
        assert " ".join(rule.published.split()) in " ".join(explain_rule(rule.id, RULES).split())
