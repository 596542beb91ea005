"""Some of a server's status or variables, by name: a scrape shows 40 of 1,200, and is done every 15 seconds for each target."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar

from myisam_exporter.server.sql import Sql, quote_text, sql_list, statement

Told = TypeVar("Told")


class NotAskedError(Exception):
    """Somebody reads a name that was not asked: its collector or group of metrics has to name it in `reads`."""


class AskedNames(dict[str, Told]):
    """What a server told of the names that were asked. Another name is no missing one: who wants it gets NotAskedError."""

    def __init__(self, told: Iterable[tuple[str, Told]], asked: frozenset[str]) -> None:
        super().__init__(told)
        self._asked = asked

    def __getitem__(self, name: str) -> Told:
        """What was told of it. Raises KeyError where the server has none of that name."""
        self._check(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None, /) -> Any:
        """What was told of it; the default where the server has none of that name."""
        self._check(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        """Whether the server has one of that name."""
        self._check(name)
        return super().__contains__(name)

    def _check(self, name: object) -> None:
        if name not in self._asked:
            raise NotAskedError(f"{name} was not asked")


@lru_cache(maxsize=8)
def status_named(names: frozenset[str]) -> Sql:
    """What asks for these of the server's counters and states; those that it has not are missing in the answer."""
    return statement("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", sql_list(map(quote_text, sorted(names))))


@lru_cache(maxsize=8)
def variables_named(names: frozenset[str]) -> Sql:
    """The same of its variables."""
    return statement("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", sql_list(map(quote_text, sorted(names))))
