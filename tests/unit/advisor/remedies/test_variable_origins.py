"""What lines of my.cnf say of where the option stands now, what wins over them, and how they are taken back."""

import json
from typing import Any

import pytest

from myisam_advisor.changes.formats.base import option_file_text
from myisam_advisor.changes.formats.json import render
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.anonymous import anonymised
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.hosting import IN_PARAMETER_GROUP, IN_PARAMETER_GROUP_BACK
from myisam_advisor.remedies.gate import PERSISTED_WINS
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.variable_origins import FITTED_AT_START, MY_CNF_BACK
from myisam_advisor.reports.page.host_paths import document_without_paths
from myisam_advisor.reports.page.view import cleaner
from tests.rules.test_cases import CASES
from tests.support.judging import judged_facts

from .test_remedy_gate import admitted, merged

LINE = option_line("key_buffer_size", 9)
MYSQL = {"flavour": "mysql", "version": "9.7.4"}
FILE = "/etc/mysql/conf.d/a b.cnf"
SIZE = {"key_buffer_size": 8388608}


def row(origin: str | None, option_file: str | None = None, is_persisted: int | None = 0, name: str = "key_buffer_size") -> dict[str, Any]:
    return {"name": name, "origin": origin, "option_file": option_file, "is_persisted": is_persisted}


@pytest.mark.parametrize(
    ("rows", "remark", "back"),
    [
        ([row("option_file", FILE)], f"# key_buffer_size stands in {FILE}: change it there", f"Put key_buffer_size = 8388608 back into {FILE}."),
        ([row("command_line")], "# --key_buffer_size on the server's command line wins over this line: change it there", "Put --key_buffer_size=8388608 back on the server's command line."),
        ([row("command_line", is_persisted=1)], "# --key_buffer_size on the server's command line wins over this line: change it there", "Put --key_buffer_size=8388608 back on the server's command line."),
        ([row("persisted", is_persisted=1)], "# SET PERSIST wrote key_buffer_size, which wins over this line: RESET PERSIST key_buffer_size;", "Write key_buffer_size = 8388608 with SET PERSIST_ONLY again."),
        ([row("run_time"), row("default", None, 1, "default.key_buffer_size")], "# SET PERSIST wrote default.key_buffer_size, which wins over this line: RESET PERSIST `default`.key_buffer_size;", MY_CNF_BACK),
        ([row("command_line"), row("default", None, 1, "default.key_buffer_size")], "# --key_buffer_size on the server's command line wins over this line: change it there", "Put --key_buffer_size=8388608 back on the server's command line."),
        ([row("run_time")], None, MY_CNF_BACK),
        ([row("automatic")], None, MY_CNF_BACK),
        ([row(None)], None, MY_CNF_BACK),
        ([row("option_file")], None, MY_CNF_BACK),
        # Other variables have rows, this one its default.
        ([row("option_file", FILE, name="sort_buffer_size")], None, "Remove key_buffer_size from my.cnf: it had its default."),
        ([], None, MY_CNF_BACK),
    ],
)  # fmt: skip
def test_each_origin(rows: list[dict[str, Any]], remark: str | None, back: str) -> None:
    found = admitted(my_cnf=(LINE,), server=MYSQL, variable=SIZE, variable_origin=rows)
    assert [str(line) for line in found.remedy.my_cnf] == [*([remark] if remark else []), str(LINE)]
    assert found.my_cnf_undo == back


@pytest.mark.parametrize(
    ("origin", "back"),
    [
        (row("command_line", name="delay_key_write"), "Put --delay_key_write=ALL back on the server's command line."),
        (row("option_file", "/etc/my.cnf.d/x.cnf", name="delay_key_write"), "Put delay_key_write = ALL back into /etc/my.cnf.d/x.cnf."),
    ],
)  # fmt: skip
def test_a_rule_leaves_it_to_the_origin_where_its_line_is_put_back(origin: dict[str, Any], back: str) -> None:
    """A container has its values on the command line: "the same in my.cnf" would have no effect there."""
    case = next(case["facts"] for rule, case in CASES if rule == "delay-key-write" and "undoes" in case["expect"])
    facts = merged({"schema": 1, **case}, {"variable_origin": [origin]})
    (found,) = (one for one in judged_facts(facts_from_document(facts)).findings if one.rule == "delay-key-write")
    assert found.undo.splitlines()[0] == "SET GLOBAL delay_key_write = ALL;"
    assert found.undo.endswith(f"\n{back}")


def test_what_set_persist_wrote_of_a_named_key_cache_is_reset_by_its_quoted_name() -> None:
    line = option_line("key_buffer_size", 9, "hot-1")
    (remark, _) = admitted(my_cnf=(line,), server=MYSQL, variable_origin=[row("default", None, 1, "hot-1.key_buffer_size")]).remedy.my_cnf
    assert remark == "# SET PERSIST wrote hot-1.key_buffer_size, which wins over this line: RESET PERSIST `hot-1`.key_buffer_size;"


def test_mysqld_safe_passes_one_option_of_the_file_on() -> None:
    line = option_line("open_files_limit", 4096)
    (remark, _) = admitted(my_cnf=(line,), server=MYSQL, variable={"open_files_limit": 1024}, variable_origin=[row("command_line", name="open_files_limit")]).remedy.my_cnf
    assert remark == "# --open_files_limit on the server's command line wins over this line, unless mysqld_safe took it from here"


def test_what_set_persist_may_have_written_is_told_only_while_nobody_knows() -> None:
    def charged(rows: list[dict[str, Any]]) -> bool:
        return PERSISTED_WINS in admitted(my_cnf=(LINE,), server=MYSQL, variable=SIZE, variable_origin=rows).cost

    assert PERSISTED_WINS in admitted(my_cnf=(LINE,), server=MYSQL, variable=SIZE).cost
    assert charged([])
    assert charged([row("option_file", FILE, None)])
    # A file of facts does not say what was refused: a row of another variable does.
    assert charged([row("run_time", None, None, "flush")])
    assert not charged([row("option_file", FILE)])
    assert not charged([row("run_time", name="sort_buffer_size")])


def test_a_value_that_no_option_file_can_hold_is_put_back_by_hand() -> None:
    odd = {"key_buffer_size": "a\nb"}
    assert admitted(my_cnf=(LINE,), server=MYSQL, variable=odd, variable_origin=[row("option_file", FILE)]).my_cnf_undo == MY_CNF_BACK


def test_a_name_of_a_file_steers_neither_terminal_nor_option_file() -> None:
    (remark, _) = admitted(my_cnf=(LINE,), server=MYSQL, variable=SIZE, variable_origin=[row("option_file", "/x\n[mysqld]\nflush=1\x1b[2J")]).remedy.my_cnf
    assert remark.startswith("# ")
    assert remark.isprintable()


@pytest.mark.parametrize("path", ["/x; SET GLOBAL general_log = 1; y", "/x\n/y", "/\x1b[2J", "/" + "y" * 5000])
def test_a_name_of_a_file_puts_no_statement_into_the_way_back(path: str) -> None:
    facts = merged(next(case["facts"] for rule, case in CASES if rule == "concurrent-insert-lock"), {"variable_origin": [row("option_file", path, name="concurrent_insert")]})
    (finding,) = [one for one in judged_facts(complete(facts_from_document({"schema": 1, **facts}))).findings if one.rule == "concurrent-insert-lock"]
    assert any("concurrent_insert stands in" in line for line in finding.my_cnf)
    assert MY_CNF_BACK in finding.undo
    assert path[:4] not in finding.undo


@pytest.mark.parametrize("name", sorted(FITTED_AT_START))
def test_what_mysql_fits_to_the_open_files_is_not_called_the_line_of_the_file(name: str) -> None:
    def back(flavour: str) -> Any:
        server = {"flavour": flavour, "version": "8.0.36"}
        return admitted(my_cnf=(option_line(name, 9),), server=server, variable={name: 543}, variable_origin=[row("option_file", FILE, name=name)]).my_cnf_undo

    assert back("mysql") == back("percona") == MY_CNF_BACK
    assert back("mariadb") == f"Put {name} = 543 back into {FILE}."


def test_amazon_writes_the_option_file_from_the_parameter_group() -> None:
    server = {**MYSQL, "data_directory": "/rdsdbdata/db/"}
    found = admitted(my_cnf=(LINE,), server=server, variable=SIZE, variable_origin=[row("option_file", "/rdsdbdata/config/my.cnf")])
    assert found.remedy.my_cnf == (LINE,)
    assert IN_PARAMETER_GROUP in found.cost
    assert found.my_cnf_undo == IN_PARAMETER_GROUP_BACK


def test_a_browser_is_shown_no_option_file() -> None:
    (remark, _) = admitted(my_cnf=(LINE,), server=MYSQL, variable=SIZE, variable_origin=[row("option_file", FILE)]).remedy.my_cnf
    in_words = "# key_buffer_size stands in an option file of the server's machine: change it there"
    assert [cleaner(None, paths)[1](remark) for paths in (True, False)] == [in_words, in_words]
    assert document_without_paths({"my_cnf": (remark,)}, None) == {"my_cnf": [in_words]}


def test_a_plan_has_the_remark_above_its_line_and_the_json_beside_it() -> None:
    facts = merged(next(case["facts"] for rule, case in CASES if rule == "recovery-disabled"), {"variable_origin": [row("option_file", FILE, name="myisam_recover_options")]})
    known = complete(facts_from_document({"schema": 1, **facts}))
    plan = make_plan(judged_facts(known).findings, known)
    lines = option_file_text(plan).splitlines()
    place = lines.index(f"# myisam_recover_options stands in {FILE}: change it there")
    assert lines[place - 1].startswith("# recovery-disabled; now:")
    assert lines[place + 1].startswith("myisam_recover_options = ")
    (setting,) = [one for one in json.loads(render(plan))["my_cnf"] if one["variable"] == "myisam_recover_options"]
    assert setting["remarks"] == [lines[place]]


def test_without_names_the_origin_stays_and_the_path_is_another() -> None:
    (shown,) = anonymised({"variable_origin": [row("option_file", FILE)]})["variable_origin"]
    assert (shown["name"], shown["origin"], shown["is_persisted"]) == ("key_buffer_size", "option_file", 0)
    assert "mysql" not in shown["option_file"]
    assert "a b" not in shown["option_file"]


@pytest.mark.parametrize(("name", "shown"), [("secret.key_buffer_size", "cache1.key_buffer_size"), ("a.b\nc.key_cache_block_size", "cache1.key_cache_block_size"), ("default.key_buffer_size", None), ("validate_password.policy", None), ("key_buffer_size", None)])
def test_without_names_a_key_cache_that_was_persisted_has_none(name: str, shown: str | None) -> None:
    assert anonymised({"variable_origin": [row("default", None, 1, name)]})["variable_origin"][0]["name"] == (shown or name)
