"""Kinds by the digests of performance_schema: what the server sums up by itself, read twice. It is never switched on.

A digest's text has no values: the server leaves them out (MySQL manual, "Performance Schema Statement Digests and Sampling"). MySQL has the
table from 5.6 on, with performance_schema on by default; MariaDB from 10.0 on, with performance_schema off by default.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from myisam_advisor.texts.templates import number_of
from myisam_advisor.workload.kinds.seen import Gathered, SeenStatements, Sums
from myisam_advisor.workload.table_references import Table
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.outside.numbers import LARGEST_COUNTER, whole_number
from myisam_exporter.server.driver import Row
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, statement
from myisam_exporter.server.target import Target

SOURCE = "performance_schema's digests"
_MAXIMUM_DIGESTS = 100_000
_PICOSECONDS = 1e12
_NOW = "SELECT UNIX_TIMESTAMP()"
_SWITCH = statement("SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest'")
_BEFORE = statement(
    "SELECT SCHEMA_NAME, DIGEST, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED "
    "FROM performance_schema.events_statements_summary_by_digest LIMIT {}",
    _MAXIMUM_DIGESTS,
)

Key = tuple[str | None, str | None]
_Numbers = tuple[int, int, int, int, int, int]


class DigestWatch:
    """Raises UserError where the server keeps no digests, or does not tell them."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        self._session = Session(target, timeout_seconds)
        try:
            self._expect_digests()
            self._asked_at, self._began = self._now(), time.monotonic()
            self._before = {(row[0], row[1]): _numbers(row[2:]) for row in self._rows(_BEFORE, 8)}
        except BaseException:
            self.close()
            raise

    def take(self, tables: Collection[Table]) -> SeenStatements:
        """What was answered since the last time."""
        asked_at, began = self._now(), time.monotonic()
        # A second earlier: what ended while the one before was asked may be in neither.
        since = statement(
            "SELECT SCHEMA_NAME, DIGEST, DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_NO_INDEX_USED "
            "FROM performance_schema.events_statements_summary_by_digest WHERE LAST_SEEN >= FROM_UNIXTIME({}) LIMIT {}",
            self._asked_at - 1,
            _MAXIMUM_DIGESTS,
        )
        gathered, unnamed = Gathered(), 0
        for schema, digest, text, *numbers in self._rows(since, 9):
            now, before = _numbers(numbers), self._before.get((schema, digest))
            self._before[schema, digest] = now
            sums = _difference(now, before)
            if digest is None or not text:
                unnamed += sums.count
            if sums.count:
                gathered.add((text or "").replace("(...)", "(?)").encode(), schema.encode() if schema else None, sums)
        notes = ["A statement counts when it has ended."]
        if unnamed:
            notes.append(
                f"Of no kind: {number_of(unnamed, 'statement')} (performance_schema_digests_size is too small for all kinds)."
            )
        seen = gathered.seen(SOURCE, max(began - self._began, 1e-3), tables, notes)
        self._asked_at, self._began = asked_at, began
        return seen

    def close(self) -> None:
        """End the connection."""
        self._session.close()

    def _expect_digests(self) -> None:
        switch = self._session.rows("SHOW GLOBAL VARIABLES LIKE 'performance_schema'", columns=2)
        if [value for _, value in switch] != ["ON"]:
            raise UserError("performance_schema is off, and can only be switched on when the server starts")
        switch = self._rows(_SWITCH, 1)
        if not switch:
            raise UserError("this version's performance_schema keeps no digests of statements")
        if switch[0][0] != "YES":
            raise UserError("the consumer statements_digest is off in performance_schema.setup_consumers")

    def _now(self) -> int:
        return whole_number(self._session.row(_NOW, 1)[0]) or 0

    def _rows(self, question: Sql, columns: int) -> list[Row]:
        try:
            return self._session.rows(question, maximum_rows=_MAXIMUM_DIGESTS, columns=columns)
        except StatementRefusedError as error:
            raise UserError(f"performance_schema may not be read ({error.text})") from None


def _numbers(values: Iterable[str | None]) -> _Numbers:
    calls, time_, lock, sent, examined, no_index = (whole_number(value, LARGEST_COUNTER) or 0 for value in values)
    return calls, time_, lock, sent, examined, no_index


def _difference(now: _Numbers, before: _Numbers | None) -> Sums:
    """What came in between. Counts that are smaller than before began anew: somebody emptied the table."""
    if before is None or any(later < earlier for later, earlier in zip(now, before, strict=True)):
        before = (0, 0, 0, 0, 0, 0)
    calls, time_, lock, sent, examined, no_index = (later - earlier for later, earlier in zip(now, before, strict=True))
    return Sums(calls, time_ / _PICOSECONDS, lock / _PICOSECONDS, sent, examined, no_index)
