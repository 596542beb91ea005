"""The columns of the list of tables: what each shows, and by what it is sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from myisam_advisor.texts.templates import object_name
from myisam_advisor.top.figures import Say, figure, octets, share
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactRows

Numbers = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `facts` are the columns of `tables` that it is made of, any of which would do.

    `first_to_go` tells in which order narrow screens leave columns out: the highest first.
    """

    heading: str
    means: str
    numbers: Callable[[FactRows], Numbers]
    say: Say
    facts: tuple[str, ...]
    width: int
    first_to_go: int


def _plain(column: str) -> Callable[[FactRows], Numbers]:
    def numbers(rows: FactRows) -> Numbers:
        return [number_of(value) for value in rows.values(column)]

    return numbers


def _changed(rows: FactRows) -> Numbers:
    """What the server counts, else by how much the table grew or shrank: an update does neither, so without a change 0 only where no statement wrote."""
    counted, added, written = (
        _plain(name)(rows)
        for name in ("rows_changed_per_second", "rows_added_per_second", "write_statements_per_second")
    )

    def number(known: float | None, growth: float | None, statements: float | None) -> float | None:
        if known is not None or growth is None:
            return known
        return abs(growth) if growth or statements == 0 else None

    return [number(*values) for values in zip(counted, added, written, strict=True)]


def _sum(first: str, second: str) -> Callable[[FactRows], Numbers]:
    def numbers(rows: FactRows) -> Numbers:
        pairs = zip(_plain(first)(rows), _plain(second)(rows), strict=True)
        return [None if one is None or other is None else one + other for one, other in pairs]

    return numbers


def _ratio(part: str, whole: str) -> Callable[[FactRows], Numbers]:
    """Unknown where the whole is nothing."""

    def numbers(rows: FactRows) -> Numbers:
        pairs = zip(_plain(part)(rows), _plain(whole)(rows), strict=True)
        return [None if one is None or not other else min(one / other, 1.0) for one, other in pairs]

    return numbers


COLUMNS = (
    Column("read/s", "rows read", _plain("rows_read_per_second"), figure, ("rows_read_per_second",), 7, 1),
    Column(
        "changed/s", "rows inserted, updated and deleted; where the server does not count them, rows more or fewer",
        _changed, figure, ("rows_changed_per_second", "rows_added_per_second"), 9, 2,
    ),
    Column("writes/s", "finished write statements, at least", _plain("write_statements_per_second"), figure, ("write_statements_per_second",), 8, 4),
    Column("waiting", "threads that wait for the table's lock, on average", _plain("lock_wait_seconds_per_second"), figure, ("lock_wait_seconds_per_second",), 7, 3),
    Column("memory", "share of the data file that is in the page cache", _ratio("data_resident_bytes", "data_bytes"), share, ("data_resident_bytes",), 6, 5),
    Column("evicted", "of the data file, dropped from the page cache and not back", _plain("data_evicted_bytes"), octets, ("data_evicted_bytes",), 8, 7),
    Column("size", "data and indexes", _sum("data_bytes", "index_bytes"), octets, ("data_bytes",), 8, 6),
)  # fmt: skip
ACTIVITY = ("rows_read_per_second", "rows_changed_per_second", "rows_added_per_second", "write_statements_per_second")
# What the list is sorted by at first, and by the names of the tables: neither is a column of its own.
BY_ACTIVITY, BY_NAME = "activity", "table"
BY_NO_COLUMN = (BY_ACTIVITY, BY_NAME)
SORTS = (BY_ACTIVITY, *(column.heading for column in COLUMNS), BY_NAME)


def numbers_of(column: Column, rows: FactRows) -> Numbers:
    """The column's numbers for all tables."""
    return rows.once(("top", column.heading), column.numbers)


def names_of(rows: FactRows) -> Sequence[str]:
    """The tables' names as a person writes them."""
    return rows.once(("top", "names"), _names)


def _names(rows: FactRows) -> list[str]:
    pairs = zip(rows.values("schema_name"), rows.values("table_name"), strict=True)
    return [object_name(str(schema), str(table)) for schema, table in pairs]


def in_order(rows: FactRows, sort: str, *, backwards: bool, filtered: str) -> list[int]:
    """The places of those tables whose name holds the filter's text, the most active or the largest first."""
    names = names_of(rows)
    wanted = filtered.casefold()
    places = [place for place, name in enumerate(names) if wanted in name.casefold()]
    if sort == BY_NAME:
        return sorted(places, key=names.__getitem__, reverse=backwards)
    numbers = _keys(rows, sort)
    # What is not known comes last, whichever way; among equals the larger tables first, and those with a name that sorts first.
    sizes = numbers_of(COLUMNS[-1], rows)
    sign = 1 if backwards else -1
    return sorted(
        places,
        key=lambda place: (
            (number := numbers[place]) is None,
            sign * (number or 0.0),
            -(sizes[place] or 0.0),
            names[place],
        ),
    )


def _keys(rows: FactRows, sort: str) -> Numbers:
    if sort == BY_ACTIVITY:
        return rows.once(("top", BY_ACTIVITY), _activity)
    return numbers_of(next(column for column in COLUMNS if column.heading == sort), rows)


def _activity(rows: FactRows) -> Numbers:
    """What is known of a table's rows and statements, added up: a measure to sort by, and nothing else."""
    columns = [_plain(name)(rows) for name in ACTIVITY]
    sums: list[float | None] = []
    for values in zip(*columns, strict=True):
        known = [value for value in values if value is not None]
        sums.append(sum(known) if known else None)
    return sums
