"""The fact table `indexes` in SQLite: a view of tables and of what their indexes are, as hosting has one schema ten thousand times.

A row of three indexes a table, made whole, takes 330 bytes at every table; so it takes 40, and the same rows come out in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from myisam_advisor.factbase.filling import Filling
from myisam_exporter.facts.columns import Column, ColumnwiseRows, Value
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.server.sql import quote_identifier

INDEXES = "indexes"
# Tables, each with the number of what its indexes are; and what they are, by that number and their place.
NAMED, ENDINGS = "_named", "_endings"
OWN_COLUMNS = 2  # schema and table stand first
AFFINITY = {"integer": "INTEGER", "real": "REAL", "text": ""}


def made(columns: Sequence[Column]) -> tuple[str, str, str]:
    """The statements that make both tables and the view."""
    names = [f"{quote_identifier(column.name)} {AFFINITY[column.type]}" for column in columns]
    chosen = ", ".join(quote_identifier(column.name) for column in columns)
    return (
        f"CREATE TABLE {NAMED} ({', '.join(names[:OWN_COLUMNS])}, shape INTEGER)",
        f"CREATE TABLE {ENDINGS} (shape INTEGER, place INTEGER, {', '.join(names[OWN_COLUMNS:])}, PRIMARY KEY (shape, place)) WITHOUT ROWID",
        # CROSS JOIN keeps the order: table after table, index after index.
        f"CREATE VIEW {INDEXES} AS SELECT {chosen} FROM {NAMED} CROSS JOIN {ENDINGS} USING (shape)",
    )


def empty(database: Filling) -> None:
    """Take all rows out."""
    database.execute(f"DELETE FROM {NAMED}")
    database.execute(f"DELETE FROM {ENDINGS}")


def fill(database: Filling, rows: FactRows) -> None:
    """Put these rows in. Raises OverflowError and UnicodeEncodeError where SQLite cannot hold one, as `executemany` does."""
    known = [place for place in range(OWN_COLUMNS, len(rows.columns)) if rows.has(rows.columns[place])]
    shared = rows.rows.shared() if isinstance(rows.rows, ColumnwiseRows) else None
    named = _names(rows) if shared is None else shared.names
    endings = _each_by_itself(rows) if shared is None else shared.endings
    database.executemany(f"INSERT INTO {NAMED} VALUES ({_marks(OWN_COLUMNS + 1)})", named)
    names = "".join(f", {quote_identifier(rows.columns[place])}" for place in known)
    insert = f"INSERT INTO {ENDINGS} (shape, place{names}) VALUES ({_marks(len(known) + 2)})"
    picked = [place - OWN_COLUMNS for place in known]
    database.executemany(insert, _numbered(endings, picked))


def _names(rows: FactRows) -> Iterator[tuple[Value, ...]]:
    """The tables of rows that follow each other; of a hundred thousand rows none is kept."""
    names = zip(*(rows.values(column) for column in rows.columns[:OWN_COLUMNS]), strict=True)
    return ((*name, shape) for shape, (name, _) in enumerate(groupby(names)))


def _each_by_itself(rows: FactRows) -> Iterator[Iterator[Sequence[Value]]]:
    """What the indexes of each of these are."""
    tables = groupby(rows.rows, lambda row: tuple(row[:OWN_COLUMNS]))
    return ((row[OWN_COLUMNS:] for row in group) for _, group in tables)


def _numbered(endings: Iterable[Iterable[Sequence[Value]]], picked: Sequence[int]) -> Iterator[tuple[Value, ...]]:
    for shape, rows in enumerate(endings):
        for place, row in enumerate(rows):
            yield (shape, place, *(row[one] for one in picked))


def _marks(count: int) -> str:
    return ", ".join("?" * count)
