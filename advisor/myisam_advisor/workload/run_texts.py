"""Statements that stand in others as texts: what PREPARE prepares, what EXECUTE IMMEDIATE runs, what a block of statements does with such texts.

MariaDB takes any expression for the text, as `CONCAT('SET GLOBAL x = ', @n)`: its strings, one behind the other, tell what it does. What a variable
holds is told by who knows the statements before (prepared.py).

Sources: MySQL manual, "PREPARE Statement"; MariaDB manual, "PREPARE Statement", "EXECUTE IMMEDIATE".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from myisam_advisor.workload.tokens import COMMENT

# A longer text is not looked into.
MAXIMUM_TEXT_BYTES = 1 << 16
# A string that does not end goes on to the end of the text, so no part of it is read twice.
_STRINGS = re.compile(
    rb"""'([^'\\]*(?:(?:\\.?|'')[^'\\]*)*)(?:'|\Z)|"([^"\\]*(?:(?:\\.?|"")[^"\\]*)*)(?:"|\Z)|`[^`]*(?:`|\Z)|"""
    + COMMENT,
    re.DOTALL,
)
# Between quotes of the other kind two quotes are two.
_ESCAPED_SINGLE, _ESCAPED_DOUBLE = (re.compile(rb"\\(.)|" + quote * 2, re.DOTALL) for quote in (b"'", b'"'))
_SPACES = frozenset(b"ntr0bZ")
# Behind the sign of an executable comment, too.
_RUNS_ONE = re.compile(rb"\s*(?:/\*M?![0-9]{0,6}\s*)?(?:prepare|execute\s+immediate)\b", re.IGNORECASE)
# MariaDB's, whose own values may be strings: what is run is one of them.
_BEHIND_SET_STATEMENT = re.compile(rb"\s*set\s+statement\b", re.IGNORECASE)
_RUN = (b"prepare", b"immediate")


def run_as_texts(statement: bytes, lower: bytes, *, is_block: bool) -> Iterator[bytes]:
    """What it may run of its own strings: all of them together, and in a block of statements, or behind SET STATEMENT, which have several, each."""
    is_block = is_block or _BEHIND_SET_STATEMENT.match(lower) is not None
    if not any(word in lower for word in _RUN) or not (is_block or _RUNS_ONE.match(lower)):
        return
    found = strings(statement)
    if is_block:
        yield from found
    elif found:
        yield b"".join(found)


def strings(statement: bytes) -> list[bytes]:
    """The strings of a statement without their quotes and escapes; none of one that is too long."""
    if len(statement) > MAXIMUM_TEXT_BYTES:
        return []
    found = ((one[1], one[2]) for one in _STRINGS.finditer(statement))
    return [unescaped(single, double) for single, double in found if (single, double) != (None, None)]


def unescaped(single: bytes | None, double: bytes | None) -> bytes:
    """What a string says, which stood between single quotes or between double ones, and has these escaped or doubled."""
    if single is not None:
        return _ESCAPED_SINGLE.sub(lambda one: _letter(one[0]), single)
    return _ESCAPED_DOUBLE.sub(lambda one: _letter(one[0]), double or b"")


def _letter(escaped: bytes) -> bytes:
    return b" " if escaped[:1] == b"\\" and escaped[1] in _SPACES else escaped[1:]
