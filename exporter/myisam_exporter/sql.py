"""Identifiers and strings in generated SQL. Nothing else in the project puts a name into a statement."""

from __future__ import annotations

import re

_PLAIN_ACCOUNT = re.compile(r"[\w.%-]+", re.ASCII)


def quote_identifier(name: str) -> str:
    """NAME between backticks, with the backticks in it doubled: valid under every sql_mode."""
    return "`" + name.replace("`", "``") + "`"


def quote_table(schema: str, table: str) -> str:
    """`schema`.`table`."""
    return f"{quote_identifier(schema)}.{quote_identifier(table)}"


def quote_account(user: str, host: str) -> str:
    """'user'@'host'; between backticks where a string literal would depend on sql_mode (quotes, backslashes)."""
    return "@".join(f"'{part}'" if _PLAIN_ACCOUNT.fullmatch(part) else quote_identifier(part) for part in (user, host))
