"""Statements that find rows of a trial's table by the values of an index's columns: the values come from the table itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from myisam_advisor.trial.bench import Bench, Statements
from myisam_advisor.trial.tables.copied_table import literal_rows
from myisam_advisor.trial.tables.indexes import BTREE, TableIndex
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_identifier

# More than a run of usual length takes.
MOST_SAMPLED = 100_000
# A value of theirs, written down, does not equal itself, or not by an index.
INEXACT_TYPES = ("bit", "double", "float", "json")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A table of our own, some of its columns, and their values in rows from all over it, as SQL and in random order."""

    table: str
    columns: Sequence[str]
    rows: Sequence[Sequence[bytes]]

    def updates(self) -> list[bytes]:
        """One row each: the last column gets the value of another row, and the columns before it find the row.

        IGNORE, because a CHECK of the table may refuse a value beside the others of a row.
        """
        column = quote_identifier(self.columns[-1]).encode()
        others = [*self.rows[1:], *self.rows[:1]]
        return [
            b"UPDATE IGNORE %b SET %b = %b WHERE %b" % (self.table.encode(), column, other[-1], self.equals(row[:-1]))
            for row, other in zip(self.rows, others, strict=True)
        ]

    def deletes(self) -> list[bytes]:
        """One row each."""
        return [b"DELETE FROM %b WHERE %b" % (self.table.encode(), self.equals(row)) for row in self.rows]

    def selects(self, bench: Bench, what: str, index: TableIndex, keys: int, end: str = "") -> Statements:
        """Searches for so many random values each, by this index; the same values whatever the index."""
        head = f"SELECT {what} FROM {self.table} FORCE INDEX ({quote_identifier(index.name)}) WHERE ".encode()

        def statements(thread: int, count: int) -> Iterator[bytes]:
            generator = bench.random("selects", thread, keys)
            for _ in range(count):
                rows = generator.choices(self.rows, k=keys)
                yield head + b" OR ".join(b"(%b)" % self.equals(row) for row in rows) + end.encode()

        return statements

    def equals(self, values: Sequence[bytes]) -> bytes:
        """A condition that the row fulfils whose first values are these."""
        return b" AND ".join(
            b"%b = %b" % (quote_identifier(column).encode(), value)
            for column, value in zip(self.columns, values, strict=False)
        )


def sampled(bench: Bench, database: str, table: str, columns: Sequence[str]) -> Sampled:
    """Values of these columns where none of them is NULL."""
    whole = f"{database}.{table}"
    names = [quote_identifier(column) for column in columns]
    total = bench.server.count(whole)
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    share = MOST_SAMPLED * 1.1 / max(total, 1)
    statement = f"SELECT {', '.join(names)} FROM {whole} WHERE RAND(7) < {share} AND {known} LIMIT {MOST_SAMPLED}"
    rows = list(literal_rows(bench.server, statement))
    bench.random("sampled").shuffle(rows)
    return Sampled(table, columns, rows)


def column_types(bench: Bench, database: str, table: str) -> dict[str, str]:
    """Each column's type, in small letters."""
    rows = bench.server.execute(
        "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS "
        f"WHERE TABLE_SCHEMA = '{database}' AND TABLE_NAME = '{table}'"
    )
    return {str(name): str(kind).lower() for name, kind in rows}


def index_of_single_rows(
    indexes: Sequence[TableIndex], dropped: TableIndex, types: Mapping[str, str]
) -> TableIndex | None:
    """A unique index that stays, and finds a row by the values of its columns; None without any."""

    def finds(index: TableIndex) -> bool:
        exact = all(types.get(column, "json") not in INEXACT_TYPES for column in index.columns)
        return index.is_unique and index.is_visible and index.kind == BTREE and exact

    return next((one for one in indexes if one != dropped and finds(one)), None)


def as_statements(texts: Sequence[bytes]) -> Statements:
    """These statements for the one thread that there is."""

    def statements(_thread: int, count: int) -> Sequence[bytes]:
        return texts[:count]

    return statements
