"""What parts of queries gave, kept so that only rows that changed are asked about again (split_parts.py says which parts can be)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from myisam_advisor.factbase.guarded_query import GuardedDatabase, Result
from myisam_advisor.factbase.storable import storable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value

SLICE, BLOCK = 64, 32
# Of more, and of slices where these are more than such a part of all, to ask about all of them in one statement is quicker.
MOST_PLACES, MOST_SLICES, SLICES_PART = 2000, 40, 4
# So many rows stand alone: each takes as much memory as a slice.
MOST_ALONE = 512
# So many slices, and so many rows, are asked about by one statement: a statement takes as long as a slice.
SLICES_TOGETHER, PLACES_TOGETHER = 16, 64
PLACE, PIECE = "_place", "_piece"
TABLE = "tables"
Row = tuple[Value, ...]
Combine = Callable[[list[float]], Value]  # of the finite numbers that there are


@dataclass(slots=True)
class Chosen:
    """A choice: its text with the place behind the other columns, and the rows that it gave, by place; None where there are too many."""

    text: str
    columns: tuple[str, ...] = ()
    rows: dict[int, Row] | None = None

    def ask(self, database: GuardedDatabase, parameters: Mapping[str, Value], maximum_rows: int) -> None:
        """Over all rows."""
        result = database.query(with_places(self.text, ""), parameters, maximum_rows=maximum_rows)
        self.columns, rows = _told_apart(result)
        self.rows = None if result.truncated else rows

    def renew(
        self, database: GuardedDatabase, parameters: Mapping[str, Value], places: Collection[int], maximum_rows: int
    ) -> bool:
        """Over the rows of these places; false where that does not pay, or there is nothing to renew."""
        if self.rows is None or len(places) > MOST_PLACES:
            return False
        for place in places:
            self.rows.pop(place, None)
        for some in _pieces(sorted(places), PLACES_TOGETHER):
            names, own = _named(PLACE, some, PLACES_TOGETHER)
            result = database.query(with_places(self.text, f"WHERE rowid IN ({names})"), {**parameters, **own})
            self.rows |= _told_apart(result)[1]
        if len(self.rows) > maximum_rows:
            self.rows = None
        return True

    def result(self) -> Result | None:
        """All rows, in the order of the tables; None where there are too many."""
        return None if self.rows is None else Result(self.columns, [self.rows[place] for place in sorted(self.rows)])


@dataclass(slots=True)
class Summed:
    """Sums: what is selected, how each column is put together, and what each slice gave.

    A row that changed stands alone from then on, as it is likely to change again: of its slice the others need not be summed up with it.
    """

    text: str
    combine: tuple[Combine, ...]
    columns: tuple[str, ...] = ()
    # By block the sums of its slices, but for rows that stand alone, and of each of these, by its place below 0.
    pieces: dict[int, dict[int, Row]] = field(default_factory=dict)
    alone: set[int] = field(default_factory=set)
    # Pieces whose sums are not of finite numbers alone: looked for when a piece is asked, not in all of them each time.
    odd: set[int] = field(default_factory=set)
    # The sums of each block, but for those that are to be put together anew.
    blocks: dict[int, Row] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)
    most_slices: int = MOST_SLICES

    def statement(self, slices: str = "", alone: str = "") -> str:
        """The sums of each of these slices, or of all, but for the rows `alone`: its number plus 1 before them.

        Each number is taken from a row that has it: SQLite goes through slices and their rows in order so, where to group rows it would sort them.
        """
        among = (
            f"s.rowid IN ({slices})" if slices else f"s.rowid <= (SELECT MAX(rowid) FROM main.{TABLE}) / {SLICE} + 1"
        )
        others = f"AND t.rowid NOT IN ({alone})" if alone else ""
        rows = (
            f"SELECT t.*, s.rowid AS {PIECE} FROM main.{TABLE} AS s CROSS JOIN main.{TABLE} AS t "
            f"ON t.rowid BETWEEN (s.rowid - 1) * {SLICE} AND s.rowid * {SLICE} - 1 WHERE {among} {others}"
        )
        return f"WITH {TABLE} AS ({rows}) SELECT {PIECE}, {self.text} GROUP BY 1"

    def ask(
        self,
        database: GuardedDatabase,
        parameters: Mapping[str, Value],
        _maximum_rows: int,
        alone: Collection[int] = (),
    ) -> None:
        """Over all rows, of which these stand alone."""
        last = database.query(f"SELECT MAX(rowid) FROM main.{TABLE}").rows[0][0]
        self.most_slices = max(MOST_SLICES, int(str(last or 0)) // SLICE // SLICES_PART)
        self.pieces, self.alone, self.odd, self.blocks, self.stale = {}, set(alone), set(), {}, set()
        names, own = _named(PLACE, sorted(alone), PLACES_TOGETHER, MOST_ALONE)
        result = database.query(self.statement("", names), {**parameters, **own})
        self.columns = result.columns[1:]
        self._keep_slices(result.rows)
        self._ask_rows(database, parameters, alone)

    def renew(
        self, database: GuardedDatabase, parameters: Mapping[str, Value], places: Collection[int], maximum_rows: int
    ) -> bool:
        """Over the rows of these places, and the slices of those that did not stand alone before, or over all where that is quicker."""
        if not self.columns:
            return False
        others = set(places) - self.alone
        slices = sorted({place // SLICE for place in others})
        if len(slices) > self.most_slices or len(self.alone) + len(others) > MOST_ALONE:
            self.ask(database, parameters, maximum_rows, places if len(places) <= MOST_ALONE else ())
            return True
        self.alone |= others
        self._ask_rows(database, parameters, places)
        for numbers in _pieces(slices, SLICES_TOGETHER):
            self._drop(numbers)
            alone = [place for number in numbers for place in _places_of(number) if place in self.alone]
            names, own = _named(PLACE, alone, PLACES_TOGETHER, MOST_ALONE)
            which, those = _named(PIECE, [number + 1 for number in numbers], SLICES_TOGETHER)
            result = database.query(self.statement(which, names), {**parameters, **own, **those})
            self._keep_slices(result.rows)
        return True

    def _ask_rows(self, database: GuardedDatabase, parameters: Mapping[str, Value], places: Collection[int]) -> None:
        """What these rows give, each for itself."""
        for some in _pieces(sorted(places), PLACES_TOGETHER):
            self._drop(-place for place in some)
            names, own = _named(PLACE, some, PLACES_TOGETHER)
            statement = with_places(f"SELECT -{PLACE}, {self.text} GROUP BY 1", f"WHERE rowid IN ({names})")
            self._keep(database.query(statement, {**parameters, **own}).rows)

    def _drop(self, pieces: Iterable[int]) -> None:
        for piece in pieces:
            block = _block_of(piece)
            self.pieces.get(block, {}).pop(piece, None)
            self.odd.discard(piece)
            self.stale.add(block)

    def _keep_slices(self, rows: Iterable[Row]) -> None:
        self._keep((int(str(number)) - 1, *sums) for number, *sums in rows)

    def _keep(self, rows: Iterable[Row]) -> None:
        for number, *sums in rows:
            piece = int(str(number))
            block = _block_of(piece)
            self.pieces.setdefault(block, {})[piece] = tuple(sums)
            self.stale.add(block)
            if not all(value is None or _is_finite(value) for value in sums):
                self.odd.add(piece)

    def result(self) -> Result | None:
        """One row; None where it is not of finite numbers alone: texts are ordered otherwise here, and infinities do not sum up."""
        if self.odd:
            return None
        try:
            while self.stale:
                block = next(iter(self.stale))
                self.blocks[block] = self._together(self.pieces.get(block, {}).values())
                self.stale.discard(block)
            return Result(self.columns, [self._together(self.blocks.values())])
        except OverflowError:
            return None

    def _together(self, rows: Collection[Row]) -> Row:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.combine)
        return tuple(combine(_known(values)) for combine, values in zip(self.combine, columns, strict=True))


def with_places(text: str, among: str) -> str:
    """The statement over the tables with their places, those `among` (a WHERE) or all."""
    return f"WITH {TABLE} AS (SELECT *, rowid AS {PLACE} FROM main.{TABLE} {among}) {text}"


def _pieces(numbers: Sequence[int], length: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), length):
        yield numbers[start : start + length]


def _named(prefix: str, numbers: Sequence[int], *lengths: int) -> tuple[str, dict[str, Value]]:
    """Numbers as parameters, in one of a few lengths: a statement of each is prepared once, where one for every length would fill the memory."""
    if not numbers:
        return "", {}
    length = next(one for one in (1, *lengths) if one >= len(numbers))
    # Where there are no more, the last one again: a row is found once.
    own: dict[str, Value] = {f"{prefix}{at}": numbers[min(at, len(numbers) - 1)] for at in range(length)}
    return ", ".join(f":{name}" for name in own), own


def _places_of(number: int) -> range:
    return range(number * SLICE, (number + 1) * SLICE)


def _block_of(piece: int) -> int:
    return (piece if piece >= 0 else -piece // SLICE) // BLOCK


def _told_apart(result: Result) -> tuple[tuple[str, ...], dict[int, Row]]:
    """The columns without the place, and the rows by it."""
    at = result.columns.index(PLACE)
    rows = {int(str(row[at])): (*row[:at], *row[at + 1 :]) for row in result.rows}
    return (*result.columns[:at], *result.columns[at + 1 :]), rows


def _is_finite(value: Value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _known(values: Iterable[Value]) -> list[float]:
    return [value for value in values if value is not None]  # type: ignore[misc]  # no text is among them


def _sum(known: list[float]) -> Value:
    if not known:
        return None
    return storable(sum(known)) if set(map(type, known)) == {int} else math.fsum(known)


COMBINED: Mapping[str, Combine] = {
    "SUM": _sum,
    "TOTAL": math.fsum,
    "COUNT": sum,
    "MAX": lambda known: max(known, default=None),
    "MIN": lambda known: min(known, default=None),
}
