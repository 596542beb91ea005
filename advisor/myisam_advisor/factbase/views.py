"""Facts and query results for a person (aligned; on a terminal with units), for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TextIO

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.guarded_query import Result
from myisam_advisor.texts.column_units import in_words, unit_of
from myisam_advisor.texts.drawing import as_read_by, drawn, is_terminal, terminal_width, without_padding
from myisam_advisor.texts.templates import count, printable
from myisam_advisor.texts.width import UNFOLDED
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.look.fact_set import FactSet

UNKNOWN_SIGN = "-"
COLUMN_GAP = 2
# Of a table whose last column is text as long as it likes: its columns, and what the others may take of the terminal's width.
RAGGED_COLUMNS, RAGGED_SHARE = 3, 0.7
# What a spreadsheet takes for a formula, and what number is none. Source: OWASP, "CSV Injection".
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def result_of(facts: FactSet, table: str) -> Result:
    """One fact table as a result, without the columns that nobody knows."""
    rows = facts.tables[table]
    known = [name for name in rows.columns if rows.has(name)]
    places = [rows.columns.index(name) for name in known]
    return Result(tuple(known), [tuple(row[place] for place in places) for row in rows.rows])


def tables_as_text(facts: FactSet, format_name: str, reader: TextIO | None) -> str:
    """All fact tables, for the stream `reader` (None: a file), with the last line break."""
    if format_name == "json":
        return json.dumps(as_document(facts), indent=1) + "\n"
    text = ""
    for table in TABLES:
        result = result_of(facts, table.name)
        if result.rows:
            rows = result_as_text(result, format_name, reader, upright=table.shape == "single")
        else:
            reason = facts.unknown.get(table.name)
            rows = f"  unknown: {printable(reason.reason)}\n" if reason else "  none\n"
        text += f"{table.name}:\n{rows}\n"
    return text


def overview(facts: FactSet, reader: TextIO | None) -> str:
    """The fact tables with how many rows each has, for a terminal: all their rows would be thousands of lines."""
    grid = Table.grid(padding=(0, COLUMN_GAP))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for table in TABLES:
        rows = facts.tables[table.name].rows
        reason = facts.unknown.get(table.name)
        known = Text(count(len(rows))) if rows or reason is None else Text(UNKNOWN_SIGN)
        what = table.description if rows or reason is None else f"not known: {reason.reason}"
        grid.add_row(Text(table.name, style="bold"), known, Text(printable(what), style="dim"))
    hints = ("facts NAME: one of these", "facts --describe: their columns", "facts --format json: all there is")
    lines = [
        Text(f"myisam-advisor {hint}", style="dim") for hint in (*hints, "table DB.TABLE: all of one MyISAM table")
    ]
    return drawn([grid, Text(), *lines], reader, piped_width=UNFOLDED)


def result_as_text(
    result: Result,
    format_name: str,
    reader: TextIO | None = None,
    upright: bool = False,
    raw: bool = False,
    prose: bool = False,
) -> str:
    """Rows as a table, JSON or CSV, with the last line break; `upright` gives a column a line.

    On a terminal values have their units, unless they are to be `raw`, and no cell is folded: where rows are too wide, a column has a line.
    Only the last column breaks, between words, where it is `prose`.
    """
    if format_name == "json":
        return json.dumps(result.dictionaries(), indent=1) + "\n"
    if format_name == "csv":
        return _as_csv(result, reader)
    say = _in_words if is_terminal(reader) and not raw else _as_it_is
    rows = [[say(name, value) for name, value in zip(result.columns, row, strict=True)] for row in result.rows]
    if upright and len(rows) == 1:
        return "".join(f"  {line}\n" for line in _lines(result.columns, rows[0]))
    width = terminal_width(reader)
    if width is None:
        text = without_padding(drawn([_grid(result, rows)], reader, piped_width=UNFOLDED))
    elif prose or _width(result.columns, rows) <= width:
        text = drawn([_grid(result, rows, "bold", prose)], reader, piped_width=UNFOLDED)
    elif _ends_ragged(result, rows, width):
        text = without_padding(drawn([_grid(result, rows)], None, piped_width=UNFOLDED))
    else:
        text = _upright(result.columns, rows)
    return f"{text}... more rows were left out\n" if result.truncated else text


def _as_csv(result: Result, reader: TextIO | None) -> str:
    text = StringIO(newline="")
    writer = csv.writer(text)
    for row in (result.columns, *result.rows):
        # Cell by cell: the line ends of the format stay.
        writer.writerow([as_read_by(reader, _no_formula(cell)) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _no_formula(cell: str) -> str:
    """The text behind an apostrophe where a spreadsheet would run it: whoever may make a table chooses its name."""
    return f"'{cell}" if cell.startswith(FORMULA_SIGNS) and not PLAIN_NUMBER.fullmatch(cell) else cell


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    widths = (max(map(cell_len, cells)) for cells in zip(map(printable, columns), *rows, strict=True))
    return sum(widths) + COLUMN_GAP * (len(columns) - 1)


def _ends_ragged(result: Result, rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a name and a long text are all there is: such a line may run on, and nothing stands behind it."""
    others = _width(result.columns[:-1], [row[:-1] for row in rows])
    is_text = any(isinstance(row[-1], str) for row in result.rows)
    return is_text and 1 < len(result.columns) <= RAGGED_COLUMNS and others <= width * RAGGED_SHARE


def _upright(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A column a line; it is left to the terminal where a long value breaks."""
    text = StringIO()
    for number, row in enumerate(rows, 1):
        text.write(f"row {number:,} of {len(rows):,}\n")
        text.writelines(f"  {line}\n" for line in _lines(columns, row))
    return text.getvalue()


def _lines(columns: Sequence[str], row: Sequence[str]) -> Iterable[str]:
    names = [printable(name) for name in columns]
    width = max(map(cell_len, names), default=0)
    for name, value in zip(names, row, strict=True):
        yield f"{name}{' ' * (width - cell_len(name))}  {value}"


def _grid(result: Result, rows: Sequence[Sequence[str]], header_style: str = "", prose: bool = False) -> Table:
    grid = Table(box=None, pad_edge=False, header_style=header_style)
    for place, name in enumerate(result.columns):
        numbers = all(isinstance(row[place], int | float) or row[place] is None for row in result.rows)
        breaks = prose and place == len(result.columns) - 1
        grid.add_column(Text(printable(name)), justify="right" if numbers else "left", no_wrap=not breaks)
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def _as_it_is(_name: str, value: Value) -> str:
    if value is None:
        return UNKNOWN_SIGN
    return printable(f"{value:.6g}" if isinstance(value, float) else str(value))


def _in_words(name: str, value: Value) -> str:
    """With the unit that the column's name tells; a number without one as it is: an identifier is no count."""
    if isinstance(value, int | float) and unit_of(name) != "number":
        return in_words(name, value)
    return _as_it_is(name, value)
