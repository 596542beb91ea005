"""The facts of one moment or interval, in the shape that rules, queries and facts files share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_exporter.collector import declared_columns
from myisam_exporter.columns import TABLES, Block, Value, table_named
from myisam_exporter.unknown import Unknown


@dataclass(frozen=True, slots=True)
class FactRows:
    """One fact table: all its declared columns, and its rows in that order."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    _known: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def dictionaries(self) -> list[dict[str, Value]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def values(self, column: str) -> list[Value]:
        """One column of all rows."""
        position = self.columns.index(column)
        return [row[position] for row in self.rows]

    def has(self, column: str) -> bool:
        """Whether any row knows this column."""
        known = self._known.get(column)
        if known is None:
            position = self.columns.index(column)
            known = self._known[column] = any(row[position] is not None for row in self.rows)
        return known


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


def merge_blocks(blocks: Iterable[Block]) -> dict[str, FactRows]:
    """Blocks of several collectors as whole tables: rows with the same key become one."""
    by_table: dict[str, list[Block]] = {}
    for block in blocks:
        by_table.setdefault(block.table, []).append(block)
    declared = declared_columns()
    merged = {}
    for table in TABLES:
        names = tuple(column.name for column in declared.get(table.name, ()))
        # Rows must be there before another collector can add to them.
        ordered = sorted(by_table.get(table.name, []), key=lambda block: block.extends)
        merged[table.name] = FactRows(names, _merge(names, table.key, ordered))
    return merged


def _merge(names: tuple[str, ...], key: tuple[str, ...], blocks: Sequence[Block]) -> list[list[Value]]:
    if len(blocks) == 1 and blocks[0].columns == names:
        return [list(row) for row in blocks[0].rows]
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
