"""Collectors' facts as whole tables, interval after interval: a table to which nobody has anything new to say is the one that was merged before.

For a hundred thousand tables merging takes a second; a daemon that looks at an idle server spends it once. Rows are kept merged only:
a collector whose samples are what they were is asked for its rows again where another one's differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial
from typing import Any

from myisam_exporter.collectors.base import Collector, Pair
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TABLES, Block, FactTable, Key, RowsByPlace
from myisam_exporter.facts.generation import OfGeneration
from myisam_exporter.look.fact_set import FactRows, merge_table
from myisam_exporter.look.side_by_side import rows_at


@dataclass(slots=True, eq=False)
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
class _Given:
    """The generations of a steady collector's two samples, and what it spoke of."""

    samples: tuple[int, int | None]
    tables: frozenset[str]
    answered: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Merged:
    """A table, whose contributions it was merged from, and the blocks of those that may say the same again without a generation.

    `generations` are those of the steady collectors' blocks.
    """

    collectors: tuple[str, ...]
    unsteady: list[Block]
    generations: tuple[int | None, ...]
    table: FactRows


@dataclass(slots=True)
class Remembered:
    """The last interval's tables, those that steady collectors speak of; a new one has none."""

    _given: dict[str, _Given] = field(default_factory=dict)
    _merged: dict[str, _Merged] = field(default_factory=dict)

    def contribution(self, collector: Collector[Any], pair: Pair[Any]) -> Contribution:
        """What this collector gives for these samples."""
        again = partial(_blocks, collector, pair)
        known = self._given.get(collector.name)
        samples = _generations(collector, pair) if collector.steady else None
        if known is not None and known.samples == samples:
            return Contribution(collector.name, known.tables, known.answered, True, None, again)
        blocks = again()
        tables, answered = frozenset(block.table for block in blocks), frozenset(_answered(blocks))
        if samples is not None:
            self._given[collector.name] = _Given(samples, tables, answered)
        return Contribution(collector.name, tables, answered, False, blocks, again)

    def merged(self, given: Sequence[Contribution]) -> dict[str, FactRows]:
        """All tables."""
        return {table.name: self._table(table, [one for one in given if table.name in one.tables]) for table in TABLES}

    def _table(self, table: FactTable, given: Sequence[Contribution]) -> FactRows:
        steady = [one for one in given if one.collector in self._given]
        if not steady:
            # Small tables that differ each time: what was would only take memory.
            return merge_table(table, (block for one in given for block in one.blocks_of(table.name)))
        collectors = tuple(one.collector for one in given)
        unsteady = [block for one in given if one not in steady for block in one.blocks_of(table.name)]
        former = self._merged.get(table.name)
        alike = former is not None and (former.collectors, former.unsteady) == (collectors, unsteady)
        if former is not None and alike and all(one.same for one in steady):
            return former.table
        of_steady = [block for one in steady for block in one.blocks_of(table.name)]
        generations = tuple(block.generation for block in of_steady)
        if former is not None and alike and None not in generations and generations == former.generations:
            return former.table  # their collectors, too, know what did not change
        merged = _renewed(table, former, of_steady) if former is not None and alike and not unsteady else None
        if merged is None:
            merged = merge_table(table, [block for one in given for block in one.blocks_of(table.name)])
        self._merged[table.name] = _Merged(collectors, unsteady, generations, merged)
        return merged


def _renewed(table: FactTable, former: _Merged, blocks: Sequence[Block]) -> FactRows | None:
    """The former table with the rows that differ; None where not all blocks tell which these are."""
    ordered = sorted(blocks, key=lambda block: block.extends)
    first = ordered[0].rows if ordered else None
    if not isinstance(first, RowsByPlace) or any(not one.extends for one in ordered[1:]):
        return None
    if len(blocks) != len(former.generations):
        return None
    keys: set[Key] = set()
    for block, generation in zip(blocks, former.generations, strict=True):
        if block.generation != generation:
            if block.change is None or block.change.since != generation:
                return None
            keys.update(block.change.keys)
    # Some know tables that are not among these.
    places = sorted(place for key in keys if (place := first.places.get(key)) is not None)
    if not places:
        return former.table
    rows = rows_at(former.table.columns, table.key, ordered, places)
    return None if rows is None else former.table.with_rows(rows)


def _generations(collector: Collector[Any], pair: Pair[Any]) -> tuple[int, int | None]:
    after: OfGeneration = pair.after
    before: OfGeneration | None = None if collector.states_only else pair.before  # states have no former ones
    return after.generation, None if before is None else before.generation


def _blocks(collector: Collector[Any], pair: Pair[Any]) -> list[Block]:
    return list(collector.facts(pair))


def _answered(blocks: Sequence[Block]) -> Iterator[str]:
    """What blocks have spoken of, be it by no rows: an empty table is an answer."""
    for block in blocks:
        if not block.extends:
            yield block.table
        yield from (f"{block.table}.{column}" for column in block.columns)
