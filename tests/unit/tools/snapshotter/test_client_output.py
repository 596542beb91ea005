"""What the client prints with --xml, taken apart: no value of a server's can look like anything else."""

import pytest

from tools.snapshotter.parts.client_output import END, OutputError, Row, error_in, last_words, rows_in

HOSTILE = (
    "a/b", "it's", 'a "b"', "back\\slash\\n", "tab\there", "two\nlines", "emoji \U0001f600", "x" * 64, "", "NULL", "&amp;lt;", "</field>", "</resultset>\n", "<row>",
    "<![CDATA[x]]>", "\x01\x1b[31m", "]]>", '" xsi:nil="true" />', "\r\n", " ",
)  # fmt: skip


def escaped(text: str) -> str:
    """As xmlencode_print of client/mysql.cc."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\0", " ")):
        text = text.replace(character, entity)
    return text


def printed(statement: str, columns: tuple[str, ...], rows: list[Row]) -> bytes:
    """As print_table_data_xml of client/mysql.cc."""
    text = f'<?xml version="1.0"?>\n\n<resultset statement="{escaped(statement)}\n" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    for row in rows:
        text += "\n  <row>\n"
        for name, value in zip(columns, row, strict=True):
            text += f'\t<field name="{escaped(name)}"'
            text += ' xsi:nil="true" />\n' if value is None else f">{escaped(value)}</field>\n"
        text += "  </row>\n"
    return text.encode() + END


def test_hostile_values_come_as_they_are() -> None:
    rows: list[Row] = [(value, None, value) for value in HOSTILE]
    output = printed('SELECT a, b, `<&"c`', ("a", "b", '<&"c'), rows)
    assert rows_in(output, 'SELECT a, b, `<&"c`') == rows
    assert rows_in(output, 'SELECT a, b, `<&"c`', names=True) == [("a", "b", '<&"c'), *rows]


def test_null_is_not_the_text_null() -> None:
    assert rows_in(printed("SELECT 1", ("a", "b"), [(None, "NULL")]), "SELECT 1") == [(None, "NULL")]


def test_no_rows_are_an_answer() -> None:
    assert rows_in(printed("SHOW STATUS", (), []), "SHOW STATUS", names=True) == []


def test_what_is_no_utf_8_is_read_all_the_same() -> None:
    output = printed("SELECT 1", ("a",), [("x",)]).replace(b">x<", b">\xff\xfe<")
    assert rows_in(output, "SELECT 1") == [("\ufffd\ufffd",)]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (b"", "no answer"),
        (b"a\tb\n1\tNULL\n", "no answer"),
        (printed("SELECT 2", ("a",), [("1",)]), "another statement"),
        (printed("SELECT 1", ("a",), [("1",)]) * 2, "more than one"),
        (printed("SELECT 1", ("a",), [("1",)]).replace(b"  </row>\n", b""), "does not end"),
        (printed("SELECT 1", ("a",), [("1",)]).replace(b"<row>", b"<column>"), "no row"),
        (printed("SELECT 1", ("a",), [("1",)]).replace(b'name="a"', b"name=a"), "does not end"),
    ],
)
def test_anything_else_is_no_answer(output: bytes, why: str) -> None:
    with pytest.raises(OutputError, match=why):
        rows_in(output, "SELECT 1")


def test_an_error_is_that_of_its_line() -> None:
    said = "mysql: Deprecated program name.\nERROR 1142 (42000) at line 3: SELECT command denied\nmore\nERROR 1227 (42000) at line 12: Access denied\n"
    assert error_in(said, 3) == (1142, "SELECT command denied")
    assert error_in(said, 12) == (1227, "Access denied")
    assert error_in(said, 1) is None
    assert error_in(said) is None


def test_an_error_before_any_statement_has_no_line() -> None:
    assert error_in("ERROR 2002 (HY000): Can't connect through socket '/x' (2)\n") == (
        2002,
        "Can't connect through socket '/x' (2)",
    )
    assert error_in("nothing\n") is None


def test_last_words() -> None:
    assert last_words("a\n b \n\n") == "b"
    assert last_words("") == ""
