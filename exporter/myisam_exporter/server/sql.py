"""SQL as a type: text in which every name and every value is quoted. Nothing else in the project puts one into a statement.

A statement is made by `statement`, which takes numbers and `Sql` and refuses any other text; `Sql` comes from the functions here, each
of which quotes one kind of thing. What they write means the same under every sql_mode (ANSI_QUOTES, NO_BACKSLASH_ESCAPES). A test
refuses SQL that is put together in any other way.

Source: MySQL and MariaDB manuals, "Identifier Names", "String Literals", "Hexadecimal Literals", "Structured System Variables".
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable
from typing import Any

_PLAIN_ACCOUNT = re.compile(r"[\w.%-]+", re.ASCII)
_PLAIN_TEXT = re.compile(r"(?!.*--)[\w .,:/@+-]*", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORDS = re.compile(r"\w+(?:[ =]\w+)*", re.ASCII)


class Sql(str):
    """A statement, or a part of one, in which every name and value is quoted. What str's own methods make of it is plain text again."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Sql:
        """Itself: text does not change."""
        return self


def quote_identifier(name: str) -> Sql:
    """NAME between backticks, with the backticks in it doubled."""
    return Sql("`" + name.replace("`", "``") + "`")


def quote_table(schema: str, table: str) -> Sql:
    """`schema`.`table`."""
    return statement("{}.{}", quote_identifier(schema), quote_identifier(table))


def quote_account(user: str, host: str) -> Sql:
    """'user'@'host'; between backticks where a string literal would depend on sql_mode (quotes, backslashes)."""
    return statement("{}@{}", *map(_account_part, (user, host)))


def _account_part(part: str) -> Sql:
    return Sql(f"'{part}'") if _PLAIN_ACCOUNT.fullmatch(part) else quote_identifier(part)


def quote_text(text: str) -> Sql:
    """A string literal: between quotes where they depend on no sql_mode, else in hexadecimal with its character set.

    Raises ValueError for a text that is no Unicode (half of a surrogate pair).
    """
    if _PLAIN_TEXT.fullmatch(text):
        return Sql(f"'{text}'")
    return Sql(f"_utf8mb4 0x{text.encode('utf-8').hex()}")


def quote_comment(text: str) -> Sql:
    """A string literal for COMMENT, which takes none in hexadecimal. Raises ValueError for a backslash or a control character, which depend on sql_mode."""
    if "\\" in text or not text.isprintable():
        raise ValueError(
            "a comment with a backslash or a control character has no literal that means the same everywhere"
        )
    return Sql("'" + text.replace("'", "''") + "'")


def quote_value(value: str | float) -> Sql:
    """A number as it is, anything else as a string literal. Raises ValueError as `quote_text` does, and for a number that is not finite."""
    return quote_text(value) if isinstance(value, str) else Sql(_number(value))


def quote_variable(name: str, cache: str = "") -> Sql:
    """A system variable, or that of a named key cache: key_buffer_size, `cache`.key_buffer_size.

    The default key cache's variables have no prefix. Raises ValueError for what cannot be a variable's name.
    """
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f"{reprlib.repr(name)} cannot be the name of a system variable")
    return statement("{}.{}", quote_identifier(cache), Sql(name)) if cache else Sql(name)


def plain_words(words: str) -> Sql:
    """Keywords and options that need no quoting: ROW_FORMAT=FIXED. Raises ValueError for anything but words, numbers, spaces and =."""
    if not _WORDS.fullmatch(words):
        raise ValueError(f"{reprlib.repr(words)} is more than words of SQL")
    return Sql(words)


def statement(template: str, *values: Sql | float) -> Sql:
    """The template, which must be a literal, with the values in the places of its {}: `statement("CHECK TABLE {};", quote_table(...))`.

    Raises TypeError for a value that is neither a number nor Sql, and ValueError when their number is not that of the places.
    """
    parts = template.split("{}")
    if len(parts) != len(values) + 1:
        raise ValueError(f"{len(parts) - 1} places and {len(values)} values in {template!r}")
    return Sql(parts[0] + "".join(written(value) + part for value, part in zip(values, parts[1:], strict=True)))


def comment(text: str) -> Sql:
    """One line for the reader. Raises ValueError for a text that some program could take for more than one line."""
    if not text.isprintable():
        raise ValueError(f"{reprlib.repr(text)} is not one line: it holds characters that cannot be seen")
    return Sql(f"-- {text}")


def sql_list(items: Iterable[Sql], between: str = ", ") -> Sql:
    """The items with commas between them, or another literal: `sql_list(conditions, " AND ")`."""
    return Sql(between.join(map(written, items)))


def written(value: object) -> str:
    """A number or Sql as it stands in a statement. Raises TypeError for anything else, and ValueError for a number that is not finite."""
    if isinstance(value, Sql):
        return value
    if isinstance(value, int | float):
        return _number(value)
    raise TypeError(
        f"{reprlib.repr(value)} is neither a number nor quoted: quote it first, as an identifier or as text"
    )


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number for a statement")
    return str(int(value) if isinstance(value, int) or value.is_integer() else value)
