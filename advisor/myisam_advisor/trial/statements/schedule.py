"""A workload as files for the sender: every statement on its connection's thread, with its moment, its turn, and what is expected of it.

A write begins when those writes of its tables are done that had ended before it began in the recording: what overlapped there may overlap again, or the
contention that settings are about would be gone. Where the recording does not know moments to the microsecond, every earlier write is waited for; earlier is
the order of the file, which the source gives by the end of each statement where it knows that. A thread's own records are in the order of the file, too, so
that nobody waits in a circle. Nobody waits for a turn with tables locked, for those may be what holds it up: logs have a write behind the LOCK TABLES
that waited for it, where the server came to write them so. What a connection has locked it writes without waiting, and another LOCK TABLES waits when what was locked
is unlocked, as it does by itself.

Locks of GET_LOCK are given in the recorded order, too: whoever had one too early would wait for the writes of another who waits for the lock. They have turns as
writes to a table of their own have, whatever they are called; who releases waits for nobody.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from myisam_advisor.trial.statements.effects import NO_EFFECTS, Effects
from myisam_advisor.trial.statements.records import (
    ANSWER,
    CLOSE,
    NANOSECONDS_PER_MICROSECOND,
    OPEN,
    RECORD,
    STATEMENT,
    TICKET,
    UNLOCK,
    USE,
    write_record,
)
from myisam_advisor.trial.statements.survey import Judged, Judging, KindUse, Survey, named
from myisam_advisor.trial.statements.threads import Threads, divide
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.several_statements import used_database
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

# A larger result is read row by row, and never held whole.
LARGE_ROWS = 10_000
UNKNOWN, NONE_INSERTED = -1, -2
# What fills a record up, and what the records of a connection's beginning and end take.
ALIGNED_BYTES, CONNECTION_BYTES = 8, 256
UTF8, ANY_BYTES = b"utf8mb4", b"binary"
RUN_BY_PROGRAM = "run by a trigger or function, with the statement before"
USES_ANOTHER = "USE of a database without copied tables"
DEFINES, UNSEEN_CALL = "changes definitions of tables", "CALL of a procedure that is not there, or may not be seen"
UNTOLD = "what it writes cannot be told from its words"
COUNTED_WRITES = frozenset((b"insert", b"replace", b"update", b"delete"))
# What ends LOCK TABLES; BEGIN is START TRANSACTION.
UNLOCKS = frozenset((b"unlock", b"start", b"begin"))
# The functions, and what stands for their locks among the tables: no table is called so.
GETS_LOCK, FREES_LOCK = "get_lock", frozenset(("release_lock", "release_all_locks"))
USER_LOCKS: TableName = ("", "")
SYSTEM_SCHEMAS = frozenset(("information_schema", "performance_schema", "sys"))
ONE_BY_ONE = (
    "The recording does not know to the microsecond when statements began and ended (slow logs with whole seconds, general logs): writes to one table were replayed "
    "one after the other, so that what happens to writes at the same time was not measured. Record by the probe (myisam-advisor record --from probe)."
)
# Says why a table's statements cannot be replayed; "" for one that is there.
WhyMissing = Callable[[TableName], str]


@dataclass(slots=True)
class ThreadPlan:
    """What is expected of one thread's statements, in their order: kind, rows (UNKNOWN), number of the error (UNKNOWN).

    `positions` are their places in the recording. `usual` is what the baseline's first run returned (`usual_answer`); empty before it.
    """

    kinds: array[int] = field(default_factory=lambda: array("I"))
    rows: array[int] = field(default_factory=lambda: array("q"))
    errors: array[int] = field(default_factory=lambda: array("i"))
    positions: array[int] = field(default_factory=lambda: array("I"))
    usual: array[int] = field(default_factory=lambda: array("q"))
    changed: array[int] = field(default_factory=lambda: array("q"))


@dataclass(slots=True)
class Schedule:
    """What was written for the sender.

    `left_out` counts statements that are not sent, by reason; `written` are the tables whose files change, `writes` how often each, by its number; `read` is how
    many statements of the recording were gone through; `sent` has those of each kind that are sent, `nameless` the kinds of administration that name no table.
    `at_once` is how many connections may be open at the same time. `is_one_by_one`: what overlapped is not known, and writes to a table wait for one another.
    """

    folder: Path
    kinds: Sequence[str]
    plans: Sequence[ThreadPlan]
    writes: Sequence[int]
    connections: int
    crowded: int
    left_out: Mapping[str, int]
    written: frozenset[TableName]
    read: int = 0
    sent: Mapping[int, KindUse] = field(default_factory=dict)
    nameless: frozenset[int] = frozenset()
    at_once: int = 0
    is_one_by_one: bool = False

    @property
    def statements(self) -> list[int]:
        """How many each thread sends."""
        return [len(plan.kinds) for plan in self.plans]

    @property
    def total(self) -> int:
        """How many are sent."""
        return sum(self.statements)

    @property
    def tells_errors(self) -> bool:
        """Whether the recording tells of any statement with which error it ended, or that it did with none."""
        return any(error != UNKNOWN for plan in self.plans for error in plan.errors)


def write_schedule(
    events: Iterable[Event],
    found: Survey,
    judging: Judging,
    folder: Path,
    databases: frozenset[str],
    missing: WhyMissing,
    effects: Effects = NO_EFFECTS,
    *,
    knows_moments: bool = False,
    programs: bytes = b"",
) -> Schedule:
    """Write the threads' files into the folder, for a server that has these databases and tables, and views, triggers and routines.

    `knows_moments`: the recording tells to the microsecond when statements began. Where it does not tell how long they took, as a general log does not, what overlapped is
    not known for all that. `programs` are the texts of triggers and functions whose statements the recording has as if they had been sent, as a general log does.
    """
    folder.mkdir(parents=True)
    threads = divide(found.connections)
    knows_overlaps = knows_moments and found.tells_times
    with ExitStack() as stack:
        files = [stack.enter_context((folder / str(number)).open("wb")) for number in range(threads.count)]
        writing = _Writing(files, threads, found, databases, missing, effects, knows_overlaps, programs)
        for event in events:
            writing.add(event, judging.of(event))
    written = frozenset(writing.turns) - {USER_LOCKS}
    return Schedule(
        folder=folder,
        kinds=list(judging.kinds),
        plans=writing.plans,
        writes=[turns.writes for turns in writing.turns.values()],
        connections=len(found.connections),
        crowded=threads.crowded,
        left_out=dict(writing.left_out),
        written=written,
        read=writing.read,
        sent=writing.sent,
        nameless=frozenset(writing.nameless),
        at_once=writing.at_once,
        is_one_by_one=bool(written) and not knows_overlaps,
    )


def schedule_bytes(found: Survey) -> int:
    """About how much of the disk the files of such a workload take, answers included."""
    of_statement = RECORD.size + TICKET.size + ALIGNED_BYTES + ANSWER.size + 1
    return found.statement_bytes + found.statements * of_statement + len(found.connections) * CONNECTION_BYTES


@dataclass(slots=True)
class _Open:
    """A connection that is being written: its handle in its thread, its database, its temporary tables, and how many statements are to come.

    `runs_program`: what it sent last runs a trigger or a function, whose statements may follow. `locked`: what it holds to write
    by LOCK TABLES; None where it holds nothing, not even to read.
    """

    handle: int
    remaining: int
    database: bytes | None
    temporary: set[TableName] = field(default_factory=set)
    runs_program: bool = False
    locked: set[TableName] | None = None


@dataclass(slots=True)
class _Turns:
    """The writes of one table so far: its number, how many they are, and when all up to each had ended."""

    number: int
    writes: int = 0
    ends: array[int] = field(default_factory=lambda: array("q"))

    def next(self, event: Event, *, knows_moments: bool, is_locked: bool) -> tuple[int, int, int]:
        """The ticket of one more; `is_locked`: it waits for nobody, as where its connection has the table locked."""
        before = bisect_right(self.ends, event.start_microseconds) if knows_moments else self.writes
        ticket = self.number, self.writes, 0 if is_locked else before
        self.writes += 1
        if knows_moments:
            end = event.start_microseconds + (event.duration_microseconds or 0)
            self.ends.append(max(end, self.ends[-1] if self.ends else end))
        return ticket


class _Writing:
    def __init__(
        self,
        files: Sequence[BinaryIO],
        threads: Threads,
        found: Survey,
        databases: frozenset[str],
        missing: WhyMissing,
        effects: Effects,
        knows_moments: bool,
        programs: bytes,
    ) -> None:
        self.plans = [ThreadPlan() for _ in files]
        self.turns: dict[TableName, _Turns] = {}
        self._knows_moments = knows_moments
        self.left_out: Counter[str] = Counter()
        self.sent: dict[int, KindUse] = {}
        self.nameless: set[int] = set()
        self.read = 0
        self._files, self._threads, self._found = files, threads, found
        self._databases = {name.encode("utf-8", "surrogateescape") for name in databases}
        self._missing, self._effects, self._programs = missing, effects, programs
        self._open: dict[int, _Open] = {}
        self._free: list[list[int]] = [[] for _ in files]
        self._handles = [0] * len(files)

    @property
    def at_once(self) -> int:
        """How many connections are open at the same time, where each thread has as many open as it ever has."""
        return sum(self._handles)

    def add(self, event: Event, judged: Judged) -> None:
        """Write the event's statement, with the beginning and the end of its connection around it."""
        thread = self._threads.of_connection[event.connection]
        file = self._files[thread]
        at = max(event.start_microseconds - self._found.began_microseconds, 0) * NANOSECONDS_PER_MICROSECOND
        connection = self._open.get(event.connection) or self._begun(event, thread, at)
        reason = self._why_left_out(event, judged, connection) or self._why_not_again(event, judged, connection)
        if reason:
            self.left_out[reason] += 1
            if reason == RUN_BY_PROGRAM:
                # It runs all the same.
                self.sent.setdefault(judged.kind, KindUse(self.read)).add(event)
            if judged.refused and not judged.tables(event.database):
                self.nameless.add(judged.kind)
        else:
            self._choose_database(event, judged, connection, file, at)
            self._write(event, judged, connection, thread, at)
        self.read += 1
        connection.remaining -= 1
        if not connection.remaining:
            write_record(file, CLOSE, connection.handle, at)
            self._free[thread].append(connection.handle)
            del self._open[event.connection]

    def _begun(self, event: Event, thread: int, at: int) -> _Open:
        span = self._found.connections[event.connection]
        if self._free[thread]:
            handle = self._free[thread].pop()
        else:
            handle = self._handles[thread]
            self._handles[thread] += 1
        database = event.database if event.database in self._databases else None
        text = (UTF8 if span.is_utf8 else ANY_BYTES) + b"\0" + (database or b"")
        write_record(self._files[thread], OPEN, handle, at, text)
        begun = self._open[event.connection] = _Open(handle, span.statements, database)
        return begun

    def _why_left_out(self, event: Event, judged: Judged, connection: _Open) -> str:
        if judged.refused or judged.is_use:
            return judged.refused or self._why_not_used(event)
        tables = judged.tables(event.database)
        if judged.is_temporary:
            made = named(judged.touched.writes, event.database)
            reason = self._why_missing(tables - made - connection.temporary)
            if not reason:
                connection.temporary = connection.temporary - made if judged.drops else connection.temporary | made
            return reason
        if judged.defines and not (tables and tables <= connection.temporary):
            return DEFINES
        if judged.drops:
            connection.temporary -= tables
            return ""
        if judged.is_untold:
            return UNTOLD
        return self._why_missing(tables - connection.temporary) or self._why_not_done(event, judged, connection)

    def _why_not_again(self, event: Event, judged: Judged, connection: _Open) -> str:
        """Whether a trigger or a function ran it, and runs it again with the statement before."""
        text = event.statement.strip()
        if connection.runs_program and text and text in self._programs:
            return RUN_BY_PROGRAM
        if self._programs:
            effects, written = self._effects, named(judged.touched.writes, event.database)
            connection.runs_program = bool(judged.called & set(effects.routines) or written & effects.writes.keys())
        return ""

    def _why_not_used(self, event: Event) -> str:
        """Whether USE names a database that is not there, which may be called by other letters."""
        database = used_database(event.statement) or b""
        return "" if self._databases & {database, database.lower()} else USES_ANOTHER

    def _why_not_done(self, event: Event, judged: Judged, connection: _Open) -> str:
        """Whether it needs a trigger or a routine that is not there."""
        effects = self._effects
        if judged.is_call and not judged.called & frozenset(effects.routines):
            return next(
                (effects.refused_calls[one] for one in judged.called if one in effects.refused_calls), UNSEEN_CALL
            )
        written = self._written(event, judged, connection)
        return next(effects.why_not(written, judged.called), "")

    def _written(self, event: Event, judged: Judged, connection: _Open) -> set[TableName]:
        # Definitions that are sent are of temporary tables, also of one that is gone by them.
        named_ones = (
            set[TableName]() if judged.defines else named(judged.touched.writes, event.database) - connection.temporary
        )
        return self._effects.also_written(named_ones, judged.called)

    def _why_missing(self, tables: Iterable[TableName]) -> str:
        reasons = (self._missing(table) for table in sorted(tables) if table[0].lower() not in SYSTEM_SCHEMAS)
        return next((reason for reason in reasons if reason), "")

    def _choose_database(self, event: Event, judged: Judged, connection: _Open, file: BinaryIO, at: int) -> None:
        """Stand where the recorded connection stood: not every change of the database is a statement of the recording."""
        if judged.is_use:
            connection.database = None
        elif event.database is not None and event.database != connection.database and event.database in self._databases:
            write_record(file, USE, connection.handle, at, event.database)
            connection.database = event.database

    def _write(self, event: Event, judged: Judged, connection: _Open, thread: int, at: int) -> None:
        tickets = self._turns_of(event, judged, connection, thread, at)
        self.sent.setdefault(judged.kind, KindUse(self.read)).add(event)
        is_large = event.rows_sent is None or event.rows_sent > LARGE_ROWS
        write_record(self._files[thread], STATEMENT, connection.handle, at, event.statement, tickets, is_large=is_large)
        plan = self.plans[thread]
        plan.kinds.append(judged.kind)
        plan.rows.append(UNKNOWN if event.rows_sent is None else event.rows_sent)
        plan.errors.append(UNKNOWN if event.error is None else min(event.error, 1 << 30))
        plan.changed.append(_changed(event, judged))
        plan.positions.append(self.read)

    def _turns_of(
        self, event: Event, judged: Judged, connection: _Open, thread: int, at: int
    ) -> list[tuple[int, int, int]]:
        """The tickets of a statement. What LOCK TABLES unlocks by itself is unlocked before it waits for them."""
        is_lock, tickets = judged.verb == b"lock", []
        if connection.locked is not None and is_lock:
            write_record(self._files[thread], UNLOCK, connection.handle, at)
        if is_lock or judged.verb in UNLOCKS:
            connection.locked = None
        written = self._written(event, judged, connection)
        for table in sorted(written):
            turns = self.turns.setdefault(table, _Turns(len(self.turns)))
            is_locked = table in (connection.locked or ())
            tickets.append(turns.next(event, knows_moments=self._knows_moments, is_locked=is_locked))
        if is_lock:
            connection.locked = written
        called = {name for _, name in judged.called}
        if GETS_LOCK in called or called & FREES_LOCK:
            turns = self.turns.setdefault(USER_LOCKS, _Turns(len(self.turns)))
            waits = GETS_LOCK in called and connection.locked is None
            # Who got it first ended first: when they asked for it says nothing.
            tickets.append(turns.next(event, knows_moments=False, is_locked=not waits))
        return tickets


def _changed(event: Event, judged: Judged) -> int:
    """How many rows a write changed when it was recorded, NONE_INSERTED of an INSERT that added none; UNKNOWN where that is not told, or says nothing.

    What ON DUPLICATE KEY UPDATE changed depends on the client. An UPDATE that changed none may have found rows that were as it would have them, by the time of day.
    """
    changed, verb = event.rows_affected, judged.verb
    if changed is None or verb not in COUNTED_WRITES or (verb == b"update" and not changed):
        return UNKNOWN
    if verb != b"insert":
        return changed
    return UNKNOWN if b"duplicate" in event.statement.lower() else changed or NONE_INSERTED
