"""What each filling of a fact table changed: whoever asked it before needs to ask about that alone, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_exporter.facts.columns import TABLES, Value

REMEMBERED_FILLINGS = 8  # a rule may not be asked for some looks


class Changes:
    """The changes of all fact tables. `fillings` counts for each how often it was filled."""

    def __init__(self) -> None:
        self.fillings = dict.fromkeys((table.name for table in TABLES), 0)
        # By table and filling which rows are others, the latest that follow each other; and in which filling each column changed last.
        self._renewed: dict[str, dict[int, tuple[int, ...]]] = {}
        self._columns: dict[str, dict[str, int]] = {}
        self._whole: dict[str, int] = {}

    def filled(self, table: str) -> None:
        """All of it."""
        self.fillings[table] += 1
        self._whole[table] = self.fillings[table]
        self._renewed.pop(table, None)
        self._columns.pop(table, None)

    def renewed(self, table: str, places: tuple[int, ...], columns: Iterable[str]) -> None:
        """The rows of these places, in these columns."""
        self.fillings[table] += 1
        now = self.fillings[table]
        self._columns.setdefault(table, {}).update(dict.fromkeys(columns, now))
        known = self._renewed.setdefault(table, {})
        known[now] = places
        known.pop(now - REMEMBERED_FILLINGS, None)

    def since(self, table: str, filling: int) -> frozenset[int] | None:
        """Which rows of a table are others than at that filling, by their numbers in SQLite; None where that is not known."""
        renewed = self._renewed.get(table, {})
        since = range(filling + 1, self.fillings[table] + 1)
        if any(number not in renewed for number in since):
            return None
        return frozenset(place + 1 for number in since for place in renewed[number])

    def latest(self, table: str, columns: Iterable[str]) -> int:
        """The latest filling in which any of these columns changed."""
        changed = self._columns.get(table, {})
        return max((changed.get(column, 0) for column in columns), default=0) or self._whole.get(table, 0)


def differing_columns(
    columns: Sequence[str], pairs: Iterable[tuple[Sequence[Value], Sequence[Value]]]
) -> frozenset[str]:
    """The columns in which any of these rows differ from what they were; 2 and 2.0 are not the same, as SQL divides them otherwise."""
    both = [zip(*rows, strict=True) for rows in zip(*pairs, strict=True)]
    if not both:
        return frozenset()
    return frozenset(
        column
        for column, then, now in zip(columns, *both, strict=True)
        if then != now or list(map(type, then)) != list(map(type, now))
    )
