"""What a workload would have of a server: which tables it reads and writes, which databases it stands in, which connections overlap."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements.calls import called_in
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.fingerprints import fingerprint
from myisam_advisor.workload.statements import Touched, refused, touched
from myisam_advisor.workload.tokens import tokens, without_values

# (database, table); the names as the statements write them.
TableName = tuple[str, str]
# What is remembered of statements that differ in their values alone.
REMEMBERED = 20_000
MAXIMUM_KINDS, MAXIMUM_CONNECTIONS, MAXIMUM_TABLES = 50_000, 1_000_000, 10_000
# Names before a parenthesis, most of them functions of the server's own.
MAXIMUM_CALLED = 10_000
_DEFINING = frozenset((b"create", b"drop", b"alter", b"rename"))
_TEMPORARY = b"temporary"
OTHER_KINDS = "(statements of other kinds)"


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of a statement, whatever its values: its kind, what it touches, and why it is not replayed ("" where it is)."""

    kind: int
    touched: Touched
    refused: str
    is_use: bool
    defines: bool
    is_temporary: bool
    called: frozenset[TableName] = frozenset()
    is_call: bool = False

    def tables(self, database: bytes | None) -> set[TableName]:
        """All tables that it touches, those without a database in this one."""
        return named(self.touched.reads | self.touched.writes, database)


class Judging:
    """Judges statements, and numbers their kinds as they come."""

    def __init__(self) -> None:
        self.kinds: dict[str, int] = {}
        self._known: dict[tuple[bytes, bytes | None], Judged] = {}

    def of(self, event: Event) -> Judged:
        """What is known of the event's statement."""
        key = without_values(event.statement)
        if key is None:
            return self._judge(event)
        judged = self._known.get((key, event.database))
        if judged is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            judged = self._known[key, event.database] = self._judge(event)
        return judged

    def _judge(self, event: Event) -> Judged:
        words = [token.lower() for token in itertools.islice(tokens(event.statement, 4096), 4)]
        found = touched(event.statement, event.database)
        first = words[0] if words else b""
        is_temporary = first in _DEFINING and _TEMPORARY in words[1:4]
        reason = refused(event.statement) or ("upkeep and administration" if found.is_administrative else "")
        return Judged(
            self._kind(fingerprint(event.statement)), found, reason, first == b"use", first in _DEFINING, is_temporary,
            called_in(tokens(event.statement), event.database), first == b"call",
        )  # fmt: skip

    def _kind(self, text: str) -> int:
        if text not in self.kinds and len(self.kinds) >= MAXIMUM_KINDS:
            text = OTHER_KINDS
        return self.kinds.setdefault(text, len(self.kinds))


def named(tables: Iterable[tuple[str | None, str]], database: bytes | None) -> set[TableName]:
    """The tables with their databases; one of no database is in "", which nothing is called."""
    default = database.decode("utf-8", "surrogateescape") if database is not None else ""
    return {(schema if schema is not None else default, table) for schema, table in tables}


@dataclass(slots=True)
class ConnectionSpan:
    """One recorded connection: when it was there, how many statements it has, and whether all of them are UTF-8."""

    begin: int
    end: int
    statements: int = 0
    is_utf8: bool = True


@dataclass(slots=True)
class TableUse:
    """How often a table is read and written."""

    reads: int = 0
    writes: int = 0


@dataclass(slots=True)
class KindUse:
    """One kind of statement in a recording: which statement is the first of it, how many there are, and their time in microseconds."""

    first: int
    statements: int = 0
    microseconds: int = 0


@dataclass(slots=True)
class Survey:
    """What one reading of a workload tells."""

    statements: int = 0
    began_microseconds: int = 0
    ended_microseconds: int = 0
    prepared: int = 0
    statement_bytes: int = 0
    microseconds: int = 0
    kinds: dict[int, KindUse] = field(default_factory=dict)
    connections: dict[int, ConnectionSpan] = field(default_factory=dict)
    tables: dict[TableName, TableUse] = field(default_factory=dict)
    temporary: set[tuple[int, TableName]] = field(default_factory=set)
    # Names before a parenthesis, and behind CALL: how many statements have them.
    called: Counter[TableName] = field(default_factory=Counter)

    @property
    def seconds(self) -> float:
        """How long the recording lasted, from its first statement to its last."""
        return max(self.ended_microseconds - self.began_microseconds, 0) / 1e6

    @property
    def tells_times(self) -> bool:
        """Whether the recording says how long its statements took: a general log does not."""
        return self.microseconds > 0

    @property
    def weight(self) -> int:
        """The time of all statements, in microseconds; where the recording tells none, how many there are."""
        return self.microseconds or self.statements

    @property
    def shares(self) -> Mapping[int, float]:
        """Which share of the whole each kind has: of the time, or of the statements where the recording tells no time."""
        return {
            number: (kind.microseconds if self.microseconds else kind.statements) / max(self.weight, 1)
            for number, kind in self.kinds.items()
        }

    @property
    def written(self) -> Mapping[TableName, int]:
        """The tables that are written, and how often."""
        return {table: use.writes for table, use in self.tables.items() if use.writes}


def survey(events: Iterable[Event], judging: Judging) -> Survey:
    """Read them all once. Raises TrialError for a workload without statements, or with more connections than are ever there."""
    found = Survey()
    for event in events:
        _count(found, event, judging.of(event))
    if not found.statements:
        raise TrialError(
            "the workload has no statements: record a longer time, or a busier one (myisam-advisor record)."
        )
    return found


def _count(found: Survey, event: Event, judged: Judged) -> None:
    begin, end = event.start_microseconds, event.start_microseconds + (event.duration_microseconds or 0)
    if not found.statements:
        found.began_microseconds, found.ended_microseconds = begin, end
    kind = found.kinds.setdefault(judged.kind, KindUse(found.statements))
    kind.statements += 1
    kind.microseconds += event.duration_microseconds or 0
    found.statements += 1
    found.statement_bytes += len(event.statement)
    found.microseconds += event.duration_microseconds or 0
    found.prepared += event.prepared
    found.began_microseconds = min(found.began_microseconds, begin)
    found.ended_microseconds = max(found.ended_microseconds, end)
    span = found.connections.get(event.connection)
    if span is None:
        if len(found.connections) >= MAXIMUM_CONNECTIONS:
            raise TrialError(f"the workload has more than {MAXIMUM_CONNECTIONS:,} connections: record a shorter time.")
        span = found.connections[event.connection] = ConnectionSpan(begin, end)
    span.begin, span.end, span.statements = min(span.begin, begin), max(span.end, end), span.statements + 1
    span.is_utf8 = span.is_utf8 and _is_utf8(event.statement)
    if not judged.refused:
        if len(found.called) < MAXIMUM_CALLED:
            found.called.update(judged.called)
        _count_tables(found, event, judged)


def _count_tables(found: Survey, event: Event, judged: Judged) -> None:
    """Its tables, without those that are the connection's own, and without what definitions make of them."""
    reads, writes = named(judged.touched.reads, event.database), named(judged.touched.writes, event.database)
    if judged.defines:
        if not judged.is_temporary:
            return
        found.temporary |= {(event.connection, table) for table in writes}
    for table in reads | writes:
        if (event.connection, table) not in found.temporary and table not in writes:
            _use(found, table).reads += 1
    for table in writes:
        if (event.connection, table) not in found.temporary:
            _use(found, table).writes += 1


def _use(found: Survey, table: TableName) -> TableUse:
    if table not in found.tables and len(found.tables) >= MAXIMUM_TABLES:
        raise TrialError(f"the workload touches more than {MAXIMUM_TABLES:,} tables: record a shorter time.")
    return found.tables.setdefault(table, TableUse())


def _is_utf8(statement: bytes) -> bool:
    if statement.isascii():
        return True
    try:
        statement.decode()
    except UnicodeDecodeError:
        return False
    return True
