"""The rows told of a scan's tables, worked out while they are read; what of them the next scan takes over.

Of a scan that follows another, the rows of tables that changed are others, of those that were written in the interval before, and of those whose
age has grown too old. An age may lag behind by as much as the table was old when it was told, at most ten minutes, later by a hundredth:
the rules ask whether a table was written within seconds or within the day. The scan's own moment may lag behind by as much again.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Change, Key, Row, RowsByPlace, Value
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.table_columns import table_columns
from myisam_exporter.files.table_file import TableName
from myisam_exporter.files.table_groups import Files, TableGroups
from myisam_exporter.files.table_sums import Sums

AGE_TOLERANCE_SECONDS, AGE_TOLERANCE = 600.0, 0.01
# How far two readings of when the server started may lie apart: its uptime has whole seconds.
START_TOLERANCE_SECONDS = 2.5
# Ages are looked at by so many tables together: of old ones, one number says that none is too old.
STRETCH = 256
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Telling:
    """What holds for all rows of an interval: when the scan was, when the server started, and what those have that nobody wrote to."""

    now: float
    server_started: float | None
    idle: Row
    merged: Mapping[TableName, str]

    def continues(self, before: Telling) -> bool:
        """Whether a row of the interval before holds in this one, where its table did not change."""
        if self.server_started is None or before.server_started is None:
            is_same_start = self.server_started is before.server_started
        else:
            is_same_start = abs(self.server_started - before.server_started) <= START_TOLERANCE_SECONDS
        return is_same_start and self.now >= before.now and (self.idle, self.merged) == (before.idle, before.merged)


class ToldTables(RowsByPlace):
    """One row a table, in the order of the scan. `rates` has those of tables that were written, or of which nothing is known before.

    `moments` are when each row's age was told.
    """

    def __init__(
        self, columns: tuple[str, ...], groups: TableGroups, telling: Telling, rates: Mapping[TableName, Row], sums: Sums,
        moments: array[float], due: Sequence[float] = (),
    ) -> None:  # fmt: skip
        self.columns, self.groups, self.telling, self.rates, self.sums = columns, groups, telling, rates, sums
        self.moments = moments
        self.generation = new_generation()
        self.change: Change | None = None
        self._due = list(due)

    @property
    def places(self) -> Mapping[Key, int]:
        """Where the row of each table stands."""
        return cast("Mapping[Key, int]", self.groups.places)  # names are keys of two texts

    @property
    def due(self) -> list[float]:
        """For each stretch of rows a moment up to which none of its ages is too old; found out when a further scan asks."""
        if not self._due:
            self._due = [_first_due(self.groups, self.moments, start) for start in range(0, len(self.groups), STRETCH)]
        return self._due

    def columns_at(self, places: Sequence[int]) -> list[Sequence[Value]]:
        """The columns of the tables at these places, at least one."""
        now, tables = [self.moments[place] for place in places], list(map(self.groups.at, places))
        found = table_columns(tables, now, self.telling.server_started)
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
    return ToldTables(columns, groups, telling, rates, sums, array("d", [telling.now]) * len(groups))


def told_again(
    before: ToldTables,
    groups: TableGroups,
    telling: Telling,
    rates: Mapping[TableName, Row],
    changed: Collection[TableName],
) -> ToldTables:
    """The rows of a scan with the same tables, of which these changed; the same generation where no row is another one."""
    sums, moments, due = _copy_of(before.sums), before.moments[:], list(before.due)
    # Two readings of when the server started differ a little: those of one start are all told by the first.
    telling = replace(telling, server_started=before.telling.server_started)
    places = groups.places
    sums.add([before.groups[name] for name in changed], -1)
    sums.add([groups[name] for name in changed])
    renewed = {*changed, *rates, *before.rates}
    past = [stretch for stretch, moment in enumerate(due) if moment <= telling.now]
    renewed.update(map(groups.name_at, _too_old(before, past, telling.now)))
    for name in renewed:
        place = places[name]
        moments[place] = telling.now
        # All of the stretch are gone through when its moment is over, and not for each of its tables that was written.
        due[place // STRETCH] = min(due[place // STRETCH], _due(groups, moments, place))
    for stretch in past:
        due[stretch] = _first_due(groups, moments, stretch * STRETCH)
    told = ToldTables(before.columns, groups, telling, rates, sums, moments, due)
    if renewed:
        told.change = Change(before.generation, frozenset(renewed))
    else:
        told.generation = before.generation
    return told


def _too_old(told: ToldTables, stretches: Iterable[int], now: float) -> Iterator[int]:
    """The places in these stretches whose age is to be told again."""
    for stretch in stretches:
        for place in range(stretch * STRETCH, min((stretch + 1) * STRETCH, len(told.groups))):
            if _due(told.groups, told.moments, place) <= now:
                yield place


def _first_due(groups: TableGroups, moments: array[float], start: int) -> float:
    return min(_due(groups, moments, place) for place in range(start, min(start + STRETCH, len(groups))))


def _due(groups: TableGroups, moments: array[float], place: int) -> float:
    """When the age of a table that was told then is too old; never where none is told."""
    files = groups.at(place)
    changes = [file.data_modified for file in files if file.data_modified is not None]
    if not changes:
        return NEVER
    age = max(moments[place] - max(changes), 0.0)
    return moments[place] + max(min(AGE_TOLERANCE_SECONDS, age), AGE_TOLERANCE * age)


def _copy_of(sums: Sums) -> Sums:
    return Sums(*(getattr(sums, name) for name in Sums.__slots__))
