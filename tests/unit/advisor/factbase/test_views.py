"""Facts as people see them: on a terminal with units and without a folded cell, in a pipe as they are."""

import io
import json
import re

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import Result
from myisam_advisor.factbase.schema import describe_tables, schema_answer
from myisam_advisor.factbase.views import overview, result_as_text, result_of
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TABLES
from tests.support.program import run

WIDE = Result(("schema_name", "table_name", "data_bytes", "miss_ratio", "rows", "per_second"), [("shop", "o" * 30, 3 << 30, 0.25, 1234567, 5.0), ("shop", "两" * 10, None, None, 3, None)])
NARROW = Result(("name", "value", "data_bytes"), [("port", 3306, 1 << 20)])


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")


def test_what_fits_is_a_table_with_units_and_identifiers_stay_numbers() -> None:
    assert [line.split() for line in plain(result_as_text(NARROW, "table", Terminal())).splitlines()] == [["name", "value", "data_bytes"], ["port", "3306", "1", "MiB"]]
    assert "1048576" in result_as_text(NARROW, "table", Terminal(), raw=True)


def test_what_is_too_wide_has_a_line_for_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = result_as_text(WIDE, "table", Terminal()).splitlines()
    assert lines[0] == "row 1 of 2"
    assert lines[1:4] == ["  schema_name  shop", f"  table_name   {'o' * 30}", "  data_bytes   3 GiB"]
    assert "  miss_ratio   25 %" in lines
    assert "  per_second   5/s" in lines
    assert "  rows         1234567" in lines
    assert lines.count("  data_bytes   -") == 1  # unknown is not zero
    monkeypatch.setenv("COLUMNS", "90")
    assert len(result_as_text(WIDE, "table", Terminal()).splitlines()) == 3


def test_a_long_text_at_the_end_of_a_line_may_run_on() -> None:
    lines = result_as_text(Result(("name", "value"), [("port", 3306), ("optimizer_switch", "on," * 100)]), "table", Terminal()).splitlines()
    assert len(lines) == 3
    assert lines[1] == "port              3306"
    assert lines[2].endswith("on,")


@pytest.mark.parametrize("columns", ["8", "20", "60", "100"])
def test_no_cell_is_folded_whatever_the_width(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = result_as_text(WIDE, "table", Terminal())
    assert "o" * 30 in text
    assert "两" * 10 in text


def test_a_pipe_has_numbers_as_they_are_and_no_blanks_at_the_end() -> None:
    text = result_as_text(WIDE, "table", io.StringIO())
    assert "3221225472" in text
    assert len(text.splitlines()) == 3
    assert all(line == line.rstrip() for line in text.splitlines())
    assert json.loads(result_as_text(WIDE, "json", Terminal()))[0]["data_bytes"] == 3 << 30
    assert "3221225472" in result_as_text(WIDE, "csv", Terminal())


def test_no_control_character_of_a_value_or_a_name_reaches_the_terminal() -> None:
    hostile = Result(("a\x1b[2J", "b"), [("x\x1b[31m\ny" * 20, 1)])
    for reader in (Terminal(), io.StringIO()):
        assert "\x1b" not in plain(result_as_text(hostile, "table", reader))


def test_a_terminal_is_told_which_fact_tables_there_are() -> None:
    facts = complete(facts_from_document({"schema": 1, "tables": [{"schema_name": "a", "table_name": "b"}] * 1}))
    text = plain(overview(facts, Terminal()))
    assert all(table.name in text for table in TABLES)
    assert "not known: not in the facts file" in " ".join(text.split())
    first_words = [line.split()[:3] for line in text.splitlines()]
    assert ["tables", "1", "MyISAM"] in first_words
    assert ["indexes", "-", "not"] in first_words
    assert len(text.splitlines()) < 40
    assert result_of(facts, "tables").columns == ("schema_name", "table_name")


@pytest.mark.parametrize("statement", ["SHOW TABLES", "show full tables ;"])
def test_show_tables_is_answered(statement: str) -> None:
    answer = schema_answer(statement)
    assert answer is not None
    assert {"tables", "indexes", "lock_waits"} <= {row[0] for row in answer.rows}


@pytest.mark.parametrize("statement", ["DESCRIBE tables", "desc `tables`;", "show columns from tables", "EXPLAIN tables"])
def test_describe_is_answered(statement: str) -> None:
    answer = schema_answer(statement)
    assert answer is not None
    units = {row[0]: row[2] for row in answer.rows}
    assert (units["data_bytes"], units["rows_read_per_second"], units["rows"]) == ("bytes", "per second", "")
    view = schema_answer("describe lock_waits")
    assert view is not None
    assert view.rows[0][0] == "key_cache_lock"


def test_a_select_is_no_question_about_the_schema() -> None:
    assert schema_answer("SELECT 1") is None
    assert schema_answer("EXPLAIN SELECT 1") is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("facts", "tabels"), "Did you mean tables or totals?"),
        (("facts", "shop.orders"), "All of one MyISAM table: myisam-advisor table shop.orders"),
        (("facts", "--describe", "tabels"), "Did you mean tables"),
        (("query", "DESCRIBE tabels"), "Did you mean tables"),
        (("query", "SELECT dat_bytes FROM tables", "--facts", "-"), "Did you mean data_bytes"),
        (("query", "SELECT reads_per_second FROM indexes", "--facts", "-"), "reads_per_second is a column of key_cache."),
        (("query", "SELECT * FROM keycache", "--facts", "-"), "Did you mean key_cache?"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_told_what_is_nearly_so(words: tuple[str, ...], message: str) -> None:
    done = run(*words, stdin="schema: 1\n")
    assert done.returncode == 2
    assert message in done.stderr


def test_describing_a_table_that_is_not_there_raises() -> None:
    with pytest.raises(UserError, match="unknown fact table"):
        describe_tables("nothing")


def test_csv_cannot_steer_a_terminal_and_a_pipe_gets_the_bytes_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    hostile = Result(("\x1b[2J", "rows"), [("\x1b[31m\x9b\u202eü\n", 3)])
    as_they_are = '\x1b[2J,rows\r\n"\x1b[31m\x9b\u202eü\n",3\r\n'
    assert result_as_text(hostile, "csv", io.StringIO()) == result_as_text(hostile, "csv") == as_they_are
    assert result_as_text(hostile, "csv", Terminal()) == "\\x1b[2J,rows\r\n\\x1b[31m\\x9b\\u202eü\\n,3\r\n"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""), ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"), ("-2+3", "'-2+3"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t=1"), ("\uff1d1", "'\uff1d1"),
        ("-1", "-1"), ("+2.5e-3", "+2.5e-3"), ("-.5", "-.5"), ("-", "'-"), ("a=1", "a=1"), ("", '""'),
    ],
)  # fmt: skip
def test_no_cell_of_csv_is_a_formula_and_numbers_are_as_they_are(text: str, cell: str) -> None:
    assert result_as_text(Result(("name",), [(text,)]), "csv") == f"name\r\n{cell}\r\n"


def test_numbers_and_json_keep_their_values() -> None:
    result = Result(("name", "number", "nothing"), [("=1", -5, None)])
    assert result_as_text(result, "csv") == "name,number,nothing\r\n'=1,-5,\r\n"
    assert json.loads(result_as_text(result, "json")) == [{"name": "=1", "number": -5, "nothing": None}]
