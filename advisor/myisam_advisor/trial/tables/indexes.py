"""The indexes of a table on the private server, and which of them a trial may drop.

Which index another one can replace is told by the table's .MYI file, as for the finding duplicate-indexes; names and columns by SHOW INDEX.
Both count in the same order: that of SHOW CREATE TABLE.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.near import did_you_mean
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.bench import Bench
from myisam_advisor.trial.tables.sources import INDEX, header_of
from myisam_exporter.declaring.lean_dataclasses import dataclass

PRIMARY, BTREE = "PRIMARY", "BTREE"
MOST_NAMES = 40
# Columns of SHOW INDEX. MySQL 8.0 and MariaDB 10.6 added the last one, and mean the opposite by it: Visible, and Ignored.
_NON_UNIQUE, _NAME, _COLUMN, _PREFIX, _TYPE, _HIDING = 1, 2, 4, 7, 10, 13


@dataclass(frozen=True, slots=True)
class TableIndex:
    """One index: its number from 1, and its columns with the length of a prefix (empty: the whole column). An expression has no column.

    `is_replaceable`: another index can stand for it in everything, as the finding duplicate-indexes has it.
    """

    number: int
    name: str
    parts: tuple[tuple[str, str], ...]
    kind: str = BTREE
    is_unique: bool = False
    is_visible: bool = True
    is_replaceable: bool = False
    counts: bool = False  # it begins with the AUTO_INCREMENT column

    @property
    def columns(self) -> list[str]:
        """Its columns' names."""
        return [column for column, _ in self.parts]

    @property
    def label(self) -> str:
        """Its number, name and columns, to print."""
        columns = [
            (object_name(column) if column else "an expression") + (f"({prefix})" if prefix else "")
            for column, prefix in self.parts
        ]
        return f"{self.number} {object_name(self.name)} ({', '.join(columns)})"


def table_indexes(bench: Bench, database: str, table: str) -> list[TableIndex]:
    """The indexes of a table of our own on the private server. Raises TrialError where server and file do not tell of the same ones."""
    rows = bench.server.execute(f"SHOW INDEX FROM {database}.{table}")
    bench.server.execute(f"FLUSH TABLES {database}.{table}")
    with (bench.server.data_directory / database / f"{table}{INDEX}").open("rb") as file:
        definition = header_of("the copy", file.fileno()).definition
    replaceable = {one.index for one in definition.redundant}
    hidden = "YES" if bench.is_mariadb else "NO"
    columns = bench.server.execute(f"SHOW COLUMNS FROM {database}.{table} WHERE Extra LIKE '%auto_increment%'")
    counter = str(columns[0][0]) if columns else ""
    found = [
        _index(number, list(parts), hidden, number in replaceable, counter)
        for number, (_, parts) in enumerate(itertools.groupby(rows, key=lambda row: row[_NAME]), 1)
    ]
    keys = definition.keys or ()
    same = [
        (index.is_unique, len(index.parts)) == (key.unique, key.part_count)
        for index, key in zip(found, keys, strict=False)
        if index.kind == BTREE
    ]
    if len(found) != len(keys) or not all(same):
        raise TrialError("the indexes that the private server shows are not those of the table's file.")
    return found


def _index(
    number: int, rows: Sequence[Sequence[object]], hidden: str, is_replaceable: bool, counter: str
) -> TableIndex:
    first = rows[0]
    return TableIndex(
        number,
        str(first[_NAME]),
        tuple((_text(row[_COLUMN]), _text(row[_PREFIX])) for row in rows),
        str(first[_TYPE]).upper(),
        not int(str(first[_NON_UNIQUE])),
        len(first) <= _HIDING or str(first[_HIDING]) != hidden,
        is_replaceable,
        _text(first[_COLUMN]) == counter != "",
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def chosen_index(indexes: Sequence[TableIndex], wanted: str, label: str) -> TableIndex:
    """The index to drop: the one of this name or number; without either the first that another one can replace.

    Raises TrialError where there is none, or where it does more than to find rows.
    """
    if not wanted:
        found = next((one for one in indexes if one.is_replaceable), None)
        if found is None:
            raise TrialError(
                f"{label} has no index that another one can replace: name the one to drop (--index). {_listed(indexes)}"
            )
        return found
    found = _named(indexes, wanted)
    if found is None:
        near = did_you_mean(wanted, (one.name for one in indexes))
        raise TrialError(f"{label} has no index {object_name(wanted)}.{near} {_listed(indexes)}")
    why_not = _why_not(indexes, found)
    if why_not:
        raise TrialError(f"{label}: index {found.label} {why_not}. {_listed(indexes)}")
    return found


def _named(indexes: Sequence[TableIndex], wanted: str) -> TableIndex | None:
    """By its name; by its name in other letters, as the server knows it; then by its number, as an index may be called `2`."""
    return next(
        itertools.chain(
            (one for one in indexes if one.name == wanted),
            (one for one in indexes if one.name.casefold() == wanted.casefold()),
            (one for one in indexes if str(one.number) == wanted),
        ),
        None,
    )


def _why_not(indexes: Sequence[TableIndex], index: TableIndex) -> str:
    if index.name == PRIMARY:
        return "is the primary key: it forbids duplicates, and is not dropped"
    twins = [one for one in indexes if one.is_unique and one.kind == BTREE and one.parts == index.parts]
    if index.is_unique and len(twins) <= 1:
        return "forbids duplicates: no other index does that for these columns"
    if index.counts and sum(one.counts for one in indexes) == 1:
        return "is what AUTO_INCREMENT counts by: no other index begins with that column"
    if index.kind != BTREE:
        return f"is a {index.kind} index: no other one can stand for it, and statements that need it fail without it"
    return ""


def _listed(indexes: Sequence[TableIndex]) -> str:
    more = f", and {len(indexes) - MOST_NAMES} more" if len(indexes) > MOST_NAMES else ""
    return f"Its indexes: {', '.join(one.label for one in indexes[:MOST_NAMES]) or 'none'}{more}."


def index_in_place_of(indexes: Sequence[TableIndex], dropped: TableIndex) -> TableIndex | None:
    """The shortest other index that begins with all columns of this one, which statements may use; None without any."""
    covering = [
        one
        for one in indexes
        if one != dropped and one.kind == BTREE and one.is_visible and one.parts[: len(dropped.parts)] == dropped.parts
    ]
    return min(covering, key=lambda one: len(one.parts), default=None)
