"""Indexes that Aria does not have: longer ones than it holds, and such over VIRTUAL columns."""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.refusal import Refusal, drop_index
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure
from myisam_exporter.server.sql import Sql

# Of one index: measured on MariaDB 10.5, and on 10.11 to 11.8.
OLD_KEY_BYTES, KEY_BYTES, LONGER_KEYS_SINCE = 2000, 2300, (10, 6)


def made_in_aria(structure: Structure, kind: ServerKind) -> tuple[Index, ...]:
    """The UNIQUE indexes that MyISAM keeps by a hash, and Aria over the values."""
    return tuple(
        index
        for index in structure.of_kind(types.LONG_UNIQUE)
        if all(part.length for part in index.parts) and sum(part.length for part in index.parts) <= _allowed(kind)
    )


def _allowed(kind: ServerKind) -> int:
    return KEY_BYTES if kind.version >= LONGER_KEYS_SINCE else OLD_KEY_BYTES


def aria_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Aria has no index by the hash of long values: a UNIQUE one of them becomes one over the values, where these are short enough."""
    allowed = _allowed(kind)
    for index in structure.of_kind(types.LONG_UNIQUE):
        total = sum(part.length for part in index.parts)
        whole = [structure.columns[part.column].name for part in index.parts if not part.length]
        if whole or total > allowed:
            size = f"all of {listed(whole)}" if whole else f"{total} bytes"
            yield Refusal(
                1071,
                f"UNIQUE index {index.name} is over {size}, and {allowed} bytes are allowed in Aria",
                f"Choose --to innodb, which can do so. Or shorten it to a prefix: {drop_index(table, index.name)}",
            )


def virtual_keys(structure: Structure, kind: ServerKind, table: Sql) -> Iterator[Refusal]:
    """Aria has no index over what is computed when it is read."""
    for index in structure.indexes:
        names = [structure.columns[part.column].name for part in index.parts]
        virtual = [
            name
            for name, part in zip(names, index.parts, strict=True)
            if structure.columns[part.column].generated == types.VIRTUAL
        ]
        if virtual:
            yield Refusal(
                1904,
                f"index {index.name} is over {listed(virtual)}, which is computed when it is read (VIRTUAL): Aria has no such index",
                f"Choose --to innodb, make the column STORED, or {drop_index(table, index.name)}",
            )
