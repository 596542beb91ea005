"""What a statement of a remedy is: a value that says what it does to the server, and is text at the very end.

Sources: MySQL and MariaDB manuals, "OPTIMIZE TABLE Statement", "ALTER TABLE Statement", "FLUSH Statement" (what NO_WRITE_TO_BINLOG keeps
out of the binary log, and what has no such form).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import Enum, IntEnum
from typing import Protocol, TypeVar

from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, comment, quote_identifier, quote_table

# Schema and table; the table alone where the author of a rule left out the schema.
Name = tuple[str, ...]


class Phase(IntEnum):
    """When a statement runs among the others.

    In this order they are safe: memory is given back before it is taken, tables are closed before indexes are loaded (closing takes a
    table's blocks out of the key cache), and a table is assigned before its index is loaded. Offline waits for a person.
    """

    GIVE_BACK = 0
    SET = 1
    LOCKED = 2
    FLUSH = 3
    ASSIGN = 4
    LOAD = 5
    SHELL = 6
    OFFLINE = 7


class Logged(Enum):
    """Whether a statement is written to the binary log, and so runs on the replicas too."""

    NEVER = "never"
    UNLESS_TOLD = "NO_WRITE_TO_BINLOG keeps it out"
    ALWAYS = "always"


class Change(Enum):
    """What a statement makes of a table, where that decides what it needs, or whether it may run."""

    INTO_INNODB = "ENGINE=InnoDB"
    FIXED_ROWS = "ROW_FORMAT=FIXED"
    UNPACKED_KEYS = "PACK_KEYS=0"
    KEYS_OFF = "DISABLE KEYS"
    KEYS_ON = "ENABLE KEYS"


# Who takes TL_READ_NO_INSERT keeps out writers; thr_lock() lets no new reader pass a waiting TL_WRITE, and an INSERT that could be concurrent is none.
READ_LOCK = "writers wait until it is done, and readers behind an UPDATE or DELETE that waits"
MOMENT = "readers and writers wait for a moment"
LOCKS = {
    "ALTER TABLE": "writers wait until it is done, readers for a moment at its end",
    "OPTIMIZE TABLE": "readers and writers wait until it is done",
    "REPAIR TABLE": "readers and writers wait until it is done",
    "CHECK TABLE": READ_LOCK,
    "ANALYZE TABLE": READ_LOCK,
    "": "not known: the statement is of a rule of your own",
}


class Now(Protocol):
    """The values that hold before a change."""

    def of_variable(self, variable: str, cache: str) -> Sql | None:
        """A variable's value, as SQL; None while it is not known."""

    def row_format(self, table: tuple[str, str] | None) -> str | None:
        """The format of the table's rows; None while it is not known."""

    def pack_keys(self, table: tuple[str, str] | None) -> str | None:
        """PACK_KEYS as the table was made with, 0 or 1; None for DEFAULT, and while it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(ABC):
    """One statement. `written` is how the author of a rule wrote it, where that is not how it is written here.

    `is_offered`: its finding wants something else done first, so it stands in comments wherever a person copies it.
    """

    written: Sql | None = None
    is_offered: bool = False

    @property
    def phase(self) -> Phase:
        """When it runs among the others."""
        return Phase.OFFLINE

    @property
    def verb(self) -> str:
        """ALTER TABLE, REPAIR TABLE, ...; empty for what is not about whole tables."""
        return ""

    @property
    def rewrites(self) -> bool:
        """Whether it changes a table or its files."""
        return False

    @property
    def sql(self) -> Sql:
        """The statement as a client takes it."""
        return self._sql() if self.written is None else self.written

    @property
    def table(self) -> tuple[str, str] | None:
        """Schema and table that it is about, where it names exactly one."""
        return None

    @property
    def table_alone(self) -> str:
        """The table that it is about, where its author left out the schema; empty otherwise."""
        return ""

    def of_each_table(self) -> tuple[Statement, ...]:
        """The same of each table that it names, alone: what may not be done to one of them may not be done to all."""
        return (self,)

    @property
    def changes(self) -> frozenset[Change]:
        """What it makes of its table."""
        return frozenset()

    @property
    def redefines(self) -> bool:
        """Whether it changes what a MERGE table wants to be alike in itself and its members: engine, row format, indexes."""
        return False

    @property
    def taken_names(self) -> tuple[Name, ...]:
        """Those that no table has any more: it is renamed, or dropped. A MERGE table misses its member then."""
        return ()

    @property
    def dropped_names(self) -> tuple[Name, ...]:
        """All tables that are dropped together with this one, itself among them."""
        return ()

    @property
    def assigned_to(self) -> str:
        """The key cache that its tables' indexes go into; empty where it assigns none."""
        return ""

    @property
    def writes_definition(self) -> bool:
        """Whether the server writes the table's definition anew, as it has read it: every ALTER TABLE that sets an option or copies the table does (tried on MySQL 5.5 and 5.6)."""
        return False

    @property
    def is_done_at_once(self) -> bool:
        """Whether it takes a moment whatever the table's size, and no room on a disk: it writes no rows and no index."""
        return False

    @property
    def logged(self) -> Logged:
        """Whether it goes to the binary log."""
        return Logged.NEVER

    @property
    def lock(self) -> str:
        """Who waits while it runs, in words."""
        return LOCKS[self.verb]

    @property
    def from_definition(self) -> bool:
        """Whether it makes the index file anew: REPAIR TABLE ... USE_FRM."""
        return False

    def unlogged(self) -> Statement | None:
        """The same, not written to the binary log; None where there is no such form, or it is not known."""
        return None

    def taken_back(self, now: Now) -> Statement:
        """What takes it back, or a remark when nothing does or has to."""
        return nothing_to_take_back(self.sql)

    def verification(self) -> Statement | None:
        """What shows whether it took effect; None where there is nothing."""
        return None

    @abstractmethod
    def _sql(self) -> Sql:
        """The statement as it is written here."""


Command = Statement | ShellLine
AnyCommand = TypeVar("AnyCommand", bound=Command)


@dataclass(frozen=True, slots=True)
class Remark(Statement):
    """A line for the reader only: a comment as it stands, marks and all."""

    line: Sql

    def _sql(self) -> Sql:
        return self.line


def remark(text: str) -> Remark:
    """A line for the reader, whatever the text holds."""
    return Remark(comment(printable(text)))


def nothing_to_take_back(command: str) -> Remark:
    """What stands in the way back for a command that has none."""
    return remark(f"nothing to take back: {command}")


def way_back_not_known(command: str) -> Remark:
    """What stands in the way back for a command that changes what nobody noted."""
    return remark(f"what takes this back is not known: {command}")


def text_of(command: Command) -> Sql | ShellLine:
    """The command as a person runs it."""
    return command.sql if isinstance(command, Statement) else command


def quoted(name: Name) -> Sql:
    """The table's name in SQL."""
    schema, *rest = name
    return quote_table(schema, rest[0]) if rest else quote_identifier(schema)


def only(names: Iterable[Name]) -> tuple[str, str] | None:
    """Schema and table, where there is exactly one of them, and its schema is known."""
    found = set(names)
    name = found.pop() if len(found) == 1 else ()
    return (name[0], name[1]) if len(name) == 2 else None
