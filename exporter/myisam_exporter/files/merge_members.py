"""The MERGE tables that a table is a part of: what is changed in the table, its engine above all, is changed in them too."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol

from myisam_exporter.files.definition_reader import MergeTable
from myisam_exporter.files.table_file import TableName

NAMED_MERGE_TABLES = 8  # what belongs to more is told in a sentence all the same


class WithMergeTables(Protocol):
    """A scan, as far as it matters here."""

    @property
    def merge_tables(self) -> Sequence[MergeTable]:
        """The MERGE tables that were found."""


def merged_into(scan: WithMergeTables, tables: Container[TableName]) -> dict[TableName, str]:
    """The MERGE tables that each of these tables belongs to, of those that belong to one: the first, and how many more."""
    found: dict[TableName, list[str]] = {}
    for merge in scan.merge_tables:
        whole = f"{merge.schema_name}.{merge.table_name}"
        for name in merge.tables:
            if name in tables:
                found.setdefault(name, []).append(whole)
    return {name: _first_of(wholes) for name, wholes in found.items()}


def _first_of(names: list[str]) -> str:
    more = len(names) - NAMED_MERGE_TABLES
    return ", ".join(names[:NAMED_MERGE_TABLES]) + (f" and {more} more" if more > 0 else "")
