"""The slow log as MySQL 5.5 to 9.x, MariaDB 5.5 to 11.x and Percona Server write it to a file.

Each entry: `# Time:` (not in each, where it has whole seconds), `# User@Host:`, lines of attributes, `use DATABASE;` where the database is
another one than the entry's before, `SET timestamp=...;`, the statement and `;`. A statement is written when it ends.

Source: sql/log.cc (File_query_log::write_slow, MYSQL_QUERY_LOG::write).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.joining import UNCLOSED, joined
from myisam_advisor.workload.sources.base import (
    ADMINISTRATOR,
    CUT_OFF,
    MAXIMUM_MARK_BYTES,
    MICROSECONDS,
    NESTED,
    LogSource,
    Moments,
    Numbers,
    Reading,
    Spread,
    entries,
    parted,
    without_hole,
    without_restart,
)
from myisam_advisor.workload.told_seconds import ToldSeconds

_MARK = b"# User@Host: "
_TIME = b"# Time: "
_ADMINISTRATOR = b"# administrator command: "
_HEAD = re.compile(
    rb"(?:# Time: ([^\n#]*)(?:\n|(?=# User)))?# User@Host: ([^\n]*)\n"
    rb"((?:#[^\n]*\n)*)(?:use ([^\n]*);\r?\n)?(?:SET ((?:last_insert_id|insert_id|timestamp)=[a-z_=0-9.,]*);\r?\n)?"
)
# What every server writes unless it was told to write more: read at once.
_USUAL = re.compile(
    rb"(?:# Time: ([^\n#]*)\n)?# User@Host: [^\n\[]*\[[^\n]*\](?:  Id: *(\d{1,18}))?\n"
    rb"(?:# Thread_id: (\d{1,18})  Schema: ([^\n]*)  QC_hit: (?:Yes|No)\n)?"
    rb"# Query_time: (\d{1,7})\.(\d{6})  Lock_time: \d+\.\d+ {1,2}Rows_sent: (\d{1,18})  Rows_examined: (\d{1,18})\n"
    rb"(?:# Rows_affected: (\d{1,18})  Bytes_sent: \d+\n)?(?:use ([^\n]*);\n)?SET timestamp=(\d{1,11});\n"
)
_YEAR_SECONDS = 31_536_000
_CONNECTION = re.compile(rb"\bId: *(\d{1,18})")
_THREAD = re.compile(rb"Thread_id: (\d{1,18})")
_SCHEMA = re.compile(rb"Schema: ([^\n]*?)(?:  ?(?:QC_[hH]it|Last_errno|Rows_affected|Query_time)[^\n]*)?\r?\n")
_QUERY_TIME = re.compile(rb"Query_time: (\d{1,9})(?:\.(\d{1,6}))? ")
_ROWS = re.compile(rb"Rows_sent: (\d{1,18})  ?Rows_examined: (\d{1,18})")
# Of what failed, some write 2^64 - 1.
_AFFECTED = re.compile(rb"Rows_affected: (\d{1,18})(?!\d)")
_ERROR = re.compile(rb"(?:Last_errno|Errno): (\d{1,9})")
_START = re.compile(rb" Start: (\S+)")
# Percona Server has the same words in other letters, and such statements in the place of their CALL.
_MARIADB, _ROUTINE = b"  QC_hit: ", b"# Stored_routine: "
# Percona Server's; MariaDB does not write what its limit was.
_RATE_LIMIT = re.compile(rb"Log_slow_rate_limit: (\d{1,9})")
_TIMESTAMP = re.compile(rb"timestamp=(\d{1,11})")


def _find(log: bytes, begin: int) -> int:
    """Where the next entry begins: its `# Time:` where it has one, else its `# User@Host:`."""
    at = log.find(_MARK, begin)
    while at >= 0:
        start = _start(log, at)
        if start >= begin:
            return start
        at = log.find(_MARK, at + 1)
    return -1


def _start(log: bytes, at: int) -> int:
    """Where the entry of the `# User@Host:` here begins; -1 where that does not stand where one may."""
    floor = max(at - MAXIMUM_MARK_BYTES, 0)
    line = log.rfind(b"\n", floor, at) + 1
    if line == at:
        before = log.rfind(b"\n", 0, max(at - 1, 0)) + 1
        time = log.find(_TIME, before, at)
        return time if time == before or (time > 0 and log[time - 1] == 0) else at
    # Percona Server 5.1 wrote both into one line; behind a hole there is no line's end.
    if (line or not floor) and log.startswith(_TIME, line):
        return line
    return at if log[at - 1] == 0 else -1


def _is_proper(head: re.Match[bytes]) -> bool:
    return b"# Query_time: " in head[0]


def _is_ended(text: bytes) -> bool:
    """Whether the server wrote it to its end, or what ended the server."""
    return text.endswith((b";\n", b";\r\n", b"\0")) or b" started with:" in text


def _head(entry: bytes) -> re.Match[bytes] | None:
    return _USUAL.match(entry) or _HEAD.match(entry)


class _SlowLog:
    """Makes events of entries; what holds from one to the next: the time of MariaDB's, the database of MySQL's."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._moments = Moments()
        self._spread = Spread()
        self._seconds = ToldSeconds()
        self._time: tuple[int, bool] | None = None
        self._database: bytes | None = None
        self._numbers = Numbers(reading.is_one_life)
        # Why an entry has no statement.
        self._missing = CUT_OFF

    def events(self, blocks: Iterator[bytes]) -> Iterator[Event]:
        """Those of a log."""
        found = parted(entries(blocks, _find, self._reading), _head, self._reading)
        for head, text, closes in joined(found, _is_proper, _is_ended):
            self._reading.entries += 1
            starts = self._reading.starts
            statement = text[:-2] if text.endswith(b";\n") else self._statement(text)
            self._missing = CUT_OFF if closes or statement is None else UNCLOSED
            statement = statement if closes else None
            if text.startswith(_ADMINISTRATOR):
                # What stands before it holds for the next, and is not written again.
                self._take(head[1], head[10] if head.re is _USUAL else head[4])
                self._reading.left_out[ADMINISTRATOR] += 1
            elif head.re is _USUAL:
                yield from self._usual(head, statement)
            else:
                yield from self._unusual(head, statement)
            if self._reading.starts != starts:
                self._database = None
                self._numbers.start_again()
        yield from self._spread.rest()

    def _take(self, time: bytes | None, used: bytes | None) -> None:
        """The time and the database that an entry tells for itself and those behind it."""
        if time is not None:
            self._time = self._moments.microseconds(time) or self._time
        if used is not None:
            self._database = used

    def _usual(self, head: re.Match[bytes], statement: bytes | None) -> Iterator[Event]:
        time, number, thread, schema, seconds, fraction, sent, examined, affected, used, timestamp = head.groups()
        if time is not None or used is not None:
            self._take(time, used)
        if statement is None:
            self._reading.left_out[self._missing] += 1
            return
        duration = int(seconds) * MICROSECONDS + int(fraction)
        self._reading.without_connection += number is None and thread is None
        self._reading.take_duration(duration)
        exact = self._time is not None and self._time[1]
        event = Event(
            self._numbers.numbered(int(number or thread or 0)),
            max(0, self._time[0] - duration) if exact and self._time else 0,
            duration if duration < _YEAR_SECONDS * MICROSECONDS else None,
            self._database if schema is None else schema or None,
            statement,
            int(sent),
            int(examined),
            None if affected is None else int(affected),
        )
        if exact:
            self._reading.resolution_microseconds = 1
            yield event
        else:
            second = int(timestamp)
            yield from self._spread.add(event, second if thread is None else self._seconds.ended(second, event))

    def _unusual(self, head: re.Match[bytes], statement: bytes | None) -> Iterator[Event]:
        time, user, attributes, used, settings = head.groups()
        self._take(time, used)
        schema = _SCHEMA.search(attributes)
        database = self._database if schema is None else schema[1] or None
        sampled = _RATE_LIMIT.search(attributes)
        if sampled is not None:
            self._reading.sampled = max(self._reading.sampled, int(sampled[1]))
        if _ADMINISTRATOR in attributes:
            self._reading.left_out[ADMINISTRATOR] += 1
        elif _ROUTINE in attributes and _MARIADB in attributes:
            self._reading.left_out[NESTED] += 1
        elif statement is None:
            self._reading.left_out[self._missing] += 1
        else:
            event = _made(user, attributes, database, statement)
            event = event._replace(connection=self._numbers.numbered(event.connection))
            self._reading.without_connection += not event.connection
            if event.duration_microseconds is not None:
                self._reading.take_duration(event.duration_microseconds)
            yield from self._placed(event, attributes, settings)

    def _statement(self, text: bytes) -> bytes | None:
        """Without what ends it; None for one that is cut off."""
        text = without_restart(without_hole(text, self._reading), self._reading)
        text = text.rstrip(b"\r\n")
        return text[:-1] if text.endswith(b";") else None

    def _placed(self, event: Event, attributes: bytes, settings: bytes | None) -> Iterator[Event]:
        """The event at its time: as its source tells it, or spread over the second that is all it tells."""
        duration = event.duration_microseconds or 0
        start = _START.search(attributes)
        exact = None if start is None else self._moments.microseconds(start[1])
        if exact is not None and exact[1]:
            self._reading.resolution_microseconds = 1
            yield event._replace(start_microseconds=exact[0])
        elif self._time is not None and self._time[1]:
            self._reading.resolution_microseconds = 1
            yield event._replace(start_microseconds=max(0, self._time[0] - duration))
        else:
            timestamp = _TIMESTAMP.search(settings or b"")
            second = int(timestamp[1]) if timestamp else self._time[0] // MICROSECONDS if self._time else 0
            yield from self._spread.add(event, self._seconds.ended(second, event) if _MARIADB in attributes else second)


def _made(user: bytes, attributes: bytes, database: bytes | None, statement: bytes) -> Event:
    """The event but for its time."""
    connection = _CONNECTION.search(user) or _THREAD.search(attributes)
    duration, sent, examined = _measured(attributes)
    affected, error = _AFFECTED.search(attributes), _ERROR.search(attributes)
    return Event(
        connection=int(connection[1]) if connection else 0,
        start_microseconds=0,
        duration_microseconds=duration,
        database=database,
        statement=statement,
        rows_sent=sent,
        rows_examined=examined,
        rows_affected=int(affected[1]) if affected else None,
        error=int(error[1]) if error else None,
    )


def _measured(attributes: bytes) -> tuple[int | None, int | None, int | None]:
    """The duration in microseconds, the rows sent and the rows examined, of the first line that tells all; None for each where none does."""
    for line in attributes.split(b"\n"):
        time = _QUERY_TIME.search(line)
        rows = _ROWS.search(line, time.end()) if time else None
        if time is not None and rows is not None:
            seconds, fraction = int(time[1]), int((time[2] or b"0").ljust(6, b"0"))
            # What is longer than a year is a clock that went back.
            duration = seconds * MICROSECONDS + fraction if seconds < _YEAR_SECONDS else None
            return duration, int(rows[1]), int(rows[2])
    return None, None, None


def _events(blocks: Iterator[bytes], reading: Reading) -> Iterator[Event]:
    return _SlowLog(reading).events(blocks)


SOURCE = LogSource("slow_log", "slow log", re.compile(rb"^# User@Host: ", re.MULTILINE), _events)
