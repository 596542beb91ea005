"""Rows of a facts file without the names that tell them apart: every column may be unknown, these too. Rules speak of them all the same.

Each gets a word in the place of its name, before it is judged; a statement that such a word got into is no remedy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from myisam_advisor.factbase.partial import NOT_IN_FILE
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.look.fact_set import FactRows, FactSet

NO_NAME = "(no name "
NO_STATEMENT = "The facts do not name it: there is no statement for it."
# What tells rows apart by a text; a number is no name.
NAMES = {"key_cache": ("name",), "tables": ("schema_name", "table_name"), "indexes": ("schema_name", "table_name")}


def with_names(facts: FactSet) -> FactSet:
    """The same facts where every row has its names; a server looked at names all of its own, and is not gone through."""
    if facts.unknown.get("variable.*") != NOT_IN_FILE:
        return facts
    named = {table.name: _named(facts.tables[table.name], NAMES[table.name]) for table in TABLES if table.name in NAMES}
    changed = {name: rows for name, rows in named.items() if rows is not facts.tables[name]}
    return replace(facts, tables={**facts.tables, **changed}) if changed else facts


def is_nameless(text: str) -> bool:
    """Whether such a word is in it."""
    return NO_NAME in text


def _named(rows: FactRows, names: tuple[str, ...]) -> FactRows:
    places = [rows.columns.index(name) for name in names]
    if all(row[place] is not None for row in rows.rows for place in places):
        return rows
    if names == ("name",) and len(rows.rows) == 1:
        # The one key cache that every server has.
        return FactRows(rows.columns, [_with(rows.rows[0], places, DEFAULT_CACHE)])
    return FactRows(
        rows.columns, [_with(row, places, f"{NO_NAME}{number})") for number, row in enumerate(rows.rows, 1)]
    )


def _with(row: Iterable[Value], places: list[int], word: str) -> list[Value]:
    return [word if value is None and place in places else value for place, value in enumerate(row)]
