"""Scenarios of `script/bench advice`: the reader is strict, and every scenario that there is makes sense."""

from pathlib import Path

import pytest

from benchmarks.advice.loads import Sent
from benchmarks.advice.made_tables import MadeTable
from benchmarks.advice.scenarios import FAULT, HEALTHY, KINDS, LOOK_ALIKE, Scenario, all_scenarios, read_scenario
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_exporter.errors import UserError

SCENARIOS = all_scenarios()
LOAD = "load: {statements: {of: {'SELECT {number:1:9}': 1}}}\n"
GOOD = f"group: key cache\nfault: Something is wrong here.\nnamed_by: {{rules: [key-buffer-too-small]}}\n{LOAD}"


def read(folder: Path, text: str) -> Scenario:
    path = folder / "one.yaml"
    path.write_text(text)
    return read_scenario(path)


def test_a_scenario_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD + "options: {key_buffer_size: 1M, loose_query_cache_size: 0}\nmemory: 64M\nsearch: {key_buffer_size: {from: 1M, to: 5M}, concurrent_insert: [0, 2]}\n")
    assert (found.name, found.kind, found.what, found.group) == ("one", FAULT, "Something is wrong here.", "key cache")
    assert found.options == ("--key-buffer-size=1M", "--loose-query-cache-size=0")
    assert found.named_by.rules == ("key-buffer-too-small",)
    assert found.search == {"key_buffer_size": ("1048576", "2097152", "4194304"), "concurrent_insert": ("0", "2")}
    assert found.needs == ("sysbench", "control group memory")
    assert found.memory_bytes == 64 << 20


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD + "optoins: {}\n", "optoins"),
        (GOOD.replace("key cache", "key cash"), "line 1: group"),
        (GOOD + "healthy: Nothing is wrong.\n", "exactly one of"),
        (GOOD.replace("named_by: {rules: [key-buffer-too-small]}\n", ""), "named_by is wanted"),
        (GOOD.replace(LOAD, "load: {}\n"), "load"),
        (GOOD.replace(LOAD, LOAD.strip() + "\nservers: [mysql-4.1]\n"), "servers"),
        (GOOD + "tables: [{name: t, rows: 1, colums: {}}]\n", "tables.0"),
        (GOOD + "memory: much\n", "memory"),
        (GOOD.replace("statements:", "sysbench: {script: oltp_point_select}, statements:"), "load"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(UserError, match=fault):
        read(tmp_path, text)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_every_scenario_names_rules_that_exist(scenario: Scenario) -> None:
    assert set(scenario.named_by.rules) <= {rule.id for rule in shipped_rules()}
    assert scenario.kind in KINDS
    tables = [table.name for table in scenario.tables]
    assert len(tables) == len(set(tables))
    for table in scenario.tables:
        assert set(table.values) <= set(table.columns), "values of columns that there are not"
        assert not any("MD5(" in value.upper() for value in table.values.values()), "MySQL 9.6 and later have no MD5()"


def test_the_short_run_has_twelve() -> None:
    short = [one for one in SCENARIOS if one.short]
    assert len(short) == 12, "they share ten minutes: a new scenario is not `short`"
    assert all("mariadb-10.11" in one.servers and not one.reads_per_second for one in short)
    assert {one.kind for one in short} == {FAULT, HEALTHY, LOOK_ALIKE}


def test_a_third_is_healthy_or_looks_alike() -> None:
    assert sum(one.kind != FAULT for one in SCENARIOS) >= len(SCENARIOS) / 3


def test_the_same_number_draws_the_same_statements() -> None:
    load = Sent({"SELECT {number:1:1000}": 3, "SELECT '{hash:5:5}', {hot:10:20}": 1})
    assert load.statements(50, "3 1") == load.statements(50, "3 1") != load.statements(50, "4 1")
    text = b"\n".join(load.statements(50, "3 1"))
    assert b"{" not in text
    assert b"'ef2d127de37b942baad06145e54b0c61'" in text  # the beginning of SHA-256 of 5, FIPS 180-4


def test_a_table_is_described_as_it_is_made() -> None:
    table = MadeTable("t", 5, {"id": "INT UNSIGNED AUTO_INCREMENT", "word": "VARCHAR(20) NULL"}, ["PRIMARY KEY (id)", "KEY word (word(5))"])
    assert table.statement.startswith("CREATE TABLE made.t (id INT UNSIGNED AUTO_INCREMENT NOT NULL, word VARCHAR(20) NULL, PRIMARY KEY (id), KEY word (word(5)))")
    described = table.description
    assert described["columns"] == [
        {"name": "id", "type": "int unsigned", "nullable": False, "extra": "auto_increment"},
        {"name": "word", "type": "varchar(20)", "nullable": True, "extra": ""},
    ]
    assert described["indexes"] == [{"unique": True, "columns": [{"name": "id"}]}, {"unique": False, "columns": [{"name": "word"}]}]
