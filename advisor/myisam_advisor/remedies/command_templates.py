"""The rules' `commands` and `my_cnf`: templates whose values reach the command quoted, or not at all.

As autoescape does for HTML, but what cannot be quoted without knowing what it is, is refused: a value must be a number, or have gone
through the filter `identifier` or `text`. Values are marked while the template renders, so that their places can be looked at
afterwards: none may stand between quotes or in a comment, where it would be read in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from myisam_advisor.remedies.option_lines import OptionLine, comment_line, option_value
from myisam_advisor.texts.templates import TextError, all_printable, make_environment, printable, template
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.server.sql import Sql, written

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

# A value, in hexadecimal between two of these: no rule file, and no name that a server takes, holds a NUL.
_MARK = "\0"
_VALUE = late_pattern(f"{_MARK}([0-9a-f]*){_MARK}")
# Text of a statement with its values as single marks: quotes and comments closed before the next value, and none within.
_SOUND_SQL = late_pattern(
    r"(?:[^'\"`#/\-]|-(?!-)|/(?!\*)|'[^'\0]*'|\"[^\"\0]*\"|`[^`\0]*`|(?:--|#)[^\n\0]*(?:\n|$)|/\*(?:(?!\*/)[^\0])*\*/)*"
)
_BACKSLASH_IN_QUOTES = late_pattern(r"'[^']*\\|\"[^\"]*\\")
_SOUND_OPTION = late_pattern(r"[A-Za-z][\w.-]*(?:\s*=[^#\r\n]*)?", re.ASCII)


def fill_command(text: str, values: dict[str, object]) -> Sql:
    """The statement, or remark, that a rule's template makes; empty where it chose nothing.

    Raises TextError for a value that is not quoted, or stands where quoting does not hold.
    """
    if text.lstrip().startswith(("--", "#")):
        return _remark(text, values)
    marked = _rendered(text, values, _sql_environment())
    bare = _VALUE.sub(_MARK, marked)
    if _MARK in bare and (not _SOUND_SQL.fullmatch(bare) or _BACKSLASH_IN_QUOTES.search(bare)):
        raise TextError(
            "a command may not hold a value between quotes or in a comment: the filters identifier and text quote it"
        )
    return Sql(_revealed(marked))


def fill_option_line(text: str, values: dict[str, object]) -> OptionLine:
    """The line of my.cnf that a rule's template makes; empty where it chose nothing.

    Raises TextError for a value that is neither a number nor a plain word, and for one that is part of the option's name.
    """
    if text.lstrip().startswith("#"):
        return comment_line(_remark(text, values).lstrip("# "))
    marked = _rendered(text, values, _option_environment())
    bare = _VALUE.sub(_MARK, marked)
    if bare and not _SOUND_OPTION.fullmatch(bare):
        raise TextError(
            f"my_cnf takes one line `option = value` each, with values behind the = only, not {printable(_revealed(marked))!r}"
        )
    return OptionLine(_revealed(marked))


def _remark(text: str, values: dict[str, object]) -> Sql:
    """A comment, of one line whatever the values are."""
    return Sql(printable(" ".join(template(text).render(all_printable(values)).split())))


def _rendered(text: str, values: dict[str, object], environment: SandboxedEnvironment) -> str:
    if _MARK in text:
        raise TextError("a command may not hold a NUL")
    return template(text, environment).render(values).strip()


def _revealed(marked: str) -> str:
    return _VALUE.sub(lambda found: bytes.fromhex(found[1]).decode("utf-8", "surrogatepass"), marked)


def _marked(write: Callable[[object], str]) -> Callable[[object], object]:
    def finalize(value: object) -> object:
        from jinja2 import Undefined

        if isinstance(value, Undefined):
            return str(value)
        try:
            return _MARK + write(value).encode("utf-8", "surrogatepass").hex() + _MARK
        except (TypeError, ValueError) as error:
            raise TextError(f"a command may not hold this value as it is: {error}") from None

    return finalize


@lru_cache(maxsize=1)
def _sql_environment() -> SandboxedEnvironment:
    return make_environment(_marked(written))


@lru_cache(maxsize=1)
def _option_environment() -> SandboxedEnvironment:
    return make_environment(_marked(option_value))
