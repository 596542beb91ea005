"""Kinds by the digests of performance_schema: what the server sums up by itself, read twice. It is never switched on.

A digest's text has no values: the server leaves them out (MySQL manual, "Performance Schema Statement Digests and Sampling"). MySQL has the
table from 5.6 on, with performance_schema on by default; MariaDB from 10.0 on, with performance_schema off by default.

A text is made of the tokens that are kept of a statement, max_digest_length bytes of them (sql/sql_digest.cc): two of each, and a name's own
with two for its length. One that nearly takes all of these may have been cut off: nothing says so.

Executions of prepared statements have digests in MySQL 9.7 ("EXECUTE SELECT ..."), and none in MySQL 5.6 and 8.0 and MariaDB 10.5 to 11.8, where
their own event alone counts them; tried on these.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from myisam_advisor.texts.templates import count, so_many
from myisam_advisor.workload.instruments import CONSUMERS, NOT_WATCHED, THREADS_NOT_WATCHED, WATCHED
from myisam_advisor.workload.kinds.seen import Gathered, MyisamTables, SeenStatements, Sums
from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.outside.numbers import LARGEST_COUNTER, finite_number, whole_number
from myisam_exporter.server.driver import MAXIMUM_ROWS, Row
from myisam_exporter.server.sql import Sql, statement

SOURCE = "performance_schema's digests"
_MAXIMUM_DIGESTS = 100_000
_PICOSECONDS = 1e12
_NOW = statement("SELECT UNIX_TIMESTAMP()")
_VARIABLES = statement(
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('performance_schema', 'performance_schema_digests_size', 'performance_schema_max_digest_length', "
    "'max_digest_length')"
)
_BEFORE = statement(
    "SELECT SCHEMA_NAME, DIGEST, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED "
    "FROM performance_schema.events_statements_summary_by_digest LIMIT {}",
    _MAXIMUM_DIGESTS,
)
_EXECUTED = statement(
    "SELECT COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED "
    "FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME = 'statement/com/Execute'"
)
# Behind it is what was prepared, or the name of that.
_EXECUTION, _NAMED_EXECUTION = "EXECUTE ", "EXECUTE `"
# Each keeps none where it is 0.
_SIZES = ("performance_schema_digests_size", "performance_schema_max_digest_length", "max_digest_length")
_DIGEST_BYTES = 1024
_TOKEN_BYTES, _NAME_BYTES = 2, 4
# 64 letters of three bytes.
_LONGEST_NAME_BYTES = _NAME_BYTES + 64 * 3
# Where early versions of MySQL 5.6 cut. Several values are written with it too, as in LIMIT.
_CUT, _LIST = "...", "?, ..."
_TOKEN = re.compile(r"`(?:[^`]|``)*`|[^\s`]+")

_Numbers = tuple[int, int, int, int, int, int]


class Connected(Protocol):
    """A connection with the server: a Session."""

    def rows(self, statement: str, *, maximum_rows: int = MAXIMUM_ROWS, columns: int | None = None) -> list[Row]:
        """The rows of an answer, which have so many columns."""

    def close(self) -> None:
        """End it."""


class DigestWatch:
    """Raises UserError where the server keeps no digests, or does not tell them.

    Args:
        connect: makes a connection with the server.
    """

    def __init__(self, connect: Callable[[], Connected]) -> None:
        self._connect = connect
        self._session = connect()
        try:
            self._digest_bytes = self._expect_digests(self._variables())
            self._notes = ["A statement counts when it has ended, with all of its time."]
            self._notes += self._expect_instruments()
            self._asked_at, self._began = self._now(), time.monotonic()
            self._watched_since = self._asked_at
            self._executed = self._executions()
            self._before = {(row[0], row[1]): _numbers(row[2:]) for row in self._rows(_BEFORE, 8)}
        except BaseException:
            self.close()
            raise

    def take(self, tables: MyisamTables) -> SeenStatements:
        """What was answered since the last time."""
        try:
            return self._taken(tables)
        except ServerLostError:
            # Nobody asked anything for wait_timeout: the connection was closed. What was counted is the server's, and still there.
            self._session.close()
            self._session = self._connect()
            return self._taken(tables)

    def _taken(self, tables: MyisamTables) -> SeenStatements:
        asked_at, began = self._now(), time.monotonic()
        # A second earlier: what ended while the one before was asked may be in neither. As numbers: an hour of the year is there twice.
        since = statement(
            "SELECT SCHEMA_NAME, DIGEST, DIGEST_TEXT, UNIX_TIMESTAMP(FIRST_SEEN), COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT, "
            "SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED FROM performance_schema.events_statements_summary_by_digest "
            "WHERE UNIX_TIMESTAMP(LAST_SEEN) >= {} LIMIT {}",
            self._asked_at - 1,
            _MAXIMUM_DIGESTS,
        )
        rows = self._rows(since, 10)
        notes = [*self._notes, *self._missing_connections()]
        executions, before_them = self._executions(), self._executed
        gathered, unnamed, not_known_before, has_executions = Gathered(), 0, 0, False
        for schema, digest, text, first_seen, *numbers in rows:
            now, before = _numbers(numbers), self._before.get((schema, digest))
            self._before[schema, digest] = now
            if before is None and (finite_number(first_seen) or 0.0) < self._watched_since:
                # It was there when this began, and not among those that were read: what it has is of the server's whole life.
                not_known_before += 1
                continue
            sums = _difference(now, before)
            if digest is None or not text:
                unnamed += sums.count
            if sums.count:
                shown = _of_execution(text or "")
                has_executions |= shown != (text or "")
                is_whole = not may_be_cut(text, self._digest_bytes)
                written = shown.replace("(...)", "(?)").encode()
                gathered.add(written, schema.encode() if schema else None, sums, is_whole)
        executed = _difference(executions, before_them)
        if executed.count and not has_executions:
            gathered.add_unknown(executed)
            notes.append(
                f"This server's digests have no executions of prepared statements: {so_many(executed.count, 'statement')} of unknown tables."
            )
        if unnamed:
            notes.append(
                f"Of no kind: {so_many(unnamed, 'statement')} (performance_schema_digests_size is too small for all kinds)."
            )
        if not_known_before:
            notes.append(
                f"Of {so_many(not_known_before, 'kind')} it was not known how often they had been answered before: they count from now on."
            )
        if len(rows) >= _MAXIMUM_DIGESTS:
            notes.append(f"There were more than {count(_MAXIMUM_DIGESTS)} kinds: the others are in no total.")
        seen = gathered.seen(SOURCE, max(began - self._began, 1e-3), tables, notes)
        self._asked_at, self._began, self._executed = asked_at, began, executions
        return seen

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def _variables(self) -> Mapping[str, str]:
        return {(name or "").lower(): value or "" for name, value in self._session.rows(_VARIABLES, columns=2)}

    def _expect_digests(self, variables: Mapping[str, str]) -> int:
        """How many bytes of tokens are kept of a statement."""
        if variables.get("performance_schema") != "ON":
            raise UserError(
                "performance_schema is off, and can only be switched on when the server starts: performance_schema=ON in my.cnf"
            )
        sizes = {name: whole_number(variables[name]) for name in _SIZES if name in variables}
        none = [name for name, size in sizes.items() if size == 0]
        if none:
            raise UserError(f"it keeps no digests of statements ({none[0]} is 0)")
        consumers = {row[0]: row[1] for row in self._rows(CONSUMERS, 2)}
        if "statements_digest" not in consumers:
            raise UserError("this version's performance_schema keeps no digests of statements")
        off = [name for name in ("global_instrumentation", "statements_digest") if consumers.get(name) != "YES"]
        if off:
            raise UserError(f"the consumer {off[0]} is off in performance_schema.setup_consumers")
        return min(sizes.get(name) or _DIGEST_BYTES for name in _SIZES[1:])

    def _expect_instruments(self) -> list[str]:
        """What is to be known of those that are off. Raises UserError where all are."""
        watched, unwatched = self._one_count(WATCHED), self._one_count(NOT_WATCHED)
        if not watched:
            raise UserError("all instruments for statements are off in performance_schema.setup_instruments")
        if not unwatched:
            return []
        return [
            f"Of {count(watched + unwatched)} sorts of statements {count(unwatched)} are not watched or not timed "
            "(performance_schema.setup_instruments): theirs are missing."
        ]

    def _missing_connections(self) -> list[str]:
        """What is to be known of connections that are not watched."""
        unwatched = self._one_count(THREADS_NOT_WATCHED)
        if not unwatched:
            return []
        return [
            f"Not watched by performance_schema (setup_actors): {so_many(unwatched, 'connection')}. Theirs are missing."
        ]

    def _now(self) -> int:
        return self._one_count(_NOW)

    def _executions(self) -> _Numbers:
        """Of prepared statements, whichever."""
        rows = self._rows(_EXECUTED, 6)
        return _numbers(rows[0] if rows else ("0",) * 6)

    def _one_count(self, question: Sql) -> int:
        rows = self._rows(question, 1)
        return (whole_number(rows[0][0]) if rows else None) or 0

    def _rows(self, question: Sql, columns: int) -> list[Row]:
        try:
            return self._session.rows(question, maximum_rows=_MAXIMUM_DIGESTS, columns=columns)
        except StatementRefusedError as error:
            raise UserError(
                f"performance_schema may not be read ({error.text}): this account needs GRANT SELECT ON performance_schema.*"
            ) from None


def _of_execution(text: str) -> str:
    """What was prepared, where a text says that it is executed."""
    if text.startswith(_EXECUTION) and not text.startswith(_NAMED_EXECUTION):
        return text[len(_EXECUTION) :]
    return text


def may_be_cut(text: str | None, digest_bytes: int) -> bool:
    """Whether a statement may have had more than its digest's text says."""
    text = (text or "").rstrip()
    if not text or (text.endswith(_CUT) and not text.endswith(_LIST)):
        return True
    kept = sum(
        _NAME_BYTES + len(token.encode()) - 2 if token.startswith("`") else _TOKEN_BYTES
        for token in _TOKEN.findall(text)
    )
    return kept > digest_bytes - _LONGEST_NAME_BYTES


def _numbers(values: Iterable[str | None]) -> _Numbers:
    calls, time_, lock, sent, examined, no_index = (whole_number(value, LARGEST_COUNTER) or 0 for value in values)
    return calls, time_, lock, sent, examined, no_index


def _difference(now: _Numbers, before: _Numbers | None) -> Sums:
    """What came in between. Counts that are smaller than before began anew: somebody emptied the table."""
    if before is None or any(later < earlier for later, earlier in zip(now, before, strict=True)):
        before = (0, 0, 0, 0, 0, 0)
    calls, time_, lock, sent, examined, no_index = (later - earlier for later, earlier in zip(now, before, strict=True))
    return Sums(calls, time_ / _PICOSECONDS, lock / _PICOSECONDS, sent, examined, no_index)
