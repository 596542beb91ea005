"""Plans from facts with hostile names: whatever a name holds, each form runs what it says and nothing else."""

import re
from functools import lru_cache
from time import time
from typing import Any

import pytest

from myisam_advisor.changes.formats.base import format_named
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.remedies.option_lines import OptionLine, comment_line, option_line
from myisam_advisor.remedies.script import ESCAPED, SQL_MARK, for_copying, in_comments, is_plain
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.remedies.statements.closing import LockTables, UnlockTables
from myisam_advisor.remedies.statements.tables import CheckTable
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.reports.page.look import look_at
from myisam_advisor.reports.page.view import view_of
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, statement
from tests.support.hostile import HARMLESS, NAMES, OPTION, findings_and_plan, hostile_plans, lines_of

LINE_ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
NO_FACTS = complete(facts_from_document({"schema": 1}))
KEY_CACHE: dict[str, Any] = {
    "server": {"flavour": "mariadb", "version": "10.11.19", "version_number": 101119},
    "host": {"memory_bytes": 8 << 30},
    "totals": {"myisam_index_bytes": 1_000_000},
}


@lru_cache(maxsize=1)
def plans() -> list[tuple[str, list[Finding], ChangePlan]]:
    return list(hostile_plans())


def with_cache(name: str) -> dict[str, Any]:
    return {**KEY_CACHE, "key_cache": [{"name": name, "size_bytes": 26_000_000_000, "block_size_bytes": 1024}]}


def check_sql(text: str) -> int:
    """How many of its lines run, each of which is what it seems to be."""
    live = [line for line in lines_of(text) if line and not line.startswith("--")]
    for line in live:
        assert HARMLESS.fullmatch(line), line
    return len(live)


@pytest.mark.slow
def test_every_line_of_the_script_runs_what_it_says_or_is_a_comment() -> None:
    assert sum(check_sql(format_named("sql").render(plan)) for _, _, plan in plans()) > 50


@pytest.mark.slow
def test_every_line_of_the_init_file_is_one_statement() -> None:
    assert all(HARMLESS.fullmatch(line) for _, _, plan in plans() for line in lines_of(format_named("init-file").render(plan)))


@pytest.mark.slow
def test_every_line_of_my_cnf_is_an_option_that_was_meant_or_a_comment() -> None:
    options = 0
    for _, findings, plan in plans():
        text = format_named("cnf").render(plan)
        assert text.endswith("\n")
        meant = {line for finding in findings for line in finding.my_cnf}
        for line in lines_of(text):
            assert line == "[mysqld]" or line.startswith("# ") or (OPTION.fullmatch(line) and line in meant), line
            options += bool(OPTION.fullmatch(line))
    assert options > 50


@pytest.mark.slow
def test_every_block_of_the_page_to_be_reviewed_runs_what_it_says_or_is_a_comment() -> None:
    blocks = 0
    for _, _, plan in plans():
        page = format_named("markdown").render(plan)
        for _, _, text in re.findall(r"^(`{3,})(sql)\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL):
            check_sql(text)
            blocks += 1
        # Nothing of a name is a line of its own outside of them.
        outside = re.sub(r"^(`{3,})\w+$.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)
        assert not re.search(r"^\s*(drop|system|source|delimiter|\\)", outside, re.MULTILINE | re.IGNORECASE)
    assert blocks > 200


@pytest.mark.slow
def test_every_block_of_the_status_page_runs_what_it_says_or_is_a_comment() -> None:
    blocks = altered = 0
    for _, findings, _ in plans():
        shown = view_of(look_at(Judgement(findings), NO_FACTS, time())) if findings else None
        for finding in shown.findings if shown else ():
            for block in (*finding.blocks, *finding.undo_blocks):
                if block.title == "my.cnf":
                    assert all(line.startswith("# ") or OPTION.fullmatch(line) for line in lines_of(block.text))
                elif block.title != "In a shell":
                    check_sql(block.text)
                blocks += 1
                altered += block.altered
    assert blocks > 100
    assert altered > 20


@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:50] for name in NAMES])
def test_a_key_cache_of_any_name_breaks_out_of_no_form(name: str) -> None:
    findings, plan = findings_and_plan(with_cache(name))
    assert [finding.rule for finding in findings] == ["key-buffer-too-large"]
    assert findings[0].commands == (f"SET GLOBAL {quote_identifier(name)}.key_buffer_size = 8388608;",)
    assert check_sql(format_named("sql").render(plan)) == (1 if is_plain(findings[0].commands[0]) else 0)
    assert [line for line in lines_of(format_named("cnf").render(plan)) if not line.startswith("#")] == ["[mysqld]"]


def test_a_key_cache_of_an_ordinary_name_is_set_in_every_form() -> None:
    _, plan = findings_and_plan(with_cache("hot-1"))
    assert "\nSET GLOBAL `hot-1`.key_buffer_size = 8388608;\n" in format_named("sql").render(plan)
    assert "\nhot-1.key_buffer_size = 8388608\n" in format_named("cnf").render(plan)


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
@pytest.mark.parametrize("start", ["--1; drop table t;", "-- ", "#", "\\! x", "DROP"])
def test_every_line_in_a_comment_has_its_mark_whatever_it_begins_with(end: str, start: str) -> None:
    commented = in_comments(f"CHECK TABLE `a{end}{start}{end}{end}`;")
    assert all(line.startswith("--") for line in lines_of(commented))
    assert all(line.startswith("-- ") or line == "--" for line in commented.split("\n"))


def test_taking_the_marks_away_gives_a_name_with_line_breaks_back() -> None:
    command = "CHECK TABLE `a\n--1;\n\n  b  \n`;"
    assert re.sub(r"^-- ?", "", in_comments(command), flags=re.MULTILINE) == command


def test_what_locks_guard_is_never_run_without_them() -> None:
    group = (LockTables((("x", "a;b"),)), set_global("key_cache_segments", 8), UnlockTables())
    assert all(line.startswith("-- ") for line in for_copying(group))


def test_no_option_line_is_made_of_what_could_be_read_in_another_way() -> None:
    for name in NAMES:
        assert option_line("key_buffer_size", 1, name).is_comment
        assert len(lines_of(comment_line(name))) == 1
        with pytest.raises(ValueError, match="name of an option"):
            option_line(name, 1)
        with pytest.raises(ValueError, match="value of an option"):
            option_line("init_file", name)
    assert option_line("key_buffer_size", 1, "hot_1") == OptionLine("hot_1.key_buffer_size = 1")


@pytest.mark.parametrize("directory", ["/srv\nDROP DATABASE precious;", "-rf", "relative/path", "/srv\r\\! touch x"])
def test_a_data_directory_that_could_be_taken_for_a_command_is_left_out(directory: str) -> None:
    from tests.rules.test_cases import CASES

    case = next(one for stem, one in CASES if stem == "page-cache-cold" and one["expect"].get("fires"))
    _, usual = findings_and_plan(case["facts"])
    assert usual.shell
    table = next(name for name, content in case["facts"].items() if isinstance(content, dict) and "data_directory" in content)
    facts = {**case["facts"], table: {**case["facts"][table], "data_directory": directory}}
    _, plan = findings_and_plan(facts)
    assert plan.shell == []
    check_sql(format_named("sql").render(plan))


def test_a_planner_cannot_give_plain_text_as_a_command() -> None:
    from myisam_advisor.remedies.planners.base import Plan

    name = "x; drop database precious"
    made: Any = Plan
    for field in ("commands", "undo_commands", "my_cnf", "init_file"):
        with pytest.raises(TypeError, match="plain text"):
            made(**{field: (f"SET GLOBAL {name}.key_buffer_size = 1;",)})
    # SQL is text too, that nobody knows anything of.
    with pytest.raises(TypeError, match="plain text"):
        made(commands=(statement("FLUSH TABLES;"),))
    (command,) = Plan(commands=(set_global("key_buffer_size", 1, name),)).commands
    assert isinstance(text_of(command), Sql)


@pytest.mark.parametrize("name", ["a\tb", "a\rb", "a\u202eb", "a\nb", "a;b"])
def test_what_names_another_thing_without_its_marks_is_told_for_copying(name: str) -> None:
    table = ("shop", name)
    lines = "\n".join(for_copying([CheckTable(table)])).split("\n")
    named = "\n".join(line.removeprefix(SQL_MARK) for line in lines if line != SQL_MARK + ESCAPED)
    assert all(line.startswith(SQL_MARK) for line in lines)
    assert (SQL_MARK + ESCAPED in lines) == (quote_table(*table) not in named)
