"""Where a prepared statement's text has its parameters: each `?` that stands in no string, name or comment.

What an executable comment holds is taken for code, whatever version it asks for: where a server passes it over, the number of values tells.

Source: MySQL and MariaDB manuals, "String Literals", "Comments", "PREPARE Statement".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from myisam_advisor.workload.tokens import COMMENT

_REST = rb"|`[^`]*(?:`|\Z)|%s|(\?)" % COMMENT
# What begins as a string is matched whatever follows: else each quote in it would be tried as the begin of another.
_ESCAPED = re.compile(rb"""'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)""" + _REST, re.DOTALL)
_PLAIN = re.compile(rb"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)""" + _REST, re.DOTALL)


def placeholders(text: bytes, escapes: bool) -> list[int]:
    """Where they are. A backslash in a string escapes, or is a letter."""
    return [found.start() for found in (_ESCAPED if escapes else _PLAIN).finditer(text) if found[1]]


def filled(text: bytes, places: Sequence[int], literals: Sequence[bytes]) -> bytes:
    """The text with a value at each of its places."""
    parts, at = [], 0
    for place, literal in zip(places, literals, strict=True):
        parts += [text[at:place], literal]
        at = place + 1
    return b"".join([*parts, text[at:]])
