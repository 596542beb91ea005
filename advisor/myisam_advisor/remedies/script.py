"""What a person copies or feeds to a client: statements that run, and comments that do not, whatever is in a name.

A statement is right for the server by its quoting. A client is another reader: it splits a script into statements, and has commands of
its own (a backslash and a letter, source, delimiter). mariadb and mysql know quotes; others split at every semicolon or line, and a terminal acts on control
characters. So a statement runs as it stands only where all of them read it alike; otherwise it stands in comments.

Measured: mariadb 10.11 and mysql 9.7 end a comment at a line feed only. A terminal and some editors take a carriage return too, and
others each of Unicode's line ends: they and all that cannot be seen are written as escapes, so that no reader finds a line without its mark.
A name with such a character never runs as it stands either: browsers and terminals copy a space for one that must not break, and nothing for one
of no width, so that what is pasted would name another table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from myisam_advisor.remedies.prose import WIDTH, broken
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.statements.base import Command, Statement, text_of
from myisam_advisor.remedies.statements.closing import copied_first, grouped
from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.declaring.lean_dataclasses import dataclass

SQL_MARK = "-- "
SHELL_MARK = "# "
_QUOTED_NAME = late_pattern(r"`((?:[^`]|``)*)`")
_CLIENTS_OWN = late_pattern(r"[\\;'\"`#]|--|/\*|\*/")
NOT_RUN = "Not run as it stands: a name in it holds a character that a client could take for its own."
OFFERED = "The commands below are commented out: first do what is described above, then remove the comment marks."
ESCAPED = "A character of a name is written as an escape here: write the statement by hand, from --format json."


def is_plain(command: str) -> bool:
    """Whether every client reads the statement alike: no name in it holds what one of them could take for its own."""
    return not any(_CLIENTS_OWN.search(name) or not name.isprintable() for name in _QUOTED_NAME.findall(command))


def is_offered(command: Command) -> bool:
    """Whether something comes before it, so that it does not run as it stands."""
    return isinstance(command, Statement) and command.is_offered


def now_and_later(commands: Iterable[Command]) -> tuple[tuple[Command, ...], tuple[Command, ...]]:
    """The commands that run as they stand, and those that wait for something to be done first, for a program.

    What stands between LOCK TABLES and UNLOCK TABLES waits together.
    """
    kept: tuple[list[Command], list[Command]] = ([], [])
    for group in grouped(list(commands)):
        kept[any(map(is_offered, group))].extend(group)
    return tuple(kept[0]), tuple(kept[1])


def in_comments(text: str, mark: str = SQL_MARK) -> str:
    """The text with the mark before each of its lines, whatever a line begins with."""
    return "\n".join(mark + printable(line) if line else mark.rstrip() for line in text.split("\n"))


def in_prose(text: str) -> str:
    """As `in_comments`, of words to read: lines that are too long are broken, and no statement in them is."""
    lines = map(printable, text.split("\n"))
    return in_comments("\n".join(part for line in lines for part in broken(line, WIDTH - len(SQL_MARK))))


def offered_in_prose(text: str) -> str:
    """As `offered`, of words with a statement in them."""
    return _said_below(text, in_prose(text), SQL_MARK)


def offered(text: str, mark: str = SQL_MARK) -> str:
    """As `in_comments`, of what a person may run by taking the marks away: where that would name another thing, this is said below it."""
    return _said_below(text, in_comments(text, mark), mark)


def _said_below(text: str, shown: str, mark: str) -> str:
    return f"{shown}\n{mark}{ESCAPED}" if not text.replace("\n", "").isprintable() else shown


def for_copying(commands: Iterable[Command]) -> list[str]:
    """The commands as a person may copy them into a client: those that not every client reads alike in comments.

    What stands between LOCK TABLES and UNLOCK TABLES is in comments together.
    """
    return [line for group in grouped(list(commands)) for _, line in _shown(group)]


@dataclass(frozen=True, slots=True)
class Portion:
    """Lines that a person copies at once, for an SQL client or for a shell.

    `is_altered` where some are in comments for a name in them; `offers` where some are because something comes before them.
    """

    in_shell: bool
    lines: tuple[str, ...]
    is_altered: bool
    offers: bool = False

    def title(self, is_first: bool) -> str:
        """What to do with the lines."""
        if self.in_shell:
            return "in a shell"
        return "run" if is_first else "then run"


def portions(remedies: Iterable[Sequence[Command]]) -> list[Portion]:
    """What to run for each finding, in portions: nobody copies a repair together with what must be done by hand before it.

    An SQL client takes a line for a shell, and what follows, as one statement, refuses that, and goes on with the repair. So lines for a
    shell stand apart; and so does what goes over a table from the copy of its files, also where that copy is a remark.
    """
    found: list[Portion] = []
    for commands in remedies:
        after, before = copied_first(grouped(list(commands)))
        mixed = [*_by_reader(grouped(before)), *_by_reader(after)] if before else list(_by_reader(after))
        joins = bool(found and mixed) and not before and found[-1].in_shell is mixed[0].in_shell
        if joins:
            found.append(_joined(found.pop(), mixed.pop(0)))
        found += mixed
    return list(map(_explained, found))


def _joined(one: Portion, other: Portion) -> Portion:
    return Portion(
        one.in_shell, one.lines + other.lines, one.is_altered or other.is_altered, one.offers or other.offers
    )


def _explained(portion: Portion) -> Portion:
    """With the reason why some of it is in comments, where that is not a name."""
    if not portion.offers:
        return portion
    return replace(portion, lines=(in_comments(OFFERED), *portion.lines))


def _by_reader(groups: Iterable[Sequence[Command]]) -> Iterator[Portion]:
    """Portions, as the reader changes from the client to the shell and back."""
    shown = [pair for group in groups for pair in _shown(group)]
    for in_shell, pairs in groupby(shown, key=lambda pair: isinstance(pair[0], ShellLine)):
        of_one = list(pairs)
        yield Portion(
            in_shell,
            tuple(line for _, line in of_one),
            any(not (is_plain(text_of(one)) or is_offered(one)) for one, _ in of_one),
            any(is_offered(one) for one, _ in of_one),
        )


def _shown(group: Sequence[Command]) -> list[tuple[Command, str]]:
    """Each command of the group with its line: all in comments where not every client would read each alike, or one of them waits."""
    lines = list(map(text_of, group))
    if all(map(is_plain, lines)) and not any(map(is_offered, group)):
        return list(zip(group, lines, strict=True))
    marks = (SHELL_MARK if isinstance(one, ShellLine) else SQL_MARK for one in group)
    return [(one, offered(line, mark)) for one, line, mark in zip(group, lines, marks, strict=True)]


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
        self._lines += map(offered, map(text_of, group))

    def text(self) -> str:
        """The script."""
        return "\n".join([*self._lines, ""])
