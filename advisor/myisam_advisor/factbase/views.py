"""Facts and query results for a person (aligned), for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TextIO

from rich.table import Table
from rich.text import Text

from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.guarded_query import Result
from myisam_advisor.texts.drawing import drawn, is_terminal
from myisam_advisor.texts.templates import printable
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TABLES, Value, table_named
from myisam_exporter.look.fact_set import FactSet

PIPED_WIDTH = 10_000
UNKNOWN_SIGN = "-"


def describe_tables(only: str | None) -> str:
    """The fact tables and columns with type, meaning and source.

    Raises UserError for a table that does not exist.
    """
    if only is not None and table_named(only) is None:
        raise UserError(f"unknown fact table {only!r}; known are {', '.join(table.name for table in TABLES)}.")
    lines: list[str] = []
    for table in TABLES:
        if only not in (None, table.name):
            continue
        lines += [f"{table.name}: {table.description}"]
        columns = declared_columns()[table.name]
        width = max(len(column.name) for column in columns)
        lines += [f"  {column.name:{width}}  {column.type:7}  {column.description}" for column in columns] + [""]
    return "\n".join(lines).rstrip()


def result_of(facts: FactSet, table: str) -> Result:
    """One fact table as a result, without the columns that nobody knows."""
    rows = facts.tables[table]
    known = [name for name in rows.columns if rows.has(name)]
    places = [rows.columns.index(name) for name in known]
    return Result(tuple(known), [tuple(row[place] for place in places) for row in rows.rows])


def tables_as_text(facts: FactSet, format_name: str, reader: TextIO | None = None) -> str:
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


def result_as_text(result: Result, format_name: str, reader: TextIO | None = None, upright: bool = False) -> str:
    """Rows as an aligned table, JSON or CSV, with the last line break; `upright` gives a column a line."""
    if format_name == "json":
        return json.dumps(result.dictionaries(), indent=1) + "\n"
    if format_name == "csv":
        return _as_csv(result)
    if upright and len(result.rows) == 1:
        width = max((len(name) for name in result.columns), default=0)
        pairs = zip(result.columns, result.rows[0], strict=True)
        return "".join(f"  {name:{width}}  {_shown(value)}\n" for name, value in pairs)
    text = drawn([_grid(result, "bold" if is_terminal(reader) else "")], reader, piped_width=PIPED_WIDTH)
    return f"{text}... more rows were left out\n" if result.truncated else text


def _as_csv(result: Result) -> str:
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(result.columns)
    writer.writerows(result.rows)
    return text.getvalue()


def _grid(result: Result, header_style: str) -> Table:
    grid = Table(box=None, pad_edge=False, header_style=header_style)
    for place, name in enumerate(result.columns):
        numbers = all(isinstance(row[place], int | float) or row[place] is None for row in result.rows)
        grid.add_column(Text(printable(name)), justify="right" if numbers else "left", overflow="fold")
    for row in result.rows:
        grid.add_row(*(Text(_shown(value)) for value in row))
    return grid


def _shown(value: Value) -> str:
    if value is None:
        return UNKNOWN_SIGN
    return printable(f"{value:.6g}" if isinstance(value, float) else str(value))
