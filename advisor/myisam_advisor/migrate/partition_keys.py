"""A unique index that leaves out a column by which the table is partitioned: MariaDB makes one that it keeps by a hash, and takes none over the values.

An ALTER makes one over the values of each that the other engine can hold so, and ends with error 1503, as any other ALTER does of one that MyISAM can
hold (1,000 bytes). Tried on MariaDB 10.5, 10.11 and 11.8, with each kind of partitioning.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.aria_keys import made_in_aria
from myisam_advisor.migrate.key_lengths import trees_of
from myisam_advisor.migrate.refusal import Refusal, drop_index
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure
from myisam_exporter.server.sql import Sql, statement

NEEDS_ALL_COLUMNS = 1503


def refused_hashes(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """What an ALTER to InnoDB ends with."""
    yield from _lacking(structure, table, trees_of(structure, kind))


def hashes_refused_by_aria(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """The same to Aria."""
    yield from _lacking(structure, table, made_in_aria(structure, kind))


def _lacking(structure: Structure, table: Sql, made: tuple[Index, ...]) -> Iterator[Refusal]:
    """Of the indexes that are made over the values."""
    for index in structure.of_kind(types.LONG_UNIQUE):
        within = {part.column for part in index.parts}
        lacking = [structure.columns[place].name for place in structure.partitioned_by if place not in within]
        if lacking and index in made:
            yield Refusal(
                NEEDS_ALL_COLUMNS,
                f"UNIQUE index {index.name} is kept by a hash and lacks {listed(lacking)}, by which the table is partitioned: "
                "the ALTER would make one over the values, which must have it",
                f"{drop_index(table, index.name)} Or take the partitions away: {statement('ALTER TABLE {} REMOVE PARTITIONING;', table)}",
            )
