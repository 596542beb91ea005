"""Each adviser's own words, as it printed them on servers of ours, as changes and sentences."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.advice.advisers import myisam_advisor, phpmyadmin, pt_variable_advisor
from benchmarks.advice.model import Advice
from benchmarks.advice.mysqltuner import Report, advice_of, report_in
from benchmarks.advice.programs import advice, defaults_in, output_of, shown
from benchmarks.advice.vague import Known
from myisam_advisor.errors import TrialError
from tests.support.repository import ROOT

RECORDED = Path(__file__).with_name("recorded")
ADVISERS = ROOT / "benchmarks" / "advice" / "advisers"
KNOWN = Known(
    {
        "sort_buffer_size": "2097152", "read_rnd_buffer_size": "262144", "join_buffer_size": "262144", "key_buffer_size": "1048576", "query_cache_size": "8388608",
        "query_cache_limit": "1048576", "query_cache_min_res_unit": "4096", "long_query_time": "10.000000", "innodb_print_all_deadlocks": "OFF",
        "innodb_status_output_locks": "OFF", "log_warnings": "1", "slave_net_timeout": "3600", "myisam_recover_options": "OFF",
    },
    {"sort_buffer_size": "262144"},
)  # fmt: skip


def recorded(name: str) -> str:
    return (RECORDED / name).read_text(encoding="utf-8")


def settings(said: Advice) -> dict[str | None, str | None]:
    return {change.variable: change.value for change in said.changes if change.statement is None}


def test_every_file_of_the_folder_is_an_adviser_of_its_own_name() -> None:
    found = [importlib.import_module(f"benchmarks.advice.advisers.{path.stem}").ADVISER for path in ADVISERS.glob("*.py") if path.stem != "__init__"]
    assert len({one.name for one in found}) == len(found) >= 5
    assert all(one.why_not() is None or isinstance(one.why_not(), str) for one in found)


def test_one_that_was_not_fetched_says_how_it_can_be_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MYISAM_ADVISOR_SERVERS", str(tmp_path))
    monkeypatch.setattr("benchmarks.advice.mysqltuner._path", lambda: str(tmp_path))
    for name, remedy in (
        ("phpmyadmin", "script/servers phpmyadmin"), ("pt_variable_advisor", "script/servers percona-toolkit"), ("mysqltuner", "script/servers mysqltuner"),
    ):  # fmt: skip
        assert remedy in str(importlib.import_module(f"benchmarks.advice.advisers.{name}").ADVISER.why_not())


def test_mysqltuner_of_debian_12() -> None:
    said = advice_of("mysqltuner", report_in(recorded("mysqltuner-1.9.9.txt")), KNOWN)
    assert said.version == "1.9.9"
    assert settings(said) == {
        "query_cache_size": "0", "query_cache_type": "0", "query_cache_limit": "2097152", "sort_buffer_size": "4194304", "read_rnd_buffer_size": "524288",
        "performance_schema": "ON", "key_buffer_size": "8388608", "innodb_log_file_size": "4194304",
    }  # fmt: skip
    assert "Key buffer size / total MyISAM indexes: 1.0M/4.3M" in said.named
    assert "Upgrade as soon as possible to a supported version !" in said.named


def test_the_newest_mysqltuner_and_its_request_to_convert_tables() -> None:
    said = advice_of("mysqltuner-newest", report_in(recorded("mysqltuner-2.9.3.txt")), KNOWN)
    assert said.version == "2.9.3"
    assert settings(said) == {
        "sort_buffer_size": "4194304", "read_rnd_buffer_size": "524288", "join_buffer_size": "524288", "key_buffer_size": "8388608", "innodb_snapshot_isolation": "ON",
        "innodb_flush_neighbors": "0", "innodb_io_capacity": "2000", "innodb_print_all_deadlocks": "ON", "innodb_status_output_locks": "ON",
    }  # fmt: skip
    assert [change.statement for change in said.changes if change.statement] == ["ALTER TABLE `shop`.`t` ENGINE=InnoDB"]
    assert "Enable the slow query log to troubleshoot bad queries" in said.named


def test_statements_that_mysqltuner_lists_are_one_change_and_thousands_are_thousands() -> None:
    lines = tuple(f"OPTIMIZE TABLE `a`.`t{number}`; -- can free 200 MB" for number in range(2))
    report = Report("1.9.9", ("key_buffer_size (~ 5M)", "key_buffer_size (~ 1B)"), ("Run OPTIMIZE TABLE to defragment tables", *lines), (), ())
    said = advice_of("mysqltuner", report, KNOWN)
    assert [change.value or change.statement for change in said.changes] == ["5000000", "1000000000", "OPTIMIZE TABLE `a`.`t0`;\nOPTIMIZE TABLE `a`.`t1`"]
    assert said.named == ("Run OPTIMIZE TABLE to defragment tables",)


def test_pt_variable_advisor() -> None:
    said = pt_variable_advisor.advice_of(recorded("pt-variable-advisor-3.2.1.txt"), "3.2.1", KNOWN)
    assert settings(said) == {"log_warnings": "2", "slave_net_timeout": "60", "sort_buffer_size": "262144", "myisam_recover_options": "BACKUP,FORCE"}
    assert {change.severity for change in said.changes} == {"note", "warn"}
    assert [sentence.partition(":")[0] for sentence in said.named] == ["delay_key_write", "port", "innodb_data_file_path", "log_bin"]


def test_pt_variable_advisor_is_given_variables_a_line_each() -> None:
    assert pt_variable_advisor.listed({"a": "1\n2\t\\"}) == "Variable_name\tValue\na\t1\\n2\\t\\\\\n"


def test_phpmyadmin() -> None:
    said = phpmyadmin.advice_of(recorded("phpmyadmin-5.2.1.json"), "5.2.1", KNOWN)
    assert [(change.variable, change.value) for change in said.changes] == [
        ("long_query_time", "20"), ("long_query_time", "5"), ("sort_buffer_size", "4194304"), ("read_rnd_buffer_size", "524288"), ("key_buffer_size", "2097152"),
    ]  # fmt: skip
    assert [sentence.partition(":")[0] for sentence in said.named] == ["Sort rows"]
    assert not any("<" in change.said for change in said.changes)


def test_what_phpmyadmin_is_given_has_the_version_as_it_counts_it() -> None:
    given = phpmyadmin.facts({}, {"version": "10.11.6-MariaDB-0+deb12u1"})
    assert (given["version"], given["is_mariadb"]) == (101106, True)


def test_ours_by_what_its_findings_would_have_one_run() -> None:
    said = myisam_advisor.advice_of((ROOT / "tests/recorded/golden/mysql-9.7/check.json").read_text(encoding="utf-8"))
    assert settings(said) == {"table_open_cache": "400", "myisam_recover_options": "BACKUP,QUICK"}
    statements = [change.statement for change in said.changes if change.statement]
    assert statements == ["FLUSH TABLES `archive`.`broken`;\nCHECK TABLE `archive`.`broken`;\nREPAIR TABLE `archive`.`broken`"]
    assert [sentence.partition(":")[0] for sentence in said.named] == ["table-lock-contention [warning]"]


def test_a_named_cache_goes_with_the_statements_that_fill_it() -> None:
    finding: dict[str, Any] = {
        "rule": "key-cache-contention", "severity": "warning", "message": "Two tables.", "my_cnf": ["key_cache_segments = 8", "hot.key_buffer_size = 64M"],
        "commands": ["SET GLOBAL hot.key_buffer_size = 67108864;", "CACHE INDEX `a`.`t` IN hot;", "-- a remark"], "offered_commands": [],
    }  # fmt: skip
    first, second = myisam_advisor.changes_of(finding)
    assert first.statement == "SET GLOBAL hot.key_buffer_size = 67108864;\nCACHE INDEX `a`.`t` IN hot"
    assert (second.variable, second.value) == ("key_cache_segments", "8")


def test_locks_around_a_variable_are_no_change_of_their_own() -> None:
    finding = {
        "rule": "key-cache-contention", "severity": "warning", "message": "said", "my_cnf": ["key_cache_segments = 8"],
        "commands": ["LOCK TABLES `a`.`b` WRITE;", "SET GLOBAL key_cache_segments = 8;", "UNLOCK TABLES;"], "offered_commands": [],
    }  # fmt: skip
    (found,) = myisam_advisor.changes_of(finding)
    assert (found.variable, found.value, found.statement) == ("key_cache_segments", "8", None)


@pytest.mark.parametrize("text", ["", "Traceback ...", "{}", "[1]"])
def test_programs_that_print_something_else_are_told_so(text: str) -> None:
    for read in (myisam_advisor.advice_of, lambda text: phpmyadmin.advice_of(text, "1", KNOWN)):
        with pytest.raises(TrialError, match="printed no re"):
            read(text)


def test_texts_from_outside_are_bounded_and_nothing_unseen_stays_in_them() -> None:
    assert shown("a\x1b[31mred\x1b[0m\u202e\nb" + "x" * 1000).startswith("ared\\u202e b")
    assert len(shown("x" * 10_000)) == 500
    assert len(advice("a", "1", [], map(str, range(10_000))).named) == 300


def test_programs_that_fail_or_print_without_end_are_ended() -> None:
    with pytest.raises(TrialError, match="ends with 3: no"):
        output_of([sys.executable, "-c", "print('no'); raise SystemExit(3)"])
    with pytest.raises(TrialError, match="prints more than"):
        output_of([sys.executable, "-c", "while True: print('x' * 1000)"])
    with pytest.raises(TrialError, match="ends with -9"):
        output_of([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)


def test_defaults_are_those_of_the_table_at_the_end_of_a_servers_help() -> None:
    text = "sort-buffer-size  9\n---------------- ------------\nsort-buffer-size    2097152\ndatadir    (No default value)\nfeedback-url   http://x\n\nTo see"
    assert defaults_in(text) == {"sort_buffer_size": "2097152", "feedback_url": "http://x"}
