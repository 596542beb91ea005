"""The kinds of statements that were seen: what each took, waited for and read, and which MyISAM tables it locked meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from myisam_advisor.texts.templates import object_name
from myisam_advisor.workload.fingerprints import fingerprint, kind_id
from myisam_advisor.workload.statements import touched
from myisam_advisor.workload.table_references import Table
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactSet

Number = TypeVar("Number", int, float)
# Statements are of thousands of kinds where names are made up.
MAXIMUM_KINDS = 10_000
# They look at tables, and lock none.
_LOCKING_NOTHING = ("prepare ", "deallocate ")


@dataclass(frozen=True, slots=True)
class Sums:
    """What the statements of one kind came to together; None where the source does not tell."""

    count: int = 0
    seconds: float = 0.0
    lock_wait_seconds: float | None = None
    rows_sent: int | None = None
    rows_examined: int | None = None
    without_index: int | None = None

    def __add__(self, other: Sums) -> Sums:
        """Both together."""
        return Sums(
            self.count + other.count,
            self.seconds + other.seconds,
            _plus(self.lock_wait_seconds, other.lock_wait_seconds),
            _plus(self.rows_sent, other.rows_sent),
            _plus(self.rows_examined, other.rows_examined),
            _plus(self.without_index, other.without_index),
        )


@dataclass(frozen=True, slots=True)
class MyisamTables:
    """The MyISAM tables that are there.

    Attributes:
        names: of those that were seen.
        why_partial: why there may be more; empty where these are all.
    """

    names: Collection[Table]
    why_partial: str = ""


@dataclass(frozen=True, slots=True)
class SeenKind:
    """One kind that touches MyISAM tables.

    Attributes:
        id: a short name of the kind, as `record --show` has it.
        fingerprint: the statement without its values.
        sums: what its statements came to.
        reads: names of the MyISAM tables that it reads and does not write, as SQL takes them.
        writes: names of those that it writes.
        is_whole: its text was seen to its end, and understood.
    """

    id: str
    fingerprint: str
    sums: Sums
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    is_whole: bool

    @property
    def held_seconds(self) -> float:
        """How long its statements had their tables locked, one after the other; at most, where the source does not tell how long they waited first."""
        return max(self.sums.seconds - (self.sums.lock_wait_seconds or 0.0), 0.0)


@dataclass(frozen=True, slots=True)
class SeenStatements:
    """What was seen.

    Attributes:
        source: what told it, in words; empty where nothing could be told, and the notes say why.
        seconds: for how long the server was watched; 0 where that began only now.
        kinds: those that touch MyISAM tables, the one that held locks longest first.
        others: those that name no MyISAM table together, ours among them.
        unknown: those together of which it is not known which tables they use.
        notes: what else is to be known, each a sentence.
        tables_unknown: why it is not known of all tables whether they are MyISAM's; empty where it is.
    """

    source: str
    seconds: float
    kinds: Sequence[SeenKind] = ()
    others: Sums = Sums()
    unknown: Sums = Sums()
    notes: Sequence[str] = ()
    tables_unknown: str = ""


@dataclass(frozen=True, slots=True)
class _Gathered:
    """One of its statements, what all of them came to, and whether that one's text is whole."""

    statement: bytes
    sums: Sums
    is_whole: bool


class Gathered:
    """Statements by kind and default database."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, bytes | None], _Gathered] = {}
        self._unknown = Sums()

    def add(self, statement: bytes, database: bytes | None, sums: Sums, is_whole: bool = True) -> None:
        """Take statements of one kind, of which this is one; one that is not whole may use tables that it does not name."""
        key = (fingerprint(statement), database)
        known = self._kinds.get(key)
        if known is not None:
            self._kinds[key] = _Gathered(known.statement, known.sums + sums, known.is_whole and is_whole)
        elif len(self._kinds) < MAXIMUM_KINDS:
            self._kinds[key] = _Gathered(statement, sums, is_whole)
        else:
            self._unknown += sums

    def add_unknown(self, sums: Sums) -> None:
        """Take statements that no text tells of."""
        self._unknown += sums

    def seen(self, source: str, seconds: float, tables: MyisamTables, notes: Iterable[str] = ()) -> SeenStatements:
        """All of it, held against the MyISAM tables that are there."""
        known = {_folded(table): table for table in tables.names}
        kinds, others, unknown = [], Sums(), self._unknown
        for (kind, database), one in self._kinds.items():
            touches = touched(one.statement, database)
            is_whole = one.is_whole and touches.understood
            writes = _named(touches.writes, known)
            reads = tuple(name for name in _named(touches.reads, known) if name not in writes)
            if kind.startswith(_LOCKING_NOTHING):
                others += one.sums
            elif writes or reads:
                kinds.append(SeenKind(kind_id(kind), kind, one.sums, reads, writes, is_whole))
            elif not is_whole or (tables.why_partial and (touches.reads or touches.writes)):
                unknown += one.sums
            else:
                others += one.sums
        kinds.sort(key=lambda one: (-one.held_seconds, -one.sums.count, one.fingerprint, one.reads, one.writes))
        return SeenStatements(source, seconds, tuple(kinds), others, unknown, tuple(notes), tables.why_partial)


def not_told(why: object) -> SeenStatements:
    """Instead of what was to be seen."""
    return SeenStatements("", 0.0, notes=(f"The statements could not be read: {why}",))


def myisam_tables(facts: FactSet) -> MyisamTables:
    """The names of the tables that were seen, and whether those are all: where some are missing nobody counts them."""
    rows = facts.tables["tables"]
    names = zip(rows.values("schema_name"), rows.values("table_name"), strict=True)
    is_partial = facts.single("totals").get("myisam_tables") is None
    why = facts.why_unknown("totals", "myisam_tables").reason if is_partial else ""
    return MyisamTables({(str(schema), str(table)) for schema, table in names}, why)


def _folded(table: Table) -> Table:
    # Whether case counts depends on the server; two tables whose names differ by it alone are rare, and count as one here.
    return (table[0] or "").casefold(), table[1].casefold()


def _named(tables: Iterable[Table], known: Mapping[Table, Table]) -> tuple[str, ...]:
    found = (known.get(_folded(table)) for table in tables)
    return tuple(sorted(object_name(*filter(None, table)) for table in found if table is not None))


def _plus(one: Number | None, other: Number | None) -> Number | None:
    return one if other is None else other if one is None else one + other
