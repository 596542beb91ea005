"""The site's configuration: what it changes, and that every fault names file, line and remedy."""

import json
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from myisam_advisor.catalogue.configuration import load_site
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.explanation import explain_rule
from myisam_exporter.errors import UserError
from tests.support.program import run
from tests.support.rules import write as write_rule

TODAY = date(2026, 11, 21)
FACTS: dict[str, Any] = {
    "schema": 1,
    "variable": {"myisam_recover_options": "OFF"},
    "totals": {"myisam_tables": 3, "myisam_rows": 30, "myisam_data_bytes": 3000, "myisam_index_bytes": 300, "crashed_tables": 2, "compressed_tables": 1, "compressed_data_bytes": 900},
    "tables": [
        {"schema_name": "shop", "table_name": "orders", "row_format": "dynamic", "rows": 10, "data_bytes": 1000, "index_bytes": 100, "crashed": 1},
        {"schema_name": "old_shop", "table_name": "orders", "row_format": "compressed", "rows": 10, "data_bytes": 900, "index_bytes": 100, "crashed": 1},
        {"schema_name": "shop", "table_name": "users", "row_format": "fixed", "rows": 10, "data_bytes": 1100, "index_bytes": 100, "crashed": 0},
    ],
    "indexes": [{"schema_name": "old_shop", "table_name": "orders", "index_number": 1, "is_packed": 1}],
}


def site(folder: Path, text: str, *rule_folders: Path) -> Site:
    path = folder / "config.yaml"
    path.write_text(text, "utf-8")
    return load_site(path, rule_folders, TODAY)


def judged(folder: Path, text: str) -> Judgement:
    return judge(prepared(facts_from_document(FACTS), site(folder, text)))


def found(judgement: Judgement) -> set[tuple[str, str]]:
    return {(finding.rule, finding.object) for finding in judgement.findings}


def test_without_a_configuration_the_shipped_rules_hold(tmp_path: Path) -> None:
    assert site(tmp_path, "") == load_site(None, ())
    assert found(judged(tmp_path, "")) == {("recovery-disabled", ""), ("table-crashed", "shop.orders"), ("table-crashed", "old_shop.orders")}


def test_suppressions_hold_for_a_rule_or_an_object_until_their_last_day(tmp_path: Path) -> None:
    judgement = judged(
        tmp_path,
        "suppressions:\n"
        "  - {rule: recovery-disabled, reason: checked at start}\n"
        '  - {rule: table-crashed, object: "old_*", reason: being repaired, until: 2026-11-21}\n'
        '  - {rule: table-crashed, object: "shop.*", reason: over, until: 2026-11-20}\n',
    )
    assert found(judgement) == {("table-crashed", "shop.orders")}
    assert [(one.finding.rule, one.finding.object, one.reason, one.until) for one in judgement.suppressed] == [
        ("table-crashed", "old_shop.orders", "being repaired", "2026-11-21"),
        ("recovery-disabled", "", "checked at start", ""),
    ]
    (warning,) = judgement.warnings
    assert "table-crashed for shop.*" in warning
    assert "expired on 2026-11-20" in warning


def test_what_is_suppressed_makes_nothing_else_pointless(tmp_path: Path) -> None:
    facts = facts_from_document({"schema": 1, "variable": {"key_buffer_size": 134217728, "myisam_recover_options": "OFF"}, "totals": {"myisam_tables": 0, "crashed_tables": 0}})
    assert {finding.rule for finding in judge(prepared(facts, site(tmp_path, ""))).findings} == {"no-myisam"}
    silenced = judge(prepared(facts, site(tmp_path, "suppressions: [{rule: no-myisam, reason: known}]")))
    assert silenced.findings == []
    assert "recovery-disabled" in silenced.quiet


def test_ignored_schemas_are_left_out_of_tables_indexes_and_sums(tmp_path: Path) -> None:
    ignoring = site(tmp_path, 'ignored_schemas: ["old_*"]')
    facts = ignoring.without_ignored_schemas(facts_from_document(FACTS))
    assert facts.single("totals") | {"myisam_tables": 2, "myisam_rows": 20, "myisam_data_bytes": 2100, "myisam_index_bytes": 200, "crashed_tables": 1} == facts.single("totals")
    assert (facts.single("totals")["compressed_tables"], facts.single("totals")["compressed_data_bytes"]) == (0, 0)
    assert set(facts.tables["tables"].values("schema_name")) == {"shop"}
    assert not facts.tables["indexes"].rows
    assert found(judge(prepared(facts_from_document(FACTS), ignoring))) == {("recovery-disabled", ""), ("table-crashed", "shop.orders")}


@pytest.mark.parametrize(
    ("rule", "name", "value", "chosen"),
    [
        ("key-buffer-too-large", "minimum_excess_bytes", "1G", 1 << 30),
        ("key-buffer-too-large", "minimum_excess_bytes", "64 MiB", 64 << 20),
        ("key-buffer-too-large", "settled_seconds", "2h", 7200),
        ("io-bound-data", "minimum_iowait", "35%", 0.35),
        ("io-bound-data", "minimum_iowait", 0.4, 0.4),
        ("key-buffer-too-small", "minimum_misses_per_second", 200, 200),
        ("io-bound-data", "heavy_read_bytes_per_second", "40M", 40 << 20),
    ],
)
def test_thresholds_take_a_value_in_their_own_unit(tmp_path: Path, rule: str, name: str, value: object, chosen: float) -> None:
    configured = site(tmp_path, yaml.safe_dump({"thresholds": {rule: {name: value}}}))
    changed = next(one for one in configured.rules if one.id == rule)
    assert changed.values()[name] == pytest.approx(chosen)
    assert changed.parameters[name].shipped is not None
    assert f"(here; shipped: {changed.parameters[name].shipped})" in " ".join(explain_rule(rule, configured.rules).split())


def test_a_threshold_decides(tmp_path: Path) -> None:
    facts = facts_from_document({"schema": 1, "interval_seconds": 10, "status_per_second": {"Key_reads": 80}})
    assert judge(prepared(facts, site(tmp_path, ""))).findings
    assert not judge(prepared(facts, site(tmp_path, "thresholds: {key-buffer-too-small: {minimum_misses_per_second: 100}}"))).findings


def test_the_storage_moves_what_is_a_share_of_it(tmp_path: Path) -> None:
    facts = facts_from_document({"schema": 1, "interval_seconds": 10, "status_per_second": {"Key_reads": 80}})
    flash = site(tmp_path, "storage_reads_per_second: 10000")
    assert not judge(prepared(facts, flash)).findings
    moved = {rule.id: parameter.default for rule in flash.rules for parameter in rule.parameters.values() if parameter.storage_share}
    assert len(moved) == 8
    assert set(moved.values()) == {5000}
    assert "5000.0 misses per second (here; shipped: 50)" in " ".join(explain_rule("key-buffer-too-small", flash.rules).split())
    # What the site says of one threshold goes before what it says of all.
    own = site(tmp_path, "storage_reads_per_second: 10000\nthresholds: {key-buffer-too-small: {minimum_misses_per_second: 60}}")
    chosen = next(rule for rule in own.rules if rule.id == "key-buffer-too-small").parameters["minimum_misses_per_second"]
    assert (chosen.default, chosen.shipped) == (60, 50)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("storage_reads_per_second: 0", "0 is less than the minimum of 1"),
        ("storage_reads_per_second: fast", "'fast' is not a number"),
        ("thresholds: {io-bound-data: {minimum_iowait: 20}}", "line 1: thresholds.io-bound-data.minimum_iowait: 20 is not a ratio: write 0.2 or 20%"),
        ("thresholds:\n  io-bound-data:\n    minimum_iowait: 5min", "line 3: .*'5min' is not a ratio"),
        ("thresholds: {key-buffer-too-large: {minimum_excess_bytes: 5 apples}}", "'5 apples' is not a size"),
        ("thresholds: {key-buffer-too-large: {settled_seconds: 1 fortnight}}", "'1 fortnight' is not a duration"),
        ("thresholds: {key-buffer-too-small: {minimum_misses_per_second: 20%}}", "'20%' is not a plain number of misses per second"),
        ("thresholds: {key-buffer-too-small: {minimum_misses_per_second: -1}}", "out of range"),
        ("thresholds: {key-buffer-too-small: {minimum_misses_per_second: .nan}}", "out of range"),
        ("storage_reads_per_second: .nan", "storage_reads_per_second: nan is out of range"),
        ("storage_reads_per_second: .inf", "storage_reads_per_second: inf is out of range"),
        ("thresholds: {key-buffer-too-small: {minimum_misses_per_second: yes}}", "True is not a number or text"),
        ("thresholds: {key-buffer-too-small: {minimum_mises_per_second: 1}}", "key-buffer-too-small has no threshold 'minimum_mises_per_second'. Did you mean minimum_misses_per_second?"),
        ("thresholds: {key-buffer-to-small: {}}", "there is no rule 'key-buffer-to-small'. Did you mean key-buffer-too-small?"),
        ("suppressions: [{rule: table-crashed}]", "suppressions.0: the key reason is missing: write reason: and its value"),
        ("suppressions:\n  - {rule: mmap-size, reason: known}\n  - {rule: nonsense, reason: x}", "line 3: suppressions.1.rule: there is no rule 'nonsense'"),
        ("suppressions: [{rule: table-crashed, reason: x, until: 2026-13-01}]", "2026-13-01 is not a date"),
        ("suppressions: [{rule: table-crashed, reason: x, until: soon}]", "'soon' does not match"),
        ("colour: red", "line 1: there is no key 'colour'. Known are ignored_schemas, rules_directories, "),
        ("suppresions: []", "there is no key 'suppresions'. Did you mean suppressions?"),
        ("ignored_schemas: test", r"line 1: ignored_schemas: 'test' is not a list \(\[a, b\]\)"),
        ("[1, 2]", r"\[1, 2\] is not a mapping \(key: value\)"),
        ("suppressions: [", "line 2: not valid YAML"),
        ("rules_directories: [/nowhere/at/all]", "the rules directory /nowhere/at/all does not exist"),
        ("a: &a [*a, *a]\nb: *a", "line 1"),
        # What libyaml takes and PyYAML's own parser does not.
        ("suppressions:\n  - {rule: pack-k 2027-01-0?}", "line 2: suppressions.0"),
        ("!!python/object/apply:os.system [echo]", "not valid YAML"),
    ],
)  # fmt: skip
def test_every_fault_names_file_line_and_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        site(tmp_path, text)
    assert "/nowhere" in str(caught.value) or str(tmp_path / "config.yaml") in str(caught.value)


def test_a_file_that_was_named_must_be_there_and_readable(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the configuration"):
        load_site(tmp_path / "gone.yaml", ())
    (tmp_path / "latin.yaml").write_bytes(b"ignored_schemas: [\xff]")
    with pytest.raises(UserError, match="cannot read the configuration"):
        load_site(tmp_path / "latin.yaml", ())
    (tmp_path / "huge.yaml").write_text("# " + "x" * (1 << 21))
    with pytest.raises(UserError, match="larger than"):
        load_site(tmp_path / "huge.yaml", ())


def test_own_rules_beside_the_configuration_get_the_same_guard_rails(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    write_rule(rules)
    configured = site(tmp_path, "rules_directories: [rules]\nsuppressions: [{rule: own-rule, reason: mine}]")
    assert "own-rule" in {rule.id for rule in configured.rules}
    write_rule(rules, "mmap-size", id="mmap-size")
    with pytest.raises(UserError, match="the rule id mmap-size is taken by a shipped rule"):
        site(tmp_path, "rules_directories: [rules]")


def check(tmp_path: Path, *words: object) -> subprocess.CompletedProcess[str]:
    (tmp_path / "config.yaml").write_text("suppressions: [{rule: table-crashed, reason: \"being \\e[31mrepaired\"}, {rule: recovery-disabled, reason: old, until: 2020-01-01}]")
    return run("check", "--facts", "-", "--fail-on", "critical", "--config", tmp_path / "config.yaml", *words, stdin=json.dumps(FACTS))


def test_check_counts_what_is_suppressed_and_shows_it_when_asked(tmp_path: Path) -> None:
    quiet = check(tmp_path)
    assert quiet.returncode == 0
    assert "2 suppressed by the configuration: check --show-suppressed" in quiet.stdout
    assert "shop.orders" not in quiet.stdout
    assert "expired on 2020-01-01" in " ".join(quiet.stdout.split())
    shown = check(tmp_path, "--show-suppressed")
    assert shown.returncode == 0
    assert "critical table-crashed shop.orders" in shown.stdout
    assert "being \\x1b[31mrepaired" in shown.stdout
    document = json.loads(check(tmp_path, "--format", "json", "--show-suppressed").stdout)
    assert [one["finding"]["rule"] for one in document["suppressed"]] == ["table-crashed", "table-crashed"]
    assert document["warnings"]
    counted = json.loads(check(tmp_path, "--format", "json").stdout)
    assert (counted["suppressed_count"], counted["suppressed"]) == (2, [])
    nagios = check(tmp_path, "--format", "nagios", "--show-suppressed")
    assert nagios.returncode == 0
    assert "suppressed=2" in nagios.stdout
    assert "SUPPRESSED table-crashed shop.orders" in nagios.stdout


def test_what_is_ignored_is_not_counted_in_the_headline_either(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('ignored_schemas: ["old_*"]')
    done = run("check", "--facts", "-", "--config", tmp_path / "config.yaml", stdin=json.dumps(FACTS))
    assert "2 MyISAM tables" in done.stdout
    assert "old_shop" not in done.stdout


def test_a_faulty_configuration_ends_in_one_message_and_status_2(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("colour: red")
    for words in (["check", "--facts", "-"], ["explain"]):
        done = run(*words, "--config", tmp_path / "config.yaml", stdin="schema: 1\n")
        assert done.returncode == 2
        assert "config.yaml, line 1" in done.stderr
        assert "Traceback" not in done.stderr
    nagios = run("check", "--facts", "-", "--format", "nagios", "--config", tmp_path / "config.yaml", stdin="schema: 1\n")
    assert nagios.returncode == 3
    assert nagios.stdout.startswith("MYISAM UNKNOWN - ")
