"""The rows told of a scan's tables, worked out while they are read; what of them the next scan takes over.

Of a scan that follows another, the rows of tables that changed are others, of those that were written in the interval before, and of those whose
age has grown too old. An age may lag behind by as much as the table was old when it was told, at most ten minutes, later by a hundredth:
the rules ask whether a table was written within seconds or within the day. The scan's own moment may lag behind by as much again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import cast

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Change, Key, Row, RowMaker, Value
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.files.table_file import TableName
from myisam_exporter.files.table_groups import TableGroups
from myisam_exporter.files.table_rows import Sums, table_row

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


@dataclass(slots=True)
class ToldTables:
    """One row a table, in the order of the scan. `rates` has those of tables that were written, or of which nothing is known before."""

    groups: TableGroups
    telling: Telling
    maker: RowMaker
    rates: Mapping[TableName, Row]
    sums: Sums
    # When each row's age was told.
    moments: array[float]
    generation: int = field(default_factory=new_generation)
    change: Change | None = None
    _due: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return (self._row(name, place) for place, name in enumerate(self.groups))

    @property
    def places(self) -> Mapping[Key, int]:
        """Where the row of each table stands."""
        return cast("Mapping[Key, int]", self.groups.places)  # names are keys of two texts

    @property
    def due(self) -> list[float]:
        """For each stretch of rows when the first of its ages is too old; found out when a further scan asks."""
        if not self._due:
            self._due = [_first_due(self.groups, self.moments, start) for start in range(0, len(self.groups), STRETCH)]
        return self._due

    def row_of(self, key: Key) -> tuple[Value, ...] | None:
        """The row of one table; None where there is none of that name."""
        place = self.places.get(key)
        return None if place is None else self._row((str(key[0]), str(key[1])), place)

    def _row(self, name: TableName, place: int) -> tuple[Value, ...]:
        telling, moment, files = self.telling, self.moments[place], self.groups.at(place)
        started, rates = telling.server_started, self.rates.get(name)
        if rates is None:
            # Of what is damaged nobody can say that nothing was written to it.
            rates = telling.idle if all(file.has_header for file in files) else dict.fromkeys(telling.idle)
        return self.maker.row(
            table_row(
                name,
                files,
                moment,
                None if started is None else moment - started,
                rates,
                telling.merged.get(name),
            )
        )


def told_anew(groups: TableGroups, telling: Telling, maker: RowMaker, rates: Mapping[TableName, Row]) -> ToldTables:
    """All rows of a scan."""
    sums = Sums()
    for files in groups.values():
        sums.add(files)
    moments = array("d", [telling.now]) * len(groups)
    return ToldTables(groups, telling, maker, rates, sums, moments)


def told_again(
    before: ToldTables,
    groups: TableGroups,
    telling: Telling,
    rates: Mapping[TableName, Row],
    changed: Iterable[TableName],
) -> ToldTables:
    """The rows of a scan with the same tables, of which these changed; the same generation where no row is another one."""
    sums, moments, due = _copy_of(before.sums), before.moments[:], list(before.due)
    # Two readings of when the server started differ a little: those of one start are all told by the first.
    telling = replace(telling, server_started=before.telling.server_started)
    places = groups.places
    for name in changed:
        sums.add(before.groups[name], -1)
        sums.add(groups[name])
    renewed = {*changed, *rates, *before.rates}
    too_old = _too_old(before, telling.now)
    renewed.update(map(groups.name_at, too_old))
    for name in renewed:
        moments[places[name]] = telling.now
    for stretch in {places[name] // STRETCH for name in renewed}:
        due[stretch] = _first_due(groups, moments, stretch * STRETCH)
    told = ToldTables(groups, telling, before.maker, rates, sums, moments, _due=due)
    if renewed:
        told.change = Change(before.generation, frozenset(renewed))
    else:
        told.generation = before.generation
    return told


def _too_old(told: ToldTables, now: float) -> list[int]:
    """The places of rows whose age is to be told again."""
    found: list[int] = []
    for stretch, due in enumerate(told.due):
        if due <= now:
            start = stretch * STRETCH
            ends = range(start, min(start + STRETCH, len(told.groups)))
            found += [place for place in ends if _due(told.groups, told.moments, place) <= now]
    return found


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
