"""Names between double quotes, as ANSI_QUOTES has them, where no string may stand: behind INTO, UPDATE, FROM and JOIN.

Elsewhere what stands between double quotes counts as a literal (tokens.py), because a log does not tell the sql_mode.

Source: MySQL and MariaDB manuals, "Schema Object Names", "Server SQL Modes".
"""

from __future__ import annotations

import re

_NAME = rb'"[\w$\x80-\xff-]{1,64}"'
_QUOTED = re.compile(rb"\b(?:into|update|from|join)\s+%s(?:\s*\.\s*%s)?" % (_NAME, _NAME), re.IGNORECASE)


def with_quoted_names(statement: bytes) -> bytes:
    """The statement with backticks around such names; itself where there are none."""
    if b'"' not in statement:
        return statement
    return _QUOTED.sub(lambda found: found[0].replace(b'"', b"`"), statement)


def has_quoted_names(statement: bytes) -> bool:
    """Whether there are such names: without them, statements that differ in strings alone are alike."""
    return b'"' in statement and _QUOTED.search(statement) is not None
