"""Lines for a shell as a type: every value in them is quoted."""

from __future__ import annotations

import reprlib
import shlex
from typing import Any

NOT_SHOWN = "a line with a path of the server's machine: log in to see it"


class ShellLine(str):
    """One command for a POSIX shell, in which every value is quoted; `meant` says what it does to whom its paths are not shown."""

    __slots__ = ("meant",)
    meant: str

    def __new__(cls, line: str, meant: str = "") -> ShellLine:
        """The line, which `shell_line` makes."""
        made = super().__new__(cls, line)
        made.meant = meant
        return made

    @property
    def in_words(self) -> str:
        """A comment of the shell, and of MySQL's clients, in place of the line."""
        return f"# {self.meant or NOT_SHOWN}"

    def __deepcopy__(self, memo: dict[int, Any]) -> ShellLine:
        """Itself: text does not change."""
        return self


def shell_line(template: str, *values: str, meant: str = "") -> ShellLine:
    """The template, which must be a literal, with the values, quoted, in the places of its {}; `meant` is the same in words without a path.

    Raises ValueError for a value that a terminal or a script could take for more than one line: with a control character.
    """
    parts = template.split("{}")
    if len(parts) != len(values) + 1:
        raise ValueError(f"{len(parts) - 1} places and {len(values)} values in {template!r}")
    for value in (*values, meant):
        if not value.isprintable():
            raise ValueError(f"{reprlib.repr(value)} cannot stand in a line for a shell: it holds a control character")
    return ShellLine(
        parts[0] + "".join(shlex.quote(value) + part for value, part in zip(values, parts[1:], strict=True)), meant
    )
