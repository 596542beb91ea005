"""What each filling of a fact table changed: whoever asked it before needs to ask about that alone, or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress

from myisam_exporter.facts.columns import TABLES, Value

REMEMBERED_FILLINGS = 8  # a rule may not be asked for some looks
# The columns in which rows differ from what they were, and the places of those that differ in just these.
RowsByColumns = Mapping[frozenset[str], Sequence[int]]


class Changes:
    """The changes of all fact tables. `fillings` counts for each how often it was filled."""

    def __init__(self) -> None:
        self.fillings = dict.fromkeys((table.name for table in TABLES), 0)
        # By table and filling which rows are others, by the columns in which they are, the latest that follow each other;
        # and in which filling each column changed last.
        self._renewed: dict[str, dict[int, RowsByColumns]] = {}
        self._columns: dict[str, dict[str, int]] = {}
        self._whole: dict[str, int] = {}

    def filled(self, table: str) -> None:
        """All of it."""
        self.fillings[table] += 1
        self._whole[table] = self.fillings[table]
        self._renewed.pop(table, None)
        self._columns.pop(table, None)

    def renewed(self, table: str, rows: RowsByColumns) -> None:
        """These rows, in these columns."""
        self.fillings[table] += 1
        now = self.fillings[table]
        self._columns.setdefault(table, {}).update((column, now) for columns in rows for column in columns)
        known = self._renewed.setdefault(table, {})
        known[now] = rows
        known.pop(now - REMEMBERED_FILLINGS, None)

    def since(self, table: str, filling: int, columns: Collection[str]) -> frozenset[int] | None:
        """Which rows of a table differ in any of these columns from what they were at that filling, by their numbers in SQLite.

        None where that is not known.
        """
        renewed = self._renewed.get(table, {})
        since = range(filling + 1, self.fillings[table] + 1)
        if any(number not in renewed for number in since):
            return None
        read = frozenset(columns)
        return frozenset(
            place + 1
            for number in since
            for others, places in renewed[number].items()
            if not read.isdisjoint(others)
            for place in places
        )

    def latest(self, table: str, columns: Iterable[str]) -> int:
        """The latest filling in which any of these columns changed."""
        changed = self._columns.get(table, {})
        return max((changed.get(column, 0) for column in columns), default=0) or self._whole.get(table, 0)


def differing_rows(
    columns: Sequence[str], places: Sequence[int], pairs: Iterable[tuple[Sequence[Value], Sequence[Value]]]
) -> RowsByColumns:
    """The columns in which the rows of these places differ from what they were; 2 and 2.0 are not the same, as SQL divides them otherwise."""
    both = [list(zip(*rows, strict=True)) for rows in zip(*pairs, strict=True)]
    if not both:
        return {}
    names: list[str] = []
    marks: list[list[bool]] = []
    for column, then, now in zip(columns, *both, strict=True):
        # Most columns are the same in all rows, which is seen without a look at each value.
        if then != now or list(map(type, then)) != list(map(type, now)):
            names.append(column)
            marks.append(list(map(_are_others, then, now)))
    found: dict[tuple[bool, ...], list[int]] = {}
    for place, mark in zip(places, zip(*marks, strict=True), strict=False):
        found.setdefault(mark, []).append(place)
    return {frozenset(compress(names, mark)): tuple(some) for mark, some in found.items() if any(mark)}


def _are_others(one: Value, other: Value) -> bool:
    return one != other or type(one) is not type(other)
