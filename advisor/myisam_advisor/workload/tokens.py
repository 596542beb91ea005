"""SQL as words and signs: just enough of the grammar to tell literals, comments and names apart, in time that grows with the length alone.

A literal of any kind is one token, `?`, as a placeholder is. Text between double quotes counts as a literal: under ANSI_QUOTES it would be
a name, and a log does not tell the sql_mode. What stands in an executable comment is code, whatever version it asks for.

Source: MySQL and MariaDB manuals, "String Literals", "Numeric Literals", "Comments", "Schema Object Names".
"""

from __future__ import annotations

import re

LITERAL = b"?"
# The rest of a longer statement is rows of an INSERT, as good as always.
MAXIMUM_BYTES = 1 << 18

# Escapes are taken out first, so no pattern here repeats a group without bound: re would keep each repetition in memory.
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
# With what may stand before it: x'41', b'01', n'text', _utf8mb4'text'.
_STRING = rb"""(?:[xXbBnN]|_[A-Za-z0-9]{1,30})?(?:'[^']*(?:'|\Z)|"[^"]*(?:"|\Z))"""
_NUMBER = (
    rb"(?<![\w$.\x80-\xff])(?:0[xX][0-9A-Fa-f]+|0b[01]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)(?![\w$\x80-\xff])"
)
# A name has 64 characters at most.
_QUOTED_NAME = rb"`[^`]*(?:``[^`]*){0,64}(?:`|\Z)"
_COMMENT = rb"/\*(?!M?!).*?(?:\*/|\Z)|#[^\n]*|--(?=[\x00-\x20]|\Z)[^\n]*"
_EXECUTABLE = rb"/\*M?![0-9]{0,6}|\*/"
_WORD = rb"@{0,2}[A-Za-z0-9_$\x80-\xff]+"
_OPERATOR = rb"<=>|<<|>>|->>|->|<=|>=|<>|!=|:=|\|\||&&|[^\s\x00]"
_TOKEN = re.compile(
    rb"(%s|%s)|(?:%s|%s)|(%s|%s|%s)" % (_STRING, _NUMBER, _COMMENT, _EXECUTABLE, _QUOTED_NAME, _WORD, _OPERATOR),
    re.DOTALL,
)
_QUOTED = re.compile(
    rb"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)|`[^`]*(?:`|\Z)|/\*(?!M?!).*?(?:\*/|\Z)|#[^\n]*|--(?=[\x00-\x20]|\Z)[^\n]*""",
    re.DOTALL,
)
_IS_LITERAL, _IS_KEPT = 1, 2

# For a quick look: each begins with what re can search for. Numbers elsewhere stay.
_QUICK_STRING = re.compile(rb"""'[^']*(?:'|\Z)|"[^"]*(?:"|\Z)""", re.DOTALL)
_QUICK_NUMBERS = tuple(
    (sign + LITERAL, re.compile(re.escape(sign) + rb"[0-9]+(?:\.[0-9]+)?(?![\w$.\x80-\xff])"))
    for sign in (b" ", b"=", b"(", b",")
)
_PLAIN_NAMES = re.compile(rb"[^`]*(?:`[\w$\x80-\xff]+`[^`]*)*", re.ASCII)
_PLAIN_BYTES = 1 << 12


def tokens(statement: bytes, maximum_bytes: int = MAXIMUM_BYTES) -> list[bytes]:
    """The words, names (those in backticks with them), signs and literals (each `?`) of a statement's first bytes."""
    found: list[bytes] = []
    for match in _TOKEN.finditer(_without_escapes(statement[:maximum_bytes])):
        kind = match.lastindex
        if kind == _IS_KEPT:
            found.append(match[0])
        # 'a''b' and 'a' 'b' are one literal.
        elif kind == _IS_LITERAL and not (found and found[-1] is LITERAL):
            found.append(LITERAL)
    return found


def without_values(statement: bytes, maximum_bytes: int = MAXIMUM_BYTES) -> bytes | None:
    """A statement with `?` in the place of each literal: what differs in values alone gives the same.

    None where that cannot be told at a glance: a comment, or a name between backticks, could hold a quote. What such a quote takes for a
    string leaves the backtick, or the mark of the comment, before it.
    """
    key = _QUICK_STRING.sub(LITERAL, _without_escapes(statement[:maximum_bytes]))
    for replaced, number in _QUICK_NUMBERS:
        key = number.sub(replaced, key)
    if len(key) > _PLAIN_BYTES or b"/*" in key or b"--" in key or b"#" in key:
        return None
    return key if b"`" not in key or _PLAIN_NAMES.fullmatch(key) else None


def plain_name(token: bytes) -> bytes | None:
    """The name that a token is, without backticks; None for what is no name: a literal, a sign, a variable."""
    if token.startswith(b"`"):
        return token.strip(b"`").replace(b"``", b"`") if len(token) > 1 else None
    first = token[:1]
    return token if first.isalnum() or first in b"_$" or first >= b"\x80" else None


def _without_escapes(statement: bytes) -> bytes:
    return _ESCAPE.sub(b"", statement) if b"\\" in statement else statement


def ends_within_string(statement: bytes) -> bool:
    """Whether a string, or a name between backticks, begins and does not end. A glance is enough for most: their quotes come in pairs."""
    plain = _without_escapes(statement)
    if not (plain.count(b"'") & 1 or plain.count(b'"') & 1 or plain.count(b"`") & 1):
        return False
    last = b""
    for found in _QUOTED.finditer(plain):
        last = found[0]
    return last[:1] in (b"'", b'"', b"`") and (len(last) == 1 or last[-1:] != last[:1])
