"""When the age of each table was told, and when that is too old.

An age may lag behind by as much as the table was old when it was told, at most ten minutes, later by a hundredth: the rules ask whether a table was
written within seconds or within the day. Each time that one is told again costs as much as a write to its table.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from myisam_exporter.files.table_groups import TableGroups

AGE_TOLERANCE_SECONDS, AGE_TOLERANCE = 600.0, 0.01
# So many tables are looked at together: of old ones, one number says that none is too old.
STRETCH = 256
NEVER = float("inf")


class ToldAges:
    """Of each table, by its place: the moment at which its age was told, and the one up to which that is not too old (never where none is told).

    `first_due` of a stretch is no later than any of its tables'.
    """

    __slots__ = ("due", "first_due", "moments")

    def __init__(self, moments: array[float], due: array[float], first_due: array[float]) -> None:
        self.moments, self.due, self.first_due = moments, due, first_due

    @classmethod
    def told_now(cls, groups: TableGroups, now: float) -> ToldAges:
        """All of them told at this moment."""
        due = array("d", (_due(now, modified) for modified in groups.modified_of_each()))
        first_due = array("d", (min(due[start : start + STRETCH]) for start in range(0, len(due), STRETCH)))
        return cls(array("d", [now]) * len(groups), due, first_due)

    def copy(self) -> ToldAges:
        """The same, to be changed."""
        return ToldAges(self.moments[:], self.due[:], self.first_due[:])

    def too_old(self, now: float) -> Iterator[int]:
        """The places of the tables whose age is to be told again."""
        for start in self._starts_of_past(now):
            due_of = enumerate(self.due[start : start + STRETCH], start)
            yield from (place for place, due in due_of if due <= now)

    def tell(self, now: float, places: Iterable[int], groups: TableGroups) -> None:
        """The ages of the tables at these places are told now, and with them those that were too old."""
        past = list(self._starts_of_past(now))
        for place in places:
            due = _due(now, groups.modified_at(place))
            self.moments[place], self.due[place] = now, due
            stretch = place // STRETCH
            self.first_due[stretch] = min(self.first_due[stretch], due)
        for start in past:
            self.first_due[start // STRETCH] = min(self.due[start : start + STRETCH])

    def _starts_of_past(self, now: float) -> Iterator[int]:
        return (stretch * STRETCH for stretch, due in enumerate(self.first_due) if due <= now)


def _due(told: float, modified: float | None) -> float:
    """When an age that was told then is too old."""
    if modified is None:
        return NEVER
    age = told - modified
    if age <= 0:
        return modified  # it is from the future, and of no age until then
    return told + max(min(AGE_TOLERANCE_SECONDS, age), AGE_TOLERANCE * age)
