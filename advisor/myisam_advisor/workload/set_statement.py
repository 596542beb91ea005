"""MariaDB's `SET STATEMENT name=value, ... FOR statement`: what is run is the statement behind it.

Source: MariaDB manual, "SET STATEMENT"; sql/sql_yacc.yy (the values are expressions: `for` may stand in their parentheses).
"""

from __future__ import annotations

from collections.abc import Sequence


def behind_set_statement(lower: Sequence[bytes]) -> int:
    """The place among a statement's words, in lower case, where the one begins that is run: 0 where nothing stands before it."""
    begin = 0
    while lower[begin : begin + 2] == [b"set", b"statement"]:
        depth = 0
        for place in range(begin + 2, len(lower)):
            word = lower[place]
            depth += (word == b"(") - (word == b")")
            if word == b"for" and not depth:
                begin = place + 1
                break
        else:
            break
    return begin
