"""Lines of my.cnf as a type: one option each, and nothing that an option file would read as something else.

Option files know no quoting for names. A name that could be read in another way (a line break begins a line of its own, = ends the
name, . parts it, # begins a comment, ! includes a file) is refused: a comment stands in its place. A server does not start with a line
that it does not understand.

Source: MySQL manual, "Using Option Files" and "Multiple Key Caches"; mysys/my_default.c, mysys/my_getopt.c (check_struct_option). Tried:
names of these characters, as --NAME.key_buffer_size, on MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

import re
import reprlib
from typing import Any

from myisam_advisor.texts.templates import object_name, printable
from myisam_exporter.server.sql import quote_variable, written

_CACHE = re.compile(r"[0-9A-Za-z_$][0-9A-Za-z_$-]{0,63}")
_OPTION = re.compile(r"[A-Za-z][0-9A-Za-z_-]*(?:\.[A-Za-z][0-9A-Za-z_-]*)?")
_VALUE = re.compile(r"[0-9A-Za-z_./:,@+-]*")


class OptionLine(str):
    """One line of an option file: an option, or a comment."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> OptionLine:
        """Itself: text does not change."""
        return self

    @property
    def is_comment(self) -> bool:
        """Whether the server passes it over."""
        return self.startswith("#")

    @property
    def option(self) -> str:
        """The option's name, with the key cache that it is for; empty for a comment."""
        return "" if self.is_comment else self.partition("=")[0].strip()


class OptionRemark(OptionLine):
    """A comment on the line behind it; `in_words` is the same for those to whom no path of the server's machine is shown."""

    __slots__ = ("in_words",)
    in_words: str

    def __new__(cls, text: str, in_words: str = "") -> OptionRemark:
        """The comment, which `option_remark` makes."""
        made = super().__new__(cls, text)
        made.in_words = in_words or text
        return made


def option_line(option: str, value: str | float, cache: str = "") -> OptionLine:
    """`option = value`, or `cache.option = value`; for a key cache whose name no option file can hold, a comment with the remedy.

    Raises ValueError for an option or a value that could be read in another way.
    """
    if cache and not _CACHE.fullmatch(cache):
        return comment_line(
            f"no option file can name the key cache {object_name(cache)}: set its {option} to {option_value(value)} "
            "after each start of the server, by the statement that sets it now"
        )
    name = f"{cache}.{option}" if cache else option
    if cache:
        quote_variable(option)
    elif not _OPTION.fullmatch(option):
        raise ValueError(f"{reprlib.repr(option)} cannot be the name of an option")
    return OptionLine(f"{name} = {option_value(value)}")


def option_value(value: object) -> str:
    """A number, or a text that needs no quotes. Raises ValueError for any other text, and TypeError for what is neither."""
    if not isinstance(value, str):
        return written(value)
    if not _VALUE.fullmatch(value):
        raise ValueError(f"{reprlib.repr(value)} cannot be the value of an option here: it holds more than plain words")
    return str(value)


def comment_line(text: str) -> OptionLine:
    """The text as a comment of one line, whatever it holds."""
    return OptionLine("# " + printable(text))


def option_remark(text: str, in_words: str = "") -> OptionRemark:
    """The text as a comment on the line behind it; `in_words` says the same without a path."""
    return OptionRemark(comment_line(text), comment_line(in_words or text))
