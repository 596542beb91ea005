"""What `mysql --xml` prints, taken apart; and what it says on standard error.

Of the client's forms this one alone tells all that is in an answer: in --batch, NULL is the text NULL too, and in --table a line may be part
of a value. Here `&<>"` are written as entities everywhere, so that no value can look like a tag; NULL is an attribute; the statement is said
again, which tells whose answer it is. All else comes as the server sent it (so it is no XML that a parser would take), but NUL, which
is written as a blank. Source: client/mysql.cc, print_table_data_xml, xmlencode_print and put_info, MySQL 5.0 to 9.7 and MariaDB 5.5 to 11.8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Row = tuple["str | None", ...]

END = b"</resultset>\n"
_HEAD = re.compile(rb'(?:<\?xml version="1\.0"\?>)?\s*<resultset statement="([^"<>]*)"[^"<>]*(?:"[^"<>]*")?>\s*')
_ROW_BEGINS, _ROW_ENDS = re.compile(rb"<row>\s*"), re.compile(rb"</row>\s*")
_FIELD = re.compile(rb'<field name="([^"<>]*)"(?: xsi:nil="true" />|>([^<>]*)</field>)\s*')
_ENTITIES = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&amp;", b"&"))
# "ERROR 1142 (42000) at line 3: SELECT command denied ..."; before there is a statement, without a line.
_ERROR = re.compile(r"^ERROR ([0-9]{1,5})(?: \([0-9A-Z]{5}\))?(?: at line ([0-9]{1,9}))?: (.*)$", re.MULTILINE)


class OutputError(ValueError):
    """What came is not the client's form, or answers another statement."""


def rows_in(output: bytes, statement: str, *, names: bool = False) -> list[Row]:
    """The rows of the answer to this statement, with `names` those of the columns first. Raises OutputError."""
    head = _HEAD.match(output)
    if head is None:
        raise OutputError("no answer in the form that --xml has")
    if _plain(head.group(1)).strip() != statement.strip():
        raise OutputError("the answer to another statement")
    place = head.end()
    rows: list[Row] = []
    while not output.startswith(END, place):
        columns, row, place = _row(output, place)
        if names and not rows:
            rows.append(columns)
        rows.append(row)
    if place + len(END) != len(output):
        raise OutputError("more than one answer")
    return rows


def _row(output: bytes, place: int) -> tuple[Row, Row, int]:
    """The names, the values, and where the next row begins."""
    begin = _ROW_BEGINS.match(output, place)
    if begin is None:
        raise OutputError("no row where one is due")
    place = begin.end()
    columns: list[str | None] = []
    values: list[str | None] = []
    field = _FIELD.match(output, place)
    while field is not None:
        name, value = field.groups()
        columns.append(_plain(name))
        values.append(None if value is None else _plain(value))
        place = field.end()
        field = _FIELD.match(output, place)
    end = _ROW_ENDS.match(output, place)
    if end is None:
        raise OutputError("a row that does not end")
    return tuple(columns), tuple(values), end.end()


def _plain(written: bytes) -> str:
    if b"&" in written:
        for entity, character in _ENTITIES:  # & last: &amp;lt; is the text &lt;
            written = written.replace(entity, character)
    return str(written, "utf-8", "replace")


def error_in(complaint: str, line: int | None = None) -> tuple[int, str] | None:
    """The server's number and text, or the client's: of the statement on this line of its input; None for any that has no line."""
    for number, at, text in _ERROR.findall(complaint):
        if (int(at) if at else None) == line:
            return int(number), text
    return None


def last_words(complaint: str) -> str:
    """The last line that says something: why a client ended by itself."""
    lines: Sequence[str] = [line.strip() for line in complaint.splitlines() if line.strip()]
    return lines[-1] if lines else ""
