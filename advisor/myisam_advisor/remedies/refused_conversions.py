"""What the server refuses to convert to InnoDB, by the definitions of the tables, which no fact tells.

Who may look is handed in: definitions are read by `migrate`, which lies above this room, and not where the facts are a file's or another machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from myisam_advisor.remedies.shell_lines import ShellLine, shell_line
from myisam_advisor.texts.templates import object_name
from myisam_exporter.facts.columns import TableName

# Of each table that could be looked at why its ALTER would be refused, whatever its rows are; nothing where it would be taken.
Refusals = Mapping[TableName, Sequence[str]]
LookForRefusals = Callable[[Sequence[TableName]], Refusals]
# Planners whose command is such an ALTER.
CONVERTING = frozenset({"engine_migration"})
# One look reads all definitions that are asked for; so many findings of a rule nobody follows at once.
MOST_TABLES = 50


class RefusedConversions:
    """The refusals of a judgement's tables: looked for once, together, and only if one of them is about to be named."""

    def __init__(self, look: LookForRefusals | None = None, tables: Sequence[TableName] = ()) -> None:
        self._look = look
        self._tables = tuple(dict.fromkeys(tables))[:MOST_TABLES]
        self._found: Refusals | None = None

    def of(self, schema: str, table: str) -> Sequence[str] | None:
        """Why the server refuses the ALTER; None where nobody could look."""
        if self._look is None or (schema, table) not in self._tables:
            return None
        if self._found is None:
            self._found = self._look(self._tables)
        return self._found.get((schema, table))


NOBODY_LOOKS = RefusedConversions()


def migrate_line(schema: str, table: str) -> ShellLine:
    """What says of one table what the server refuses, and what to do about it; with a name to be filled in where it has none that fits in a line."""
    try:
        return shell_line("sudo myisam-advisor migrate {}", object_name(schema, table))
    except ValueError:
        return shell_line("sudo myisam-advisor migrate DB.TABLE")
