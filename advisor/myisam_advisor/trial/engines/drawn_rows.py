"""What statements of a trial of engines are made of: rows of the table itself, a key that finds one, a column that may change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from myisam_advisor.trial.engines.stage import Column, EngineServer, named, text_of
from myisam_advisor.trial.tables.copied_table import literal_rows
from myisam_advisor.trial.tables.rows_by_index import INEXACT_TYPES, Sampled
from myisam_advisor.trial.tables.sources import Source
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

MOST_ROWS, MOST_BYTES = 50_000, 64 << 20
# Columns of SHOW INDEX.
_NON_UNIQUE, _NAME, _COLUMN, _PREFIX, _NULL, _TYPE = 1, 2, 4, 7, 9, 10
INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext")


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """Rows from all over a table, as SQL, in random order; a unique key's columns come first (`key_columns` of them; 0: it has none).

    `changing` is a column's new value as SQL, other than the one it has: done twice it is the old one again. None where no column may change.
    """

    name: Sql
    columns: tuple[str, ...]
    key_columns: int
    rows: Sequence[Sequence[bytes]]
    changing: Sql | None
    scanned: Sql

    @property
    def by_key(self) -> Sampled:
        """What finds single rows."""
        return Sampled(self.name, self.columns[: self.key_columns], self.rows)

    def condition(self, row: Sequence[bytes]) -> bytes:
        """What finds this row."""
        return self.by_key.equals(row[: self.key_columns])

    def insert(self, rows: Sequence[Sequence[bytes]], into: str = "", *, ignores: bool = False) -> bytes:
        """A statement that inserts these rows."""
        head = b"INSERT IGNORE INTO" if ignores else b"INSERT INTO"
        values = b",".join(b"(" + b",".join(row) + b")" for row in rows)
        names = sql_list(map(quote_identifier, self.columns))
        return b"%b %b (%b) VALUES %b" % (head, (into or self.name).encode(), names.encode(), values)


def drawn_rows(base: EngineServer, table: Source) -> DrawnRows:
    """Draw them from the table as it is."""
    columns = [one for one in base.columns(table) if not one.generated]
    indexes = _indexes(base, table)
    key = _unique_key(indexes, columns)
    ordered = [*key, *(one.name for one in columns if one.name not in key)]
    name = named(table)
    total = base.server.count(name)
    most = max(min(MOST_ROWS, MOST_BYTES * max(total, 1) // max(table.data_bytes, 1)), 1)
    share = most * 1.1 / max(total, 1)
    selected = f"SELECT {sql_list(map(quote_identifier, ordered))} FROM {name} WHERE RAND(7) < {share} LIMIT {most}"
    rows = list(literal_rows(base.server, selected))
    indexed = {text_of(row[_COLUMN]) for row in indexes}
    unique = {text_of(row[_COLUMN]) for row in indexes if not _is_many(row)}
    free = [one for one in columns if one.name not in unique]
    free.sort(key=lambda one: one.name in indexed)
    changing = next((sql for one in free if (sql := _changed(one))), None)
    unindexed = [one for one in columns if one.name not in indexed] or columns
    return DrawnRows(name, tuple(ordered), len(key), rows, changing, quote_identifier(unindexed[-1].name))


def _indexes(base: EngineServer, table: Source) -> list[tuple[object, ...]]:
    return base.server.execute(f"SHOW INDEX FROM {named(table)}")


def _is_many(row: Sequence[object]) -> bool:
    return text_of(row[_NON_UNIQUE]) != "0"


def _unique_key(rows: Sequence[Sequence[object]], columns: Sequence[Column]) -> list[str]:
    """The columns of the first index that finds a single row by whole values of its columns; none without one."""
    exact = {one.name for one in columns if _kind(one) not in INEXACT_TYPES}
    for _, parts in itertools.groupby(rows, key=lambda row: row[_NAME]):
        found = list(parts)
        names = [text_of(row[_COLUMN]) for row in found]
        fits = all(
            not _is_many(row) and row[_PREFIX] is None and text_of(row[_NULL]) != "YES" and text_of(row[_TYPE]) == "BTREE"
            for row in found
        )  # fmt: skip
        if fits and exact.issuperset(names):
            return names
    return []


def _changed(column: Column) -> Sql | None:
    """Another value of the column, of the same length; None for types that are left alone."""
    name, kind = quote_identifier(column.name), _kind(column)
    if kind in INTEGERS and "unsigned" in column.type:
        return statement("{} = {} ^ 1", name, name)
    if kind in INTEGERS:
        return statement("{} = -1 - {}", name, name)
    return statement("{} = REVERSE({})", name, name) if kind in TEXTS else None


def _kind(column: Column) -> str:
    return column.type.partition("(")[0].split(" ")[0]
