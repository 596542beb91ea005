"""The rows told of a scan's tables, worked out while they are read; what of them the next scan takes over.

Of a scan that follows another, the rows of tables that changed are others, of those that were written in the interval before, and of those whose
age has grown too old (told_ages.py). The scan's own moment may lag behind, too (directory_scanner.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Change, Key, Row, RowsByPlace, TableName, Value
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.table_columns import table_columns
from myisam_exporter.files.table_groups import Files, TableGroups
from myisam_exporter.files.table_sums import Sums
from myisam_exporter.files.told_ages import ToldAges

# How far two readings of when the server started may lie apart: its uptime has whole seconds.
START_TOLERANCE_SECONDS = 2.5


@dataclass(frozen=True, slots=True)
class Telling:
    """What holds for all rows of an interval: when the scan was, when the server started, and what those have that nobody wrote to."""

    now: float
    server_started: float | None
    idle: Row
    merged: Mapping[TableName, str]

    def continues(self, before: Telling) -> bool:
        """Whether a row of the interval before holds in this one, where its table did not change."""
        known = self.server_started, self.idle, self.merged
        return self.now >= before.now and known == (before.server_started, before.idle, before.merged)


def first_told(started: float | None, known: ToldTables | None) -> float | None:
    """When the server started: two readings of it differ a little, and those of one start are all told by the first.

    A table that was written in the second of the start would be the former server's at one look, and this one's at another.
    """
    before = None if known is None else known.telling.server_started
    if started is None or before is None:
        return started
    return before if abs(started - before) <= START_TOLERANCE_SECONDS else started


class ToldTables(RowsByPlace):
    """One row a table, in the order of the scan. `rates` has those of tables that were written, or of which nothing is known before.

    `ages` is None where all are told by this scan.
    """

    def __init__(
        self, columns: tuple[str, ...], groups: TableGroups, telling: Telling, rates: Mapping[TableName, Row], sums: Sums,
        ages: ToldAges | None = None,
    ) -> None:  # fmt: skip
        self.columns, self.groups, self.telling, self.rates, self.sums = columns, groups, telling, rates, sums
        self._ages = ages
        self.generation = new_generation()
        self.change: Change | None = None

    @property
    def places(self) -> Mapping[Key, int]:
        """Where the row of each table stands."""
        return cast("Mapping[Key, int]", self.groups.places)  # names are keys of two texts

    @property
    def ages(self) -> ToldAges:
        """When each row's age was told and is too old; of a scan that told all it is found out when a further one asks."""
        if self._ages is None:
            self._ages = ToldAges.told_now(self.groups, self.telling.now)
        return self._ages

    def _moments(self, places: Sequence[int]) -> Sequence[float]:
        if self._ages is None:
            return [self.telling.now] * len(places)
        return self._ages.moments_at(places)

    def columns_at(self, places: Sequence[int]) -> list[Sequence[Value]]:
        """The columns of the tables at these places, at least one."""
        tables = list(map(self.groups.at, places))
        found = table_columns(tables, self._moments(places), self.telling.server_started)
        names = cast("list[TableName]", list(zip(found["schema_name"], found["table_name"], strict=True)))
        found |= self._rates_of(names, tables)
        merged = self.telling.merged
        found["merge_tables"] = list(map(merged.get, names)) if merged else [None] * len(names)
        return [found[name] for name in self.columns]

    def _rates_of(self, names: Sequence[TableName], tables: Sequence[Files]) -> dict[str, Sequence[Value]]:
        idle = self.telling.idle
        # Of what is damaged, be it one partition, nobody can say that nothing was written to it.
        are_whole = [all(file.has_header for file in files) for files in tables]
        if not self.rates and all(are_whole):
            return {rate: [value] * len(names) for rate, value in idle.items()}
        unknown = dict.fromkeys(idle)
        rows = [
            self.rates.get(name) or (idle if is_whole else unknown)
            for name, is_whole in zip(names, are_whole, strict=True)
        ]
        return {rate: [row[rate] for row in rows] for rate in idle}


def told_anew(
    columns: tuple[str, ...], groups: TableGroups, telling: Telling, rates: Mapping[TableName, Row]
) -> ToldTables:
    """All rows of a scan."""
    sums = Sums()
    sums.add(groups.each())
    return ToldTables(columns, groups, telling, rates, sums)


def told_again(
    before: ToldTables,
    groups: TableGroups,
    telling: Telling,
    rates: Mapping[TableName, Row],
    changed: Collection[TableName],
) -> ToldTables:
    """The rows of a scan with the same tables, of which these changed; the same generation where no row is another one."""
    sums, ages = _copy_of(before.sums), before.ages
    sums.add([before.groups[name] for name in changed], -1)
    sums.add([groups[name] for name in changed])
    renewed = {*changed, *rates, *before.rates}
    renewed.update(map(groups.name_at, ages.too_old(telling.now)))
    if renewed:
        ages = ages.told_again(telling.now, map(groups.places.__getitem__, renewed), groups)
    told = ToldTables(before.columns, groups, telling, rates, sums, ages)
    if renewed:
        told.change = Change(before.generation, frozenset(renewed))
    else:
        told.generation = before.generation
    return told


def _copy_of(sums: Sums) -> Sums:
    return Sums(*(getattr(sums, name) for name in Sums.__slots__))
