"""Statements that close tables, and that hold them still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from myisam_advisor.remedies.statements.base import AnyCommand, Logged, Name, Phase, Remark, Statement, only, quoted
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, sql_list, statement

REPAIR = "REPAIR TABLE"


@dataclass(frozen=True, slots=True)
class FlushTables(Statement):
    """FLUSH TABLES: these are closed, or all."""

    names: tuple[Name, ...] = ()
    is_unlogged: bool = False
    phase: ClassVar[Phase] = Phase.FLUSH

    @property
    def table(self) -> tuple[str, str] | None:
        """The table, where it names one."""
        return only(self.names)

    @property
    def logged(self) -> Logged:
        """Unless told."""
        return Logged.NEVER if self.is_unlogged else Logged.UNLESS_TOLD

    def unlogged(self) -> Statement | None:
        """With NO_WRITE_TO_BINLOG."""
        return None if self.is_unlogged else FlushTables(self.names, is_unlogged=True)

    def _sql(self) -> Sql:
        how = statement(" NO_WRITE_TO_BINLOG" if self.is_unlogged else "")
        if not self.names:
            return statement("FLUSH{} TABLES;", how)
        return statement("FLUSH{} TABLES {};", how, sql_list(map(quoted, self.names)))


@dataclass(frozen=True, slots=True)
class LockTables(Statement):
    """LOCK TABLES ... WRITE: nobody else uses these until they are unlocked."""

    names: tuple[Name, ...]
    phase: ClassVar[Phase] = Phase.LOCKED

    @property
    def table(self) -> tuple[str, str] | None:
        """The table, where it is one."""
        return only(self.names)

    def _sql(self) -> Sql:
        return statement("LOCK TABLES {};", sql_list(statement("{} WRITE", quoted(name)) for name in self.names))


@dataclass(frozen=True, slots=True)
class UnlockTables(Statement):
    """UNLOCK TABLES."""

    phase: ClassVar[Phase] = Phase.LOCKED

    def _sql(self) -> Sql:
        return statement("UNLOCK TABLES;")


def grouped(commands: Sequence[AnyCommand]) -> list[tuple[AnyCommand, ...]]:
    """Commands that must stay together: what stands between LOCK TABLES and UNLOCK TABLES, and a remark with what is around it."""
    groups: list[list[AnyCommand]] = []
    locked = glued = False
    for command in commands:
        if (locked or glued or isinstance(command, Remark)) and groups:
            groups[-1].append(command)
        else:
            groups.append([command])
        glued = isinstance(command, Remark)
        locked = isinstance(command, LockTables) or (locked and not isinstance(command, UnlockTables))
    return [tuple(group) for group in groups]


def copied_first(
    groups: Sequence[tuple[AnyCommand, ...]],
) -> tuple[Sequence[tuple[AnyCommand, ...]], tuple[AnyCommand, ...]]:
    """The groups from the first that goes over a table on, and all that must stand before it: nothing of a repair runs without its copy."""
    verbs = [[one.verb for one in group if isinstance(one, Statement) and one.verb] for group in groups]
    if not any(REPAIR in of_group for of_group in verbs):
        return groups, ()
    first = next(place for place, of_group in enumerate(verbs) if of_group)
    return groups[first:], tuple(command for group in groups[:first] for command in group)
