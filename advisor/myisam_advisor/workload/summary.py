"""What is in a workload: its kinds of statements, how many of each, their time. No value of a statement, unless that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import Workload
from myisam_advisor.workload.file_format import Header, Totals
from myisam_advisor.workload.fingerprints import fingerprint, kind_id
from myisam_exporter.declaring.lean_dataclasses import dataclass

# Statements are of thousands of kinds where names are made up.
MAXIMUM_KINDS = 10_000
OTHERS = "all further kinds"
MAXIMUM_EXAMPLE_CHARACTERS = 2000
# Each is kept by its number while they are counted: 24 MB.
MAXIMUM_CONNECTIONS = 250_000


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statement.

    Attributes:
        id: a short name of the kind, the same in each workload.
        fingerprint: the statement without its values.
        count: how many there were.
        timed: of how many of them the time is told.
        seconds: what these took together; None where the source does not tell.
        share: of the time of all, or of their number where no time is told; None where others have a time and this kind has none.
        longest_seconds: what the longest took.
        rows_sent: rows of their results together.
        rows_examined: rows they read together.
        example: the one that took longest, where that was asked for.
    """

    id: str
    fingerprint: str
    count: int
    timed: int
    seconds: float | None
    share: float | None
    longest_seconds: float | None
    rows_sent: int | None
    rows_examined: int | None
    example: str | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A workload, summed up; the kinds with the largest share first. Where it `has_more_connections`, they were not counted to the end."""

    header: Header
    totals: Totals
    connections: int
    has_more_connections: bool
    kinds: Sequence[Kind]


class _Sum:
    """What is known of one kind so far."""

    __slots__ = ("count", "duration", "examined", "example", "longest", "sent", "timed")

    def __init__(self) -> None:
        self.count = self.timed = 0
        self.duration: int | None = None
        self.longest = -1
        self.sent: int | None = None
        self.examined: int | None = None
        self.example = b""

    def add(self, event: Event, literals: bool) -> None:
        """Take one of them."""
        self.count += 1
        duration = event.duration_microseconds
        self.timed += duration is not None
        self.duration = _plus(self.duration, duration)
        self.sent = _plus(self.sent, event.rows_sent)
        self.examined = _plus(self.examined, event.rows_examined)
        if (duration or 0) > self.longest:
            self.longest = duration or 0
            if literals:
                self.example = event.statement[: 4 * MAXIMUM_EXAMPLE_CHARACTERS]


def summed_up(workload: Workload, literals: bool = False) -> Summary:
    """Read a workload to its end. Raises UserError as `events` does."""
    sums: dict[str, _Sum] = {}
    connections: set[int] = set()
    has_more = False
    for event in workload.events():
        kind = fingerprint(event.statement)
        if kind not in sums and len(sums) >= MAXIMUM_KINDS:
            kind = OTHERS
        if kind not in sums:
            sums[kind] = _Sum()
        sums[kind].add(event, literals)
        if len(connections) < MAXIMUM_CONNECTIONS:
            connections.add(event.connection)
        else:
            has_more = has_more or event.connection not in connections
    timed = sum(one.duration or 0 for one in sums.values())
    kinds = [_kind(name, one, timed, workload.totals.statements, literals) for name, one in sums.items()]
    kinds.sort(key=lambda kind: (kind.share is None, -(kind.share or 0.0), -kind.count, kind.fingerprint))
    return Summary(workload.header, workload.totals, len(connections), has_more, kinds)


def _kind(name: str, one: _Sum, timed: int, statements: int, literals: bool) -> Kind:
    known = one.duration is not None
    share: float | None = one.count / statements
    if timed:
        share = None if one.duration is None else one.duration / timed
    example = one.example.decode("utf-8", "replace")[:MAXIMUM_EXAMPLE_CHARACTERS] if literals else None
    return Kind(
        kind_id(name),
        name,
        one.count,
        one.timed,
        (one.duration or 0) / 1e6 if known else None,
        share,
        one.longest / 1e6 if known else None,
        one.sent,
        one.examined,
        example,
    )


def _plus(total: int | None, further: int | None) -> int | None:
    return total if further is None else (total or 0) + further
