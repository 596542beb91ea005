"""Collectors' facts as whole tables, interval after interval: a table to which nobody has anything new to say is the one that was merged before.

For a hundred thousand tables merging takes a second; a daemon that looks at an idle server spends it once. Rows are kept merged only:
a collector whose samples are what they were is asked for its rows again where another one's differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from myisam_exporter.collector import Collector, Pair
from myisam_exporter.columns import TABLES, Block
from myisam_exporter.fact_set import FactRows, merge_table


@dataclass(slots=True)
class Contribution:
    """What one collector gives for an interval; `same` where that is what it gave for the last one, and was not worked out yet."""

    collector: str
    tables: frozenset[str]
    answered: frozenset[str]
    same: bool
    blocks: Sequence[Block] | None
    again: Callable[[], Sequence[Block]]

    def blocks_of(self, table: str) -> list[Block]:
        """Its blocks for one table, worked out again where they were not kept."""
        if self.blocks is None:
            self.blocks = self.again()
        return [block for block in self.blocks if block.table == table]


@dataclass(frozen=True, slots=True)
class _Merged:
    """A table, whose contributions it was merged from, and the blocks of those that may say the same again in other objects."""

    collectors: tuple[str, ...]
    unsteady: list[Block]
    table: FactRows


@dataclass(slots=True)
class Remembered:
    """The last interval's tables; a new one has none."""

    _given: dict[str, tuple[Any, Any, Contribution]] = field(default_factory=dict)
    _merged: dict[str, _Merged] = field(default_factory=dict)

    def contribution(self, collector: Collector[Any], pair: Pair[Any]) -> Contribution:
        """What this collector gives for these samples."""
        again = partial(_blocks, collector, pair)
        known = self._given.get(collector.name)
        before = None if collector.states_only else pair.before  # states have no former ones
        if known is not None and known[0] is pair.after and known[1] is before:
            return Contribution(collector.name, known[2].tables, known[2].answered, True, None, again)
        blocks = again()
        tables = frozenset(block.table for block in blocks)
        given = Contribution(collector.name, tables, frozenset(_answered(blocks)), False, blocks, again)
        if collector.steady:
            kept = Contribution(collector.name, tables, given.answered, True, None, list)
            self._given[collector.name] = (pair.after, before, kept)
        return given

    def merged(self, given: Sequence[Contribution]) -> dict[str, FactRows]:
        """All tables."""
        for table in TABLES:
            ours = [one for one in given if table.name in one.tables]
            collectors = tuple(one.collector for one in ours)
            unsteady = [
                block for one in ours if one.collector not in self._given for block in one.blocks_of(table.name)
            ]
            former = self._merged.get(table.name)
            same = (
                former is not None
                and former.collectors == collectors
                and former.unsteady == unsteady
                and all(one.same for one in ours if one.collector in self._given)
            )
            if not same:
                blocks = [block for one in ours for block in one.blocks_of(table.name)]
                self._merged[table.name] = _Merged(collectors, unsteady, merge_table(table, blocks))
        return {name: merged.table for name, merged in self._merged.items()}


def _blocks(collector: Collector[Any], pair: Pair[Any]) -> list[Block]:
    return list(collector.facts(pair))


def _answered(blocks: Sequence[Block]) -> Iterator[str]:
    """What blocks have spoken of, be it by no rows: an empty table is an answer."""
    for block in blocks:
        if not block.extends:
            yield block.table
        yield from (f"{block.table}.{column}" for column in block.columns)
