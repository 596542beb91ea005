"""When the age of each table was told, and when that is too old.

An age may lag behind by as much as the table was old when it was told, at most ten minutes, later by a hundredth: the rules ask whether a table was
written within seconds or within the day. Each time that one is told again costs as much as a write to its table.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from myisam_exporter.files.table_groups import TableGroups

AGE_TOLERANCE_SECONDS, AGE_TOLERANCE = 600.0, 0.01
# So many tables are looked at together: of old ones, one number says that none is too old.
STRETCH = 256
NEVER = float("inf")


class ToldAges:
    """Of each table, by its place: the moment at which its age was told, and the one up to which that is not too old (never where none is told).

    Both are kept in stretches: ages told again share with those before all stretches in which no table's was. `first_due` is the earliest of each.
    """

    __slots__ = ("_due", "_first_due", "_moments")

    def __init__(self, moments: list[array[float]], due: list[array[float]], first_due: array[float]) -> None:
        self._moments, self._due, self._first_due = moments, due, first_due

    @classmethod
    def told_now(cls, groups: TableGroups, now: float) -> ToldAges:
        """All of them told at this moment."""
        each = (_due(now, modified) for modified in groups.modified_of_each())
        due = [array("d", islice(each, STRETCH)) for _ in range(0, len(groups), STRETCH)]
        moments = [array("d", [now]) * len(some) for some in due]
        return cls(moments, due, array("d", map(min, due)))

    def moments_at(self, places: Iterable[int]) -> list[float]:
        """When the ages of the tables at these places were told."""
        return [self._moments[place // STRETCH][place % STRETCH] for place in places]

    def too_old(self, now: float) -> Iterator[int]:
        """The places of the tables whose age is to be told again."""
        for stretch, first in enumerate(self._first_due):
            if first <= now:
                yield from (stretch * STRETCH + within for within, due in enumerate(self._due[stretch]) if due <= now)

    def told_again(self, now: float, places: Iterable[int], groups: TableGroups) -> ToldAges:
        """These ages, with those of the tables at these places told now."""
        again = ToldAges(self._moments[:], self._due[:], self._first_due[:])
        for stretch, some in groupby(sorted(places), lambda place: place // STRETCH):
            moments, due = again._moments[stretch][:], again._due[stretch][:]
            for place in some:
                moments[place % STRETCH], due[place % STRETCH] = now, _due(now, groups.modified_at(place))
            again._moments[stretch], again._due[stretch], again._first_due[stretch] = moments, due, min(due)
        return again


def _due(told: float, modified: float | None) -> float:
    """When an age that was told then is too old."""
    if modified is None:
        return NEVER
    age = told - modified
    if age <= 0:
        return modified  # it is from the future, and of no age until then
    return told + max(min(AGE_TOLERANCE_SECONDS, age), AGE_TOLERANCE * age)
