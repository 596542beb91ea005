"""Facts and query results for a person (aligned), for programs (JSON, CSV)."""

from __future__ import annotations

import csv
import json
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from myisam_advisor.factbase.document import as_document
from myisam_advisor.factbase.guarded_query import Result
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


def print_tables(facts: FactSet, format_name: str) -> None:
    """All fact tables."""
    if format_name == "json":
        print(json.dumps(as_document(facts), indent=1))
        return
    for table in TABLES:
        print(f"{table.name}:")
        result = result_of(facts, table.name)
        if not result.rows:
            reason = facts.unknown.get(table.name)
            print(f"  unknown: {printable(reason.reason)}" if reason else "  none")
        else:
            print_result(result, format_name, upright=table.shape == "single")
        print()


def print_result(result: Result, format_name: str, upright: bool = False) -> None:
    """Rows as an aligned table, JSON or CSV; `upright` prints a column a line."""
    if format_name == "json":
        print(json.dumps(result.dictionaries(), indent=1))
    elif format_name == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(result.columns)
        writer.writerows(result.rows)
    elif upright and len(result.rows) == 1:
        width = max((len(name) for name in result.columns), default=0)
        for name, value in zip(result.columns, result.rows[0], strict=True):
            print(f"  {name:{width}}  {_shown(value)}")
    else:
        _print_grid(result)


def _print_grid(result: Result) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=PIPED_WIDTH)
    grid = Table(box=None, pad_edge=False, header_style="bold" if console.is_terminal else "")
    for place, name in enumerate(result.columns):
        numbers = all(isinstance(row[place], int | float) or row[place] is None for row in result.rows)
        grid.add_column(Text(printable(name)), justify="right" if numbers else "left", overflow="fold")
    for row in result.rows:
        grid.add_row(*(Text(_shown(value)) for value in row))
    console.print(grid)
    if result.truncated:
        console.print("... more rows were left out")


def _shown(value: Value) -> str:
    if value is None:
        return UNKNOWN_SIGN
    return printable(f"{value:.6g}" if isinstance(value, float) else str(value))
