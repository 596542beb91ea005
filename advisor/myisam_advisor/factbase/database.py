"""The fact tables as SQLite: what rules and `query` ask. Built from the collectors' declarations."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

from myisam_advisor.factbase import index_tables
from myisam_advisor.factbase.changes import Changes, differing_rows
from myisam_advisor.factbase.filling import Filling
from myisam_advisor.factbase.guarded_query import GuardedDatabase
from myisam_advisor.factbase.index_tables import AFFINITY, INDEXES
from myisam_advisor.factbase.shared_views import VIEWS
from myisam_advisor.factbase.steady_parts import SteadyParts
from myisam_advisor.factbase.storable import SMALL_TABLE_ROWS, all_storable, storable_rows
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.facts.packed_rows import PackedRows
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.server.sql import quote_identifier

HEAP_LIMIT_BYTES = 1 << 30
KEPT_STATEMENTS = 512  # all rules' and those that fill, twice over
NO_STATEMENTS = 0


def open_database(facts: FactSet) -> GuardedDatabase:
    """An in-memory SQLite database with every declared fact table, filled, that answers queries."""
    return FactDatabase().holding(facts)


class FactDatabase:
    """A database that holds one set of facts after another: only tables that differ are filled anew.

    `changes` says what differs, `steady_parts` is what queries of unchanged tables gave. Where facts `of_many`
    servers come in turn, all tables differ: what remains is that statements are prepared once, which takes most of the time with few tables.
    """

    def __init__(self, *, of_many: bool = False) -> None:
        self.of_many = of_many
        self._database: GuardedDatabase | None = None
        self._filled: dict[str, int] = {}  # generations, by table
        self._with_rows: set[str] = set()  # the others are empty, and need neither be emptied nor filled
        self.changes = Changes()
        self.steady_parts = SteadyParts(self.changes, _rehearsal, of_one_look=of_many)

    def holding(self, facts: FactSet) -> GuardedDatabase:
        """The database, in memory, with these facts: the same one each time, until it is closed."""
        database = self._database or GuardedDatabase(_new())
        self._database = database
        try:
            with database.filling() as filling:
                self._fill_with(facts, filling)
        except BaseException:
            self.close()  # without a journal nothing takes back what was half filled
            raise
        return database

    def _fill_with(self, facts: FactSet, database: Filling) -> None:
        database.execute("BEGIN")
        for table in TABLES:
            rows = facts.tables[table.name]
            filled = self._filled.get(table.name)
            if filled != rows.generation:
                if rows.change is not None and rows.change.since == filled and table.name != INDEXES:
                    places, differing = tuple(rows.change.before), rows.rows_that_differ()
                    _renew(database, table.name, differing, places)
                    pairs = zip(rows.change.before.values(), differing.rows, strict=True)
                    self.changes.renewed(table.name, differing_rows(rows.columns, places, pairs))
                else:
                    if table.name in self._with_rows:
                        _empty(database, table.name)
                    if rows.rows:
                        self._with_rows.add(table.name)
                        _fill(database, table.name, rows)
                    else:
                        self._with_rows.discard(table.name)
                    self.changes.filled(table.name)
                self._filled[table.name] = rows.generation
        database.execute("COMMIT")

    def close(self) -> None:
        """Give its memory back; the next facts begin a new one."""
        if self._database is not None:
            self._database.close()
        self.steady_parts.close()
        self._database, self._filled, self._with_rows = None, {}, set()


def _rehearsal() -> GuardedDatabase:
    """A database without rows, to find out how statements are taken. What is prepared for that once is not kept: four hundred took 5 MB."""
    return GuardedDatabase(_new(NO_STATEMENTS))


def _new(kept_statements: int = KEPT_STATEMENTS) -> sqlite3.Connection:
    database = sqlite3.connect(
        ":memory:", isolation_level=None, check_same_thread=False, cached_statements=kept_statements
    )
    # A query of somebody else's must not take all memory: printf and || can build strings of any length.
    database.execute(f"PRAGMA hard_heap_limit={HEAP_LIMIT_BYTES}")
    # Nothing is ever rolled back: what a table was before it is filled anew need not be kept.
    database.execute("PRAGMA journal_mode=OFF")
    _empty_database().backup(database)
    return database


@lru_cache(maxsize=1)
def _empty_database() -> sqlite3.Connection:
    """All tables and views, without rows. A copy of it takes a quarter of the time that making it does: 0.4 ms of 1.4."""
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.execute("BEGIN")
    for table in TABLES:
        columns = declared_columns()[table.name]
        if table.name == INDEXES:
            for statement in index_tables.made(columns):
                database.execute(statement)
            continue
        definition = ", ".join(f"{quote_identifier(column.name)} {AFFINITY[column.type]}" for column in columns)
        database.execute(f"CREATE TABLE {table.name} ({definition})")
        if table.shape == "pairs":
            # Rules ask for a hundred of its rows by name: found so, all their queries take three fifths of the time.
            database.execute(f"CREATE INDEX {table.name}_by_name ON {table.name} (name)")
    for view in VIEWS:
        database.execute(f"CREATE VIEW {view.name} AS {view.select}")
    database.execute("COMMIT")
    return database


def _fill(database: Filling, table: str, rows: FactRows) -> None:
    """Insert the rows, bounded as storable.py says; without the columns that none of them knows: with many tables, that is a third of the time."""
    rows = storable_rows(rows)
    known = [place for place, name in enumerate(rows.columns) if rows.has(name)]
    if not known and table != INDEXES:
        database.executemany(f"INSERT INTO {table} DEFAULT VALUES", [()] * len(rows.rows))
        return
    try:
        _insert(database, table, rows, known)
        refused = len(rows.rows) > SMALL_TABLE_ROWS and _holds_infinity(
            database, table, [rows.columns[place] for place in known]
        )
    except (OverflowError, UnicodeEncodeError):
        refused = True
    if refused:
        _empty(database, table)
        _insert(database, table, all_storable(rows), known)


def _empty(database: Filling, table: str) -> None:
    if table == INDEXES:
        index_tables.empty(database)
    else:
        database.execute(f"DELETE FROM {table}")


def _insert(database: Filling, table: str, rows: FactRows, known: Sequence[int]) -> None:
    if table == INDEXES:
        index_tables.fill(database, rows)
        return
    names = ", ".join(quote_identifier(rows.columns[place]) for place in known)
    places = ", ".join("?" * len(known))
    database.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", _rows_of(rows, known))


def _rows_of(rows: FactRows, columns: Sequence[int]) -> Iterable[Sequence[Value]]:
    if isinstance(rows.rows, PackedRows):
        return rows.rows.rows_of(columns)
    if len(columns) == len(rows.columns):
        return rows.rows
    pick = itemgetter(*columns)
    return map(pick, rows.rows) if len(columns) > 1 else ((pick(row),) for row in rows.rows)


def _renew(database: Filling, table: str, rows: FactRows, places: Sequence[int]) -> None:
    """Put these rows in the places of those that were: the first was filled in as row 1."""
    names = ", ".join(map(quote_identifier, rows.columns))
    insert = f"REPLACE INTO {table} (rowid, {names}) VALUES ({', '.join('?' * (len(rows.columns) + 1))})"
    others = all_storable(rows).rows
    database.executemany(insert, ((place + 1, *row) for place, row in zip(places, others, strict=True)))


def _holds_infinity(database: Filling, table: str, columns: Sequence[str]) -> bool:
    """Whether a sum is not finite: SQLite takes infinities, and nothing that reckons with them does."""
    real = {column.name for column in declared_columns()[table] if column.type == "real"}
    totals = " + ".join(f"total({quote_identifier(name)})" for name in columns if name in real) or "0"
    summed = database.execute(f"SELECT {totals} FROM {table}").fetchone()[0]
    return summed is None or not math.isfinite(summed)
