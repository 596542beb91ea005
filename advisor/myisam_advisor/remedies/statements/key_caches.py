"""Statements that say which key cache holds the indexes of a table, and that read them into it."""

from __future__ import annotations

from typing import ClassVar

from myisam_advisor.remedies.statements.base import Name, Now, Phase, Statement, only, quoted
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_identifier, statement


@dataclass(frozen=True, slots=True)
class CacheIndex(Statement):
    """CACHE INDEX: the table's indexes go into this key cache, those of all its partitions where it has some."""

    name: Name
    cache: str = DEFAULT_CACHE
    partitioned: bool = False
    phase: ClassVar[Phase] = Phase.ASSIGN

    @property
    def table(self) -> tuple[str, str] | None:
        """The table."""
        return only([self.name])

    @property
    def assigned_to(self) -> str:
        """The cache."""
        return self.cache

    def taken_back(self, now: Now) -> Statement:
        """Into the default one, where every table begins."""
        return CacheIndex(self.name, partitioned=self.partitioned)

    def _sql(self) -> Sql:
        # Between backticks it would be the same one: default is a keyword, and no name.
        cache = statement("default") if self.cache == DEFAULT_CACHE else quote_identifier(self.cache)
        return statement("CACHE INDEX {} IN {};", _clause(self.name, self.partitioned), cache)


@dataclass(frozen=True, slots=True)
class LoadIndex(Statement):
    """LOAD INDEX INTO CACHE: the table's indexes are read into the key cache that they are assigned to."""

    name: Name
    partitioned: bool = False
    phase: ClassVar[Phase] = Phase.LOAD

    @property
    def table(self) -> tuple[str, str] | None:
        """The table."""
        return only([self.name])

    def _sql(self) -> Sql:
        return statement("LOAD INDEX INTO CACHE {};", _clause(self.name, self.partitioned))


def _clause(name: Name, partitioned: bool) -> Sql:
    return statement("{} PARTITION (ALL)", quoted(name)) if partitioned else quoted(name)
