"""Identifiers and strings in generated SQL. Nothing else in the project puts a name into a statement."""

from __future__ import annotations


def quote_identifier(name: str) -> str:
    """NAME between backticks, with the backticks in it doubled: valid under every sql_mode."""
    return "`" + name.replace("`", "``") + "`"


def quote_table(schema: str, table: str) -> str:
    """`schema`.`table`."""
    return f"{quote_identifier(schema)}.{quote_identifier(table)}"
