"""How facts are declared: once, beside the collector that fills them.

From these declarations come the SQLite tables, the validation of facts files, `facts --describe` and docs/reference/facts.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import repeat
from operator import itemgetter
from typing import Literal, overload

from myisam_exporter.declaring.lean_dataclasses import dataclass

Value = int | float | str | None
Row = Mapping[str, Value]
ColumnType = Literal["integer", "real", "text"]
Shape = Literal["single", "pairs", "list"]
# Of many rows so many are turned into columns at once.
ROWS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Column:
    """One fact: its name (with the unit in it), type, and a sentence that says what it is."""

    name: str
    type: ColumnType
    description: str
    source: str = ""

    @property
    def needs_interval(self) -> bool:
        """Whether two samples are needed for it."""
        return self.name.endswith("per_second") or self.description.startswith("Over the interval")


Key = tuple[Value, ...]
# A database, and a table of it.
TableName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """How a block differs from that of the generation `since`: in the rows of these keys alone. No row came, went or moved."""

    since: int
    keys: Collection[Key]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows for one fact table, in columns that need not be all of its columns.

    A block that `extends` adds to rows that others brought, and brings none itself: performance_schema knows tables of every engine.
    Rows of the same `generation`, where there is one, are the same rows; `change` says what changed since another.
    """

    table: str
    columns: tuple[str, ...]
    rows: Iterable[Sequence[Value]]
    extends: bool = False
    generation: int | None = field(default=None, compare=False)
    change: Change | None = field(default=None, compare=False)


class RowsByPlace(ABC):
    """Rows whose keys have places, no two the same: any of them are told, column by column. Who adds to them tells of the same places."""

    @property
    @abstractmethod
    def places(self) -> Mapping[Key, int]:
        """Where the row of each key stands: the same object for all whose rows have the same places."""

    @abstractmethod
    def columns_at(self, places: Sequence[int]) -> Sequence[Sequence[Value]]:
        """The columns of the rows at these places, at least one."""

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        for some in stretches(len(self)):
            yield from zip(*self.columns_at(some), strict=True)


def stretches(rows: int) -> Iterator[range]:
    """The places of so many rows, a thousand at a time."""
    return (range(start, min(start + ROWS_AT_ONCE, rows)) for start in range(0, rows, ROWS_AT_ONCE))


class RowMaker:
    """Makes rows of values by column name. Which stands where is found out once, not for each of a hundred thousand rows."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = tuple(columns)
        self._unknown: Row = dict.fromkeys(self.columns)
        self._values = itemgetter(*self.columns)

    def row(self, values: Row) -> tuple[Value, ...]:
        """These values in the order of the columns; those not named are unknown. Raises KeyError for a name that is no column."""
        if len(values) != len(self.columns):
            values = {**self._unknown, **values}
            if len(values) != len(self.columns):
                raise KeyError(*(values.keys() - self._unknown.keys()))
        found = self._values(values)
        return found if len(self.columns) > 1 else (found,)

    def block(self, table: str, rows: Iterable[Row], *, extends: bool = False) -> Block:
        """These rows for one fact table."""
        values, whole = self._values, len(self.columns) if len(self.columns) > 1 else -1
        # A call for each row would be a tenth of the time.
        made = [values(row) if len(row) == whole else self.row(row) for row in rows]
        return Block(table, self.columns, made, extends)


def by_column(table: str, values: Mapping[str, Iterable[Value]], *, extends: bool = False) -> Block:
    """A block of the columns named, each with its values row after row: where there are few columns, sooner made than row by row."""
    return Block(table, tuple(values), list(zip(*values.values(), strict=True)), extends)


def column_names(declared: Iterable[Column]) -> tuple[str, ...]:
    """The columns' names, in order."""
    return tuple(column.name for column in declared)


def single(table: str, row: Row) -> Block:
    """A block of one row."""
    return Block(table, tuple(row), [tuple(row.values())])


@dataclass(frozen=True, slots=True)
class FactTable:
    """A fact table: `single` holds one row, `pairs` is name -> value in facts files, `list` any number of rows."""

    name: str
    shape: Shape
    description: str
    key: tuple[str, ...] = ()


TABLES: tuple[FactTable, ...] = (
    FactTable("server", "single", "The server and how it can be seen from here."),
    FactTable(
        "totals",
        "single",
        "Sums over all user tables; system schemas are left out, but for damaged tables of the server's own (mysql).",
    ),
    FactTable("variable", "pairs", "SHOW GLOBAL VARIABLES.", ("name",)),
    FactTable("variable_origin", "list", "Where values of variables come from; defaults have no row.", ("name",)),
    FactTable("status", "pairs", "SHOW GLOBAL STATUS, with rates over the interval.", ("name",)),
    FactTable(
        "key_cache",
        "list",
        "The key caches: all of them on MariaDB, the default one and named ones on MySQL.",
        ("name",),
    ),
    FactTable(
        "tables",
        "list",
        "MyISAM tables, from their files; system schemas are left out, but for damaged tables of the server's own (mysql).",
        ("schema_name", "table_name"),
    ),
    FactTable("indexes", "list", "The indexes of these tables.", ("schema_name", "table_name", "index_number")),
    FactTable("mysqld", "single", "The server's process as the operating system sees it."),
    FactTable("host", "single", "The machine."),
    FactTable(
        "mutex_wait", "list", "Waits for the server's own locks, where performance_schema times them.", ("name",)
    ),
    FactTable(
        "processlist",
        "list",
        "Connections counted by state; query texts are not read.",
        ("schema_name", "state", "command"),
    ),
    FactTable(
        "schema_disk",
        "list",
        "Databases that lie on another file system than the data directory: linked to one, or with one mounted there.",
        ("schema_name",),
    ),
    FactTable(
        "rebuild_file",
        "list",
        "Files of rebuilds beside tables (.TMD, .TMM): of one that runs, or left by one that ended with its server. Known where the tables' files are.",
        ("schema_name", "table_name", "file_name"),
    ),
    FactTable("replica", "list", "The channels by which the server receives changes from other servers.", ("channel",)),
)


def table_named(name: str) -> FactTable | None:
    """The fact table of that name, or None."""
    return next((table for table in TABLES if table.name == name), None)


def columns(*declared: tuple[str, ColumnType, str], source: str = "") -> Sequence[Column]:
    """Columns from (name, type, description) triples that share one source."""
    return tuple(Column(name, kind, description, source) for name, kind, description in declared)


@dataclass(frozen=True, slots=True)
class SharedRows:
    """Rows that begin with names of their own and end as many others do: each name with the number of its endings, read once, and all endings by number."""

    names: Iterable[tuple[Value, ...]]
    endings: Sequence[Sequence[tuple[Value, ...]]]


class ColumnwiseRows(Sequence[tuple[Value, ...]], ABC):
    """Rows that are worked out while they are read: one column of them costs less than all."""

    @abstractmethod
    def column(self, place: int) -> Iterable[Value]:
        """The values of one column, row after row."""

    def knows(self, place: int) -> bool:
        """Whether any row knows this column."""
        return any(value is not None for value in self.column(place))

    def shared(self) -> SharedRows | None:
        """The same rows by what many of them have in common, where that is less."""
        return None


class WiderRows(ColumnwiseRows):
    """Such rows with further columns behind, of which nothing is known: a hundred thousand rows stay unmade."""

    def __init__(self, rows: ColumnwiseRows, known: int, columns: int) -> None:
        self._rows = rows
        self._known = known
        self._unknown: tuple[Value, ...] = (None,) * (columns - known)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return (row + self._unknown for row in self._rows)

    def column(self, place: int) -> Iterable[Value]:
        """Those that are there, and nothing for each of the others."""
        return self._rows.column(place) if place < self._known else repeat(None, len(self))

    def knows(self, place: int) -> bool:
        """Whether any row knows this column: none does of those behind."""
        return place < self._known and self._rows.knows(place)

    def shared(self) -> SharedRows | None:
        """The same rows by what many of them have in common, without the columns behind."""
        return self._rows.shared()

    @overload
    def __getitem__(self, place: int) -> tuple[Value, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[Value, ...]]: ...

    def __getitem__(self, place: int | slice) -> tuple[Value, ...] | Sequence[tuple[Value, ...]]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self._rows[place] + self._unknown
