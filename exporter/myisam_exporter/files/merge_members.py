"""The MERGE tables that a table is a part of: what is changed in the table, its engine above all, is changed in them too.

What statements read and change through a MERGE table, servers count for that one alone, by table and by index: tried with performance_schema
on MySQL 5.6 and 9.7 and MariaDB 10.11, with userstat on MariaDB 10.5, 10.11 and 11.8. Waits for locks they count for the members.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Protocol

from myisam_exporter.facts.columns import TableName
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.definition_reader import MergeTable

NAMED_MERGE_TABLES = 8  # what belongs to more is told in a sentence all the same


class WithMergeTables(Protocol):
    """A scan, as far as it matters here."""

    @property
    def merge_tables(self) -> Sequence[MergeTable]:
        """The MERGE tables that were found."""


def merged_into(scan: WithMergeTables, tables: Container[TableName]) -> dict[TableName, str]:
    """The MERGE tables that each of these tables belongs to, of those that belong to one: the first, and how many more."""
    found = merges_of_members(scan)
    return {name: _first_of(merges) for name, merges in found.items() if name in tables}


def merges_of_members(scan: WithMergeTables) -> dict[TableName, list[TableName]]:
    """The MERGE tables of each table that belongs to one, all of them."""
    found: dict[TableName, list[TableName]] = {}
    for merge in scan.merge_tables:
        whole = (merge.schema_name, merge.table_name)
        for name in merge.tables:
            found.setdefault(name, []).append(whole)
    return found


def all_members(scan: WithMergeTables | Unknown) -> frozenset[TableName]:
    """The tables that belong to a MERGE table; none where there is no scan."""
    return (
        frozenset()
        if isinstance(scan, Unknown)
        else frozenset(name for merge in scan.merge_tables for name in merge.tables)
    )


def without_zeros_of(
    members: Container[TableName], names: Iterable[TableName], counts: Iterable[float | None]
) -> list[float | None]:
    """What was counted of tables: that it is 0 says nothing of a member, as its MERGE table may have been used, nor of others that are not counted whole."""
    return [None if count == 0 and name in members else count for name, count in zip(names, counts, strict=True)]


def _first_of(merges: Sequence[TableName]) -> str:
    more = len(merges) - NAMED_MERGE_TABLES
    # By name: a directory lists its files in any order, and another one after each change.
    named = ", ".join(map(".".join, sorted(merges)[:NAMED_MERGE_TABLES]))
    return named + (f" and {more} more" if more > 0 else "")
