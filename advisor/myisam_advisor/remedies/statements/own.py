"""Statements of rules that are none of those that planners make: what could be read off them is known, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from myisam_advisor.remedies.statements.base import (
    LOCKS,
    MOMENT,
    Change,
    Logged,
    Name,
    Now,
    Phase,
    Statement,
    nothing_to_take_back,
    way_back_not_known,
)
from myisam_advisor.remedies.statements.reading import Reading
from myisam_advisor.remedies.statements.tables import verification_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql

_LOGGED = {"": Logged.NEVER, "CHECK TABLE": Logged.NEVER, "ALTER TABLE": Logged.ALWAYS}
_ONLY_READ = frozenset({"", "CHECK TABLE", "ANALYZE TABLE"})
# What they do leaves nothing behind that anybody would want back.
_WITHOUT_WAY_BACK = frozenset({"OPTIMIZE TABLE", "REPAIR TABLE", "CHECK TABLE", "ANALYZE TABLE"})


@dataclass(frozen=True, slots=True)
class OwnStatement(Statement):
    """A statement as the author of a rule wrote it.

    `like` is one that does the same, written in another way: it is taken back, or kept out of the binary log, as that one is. `way_back` is
    what takes it back where it is like none.
    """

    text: Sql
    read: Reading
    when: Phase = Phase.OFFLINE
    like: Statement | None = None
    way_back: Statement | None = None

    @property
    def phase(self) -> Phase:
        """As its beginning tells; one that is not known waits for a person."""
        return self.when

    @property
    def verb(self) -> str:
        """As its words tell."""
        return self.read.verb

    @property
    def table(self) -> tuple[str, str] | None:
        """The table, where it names one with its schema."""
        return self.read.table

    @property
    def table_alone(self) -> str:
        """As its words tell."""
        return self.read.table_alone

    def of_each_table(self) -> tuple[Statement, ...]:
        """As its words tell."""
        return tuple(replace(self, read=one) for one in self.read.of_each_table())

    @property
    def changes(self) -> frozenset[Change]:
        """What was read off it."""
        return self.read.changes

    @property
    def redefines(self) -> bool:
        """As its words tell."""
        return self.read.redefines

    @property
    def taken_names(self) -> tuple[Name, ...]:
        """As its words tell."""
        return self.read.taken_names

    @property
    def dropped_names(self) -> tuple[Name, ...]:
        """As its words tell."""
        return self.read.dropped_names

    @property
    def assigned_to(self) -> str:
        """As its words tell."""
        return self.read.assigned_to

    @property
    def writes_definition(self) -> bool:
        """As its words tell."""
        return self.read.writes_definition

    @property
    def rewrites(self) -> bool:
        """By its verb, or as one that changes rows or definitions by another verb than those about whole tables."""
        return self.read.changes_data or self.verb not in _ONLY_READ

    @property
    def is_done_at_once(self) -> bool:
        """As its words tell."""
        return self.read.at_once

    @property
    def logged(self) -> Logged:
        """One that is not known may be."""
        if self.read.is_unlogged:
            return Logged.NEVER
        if not self.verb and self.when is Phase.OFFLINE:
            return Logged.ALWAYS
        return Logged.UNLESS_TOLD if self.when is Phase.FLUSH else _LOGGED.get(self.verb, Logged.UNLESS_TOLD)

    @property
    def lock(self) -> str:
        """As what it is like, else by its verb."""
        if self.like is not None:
            return self.like.lock
        return MOMENT if self.is_done_at_once else LOCKS[self.verb]

    @property
    def from_definition(self) -> bool:
        """Whether it is a REPAIR TABLE that ends with USE_FRM."""
        return self.read.by_definition

    def unlogged(self) -> Statement | None:
        """As what it is like."""
        return None if self.like is None or self.read.is_unlogged else self.like.unlogged()

    def taken_back(self, now: Now) -> Statement:
        """As what it is like; nothing is promised of what is not known."""
        if self.way_back is not None:
            return self.way_back
        if self.like is not None:
            return replace(self.like, written=self.text).taken_back(now)
        if self.verb in _WITHOUT_WAY_BACK or self.when in (Phase.FLUSH, Phase.LOAD):
            return nothing_to_take_back(self.text)
        return way_back_not_known(self.text)

    def verification(self) -> Statement | None:
        """By its verb."""
        return verification_of(self.verb, self.table)

    def _sql(self) -> Sql:
        return self.text
