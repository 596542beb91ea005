"""performance_schema's history of statements, as MySQL 5.6 to 9.x and MariaDB 10.x to 11.x have it: asked again and again, never switched on.

The history is a ring: what is overwritten before it is asked for is lost. How much that is tells the summary by event name, which counts
every statement; the numbers of events do not, because transactions, stages and waits take some of them. A text is kept up to
performance_schema_max_sql_text_length bytes (1,024 where there is no such variable), converted to the column's character set, with "..." at
the end where something was cut off; the values of prepared statements are not there at all.

Sources: MySQL manual, "Performance Schema Statement Event Tables"; storage/perfschema/table_events_statements.cc.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.instruments import CONSUMERS, NOT_WATCHED, THREADS_NOT_WATCHED
from myisam_advisor.workload.sources.base import ADMINISTRATOR, CUT_OFF, NESTED, Asked, LiveSource, Reading, Watch
from myisam_advisor.workload.tokens import ends_within_string
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.outside.numbers import LARGEST_COUNTER, finite_number, whole_number
from myisam_exporter.server.driver import Row
from myisam_exporter.server.sql import Sql, quote_table, statement

PREPARED = "prepared: its values are not in performance_schema"
UNSURE = "with a ? that may stand for what performance_schema cannot show"
LOST = "overwritten before it was read, at least"

_PICOSECONDS = 1_000_000
# An event may be written a little later than one that ended after it.
_OVERLAP = 100_000 * _PICOSECONDS
# Each question goes through the whole ring: few of them.
_BATCH_BYTES, _BATCH_ROWS = 8 << 20, 5000
# 10 ms: even of a server that does ten thousand statements a second that is less than a batch.
_SLICE = 10_000 * _PICOSECONDS
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_DEFAULT_TEXT_BYTES = 1024
_RING_SIZE = "performance_schema_events_statements_history_long_size"
_PRIVILEGES = frozenset({1044, 1142, 1143, 1227})
_NEEDED = ("global_instrumentation", "thread_instrumentation", "events_statements_current")
_TABLES = ("events_statements_history_long", "events_statements_history")
_PREPARED_NAMES = frozenset(
    f"statement/{name}"
    for name in (
        "sql/prepare_sql",
        "sql/execute_sql",
        "sql/dealloc_sql",
        "com/Prepare",
        "com/Execute",
        "com/Close stmt",
        "com/Reset stmt",
        "com/Fetch",
        "com/Long Data",
    )
)
_VARIABLES = statement("SHOW GLOBAL VARIABLES LIKE 'performance_schema%'")
_CHARACTER_SET = statement(
    "SELECT CHARACTER_SET_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'performance_schema' "
    "AND TABLE_NAME = 'events_statements_history' AND COLUMN_NAME = 'SQL_TEXT'"
)
_COUNTED = statement("SELECT SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_global_by_event_name")
_OURS = statement("SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()")
_NO_CONNECTIONS = statement(
    "SELECT THREAD_ID FROM performance_schema.threads WHERE NAME <> 'thread/sql/one_connection'"
)


class History(Watch):
    """The history of one server, from where it stood when this was made."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        variables = _pairs(self._rows(_VARIABLES, 2))
        self.table = _table_to_read(variables, self._rows)
        self._from = quote_table("performance_schema", self.table)
        self._text_bytes = _count(variables.get("performance_schema_max_sql_text_length")) or _DEFAULT_TEXT_BYTES
        self._ring = _count(variables.get(_RING_SIZE))
        self._is_exact = self._rows(_CHARACTER_SET, 1)[:1] == [("utf8mb4",)]
        self._ours = self._one_count(_OURS)
        self._began, self._offset = self._clock()
        self._mark = self._newest = self._began
        self._until: int | None = None
        self._seen: dict[tuple[str | None, str | None], int] = {}
        self._counted_before = self._counted()
        self._read = 0
        self._pause = _SHORTEST_PAUSE
        self._asked_at = time.monotonic()

    def notes(self) -> Mapping[str, str]:
        """What is known before it begins."""
        notes = {"history": f"performance_schema.{self.table}: connections have the numbers of their threads"}
        if unwatched := self._one_count(NOT_WATCHED):
            notes["instruments"] = (
                f"instruments of performance_schema for statements that are off, and whose statements are not in it: {unwatched}"
            )
        if unwatched := self._one_count(THREADS_NOT_WATCHED):
            notes["connections"] = (
                f"not watched by performance_schema (setup_actors), and their statements not in it: {unwatched}"
            )
        return notes

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next poll."""
        return self._pause

    def poll(self, reading: Reading) -> Iterator[Event]:
        """What has ended since the poll before, in that order."""
        found = 0
        others = {row[0] for row in self._rows(_NO_CONNECTIONS, 1)}
        for begin, end in self._batches():
            for row in self._new_rows(begin, end):
                found += 1
                event = self._event(row, others, reading)
                if event is not None:
                    yield event
        self._mark = max(self._mark, self._newest - _OVERLAP)
        self._seen = {key: end for key, end in self._seen.items() if end > self._mark}
        self._read += found
        self._choose_pause(found)

    def finish(self, reading: Reading) -> Iterator[Event]:
        """The last poll; what was lost is counted."""
        # What ends after it was counted does not belong to it: the number is of `lost` at least.
        counted = self._counted()
        self._until, _ = self._clock()
        yield from self.poll(reading)
        lost = counted - self._counted_before - self._read
        if lost > 0:
            reading.left_out[LOST] += lost

    def _batches(self) -> Iterator[tuple[int, int]]:
        """Spans of time, each of at most so many rows and bytes: first how much there is, is asked for."""
        begin = last = self._mark
        until = statement(
            "" if self._until is None else "AND TIMER_END <= {}", *(() if self._until is None else (self._until,))
        )
        # Sorted here: the server would sort places in the ring, and read them when others have them.
        slices = statement(
            "SELECT MAX(TIMER_END), COUNT(*), SUM(LENGTH(SQL_TEXT)) FROM {} WHERE TIMER_END > {} {} GROUP BY TIMER_END DIV {} ORDER BY NULL",
            self._from,
            begin,
            until,
            _SLICE,
        )
        held = held_bytes = 0
        for end, rows, text_bytes in sorted(tuple(map(_count, row)) for row in self._rows(slices, 3)):
            if held and (held + rows > _BATCH_ROWS or held_bytes + text_bytes > _BATCH_BYTES):
                yield begin, last
                begin, held, held_bytes = last, 0, 0
            held, held_bytes, last = held + rows, held_bytes + text_bytes, end
        if held:
            yield begin, last

    def _new_rows(self, begin: int, end: int) -> Sequence[Row]:
        wanted = statement(
            "SELECT THREAD_ID, EVENT_ID, EVENT_NAME, TIMER_START, TIMER_END, SQL_TEXT, CURRENT_SCHEMA, ROWS_SENT, ROWS_EXAMINED, ROWS_AFFECTED, "
            "MYSQL_ERRNO, NESTING_EVENT_TYPE FROM {} WHERE TIMER_END > {} AND TIMER_END <= {}",
            self._from,
            begin,
            end,
        )
        rows = [row for row in self._rows(wanted, 12) if (row[0], row[1]) not in self._seen]
        rows.sort(key=lambda row: _count(row[4]))
        self._seen.update(((row[0], row[1]), _count(row[4])) for row in rows)
        self._newest = max(self._newest, end)
        return rows

    def _event(self, row: Row, others: set[str | None], reading: Reading) -> Event | None:
        thread, _, name, start, end, text, schema, sent, examined, affected, error, nesting = row
        if thread in others or _count(thread) == self._ours:
            return None
        reading.entries += 1
        reason = self._unusable(name or "", text, nesting)
        if reason is not None:
            reading.left_out[reason] += 1
            return None
        began = _count(start) // _PICOSECONDS
        return Event(
            _count(thread),
            self._offset + began,
            _count(end) // _PICOSECONDS - began,
            schema.encode() if schema else None,
            (text or "").encode(),
            whole_number(sent),
            whole_number(examined),
            whole_number(affected),
            whole_number(error),
        )

    def _unusable(self, name: str, text: str | None, nesting: str | None) -> str | None:
        """Why the text is not what was sent, where it is not."""
        if nesting == "STATEMENT" or name.startswith("statement/sp/"):
            return NESTED
        if name in _PREPARED_NAMES:
            return PREPARED
        if not text:
            return ADMINISTRATOR
        written = text.encode()
        if len(written) >= self._text_bytes - 3 or text.endswith("...") or ends_within_string(written):
            return CUT_OFF
        return UNSURE if "?" in text and not self._is_exact else None

    def _clock(self) -> tuple[int, int]:
        """The server's timer now, and the microseconds since 1970 when it was 0: a statement knows its own beginning by both."""
        rows = self._rows(
            statement(
                "SELECT TIMER_START, @@timestamp FROM performance_schema.events_statements_current WHERE THREAD_ID = {} AND TIMER_START IS NOT NULL "
                "AND END_EVENT_ID IS NULL",
                self._ours,
            ),
            2,
        )
        if not rows:
            raise UserError(
                "performance_schema does not watch the account of this program, or does not time statements (setup_actors, setup_instruments). "
                "Record with the server's slow log: leave --from out."
            )
        timer, now = _count(rows[0][0]), finite_number(rows[0][1]) or 0
        return timer, int(now * 1e6) - timer // _PICOSECONDS

    def _counted(self) -> int:
        return self._one_count(_COUNTED)

    def _one_count(self, question: Sql) -> int:
        rows = self._rows(question, 1)
        return _count(rows[0][0]) if rows else 0

    def _choose_pause(self, found: int) -> None:
        now = time.monotonic()
        rate = found / max(now - self._asked_at, 1e-3)
        self._asked_at = now
        # A quarter of the ring.
        room = self._ring / 4 / rate if rate and self.table == _TABLES[0] else _SHORTEST_PAUSE * 2
        self._pause = min(max(room, _SHORTEST_PAUSE), _LONGEST_PAUSE)

    def _rows(self, question: Sql, columns: int) -> list[Row]:
        try:
            return self._asked.rows(question, columns=columns)
        except StatementRefusedError as error:
            if error.number not in _PRIVILEGES:
                raise
            raise UserError(
                f"performance_schema may not be read: {error.text}. Grant it: GRANT SELECT ON performance_schema.* TO ...; "
                "or log in as an administrator (--user root)."
            ) from None


def _pairs(rows: Sequence[Row]) -> dict[str, str]:
    return {row[0] or "": row[1] or "" for row in rows}


def _table_to_read(variables: Mapping[str, str], ask: Callable[[Sql, int], list[Row]]) -> str:
    """The longest history that is on. Raises UserError where none is."""
    instead = "or record with the server's slow log: leave --from out."
    if _RING_SIZE not in variables:
        # MySQL 5.5 has no consumer of that name, and does not start with one in its option file.
        raise UserError(
            f"performance_schema keeps no statements in this version of the server: {instead.removeprefix('or ')}"
        )
    if variables.get("performance_schema") != "ON":
        raise UserError(
            "performance_schema is off, and can only be switched on when the server starts. Put performance_schema=ON and "
            f"performance-schema-consumer-events-statements-history-long=ON into its option file for the next start, {instead}"
        )
    on = {name for name, is_on in _pairs(ask(CONSUMERS, 2)).items() if is_on == "YES"}
    table = next((name for name in _TABLES if name in on), None)
    missing = [name for name in _NEEDED if name not in on] + ([] if table else [_TABLES[0]])
    if missing or table is None:
        raise UserError(
            f"performance_schema keeps no statements: {', '.join(missing)} off in setup_consumers, and this program switches nothing on. "
            f"UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ({', '.join(map(repr, missing))}); {instead}"
        )
    return table


def _count(value: str | None) -> int:
    """What it says as a number; 0 where it is none. Timers of picoseconds are larger than other numbers of a server's."""
    return whole_number(value, LARGEST_COUNTER) or 0


SOURCE = LiveSource("performance_schema", "performance_schema's history", History)
