"""The facts of one moment or interval, in the shape that rules, queries and facts files share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Block, ColumnwiseRows, FactTable, Value, table_named
from myisam_exporter.facts.unknown import Unknown

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FactRows:
    """One fact table: all its declared columns, and its rows in that order.

    While nothing changes a daemon has the same object look after look: what takes long is worked out of it `once`.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    _worked_out: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def dictionaries(self) -> list[dict[str, Value]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def values(self, column: str) -> list[Value]:
        """One column of all rows."""
        position = self.columns.index(column)
        return list(self._column(position))

    def sum_of(self, column: str) -> tuple[float, int]:
        """The sum of the numbers in a column, and how many there are."""

        def work(rows: FactRows) -> tuple[float, int]:
            numbers = [value for value in rows.values(column) if isinstance(value, int | float)]
            return sum(numbers), len(numbers)

        return self.once(("sum", column), work)

    def once(self, key: Hashable, work: Callable[[FactRows], Result]) -> Result:
        """What `work` makes of these rows; the second time under the same key it is not asked again."""
        if key not in self._worked_out:
            self._worked_out[key] = work(self)
        found: Result = self._worked_out[key]
        return found

    def has(self, column: str) -> bool:
        """Whether any row knows this column."""
        position = self.columns.index(column)
        return self.once(("has", column), lambda rows: any(value is not None for value in rows._column(position)))

    def _column(self, position: int) -> Iterable[Value]:
        if isinstance(self.rows, ColumnwiseRows):
            return self.rows.column(position)
        return (row[position] for row in self.rows)


@dataclass(frozen=True, slots=True)
class FactSet:
    """All fact tables. `unknown` says why a table, or a column (`table.column`), is not known; `origin` where they are from, when not live."""

    tables: Mapping[str, FactRows]
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    interval_seconds: float | None = None
    notes: Sequence[Unknown] = ()
    origin: str = ""

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
    if len(blocks) == 1 and blocks[0].columns == names:
        given = blocks[0].rows
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
