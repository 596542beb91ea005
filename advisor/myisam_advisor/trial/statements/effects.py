"""What statements do beyond the tables that they name: views, triggers and stored routines that are on the private server, or are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

NONE: frozenset[TableName] = frozenset()


@dataclass(frozen=True, slots=True)
class Effects:
    """What statements do beyond the tables that they name.

    `views` and `routines` are those that are there; `refused` says why statements that read or write the table or view, or call the
    routine, cannot be sent (`refused_writes`: only those that write it); `writes` are further tables that are written with one, or by a
    call of one.
    """

    views: Collection[TableName] = NONE
    routines: Collection[TableName] = NONE
    refused: Mapping[TableName, str] = field(default_factory=dict)
    refused_writes: Mapping[TableName, str] = field(default_factory=dict)
    refused_calls: Mapping[TableName, str] = field(default_factory=dict)
    writes: Mapping[TableName, frozenset[TableName]] = field(default_factory=dict)
    writes_of_calls: Mapping[TableName, frozenset[TableName]] = field(default_factory=dict)

    def also_written(self, written: Iterable[TableName], called: Iterable[TableName]) -> set[TableName]:
        """The tables that a statement writes, with those that it does not name."""
        found: set[TableName] = set()
        for table in written:
            found |= self.writes.get(table, frozenset((table,)))
        for routine in called:
            found |= self.writes_of_calls.get(routine, NONE)
        return found

    def written_by(self, written: Mapping[TableName, int], called: Mapping[TableName, int]) -> Counter[TableName]:
        """How often each table is written, by statements that write these so often and call those so often."""
        found: Counter[TableName] = Counter()
        for table, writes in written.items():
            found.update(dict.fromkeys(self.also_written((table,), ()), writes))
        for routine, calls in called.items():
            found.update(dict.fromkeys(self.also_written((), (routine,)), calls))
        return found

    def why_not(self, written: Iterable[TableName], called: Iterable[TableName]) -> Iterator[str]:
        """Why a statement that writes these and calls those cannot be sent."""
        yield from (self.refused_writes[one] for one in written if one in self.refused_writes)
        yield from (self.refused_calls[one] for one in called if one in self.refused_calls)


NO_EFFECTS = Effects()
