"""Which tables get series of their own: the most active and the largest, up to a limit; the others are summed, never lost."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from itertools import islice, repeat

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName, Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows

DEFAULT_LIMIT = 100
# Activity fades by half in ten looks: a table does not lose its series the moment it pauses.
FADING = 0.5**0.1
NEGLIGIBLE_PER_SECOND = 1e-3
# So many of the largest are known by name for each that is shown: few have to be looked for anew when some become smaller.
CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """The tables shown: rows of the fact table `tables`. The others are summed."""

    shown: FactRows
    tables: FactRows

    @property
    def omitted_count(self) -> int:
        """How many are not shown."""
        return len(self.tables.rows) - len(self.shown.rows)

    def omitted_total(self, column: str) -> float | None:
        """The sum over the tables that are not shown; unknown when one of them is. Over no tables it is 0."""
        (total, count), (shown, shown_count) = self.tables.sum_of(column), self.shown.sum_of(column)
        return total - shown if count - shown_count == self.omitted_count else None

    def omitted_among(self, names: Collection[TableName], *, strangers: bool) -> set[TableName]:
        """Those of these tables that are not shown; `strangers` when some may be none of these tables."""
        found = set(names).difference(names_of(self.shown))
        return found.intersection(names_of(self.tables)) if strangers and found else found


@dataclass(slots=True)
class Candidates:
    """Among which tables is chosen, by the places of their rows: those that are crashed, those that were active, and the largest.

    `rates` are of those that are active now. `largest` are all that come no later than `last` by size, or all tables.
    """

    generation: int
    crashed: set[int]
    places: dict[TableName, int]
    rates: dict[TableName, float]
    largest: dict[int, tuple[float, int]]
    last: tuple[float, int]
    are_all: bool


@dataclass(slots=True)
class TableChooser:
    """Chooses tables, look after look; `include` and `exclude` are matched against `schema.table`, whole.

    Half of the places go to the most active, the rest to the largest; damaged tables come first.
    """

    limit: int = DEFAULT_LIMIT
    include: re.Pattern[str] | None = None
    exclude: re.Pattern[str] | None = None
    activity: dict[TableName, float] = field(default_factory=dict)
    _last: tuple[int, Choice] | None = field(default=None, repr=False, compare=False)
    _candidates: Candidates | None = field(default=None, repr=False, compare=False)
    # Of the last choice, by place; none that changed since.
    _rows: dict[int, Sequence[Value]] = field(default_factory=dict, repr=False, compare=False)

    def choose(self, tables: FactRows) -> Choice:
        """The choice among these tables; the last one where they are the same and none was active lately."""
        if self._last is not None and self._last[0] == tables.generation and not self.activity:
            return self._last[1]
        choice = self._choose(tables)
        self._last = (tables.generation, choice)
        return choice

    def _choose(self, tables: FactRows) -> Choice:
        known = self._candidates
        if known is None or tables.generation != known.generation:
            if known is None or tables.change is None or known.generation != tables.change.since:
                known = self._candidates = self._gathered(tables)
            else:
                self._follow(known, tables)
        self._observe(known)
        shown = self._shown(known, tables)
        if len(shown) < self.limit and not known.are_all:
            # Some of the largest became small: which are now is looked for among all.
            known = self._candidates = self._gathered(tables)
            shown = self._shown(known, tables)
        return Choice(FactRows(tables.columns, sorted(self._rows_at(shown, tables), key=_name_in(tables))), tables)

    def _rows_at(self, places: set[int], tables: FactRows) -> Iterable[Sequence[Value]]:
        """The rows of these places: nearly all of them are those of the last choice, and made already."""
        missing = [place for place in places if place not in self._rows]
        found = dict(zip(missing, tables.rows_at(missing), strict=True))
        self._rows = {place: self._rows[place] if place in self._rows else found[place] for place in places}
        return self._rows.values()

    def _shown(self, known: Candidates, tables: FactRows) -> set[int]:
        """The places of the tables that are shown: fewer than there is room for, where not enough of the largest are known."""
        crashed = self._allowed(known.crashed, tables)
        activity = {known.places[name]: value for name, value in self.activity.items() if self._is_allowed(name)}
        shown = set(
            heapq.nlargest(
                min(max((self.limit + 1) // 2, len(crashed)), self.limit),
                sorted(crashed.union(activity)),
                key=lambda place: (place in crashed, activity.get(place, 0.0)),
            )
        )
        room = self.limit - len(shown)
        by_size = (place for _, place in sorted(known.largest.values()) if place not in shown)
        return shown.union(islice(by_size, room))

    def _gathered(self, tables: FactRows) -> Candidates:
        """What the choice is made among, looked for in all tables."""
        self._rows = {}
        names = list(names_of(tables))
        rates = dict(_lively(names, tables))
        places = {name: place for place, name in enumerate(names) if name in rates or name in self.activity}
        self.activity = {name: value for name, value in self.activity.items() if name in places}
        sizes = _sums(tables, "data_bytes", "index_bytes")
        ranks = ((-size, place) for place, size in enumerate(sizes) if self._is_allowed(names[place]))
        largest = heapq.nsmallest(CANDIDATES * max(self.limit, 1), ranks)
        return Candidates(
            tables.generation,
            {place for place, crashed in enumerate(tables.values("crashed")) if crashed},
            places,
            rates,
            {place: (rank, place) for rank, place in largest},
            largest[-1] if largest else (0.0, -1),
            len(largest) < CANDIDATES * max(self.limit, 1),
        )

    def _follow(self, known: Candidates, tables: FactRows) -> None:
        """The same, after some rows changed."""
        changed = tables.rows_that_differ()
        places = {} if tables.change is None else tables.change.before.keys()
        names = list(names_of(changed))
        known.places.update(zip(names, places, strict=True))
        for name in names:
            known.rates.pop(name, None)
        known.rates.update(_lively(names, changed))
        sizes = _sums(changed, "data_bytes", "index_bytes")
        for place, name, size, crashed in zip(places, names, sizes, changed.values("crashed"), strict=True):
            self._rows.pop(place, None)
            (known.crashed.add if crashed else known.crashed.discard)(place)
            rank = (-size, place)
            if self._is_allowed(name) and (known.are_all or rank <= known.last):
                known.largest[place] = rank
            else:
                known.largest.pop(place, None)
        known.generation = tables.generation

    def _observe(self, known: Candidates) -> None:
        """Let what was active fade, and take what is active now; of all others no place is kept."""
        faded = ((name, value * FADING) for name, value in self.activity.items())
        self.activity = activity = {name: value for name, value in faded if value > NEGLIGIBLE_PER_SECOND}
        for name, rate in known.rates.items():
            activity[name] = max(rate, activity.get(name, 0.0))
        known.places = {name: known.places[name] for name in activity}

    def _allowed(self, places: set[int], tables: FactRows) -> set[int]:
        if self.exclude is None and self.include is None:
            return places
        return {place for place in places if self._is_allowed(_name_of(tables, place))}

    def _is_allowed(self, name: TableName) -> bool:
        if self.exclude is None and self.include is None:
            return True
        text = ".".join(name)
        if self.exclude and self.exclude.fullmatch(text):
            return False
        return self.include is None or self.include.fullmatch(text) is not None


def _sums(tables: FactRows, *columns: str) -> Iterable[float]:
    """The sum of these columns of each, as far as they are known: of columns that no row knows it is not asked row by row."""
    known = [column for column in columns if tables.has(column)]
    numbers = [[number_of(value) or 0.0 for value in tables.values(column)] for column in known]
    return map(sum, zip(*numbers, strict=True)) if numbers else repeat(0.0, len(tables.rows))


def _lively(names: Iterable[TableName], tables: FactRows) -> Iterable[tuple[TableName, float]]:
    """What was written to and read from each of these tables, of those to which anything was."""
    rates = _sums(tables, "write_statements_per_second", "rows_read_per_second")
    return ((name, rate) for name, rate in zip(names, rates, strict=True) if rate > NEGLIGIBLE_PER_SECOND)


def _name_of(tables: FactRows, place: int) -> TableName:
    return _name_in(tables)(tables.rows[place])


def _name_in(tables: FactRows) -> Callable[[Sequence[Value]], TableName]:
    """What tells of a row which table it is of."""
    schema, table = tables.columns.index("schema_name"), tables.columns.index("table_name")
    return lambda row: (str(row[schema]), str(row[table]))


def names_of(tables: FactRows) -> Iterable[TableName]:
    """The rows' tables."""
    return ((str(schema), str(table)) for schema, table in zip(tables.values("schema_name"), tables.values("table_name"), strict=True))  # fmt: skip


def table_pattern(text: str | None, option: str) -> re.Pattern[str] | None:
    """A pattern from the command line. Raises UserError when it is no regular expression."""
    if text is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise UserError(f"{option} {text!r} is not a valid regular expression: {error}.") from None
