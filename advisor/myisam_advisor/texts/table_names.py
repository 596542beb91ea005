"""Names of tables as people type them: DATABASE.TABLE, either of them quoted with backticks where it must be."""

from __future__ import annotations

import re

from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.facts.columns import TableName

_QUOTED = r"`(?:[^`]|``)+`"
_SQL = late_pattern(rf"({_QUOTED}|[^`.]+)\.({_QUOTED}|[^`.]+)", re.DOTALL)


def possible_names(text: str) -> list[TableName]:
    """Every (database, table) that the text can stand for: names may hold dots and backticks themselves.

    As SQL reads it comes first. Empty where it names no database.
    """
    written = _SQL.fullmatch(text)
    read = [(unquoted(written[1]), unquoted(written[2]))] if written else []
    split = [(text[:dot], text[dot + 1 :]) for dot, letter in enumerate(text) if letter == "."]
    return list(dict.fromkeys(read + [name for name in split if all(name)]))


def unquoted(part: str) -> str:
    """A part of a name without its backticks, if it has any."""
    return part[1:-1].replace("``", "`") if part.startswith("`") else part
