"""SQL from rules and users on the fact tables: reads only, allow-listed functions, bounded in time, memory and rows.

SQLite asks whether to go on between the steps of a query, never within one. So no step may take long: strings are short, and the functions
whose time grows with the product of two lengths are Python's (instr, trim), or their pattern is short (LIKE).
"""

from __future__ import annotations

import math
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from types import TracebackType

from myisam_advisor.factbase.endless_sum import INTEGER_OVERFLOW, copy_that_sums_without_end
from myisam_advisor.factbase.filling import WRITES, Filling
from myisam_advisor.factbase.index_tables import ENDINGS, INDEXES, NAMED
from myisam_advisor.factbase.sqlite_limits import DEFAULT_LENGTH_BYTES, LENGTH, LIKE_PATTERN_LENGTH, set_limit
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.templates import object_name
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import shortened
from myisam_exporter.facts.columns import TABLES, Value

QUERY_SECONDS = 2.0
MAXIMUM_ROWS = 1_000_000
MAXIMUM_STRING_BYTES = 1 << 16
MAXIMUM_PATTERN_BYTES = 256
# Rows as Python holds them: a million rows of long strings are gigabytes, outside of SQLite's own limit.
MAXIMUM_RESULT_BYTES = 256 << 20
PROGRESS_STEPS = 1000

# An allow-list: printf('%.*c', 900000000, 'x') ran for three seconds untouched by any deadline.
FUNCTIONS = frozenset({
    "abs", "avg", "ceil", "coalesce", "count", "dense_rank", "first_value", "floor", "group_concat", "ifnull", "iif", "instr", "last_value", "length", "like",
    "lower", "ltrim", "max", "min", "nullif", "object_name", "rank", "round", "row_number", "rtrim", "substr", "sum", "total", "trim", "typeof", "upper", "likely", "unlikely",
})  # fmt: skip
_TABLES = frozenset(table.name for table in TABLES)


class QueryError(Exception):
    """The query is wrong, forbidden or too slow; the message says which. `stopped` when it ran into a limit of time or memory."""

    def __init__(self, message: str, *, stopped: bool = False) -> None:
        super().__init__(shortened(message))
        self.stopped = stopped


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
    """A database that only answers guarded queries, except to who fills it; as a context manager it is closed at the end.

    The guard is set once: to set it again would have SQLite prepare every statement again, which takes longer than to run it.
    """

    def __init__(self, database: sqlite3.Connection, *, sums_without_end: bool = False) -> None:
        self._database = database
        self._sums_without_end = sums_without_end
        self._is_filled_now = False
        self._deadline = 0.0
        self._refused = ""
        self._read: dict[str, set[str]] = {}
        self._asked_what_is_read = 0
        self._latest = math.inf
        # Where strings cannot be bounded, recursion, the one way to build them in a loop, is refused.
        self._may_recurse = set_limit(database, LENGTH, MAXIMUM_STRING_BYTES)
        set_limit(database, LIKE_PATTERN_LENGTH, MAXIMUM_PATTERN_BYTES)
        for name, function in _OF_TWO_TEXTS.items():
            database.create_function(name, 2, function, deterministic=True)
        database.create_function("object_name", -1, _object_name, deterministic=True)
        database.set_authorizer(self._authorize)
        database.set_progress_handler(lambda: time.monotonic() > self._deadline, PROGRESS_STEPS)

    def __enter__(self) -> GuardedDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give its memory back."""
        self._database.close()

    @contextmanager
    def filling(self) -> Iterator[Filling]:
        """What writes into it, in any time and any length; nobody asks meanwhile."""
        set_limit(self._database, LENGTH, DEFAULT_LENGTH_BYTES)
        self._is_filled_now, self._deadline = True, math.inf
        try:
            yield Filling(self._database)
        finally:
            self._is_filled_now = False
            set_limit(self._database, LENGTH, MAXIMUM_STRING_BYTES)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """All queries in this block together have so much time, however many they are."""
        self._latest = time.monotonic() + seconds
        try:
            yield
        finally:
            self._latest = math.inf

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
        self._deadline, self._refused = min(time.monotonic() + seconds, self._latest), ""
        if statement.startswith(WRITES):
            # Python keeps prepared statements by their text: who fills may have had this one prepared, and nobody would be asked again.
            raise QueryError(READ_ONLY)
        try:
            cursor = self._database.execute(statement, dict(parameters or {}))
            rows = _fetched(cursor, maximum_rows + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, MemoryError, UnicodeError) as error:
            if str(error) != INTEGER_OVERFLOW or self._sums_without_end:
                raise self._explained(error, seconds) from None
            return self._summed_without_end(statement, parameters, maximum_rows)
        if cursor.description is None:
            raise QueryError("the query is empty: write a SELECT")
        names = tuple(column[0] for column in cursor.description)
        return Result(names, rows[:maximum_rows], len(rows) > maximum_rows)

    def _summed_without_end(self, statement: str, parameters: Mapping[str, Value] | None, maximum_rows: int) -> Result:
        """The rows of a query that ended with an overflow, in the time that it has left."""
        seconds = self._deadline - time.monotonic()
        try:
            copy = copy_that_sums_without_end(self._database)
        except (sqlite3.Error, MemoryError) as error:
            raise self._explained(error, seconds) from None
        with GuardedDatabase(copy, sums_without_end=True) as database:
            return database.query(statement, parameters, seconds, maximum_rows)

    def columns_read(self, statement: str, parameters: Mapping[str, Value] | None) -> Mapping[str, frozenset[str]]:
        """The tables, and the subqueries with a name, that a SELECT reads, each with its columns: none where rows are counted alone.

        It is not run. What a join by USING or NATURAL compares SQLite does not tell. Raises QueryError as `query` does.
        """
        self._read = {}
        # SQLite asks what may be read when it prepares a statement: one that is known already it would not prepare again.
        self._asked_what_is_read += 1
        self.query(f"EXPLAIN /* {self._asked_what_is_read} */ {statement}", parameters)
        return {table: frozenset(columns) for table, columns in self._read.items()}

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
    ) -> int:
        if action == sqlite3.SQLITE_SELECT or self._is_filled_now:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            # A subquery or common table is read under its own name, an empty one among them.
            if first and first.startswith("sqlite_"):
                return self._refuse("the query reads SQLite's own tables")
            columns = self._read.setdefault(INDEXES if first in (NAMED, ENDINGS) else first or "", set())
            columns.update((second,) if second else ())
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            return (
                sqlite3.SQLITE_OK
                if (second or "").lower() in FUNCTIONS
                else self._refuse(f"the function {second} is not among those allowed: {', '.join(sorted(FUNCTIONS))}")
            )
        if action == sqlite3.SQLITE_RECURSIVE:
            return sqlite3.SQLITE_OK if self._may_recurse else self._refuse("recursive queries need Python 3.11")
        return self._refuse(READ_ONLY)

    def _refuse(self, why: str) -> int:
        self._refused = self._refused or why
        return sqlite3.SQLITE_DENY

    def _explained(self, error: BaseException, seconds: float) -> QueryError:
        text = str(error)
        if self._refused:
            return QueryError(self._refused)
        if "interrupted" in text:
            return QueryError(f"the query took longer than {seconds:g} s and was stopped", stopped=True)
        if isinstance(error, MemoryError) or "out of memory" in text or "too big" in text:
            return QueryError(f"{TOO_MUCH_MEMORY} (strings may have {MAXIMUM_STRING_BYTES} bytes)", stopped=True)
        return QueryError(_in_words(text) or type(error).__name__)


def _near_column(name: str) -> str:
    """Where the column is, or what is written alike."""
    tables_of: dict[str, list[str]] = {}
    for table, columns in declared_columns().items():
        for column in columns:
            tables_of.setdefault(column.name, []).append(table)
    if name in tables_of:
        return f" {name} is a column of {', '.join(tables_of[name])}."
    return did_you_mean(name, sorted(tables_of))


def _in_words(text: str) -> str:
    if text.startswith(("no such column", "no such table")):
        name = text.rpartition(": ")[2]
        near = _near_column(name) if "column" in text else did_you_mean(name, _TABLES)
        return f"unknown fact ({text}).{near} `myisam-advisor facts --describe` lists the tables and columns: {', '.join(sorted(_TABLES))}"
    if "pattern too complex" in text:
        return f"a pattern of LIKE is longer than {MAXIMUM_PATTERN_BYTES} bytes"
    if "surrogates not allowed" in text or text.startswith("SQL is of wrong type"):  # so does Python 3.10 say it
        return "the query has bytes that are not UTF-8"
    return "only one statement is allowed" if "one statement at a time" in text else text


TOO_MUCH_MEMORY = "the query needs too much memory and was stopped"
READ_ONLY = "a query may only read: no INSERT, UPDATE, DELETE, CREATE, DROP, ATTACH or PRAGMA"


def _fetched(cursor: sqlite3.Cursor, maximum_rows: int) -> list[tuple[Value, ...]]:
    """So many rows, one by one. Raises MemoryError when they take more than MAXIMUM_RESULT_BYTES."""
    rows: list[tuple[Value, ...]] = []
    taken_bytes = 0
    for row in islice(cursor, maximum_rows):
        taken_bytes += sum(map(sys.getsizeof, row)) + sys.getsizeof(row)
        if taken_bytes > MAXIMUM_RESULT_BYTES:
            raise MemoryError
        rows.append(row)
    return rows


def _of_two_texts(work: Callable[[str, str], Value]) -> Callable[[Value | bytes, Value | bytes], Value]:
    """As SQL has it: NULL where one of them is, and numbers as text."""

    def function(text: Value | bytes, other: Value | bytes) -> Value:
        if text is None or other is None:
            return None
        return work(_as_text(text), _as_text(other))

    return function


def _as_text(value: Value | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _object_name(*names: Value | bytes) -> str | None:
    """A name of several parts as SQL takes it: quoted where it must be; NULL where a part is."""
    known = [_as_text(name) for name in names if name is not None]
    return object_name(*known) if len(known) == len(names) else None


# SQLite's own compare every character of the one with every one of the other: 44 s for a hundred trims of 64 KiB.
_OF_TWO_TEXTS = {
    "instr": _of_two_texts(lambda text, part: text.find(part) + 1),
    "trim": _of_two_texts(str.strip),
    "ltrim": _of_two_texts(str.lstrip),
    "rtrim": _of_two_texts(str.rstrip),
}
