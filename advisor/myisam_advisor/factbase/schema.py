"""What fact tables and columns there are, for a person: `facts --describe`, and what `query` answers to SHOW TABLES and DESCRIBE."""

from __future__ import annotations

import re

from myisam_advisor.factbase.guarded_query import Result
from myisam_advisor.factbase.shared_views import VIEWS
from myisam_advisor.texts.column_units import unit_of
from myisam_advisor.texts.near import did_you_mean
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TABLES, Value, table_named

_SHOW_TABLES = re.compile(r"\s*show\s+(?:full\s+)?tables\s*;?\s*", re.IGNORECASE)
_DESCRIBE = re.compile(
    r"\s*(?:describe|desc|explain|show\s+(?:full\s+)?columns\s+(?:from|in)|show\s+fields\s+(?:from|in))\s+[`\"]?(\w+)[`\"]?\s*;?\s*",
    re.IGNORECASE,
)


def describe_tables(only: str | None) -> str:
    """The fact tables and columns with type, meaning and source.

    Raises UserError for a table that does not exist.
    """
    if only is not None:
        expect_fact_table(only)
    lines: list[str] = []
    for table in TABLES:
        if only not in (None, table.name):
            continue
        lines += [f"{table.name}: {table.description}"]
        columns = declared_columns()[table.name]
        width = max(len(column.name) for column in columns)
        lines += [f"  {column.name:{width}}  {column.type:7}  {column.description}" for column in columns] + [""]
    return "\n".join(lines).rstrip()


def expect_fact_table(name: str) -> None:
    """Raises UserError for a name that no fact table has: a MyISAM table may be meant."""
    if table_named(name) is None:
        known = [table.name for table in TABLES]
        if "." in name:
            raise UserError(f"{name} is not a fact table. All of one MyISAM table: myisam-advisor table {name}")
        raise UserError(f"unknown fact table {name!r}.{did_you_mean(name, known)} Known are {', '.join(known)}.")


def schema_answer(statement: str) -> Result | None:
    """What SHOW TABLES and DESCRIBE TABLE give, which SQLite does not know; None for any other statement.

    Raises UserError for a table that does not exist.
    """
    if _SHOW_TABLES.fullmatch(statement):
        tables: list[tuple[Value, ...]] = [(table.name, table.description) for table in TABLES]
        views = [(view.name, f"View. {view.description}") for view in VIEWS]
        return Result(("name", "description"), [*tables, *views])
    found = _DESCRIBE.fullmatch(statement)
    return _described(found[1]) if found else None


def _described(name: str) -> Result:
    view = next((view for view in VIEWS if view.name == name.lower()), None)
    if view is not None:
        return Result(
            ("column", "type", "unit", "description"),
            [(column, "", _unit(column), meaning) for column, meaning in view.columns.items()],
        )
    if table_named(name.lower()) is None:
        raise UserError(
            f"query: there is no fact table {name}.{did_you_mean(name, [*(table.name for table in TABLES), *(one.name for one in VIEWS)])}"
        )
    columns = declared_columns()[name.lower()]
    return Result(
        ("column", "type", "unit", "description"),
        [(one.name, one.type, _unit(one.name), one.description) for one in columns],
    )


def _unit(column: str) -> str:
    return "" if unit_of(column) == "number" else unit_of(column)
