"""What a workload would have of a server: which tables it reads and writes, which databases it stands in, which connections overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.statements.calls import called_in
from myisam_advisor.trial.statements.prepared_texts import PreparedTexts
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.fingerprints import fingerprint
from myisam_advisor.workload.prepared import is_of_prepared
from myisam_advisor.workload.quoted_names import has_quoted_names
from myisam_advisor.workload.set_statement import behind_set_statement
from myisam_advisor.workload.statements import Touched, refused, touched
from myisam_advisor.workload.table_references import Table
from myisam_advisor.workload.tokens import tokens, without_values
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

# (database, table); the names as the statements write them.
# What is remembered of statements that differ in their values alone.
REMEMBERED = 20_000
MAXIMUM_KINDS, MAXIMUM_CONNECTIONS, MAXIMUM_TABLES = 50_000, 1_000_000, 10_000
# Names before a parenthesis, most of them functions of the server's own.
MAXIMUM_CALLED = 10_000
DEFINING = frozenset((b"create", b"drop", b"alter", b"rename"))
_TEMPORARY, _PREPARE = b"temporary", b"prepare"
# What they do their text says, which is one of the values.
_HAVE_TEXTS = frozenset((_PREPARE, b"execute"))
# What a procedure writes, its definition tells (effects.py); PREPARE and DEALLOCATE write nothing.
_TOLD_OTHERWISE = frozenset((b"call", b"prepare", b"deallocate"))
_FOLDING = ("1", "2")
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
    called: frozenset[TableName]
    is_call: bool
    drops: bool
    verb: bytes

    @property
    def is_untold(self) -> bool:
        """Whether it may write, and its words do not tell what: files of tables that it changes would stay changed."""
        found = self.touched
        return found.is_write and not found.understood and not found.writes and self.verb not in _TOLD_OTHERWISE

    def tables(self, database: bytes | None) -> set[TableName]:
        """All tables that it touches, those without a database in this one."""
        return named(self.touched.reads | self.touched.writes, database)


class Judging:
    """Judges statements, and numbers their kinds as they come. `folds`: the server does not tell capitals from small letters in names of tables, and keeps small ones."""

    def __init__(self, *, folds: bool = False) -> None:
        self.kinds: dict[str, int] = {}
        self._folds = folds
        self._known: dict[tuple[bytes, bytes | None], Judged] = {}
        self._prepared = PreparedTexts()

    def of(self, event: Event) -> Judged:
        """What is known of the event's statement."""
        if is_of_prepared(event.statement):
            return self._of_prepared(event)
        key = without_values(event.statement)
        if key is None or has_quoted_names(event.statement):
            return self._judge(event)
        judged = self._known.get((key, event.database))
        if judged is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            judged = self._judge(event)
            if judged.verb not in _HAVE_TEXTS:
                self._known[key, event.database] = judged
        return judged

    def _of_prepared(self, event: Event) -> Judged:
        """PREPARE needs the tables of its text, EXECUTE does what the text says. What was not prepared is not given up."""
        judged = self._judge(event)
        released = self._prepared.released(event)
        if released is not None:
            judged = replace(judged, refused=refused(released.statement) or judged.refused)
        prepared = self._prepared.prepared(event)
        if prepared is not None:
            of_text = self._judge(prepared)
            # What it makes need not be there.
            written = frozenset() if of_text.defines else of_text.touched.writes
            return replace(judged, touched=Touched(reads=of_text.touched.reads | written))
        executed = self._prepared.executed(event)
        return judged if executed is None else replace(self._judge(executed), kind=judged.kind)

    def _judge(self, event: Event) -> Judged:
        all_words = tokens(event.statement)
        is_set = [word.lower() for word in all_words[:1]] == [b"set"]
        begin = behind_set_statement([word.lower() for word in all_words]) if is_set else 0
        words = [word.lower() for word in all_words[begin : begin + 4]]
        found, called = touched(event.statement, event.database), called_in(all_words, event.database)
        if self._folds:
            found = replace(found, reads=_small(found.reads), writes=_small(found.writes))
            called = frozenset((schema.lower(), name) for schema, name in called)
        first = words[0] if words else b""
        if first == _PREPARE and not is_of_prepared(event.statement):
            self._prepared.forget(event.connection)
        is_temporary = first in DEFINING and _TEMPORARY in words[1:4]
        reason = refused(event.statement) or ("upkeep and administration" if found.is_administrative else "")
        return Judged(
            self._kind(fingerprint(event.statement)), found, reason, first == b"use", first in DEFINING, is_temporary,
            called, first == b"call", first == b"drop", first,
        )  # fmt: skip

    def _kind(self, text: str) -> int:
        if text not in self.kinds and len(self.kinds) >= MAXIMUM_KINDS:
            text = OTHER_KINDS
        return self.kinds.setdefault(text, len(self.kinds))


def _small(tables: Iterable[Table]) -> frozenset[Table]:
    return frozenset((None if schema is None else schema.lower(), table.lower()) for schema, table in tables)


def folds_names(value: object) -> bool:
    """Whether a server with this lower_case_table_names does not tell capitals from small letters."""
    return str(value) in _FOLDING


def options_fold_names(words: Iterable[str]) -> bool:
    """The same of a server with this command line."""
    return any(word in {f"--lower-case-table-names={value}" for value in _FOLDING} for word in words)


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

    def add(self, event: Event) -> None:
        """One more."""
        self.statements += 1
        self.microseconds += event.duration_microseconds or 0


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
    # Whether tables are emptied by TRUNCATE, and whether temporary ones are changed or dropped by words that any table could be meant by.
    truncates: bool = False
    redefines_temporary: bool = False
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

    def folded(self) -> Survey:
        """The same of a server that `folds_names`."""
        tables: dict[TableName, TableUse] = {}
        for (schema, table), use in self.tables.items():
            one = tables.setdefault((schema.lower(), table.lower()), TableUse())
            one.reads, one.writes = one.reads + use.reads, one.writes + use.writes
        called: Counter[TableName] = Counter()
        for (schema, name), count in self.called.items():
            called[schema.lower(), name] += count
        return replace(self, tables=tables, called=called)


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
    found.kinds.setdefault(judged.kind, KindUse(found.statements)).add(event)
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
    own = {(event.connection, table) for table in writes}
    found.truncates = found.truncates or judged.verb == b"truncate"
    if judged.defines and not judged.is_temporary:
        found.redefines_temporary = found.redefines_temporary or bool(own & found.temporary)
    if judged.drops:
        found.temporary -= own
        return
    if judged.defines:
        if not judged.is_temporary:
            return
        found.temporary |= own
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
