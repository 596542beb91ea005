"""What a person copies or feeds to a client: statements that run, and comments that do not, whatever is in a name.

A statement is right for the server by its quoting. A client is another reader: it splits a script into statements, and has commands of
its own (a backslash and a letter, source, delimiter). mariadb and mysql know quotes; others split at every semicolon or line, and a terminal acts on control
characters. So a statement runs as it stands only where all of them read it alike; otherwise it stands in comments.

Measured: mariadb 10.11 and mysql 9.7 end a comment at a line feed only. A terminal and some editors take a carriage return too, and
others each of Unicode's line ends: they and all that cannot be seen are written as escapes, so that no reader finds a line without its mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from myisam_advisor.remedies.statements.base import Command, Statement, text_of
from myisam_advisor.remedies.statements.closing import grouped
from myisam_advisor.texts.templates import escaped

SQL_MARK = "-- "
# Control characters, Unicode's line ends, what reorders text, and halves of surrogate pairs.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_QUOTED_NAME = re.compile(r"`((?:[^`]|``)*)`")
_CLIENTS_OWN = re.compile(rf"{_UNSEEN.pattern}|[\\;'\"`#]|--|/\*|\*/")
NOT_RUN = "Not run as it stands: a name in it holds a character that a client could take for its own."
ESCAPED = "A character of a name is written as an escape here: write the statement by hand, from --format json."


def is_plain(command: str) -> bool:
    """Whether every client reads the statement alike: no name in it holds what one of them could take for its own."""
    return not any(_CLIENTS_OWN.search(name) for name in _QUOTED_NAME.findall(command))


def in_comments(text: str, mark: str = SQL_MARK) -> str:
    """The text with the mark before each of its lines, whatever a line begins with."""
    return "\n".join(mark + _UNSEEN.sub(escaped, line) if line else mark.rstrip() for line in text.split("\n"))


def for_copying(commands: Iterable[Command]) -> list[str]:
    """The commands as a person may copy them into a client: those that not every client reads alike in comments.

    What stands between LOCK TABLES and UNLOCK TABLES is in comments together.
    """
    shown: list[str] = []
    for group in grouped(list(commands)):
        lines = list(map(text_of, group))
        shown += lines if all(map(is_plain, lines)) else map(in_comments, lines)
    return shown


class Script:
    """The lines of one SQL script. Nothing gets into it but statements that run and remarks that do not."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def blank(self) -> None:
        """An empty line."""
        self._lines.append("")

    def remark(self, text: str = "") -> None:
        """Text for the reader, each of its lines with its mark."""
        self._lines.append(in_comments(text))

    def run(self, group: Sequence[Command]) -> None:
        """Statements that belong together, to be run as they stand; in comments where not every client would read them alike."""
        if all(isinstance(command, Statement) and is_plain(command.sql) for command in group):
            self._lines += map(text_of, group)
            return
        self.remark(NOT_RUN)
        self.offer(group)

    def offer(self, group: Sequence[Command]) -> None:
        """Statements that a person may run by taking the marks away."""
        for command in map(text_of, group):
            self.remark(command)
            if _UNSEEN.search(command.replace("\n", "")):
                self.remark(ESCAPED)

    def text(self) -> str:
        """The script."""
        return "\n".join([*self._lines, ""])
