"""The kinds of statements that were seen: what each took, waited for and read, and which MyISAM tables it locked meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from myisam_advisor.workload.fingerprints import fingerprint, kind_id
from myisam_advisor.workload.statements import touched
from myisam_advisor.workload.table_references import Table
from myisam_exporter.look.fact_set import FactSet

Number = TypeVar("Number", int, float)
# Statements are of thousands of kinds where names are made up.
MAXIMUM_KINDS = 10_000


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
class SeenKind:
    """One kind that touches MyISAM tables.

    Attributes:
        id: a short name of the kind, as `record --show` has it.
        fingerprint: the statement without its values.
        sums: what its statements came to.
        reads: names of the MyISAM tables that it reads and does not write.
        writes: names of those that it writes.
    """

    id: str
    fingerprint: str
    sums: Sums
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    @property
    def held_seconds(self) -> float:
        """How long its statements had their tables locked, one after the other; at most, where the source does not tell how long they waited first."""
        return max(self.sums.seconds - (self.sums.lock_wait_seconds or 0.0), 0.0)


@dataclass(frozen=True, slots=True)
class SeenStatements:
    """What was seen.

    Attributes:
        source: what told it, in words.
        seconds: for how long the server was watched.
        kinds: those that touch MyISAM tables, the one that held locks longest first.
        others: all further ones together, ours among them.
        notes: what else is to be known, each a sentence.
    """

    source: str
    seconds: float
    kinds: Sequence[SeenKind] = ()
    others: Sums = Sums()
    notes: Sequence[str] = ()


class Gathered:
    """Statements by kind and default database."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, bytes | None], tuple[bytes, Sums]] = {}
        self._others = Sums()

    def add(self, statement: bytes, database: bytes | None, sums: Sums) -> None:
        """Take statements of one kind, of which this is one."""
        key = (fingerprint(statement), database)
        known = self._sums.get(key)
        if known is not None:
            self._sums[key] = (known[0], known[1] + sums)
        elif len(self._sums) < MAXIMUM_KINDS:
            self._sums[key] = (statement, sums)
        else:
            self._others += sums

    def seen(self, source: str, seconds: float, tables: Collection[Table], notes: Iterable[str] = ()) -> SeenStatements:
        """All of it, held against the MyISAM tables that are there."""
        known = {_folded(table): table for table in tables}
        kinds, others = [], self._others
        for (kind, database), (statement, sums) in self._sums.items():
            touches = touched(statement, database)
            writes = _named(touches.writes, known)
            reads = tuple(name for name in _named(touches.reads, known) if name not in writes)
            if writes or reads:
                kinds.append(SeenKind(kind_id(kind), kind, sums, reads, writes))
            else:
                others += sums
        kinds.sort(key=lambda one: (-one.held_seconds, -one.sums.count, one.fingerprint, one.reads, one.writes))
        return SeenStatements(source, seconds, tuple(kinds), others, tuple(notes))


def myisam_tables(facts: FactSet) -> set[Table]:
    """The names of the tables that were seen."""
    rows = facts.tables["tables"]
    names = zip(rows.values("schema_name"), rows.values("table_name"), strict=True)
    return {(str(schema), str(table)) for schema, table in names}


def _folded(table: Table) -> Table:
    # Whether case counts depends on the server; two tables whose names differ by it alone are rare, and count as one here.
    return (table[0] or "").casefold(), table[1].casefold()


def _named(tables: Iterable[Table], known: Mapping[Table, Table]) -> tuple[str, ...]:
    found = (known.get(_folded(table)) for table in tables)
    return tuple(sorted(".".join(filter(None, table)) for table in found if table is not None))


def _plus(one: Number | None, other: Number | None) -> Number | None:
    return one if other is None else other if one is None else one + other
