"""One error that an ALTER ends with, and the words that those which look for it share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import Sql, quote_identifier, statement

WARNING = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error that there will be, or may be: `may` where that depends on the rows.

    `code` is the server's number, WARNING for a warning behind which the table is of another engine than was asked for.
    """

    code: int
    why: str
    mend: str
    may: bool = False

    @property
    def label(self) -> str:
        """What it is for people."""
        return f"error {self.code}" if self.code else "a warning"


Check = Callable[[Structure, ServerKind, Sql], Iterator[Refusal]]


def drop_index(table: Sql, name: str) -> str:
    """What takes an index away."""
    return statement("ALTER TABLE {} DROP INDEX {};", table, quote_identifier(name))
