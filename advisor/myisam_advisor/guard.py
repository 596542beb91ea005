"""SQL from rules and users on the fact tables: reads only, allow-listed functions, bounded in time, memory and rows."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from myisam_exporter.columns import TABLES, Value

QUERY_SECONDS = 2.0
MAXIMUM_ROWS = 1_000_000
MAXIMUM_STRING_BYTES = 1 << 20
PROGRESS_STEPS = 10_000

# An allow-list: printf('%.*c', 900000000, 'x') ran for three seconds untouched by any deadline.
FUNCTIONS = frozenset({
    "abs", "avg", "ceil", "coalesce", "count", "dense_rank", "first_value", "floor", "group_concat", "ifnull", "iif", "instr", "last_value", "length", "like",
    "lower", "ltrim", "max", "min", "nullif", "rank", "round", "row_number", "rtrim", "substr", "sum", "total", "trim", "typeof", "upper", "likely", "unlikely",
})  # fmt: skip
_TABLES = frozenset(table.name for table in TABLES)


class QueryError(Exception):
    """The query is wrong, forbidden or too slow; the message says which."""


@dataclass(frozen=True, slots=True)
class Result:
    """A query's columns and rows; `truncated` when there were more than asked for."""

    columns: tuple[str, ...]
    rows: list[tuple[Value, ...]]
    truncated: bool = False

    def dictionaries(self) -> list[dict[str, Value]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class GuardedDatabase:
    """A database that only answers guarded queries from now on; as a context manager it is closed at the end, or kept open."""

    def __init__(self, database: sqlite3.Connection, *, keep_open: bool = False) -> None:
        self._database = database
        self._keep_open = keep_open
        self._deadline = 0.0
        self._refused = ""
        self._read: set[str] = set()
        self._may_recurse = False
        # Python 3.10 has no setlimit: there, recursion, the one way to build strings in a loop, is refused.
        if sys.version_info >= (3, 11):
            self._may_recurse = True
            database.setlimit(0, MAXIMUM_STRING_BYTES)  # SQLITE_LIMIT_LENGTH
        database.set_authorizer(self._authorize)
        database.set_progress_handler(lambda: time.monotonic() > self._deadline, PROGRESS_STEPS)

    def __enter__(self) -> GuardedDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._keep_open:
            self._database.close()

    def query(
        self,
        statement: str,
        parameters: Mapping[str, Value] | None = None,
        seconds: float = QUERY_SECONDS,
        maximum_rows: int = MAXIMUM_ROWS,
    ) -> Result:
        """The rows of one SELECT.

        Raises QueryError when it writes, names unknown facts or functions, or takes longer than `seconds`.
        """
        self._deadline, self._refused = time.monotonic() + seconds, ""
        try:
            cursor = self._database.execute(statement, dict(parameters or {}))
            rows = cursor.fetchmany(maximum_rows + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError) as error:
            raise QueryError(self._explain(error, seconds)) from None
        if cursor.description is None:
            raise QueryError("the query is empty: write a SELECT")
        names = tuple(column[0] for column in cursor.description)
        return Result(names, rows[:maximum_rows], len(rows) > maximum_rows)

    def tables_read(self, statement: str, parameters: Mapping[str, Value] | None = None) -> frozenset[str]:
        """The tables, and the subqueries with a name, that a SELECT reads; it is not run.

        Raises QueryError as `query` does.
        """
        self._read = set()
        self.query(f"EXPLAIN {statement}", parameters)
        return frozenset(self._read)

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
    ) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            # A subquery or common table is read under its own name, an empty one among them.
            if first and first.startswith("sqlite_"):
                return self._refuse("the query reads SQLite's own tables")
            self._read.add(first or "")
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return (
                sqlite3.SQLITE_OK
                if (second or "").lower() in FUNCTIONS
                else self._refuse(f"the function {second} is not among those allowed: {', '.join(sorted(FUNCTIONS))}")
            )
        if action == sqlite3.SQLITE_RECURSIVE:
            return sqlite3.SQLITE_OK if self._may_recurse else self._refuse("recursive queries need Python 3.11")
        return self._refuse("a query may only read: no INSERT, UPDATE, DELETE, CREATE, DROP, ATTACH or PRAGMA")

    def _refuse(self, why: str) -> int:
        self._refused = self._refused or why
        return sqlite3.SQLITE_DENY

    def _explain(self, error: BaseException, seconds: float) -> str:
        text = str(error)
        if self._refused:
            return self._refused
        if "interrupted" in text:
            return f"the query took longer than {seconds:g} s and was stopped"
        if text.startswith(("no such column", "no such table")):
            return f"unknown fact ({text}); `myisam-advisor facts --describe` lists the tables and columns: {', '.join(sorted(_TABLES))}"
        if isinstance(error, MemoryError) or "out of memory" in text or "too big" in text:
            return "the query needs too much memory and was stopped"
        if "one statement at a time" in text:
            return "only one statement is allowed"
        return text or type(error).__name__
