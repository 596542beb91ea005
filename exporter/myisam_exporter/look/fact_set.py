"""The facts of one moment or interval, in the shape that rules, queries and facts files share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from operator import itemgetter
from typing import TypeVar, cast

from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import (
    ROWS_AT_ONCE,
    Block,
    ColumnwiseRows,
    FactTable,
    RowsByPlace,
    Value,
    WiderRows,
)
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.facts.packed_rows import PackedRows
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.facts.values import numbers_in
from myisam_exporter.look.side_by_side import side_by_side

Result = TypeVar("Result")


@dataclass(slots=True)
class TableMemo:
    """What was worked out of one generation of a fact table: it goes with the table, so there is nothing to forget or invalidate.

    `sums` are of the numbers in a column, with how many there are; `known` says how many rows know a column; `others` are what higher rooms
    worked out `once`, by their keys; `clean` are the keys under which nothing was found in any row, `clean_before` those of the table of
    which `change` tells. `places` are the tables' places by their names, which stay as they are in a change.
    """

    sums: dict[str, tuple[float, int]] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    others: dict[Hashable, object] = field(default_factory=dict)
    clean: set[Hashable] = field(default_factory=set)
    clean_before: frozenset[Hashable] = frozenset()
    places: Mapping[tuple[Value, Value], int] | None = None


@dataclass(frozen=True, slots=True)
class RowsChange:
    """How rows differ from those of the generation `since`: in these places alone, where these rows were."""

    since: int
    before: Mapping[int, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class FactRows:
    """One fact table: all its declared columns, and its rows in that order.

    While nothing changes a daemon's table has the same `generation` look after look. `memo` is what was worked out of it. `change` says
    how it differs from an earlier one, where that is known: whoever has worked something out of that one needs to look at those rows alone.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    generation: int = field(default_factory=new_generation, init=False, repr=False, compare=False)
    memo: TableMemo = field(default_factory=TableMemo, init=False, repr=False, compare=False)
    change: RowsChange | None = field(default=None, init=False, repr=False, compare=False)

    def with_rows(self, rows: Mapping[int, Sequence[Value]]) -> FactRows:
        """The same table with other rows in some places. What was worked out of this one is taken over, as far as that is cheap."""
        before = dict(zip(rows, self.rows_at(list(rows)), strict=True))
        made = FactRows(self.columns, _with_rows(self.rows, rows))
        object.__setattr__(made, "change", RowsChange(self.generation, before))  # nobody has seen it yet
        made.memo.clean_before = frozenset(self.memo.clean)
        _take_over(self, made, before, rows)
        return made

    def rows_at(self, places: Sequence[int]) -> Sequence[Sequence[Value]]:
        """The rows at these places, in their order."""
        if isinstance(self.rows, PackedRows):
            return self.rows.rows_at(places)
        return [self.rows[place] for place in places]

    def rows_that_differ(self) -> FactRows:
        """Those that are not as they were in the table of which `change` tells; all, where it does not."""
        change = self.change
        if change is None:
            return self
        return self.once("rows that differ", lambda _: FactRows(self.columns, self.rows_at(list(change.before))))

    def found_by_row(self, key: Hashable, work: Callable[[FactRows], list[Result]]) -> list[Result]:
        """As `once`, for work that looks at each row by itself: where it had found nothing, rows that are as they were are not looked at again."""
        others = self.memo.others
        if key not in others:
            is_clean = key in self.memo.clean_before and not work(self.rows_that_differ())
            found = others[key] = [] if is_clean else work(self)
            if not found:
                self.memo.clean.add(key)
        return cast("list[Result]", others[key])

    def row(self, place: int) -> dict[str, Value]:
        """The row at this place, by column name."""
        return dict(zip(self.columns, self.rows[place], strict=True))

    def dictionaries(self) -> list[dict[str, Value]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def places_by_name(self) -> Mapping[tuple[Value, Value], int]:
        """Where the row of each table is, by its schema and name."""
        if self.memo.places is None:
            names = zip(self.values("schema_name"), self.values("table_name"), strict=True)
            self.memo.places = {name: place for place, name in enumerate(names)}
        return self.memo.places

    def by_name(self, column: str) -> Mapping[str, Value]:
        """One column of a table of named rows (variables, counters, key caches), by `name`: the same object each time."""
        return self.once(
            ("by name", column), lambda rows: dict(zip(map(str, rows.values("name")), rows.values(column), strict=True))
        )

    def values(self, column: str) -> list[Value]:
        """One column of all rows."""
        position = self.columns.index(column)
        return list(self._column(position))

    def sum_of(self, column: str) -> tuple[float, int]:
        """The sum of the numbers in a column, and how many there are."""
        if column not in self.memo.sums:
            numbers = numbers_in(self.values(column))
            self.memo.sums[column] = sum(numbers), len(numbers)
        return self.memo.sums[column]

    def once(self, key: Hashable, work: Callable[[FactRows], Result]) -> Result:
        """What `work` makes of these rows; the second time under the same key it is not asked again."""
        others = self.memo.others
        if key not in others:
            others[key] = work(self)
        return cast("Result", others[key])

    def has(self, column: str) -> bool:
        """Whether any row knows this column."""
        rows = self.rows
        if not rows:
            return False
        if isinstance(rows, ColumnwiseRows) and not isinstance(rows, PackedRows):
            return self.once(("known", column), lambda _: rows.knows(self.columns.index(column)))
        known = self.memo.known
        if column not in known:
            known |= zip(self.columns, known_counts(rows, len(self.columns)), strict=True)
        return known[column] > 0

    def _column(self, position: int) -> Iterable[Value]:
        if isinstance(self.rows, ColumnwiseRows):
            return self.rows.column(position)
        return map(itemgetter(position), self.rows)


def places_by_table(rows: FactRows) -> dict[tuple[Value, Value], list[int]]:
    """Where the rows of each table are, by its schema and name, where it may have several: its indexes."""
    found: dict[tuple[Value, Value], list[int]] = {}
    for place, name in enumerate(zip(rows.values("schema_name"), rows.values("table_name"), strict=True)):
        found.setdefault(name, []).append(place)
    return found


def _with_rows(whole: Sequence[Sequence[Value]], rows: Mapping[int, Sequence[Value]]) -> Sequence[Sequence[Value]]:
    if isinstance(whole, PackedRows):
        return whole.with_rows(rows)
    changed = list(whole)
    for place, row in rows.items():
        changed[place] = row
    return changed


def _columns_of(rows: Mapping[int, Sequence[Value]], width: int) -> list[tuple[Value, ...]]:
    return list(zip(*rows.values(), strict=True)) if rows else [()] * width


def _take_over(
    former: FactRows, made: FactRows, before: Mapping[int, Sequence[Value]], rows: Mapping[int, Sequence[Value]]
) -> None:
    """Sums and counts of the former table, less the rows that were and more those that are. Whole numbers alone: others would not come out even."""
    made.memo.places = former.memo.places
    width = len(former.columns)
    pairs = zip(_columns_of(before, width), _columns_of(rows, width), strict=True)
    for column, (gone, come) in zip(former.columns, pairs, strict=True):
        if column in former.memo.known:
            made.memo.known[column] = former.memo.known[column] + gone.count(None) - come.count(None)
        if column in former.memo.sums:
            total, count = former.memo.sums[column]
            gone_numbers, come_numbers = numbers_in(gone), numbers_in(come)
            summed = total - sum(gone_numbers) + sum(come_numbers)
            if isinstance(summed, int):
                made.memo.sums[column] = summed, count - len(gone_numbers) + len(come_numbers)


@dataclass(frozen=True, slots=True)
class FactSet:
    """All fact tables. `unknown` says why a table, or a column (`table.column`), is not known; `origin` where they are from, when not live.

    `status_read_at` is when the server told its uptime, by the clock that is never set: a look goes on after it, for minutes on a slow disk.
    """

    tables: Mapping[str, FactRows]
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    interval_seconds: float | None = None
    notes: Sequence[Unknown] = ()
    origin: str = ""
    status_read_at: float | None = field(default=None, compare=False)

    def uptime_seconds_at(self, monotonic: float) -> float | None:
        """How long the server was up at that moment, if it did not end since it said so."""
        uptime = self.single("server").get("uptime_seconds")
        if not isinstance(uptime, int | float):
            return None
        return uptime if self.status_read_at is None else uptime + max(monotonic - self.status_read_at, 0.0)

    def single(self, table: str) -> dict[str, Value]:
        """The one row of a table that has one; empty when it is unknown."""
        rows = self.tables[table].dictionaries()
        return rows[0] if rows else {}

    def why_unknown(self, table: str, column: str | None = None) -> Unknown:
        """The reason that a table or column is not known."""
        reason = self.unknown.get(f"{table}.{column}") or self.unknown.get(table)
        return reason or Unknown("not known here")


def merge_table(table: FactTable, blocks: Iterable[Block]) -> FactRows:
    """All blocks of one table as that table."""
    names = tuple(column.name for column in declared_columns().get(table.name, ()))
    # Rows must be there before another collector can add to them.
    ordered = sorted(blocks, key=lambda block: block.extends)
    merged = FactRows(names, _merge(names, table.key, ordered))
    if isinstance(merged.rows, PackedRows) and isinstance(ordered[0].rows, RowsByPlace):
        merged.memo.places = cast("Mapping[tuple[Value, Value], int]", ordered[0].rows.places)
    return merged


def _merge(names: tuple[str, ...], key: tuple[str, ...], blocks: Sequence[Block]) -> Sequence[Sequence[Value]]:
    if len(blocks) == 1 and blocks[0].columns == names[: len(blocks[0].columns)]:
        given = blocks[0].rows
        width = len(blocks[0].columns)
        if isinstance(given, ColumnwiseRows):
            return WiderRows(given, width, len(names)) if width < len(names) else given
        if width == len(names):
            return given if isinstance(given, Sequence) else list(given)
    # What was read once only cannot be gone through again.
    blocks = [replace(block, rows=list(block.rows)) if isinstance(block.rows, Iterator) else block for block in blocks]
    beside = side_by_side(names, key, blocks)
    return beside if beside is not None else _value_by_value(names, key, blocks)


def _value_by_value(names: tuple[str, ...], key: tuple[str, ...], blocks: Sequence[Block]) -> Sequence[Sequence[Value]]:
    rows: dict[tuple[Value, ...], list[Value]] = {}
    place_of = {name: place for place, name in enumerate(names)}
    for block in blocks:
        # KeyError names a column that its collector does not declare.
        places = [place_of[column] for column in block.columns]
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


def known_counts(rows: Sequence[Sequence[Value]], width: int) -> list[int]:
    """How many rows know each column. A thousand rows at a time are turned into columns: that takes a tenth of looking row by row."""
    if isinstance(rows, PackedRows):
        return rows.known_counts()
    counts = [0] * width
    for start in range(0, len(rows), ROWS_AT_ONCE):
        values = zip(*rows[start : start + ROWS_AT_ONCE], strict=True)
        counts = [count + len(column) - column.count(None) for count, column in zip(counts, values, strict=True)]
    return counts


def mark_unknown(tables: Mapping[str, FactRows], reasons: Mapping[str, Unknown]) -> dict[str, Unknown]:
    """Those reasons that still hold: another collector may have brought the table or column after all."""
    unknown = {}
    for name, reason in reasons.items():
        table, _, column = name.partition(".")
        facts = tables[table]
        if not (facts.has(column) if column else facts.rows):
            unknown[name] = reason
    return unknown
