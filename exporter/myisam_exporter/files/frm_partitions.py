"""By which columns a table is partitioned, as its .frm says: the words of PARTITION BY, which the server wrote anew, with each name between backticks.

Layout: frm_texts.py. Source: sql/sql_partition.cc (generate_partition_syntax) of MariaDB; compared with what the servers do in tests/servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_definition import Pieces, piece, row_place
from myisam_exporter.files.structure import Column, Index

# The columns stand before the list of partitions, of which there may be thousands.
MAXIMUM_BYTES = 1 << 17
LENGTH_BYTES, CLAUSE_LENGTH_BYTES = 2, 4
PARTITIONING = "partitions"
_TOKEN = re.compile(r"`((?:[^`]|``)*)`|'(?:[^'\\]|\\.|'')*'|[()]|\w+", re.DOTALL)
_BY, _NO_COLUMN = "BY", "SYSTEM_TIME"


def partitioned_by(start: bytes, read: Pieces, columns: Sequence[Column], indexes: Sequence[Index]) -> tuple[int, ...]:
    """The places of the columns, in the table, that decide in which partition a row lies. Raises FrmError."""
    places = {column.name.casefold(): number for number, column in enumerate(columns)}
    found: set[int] = set()
    for group in _groups(_clause(start, read)):
        if group:
            found |= {places[name.casefold()] for name in group if name.casefold() in places}
        else:
            found |= _of_the_key(columns, indexes)
    return tuple(sorted(found))


def _clause(start: bytes, read: Pieces) -> str:
    position, row_bytes = row_place(start)
    length = min(int.from_bytes(start[55:59], "little"), MAXIMUM_BYTES)
    segment = piece(start, read, position + row_bytes, length, PARTITIONING)
    place = 0
    for _ in range(2):  # the connection, the engine
        place += LENGTH_BYTES + int.from_bytes(segment[place : place + LENGTH_BYTES], "little")
    length = int.from_bytes(segment[place : place + CLAUSE_LENGTH_BYTES], "little")
    place += CLAUSE_LENGTH_BYTES
    return segment[place : place + length].decode("utf-8", "replace")


def _groups(clause: str) -> Iterator[Sequence[str]]:
    """The names in each pair of parentheses behind PARTITION BY and SUBPARTITION BY: none of one that is KEY ()."""
    names: list[str] = []
    depth, is_behind_by = 0, False
    for found in _TOKEN.finditer(clause):
        part = found[0]
        if part == "(":
            if not is_behind_by:
                return
            depth += 1
        elif part == ")":
            depth -= 1
            if not depth:
                yield names
                names, is_behind_by = [], False
        elif depth and found[1] is not None:
            names.append(found[1].replace("``", "`"))
        elif not depth and part.upper() in (_BY, _NO_COLUMN):
            is_behind_by = part.upper() == _BY


def _of_the_key(columns: Sequence[Column], indexes: Sequence[Index]) -> set[int]:
    """Those of KEY (): of the primary key, or of the first unique index that could be one."""
    could_be = (
        index
        for index in indexes
        if index.unique
        and index.kind == types.BTREE
        and not any(part.prefix or columns[part.column].nullable for part in index.parts)
    )
    return next(({part.column for part in index.parts} for index in could_be), set())
