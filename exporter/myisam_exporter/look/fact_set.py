"""The facts of one moment or interval, in the shape that rules, queries and facts files share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Block, ColumnwiseRows, FactTable, Value, WiderRows, table_named
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import numbers_in

Result = TypeVar("Result")


@dataclass(slots=True)
class TableMemo:
    """What was worked out of one generation of a fact table: it goes with the table, so there is nothing to forget or invalidate.

    `sums` are of the numbers in a column, with how many there are; `known` says whether any row knows a column; `others` are what
    higher rooms worked out `once`, by their keys.
    """

    sums: dict[str, tuple[float, int]] = field(default_factory=dict)
    known: dict[str, bool] = field(default_factory=dict)
    others: dict[Hashable, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactRows:
    """One fact table: all its declared columns, and its rows in that order.

    While nothing changes a daemon's table has the same `generation` look after look. `memo` is what was worked out of it.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    generation: int = field(default_factory=new_generation, init=False, repr=False, compare=False)
    memo: TableMemo = field(default_factory=TableMemo, init=False, repr=False, compare=False)

    def dictionaries(self) -> list[dict[str, Value]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def values(self, column: str) -> list[Value]:
        """One column of all rows."""
        position = self.columns.index(column)
        return list(self._column(position))

    def sum_of(self, column: str) -> tuple[float, int]:
        """The sum of the numbers in a column, and how many there are."""
        if column not in self.memo.sums:
            numbers = numbers_in(self.values(column))
            self.memo.sums[column] = sum(numbers), len(numbers)
        return self.memo.sums[column]

    def once(self, key: Hashable, work: Callable[[FactRows], Result]) -> Result:
        """What `work` makes of these rows; the second time under the same key it is not asked again."""
        others = self.memo.others
        if key not in others:
            others[key] = work(self)
        return cast("Result", others[key])

    def has(self, column: str) -> bool:
        """Whether any row knows this column."""
        if column not in self.memo.known:
            position = self.columns.index(column)
            self.memo.known[column] = any(value is not None for value in self._column(position))
        return self.memo.known[column]

    def _column(self, position: int) -> Iterable[Value]:
        if isinstance(self.rows, ColumnwiseRows):
            return self.rows.column(position)
        return (row[position] for row in self.rows)


@dataclass(frozen=True, slots=True)
class FactSet:
    """All fact tables. `unknown` says why a table, or a column (`table.column`), is not known; `origin` where they are from, when not live.

    `status_read_at` is when the server told its uptime, by the clock that is never set: a look goes on after it, for minutes on a slow disk.
    """

    tables: Mapping[str, FactRows]
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    interval_seconds: float | None = None
    notes: Sequence[Unknown] = ()
    origin: str = ""
    status_read_at: float | None = field(default=None, compare=False)

    def uptime_seconds_at(self, monotonic: float) -> float | None:
        """How long the server was up at that moment, if it did not end since it said so."""
        uptime = self.single("server").get("uptime_seconds")
        if not isinstance(uptime, int | float):
            return None
        return uptime if self.status_read_at is None else uptime + max(monotonic - self.status_read_at, 0.0)

    def single(self, table: str) -> dict[str, Value]:
        """The one row of a table that has one; empty when it is unknown."""
        rows = self.tables[table].dictionaries()
        return rows[0] if rows else {}

    def why_unknown(self, table: str, column: str | None = None) -> Unknown:
        """The reason that a table or column is not known."""
        reason = self.unknown.get(f"{table}.{column}") or self.unknown.get(table)
        return reason or Unknown("not known here")


def merge_table(table: FactTable, blocks: Iterable[Block]) -> FactRows:
    """All blocks of one table as that table."""
    names = tuple(column.name for column in declared_columns().get(table.name, ()))
    # Rows must be there before another collector can add to them.
    return FactRows(names, _merge(names, table.key, sorted(blocks, key=lambda block: block.extends)))


def _merge(names: tuple[str, ...], key: tuple[str, ...], blocks: Sequence[Block]) -> Sequence[Sequence[Value]]:
    if len(blocks) == 1 and blocks[0].columns == names[: len(blocks[0].columns)]:
        given = blocks[0].rows
        width = len(blocks[0].columns)
        if isinstance(given, ColumnwiseRows):
            return WiderRows(given, width, len(names)) if width < len(names) else given
        if width == len(names):
            return given if isinstance(given, Sequence) else list(given)
    rows: dict[tuple[Value, ...], list[Value]] = {}
    for block in blocks:
        places = [names.index(column) for column in block.columns]
        key_places = [block.columns.index(column) for column in key]
        for row in block.rows:
            identity = tuple(row[place] for place in key_places)
            known = rows.get(identity)
            if known is None:
                if block.extends:
                    continue
                known = rows[identity] = [None] * len(names)
            for place, value in zip(places, row, strict=True):
                if value is not None:
                    known[place] = value
    return list(rows.values())


def mark_unknown(tables: Mapping[str, FactRows], reasons: Mapping[str, Unknown]) -> dict[str, Unknown]:
    """Those reasons that still hold: another collector may have brought the table or column after all."""
    unknown = {}
    for name, reason in reasons.items():
        table, _, column = name.partition(".")
        facts = tables[table]
        if table_named(table) is None or (column and facts.has(column)) or (not column and facts.rows):
            continue
        unknown[name] = reason
    return unknown
