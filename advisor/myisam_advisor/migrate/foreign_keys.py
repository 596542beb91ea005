"""Constraints of InnoDB tables that refer to a table of MyISAM, dead as long as it is one: the ALTER brings them to life, or fails where they do not fit.

They are made, or loaded from a dump, with foreign_key_checks=0. (No server that was tried converts a table that one refers to from InnoDB: errors 1217, 3776.)

Sources: storage/innobase/dict/dict0dict.cc (dict_foreign_add_to_cache, dict_foreign_qualify_index, cmp_cols_are_equal), sql/sql_table.cc of MySQL 8.0
(check_fk_children_after_parent_def_change). Forty pairs of tables were tried on MySQL 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11, 11.4 and 11.8, with
foreign_key_checks on and off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myisam_advisor.migrate.change import Change, Subject, TableName
from myisam_advisor.migrate.key_lengths import trees_of
from myisam_advisor.migrate.refusal import Refusal
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.templates import object_name
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, sql_list, statement

# What InnoDB compares of two columns: the length and sign of numbers, the collation of texts, of bytes nothing. None where it is not known here.
Compared = tuple[object, ...] | None
NUMBER, TEXT, BYTES = "number", "text", ("bytes",)
WHOLE_NUMBERS = frozenset({
    types.TINY, types.SHORT, types.INT24, types.LONG, types.LONGLONG, types.YEAR, types.DATE, types.NEWDATE,
})  # fmt: skip
DATES = frozenset({types.DATE, types.NEWDATE})
UNSIGNED = frozenset({types.ENUM, types.SET, types.YEAR})
TEXTS = frozenset(
    {types.STRING, types.VARCHAR, types.VAR_STRING, types.TINY_BLOB, types.BLOB, types.MEDIUM_BLOB, types.LONG_BLOB}
)
ALWAYS_BYTES = frozenset({types.NEWDECIMAL, types.BIT, types.TIMESTAMP2, types.DATETIME2, types.TIME2})
BINARY_COLLATION = 63
# MySQL itself holds rows to them, whatever engine the other table has (9.7 does, 8.0 does not; the release notes say 9.6).
SERVERS_OWN_SINCE = (9, 6)
# What MySQL 8.0 and later ask of the engine, behind their own look at the constraints.
OF_ENGINE = frozenset({1031, 1118, 1709})


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """One constraint: whose it is, which columns refer to which, what the former are like, and whether it changes rows (CASCADE, SET NULL)."""

    name: str
    child: TableName
    columns: tuple[str, ...]
    refers_to: tuple[str, ...]
    compared: tuple[Compared, ...]
    changes_rows: bool = False

    @property
    def label(self) -> str:
        """Its name and whose it is, for people."""
        return f"foreign key {self.name} of {object_name(*self.child)}"


def compared(column: Column) -> Compared:
    """What decides whether a column may refer to another one."""
    kind = column.type
    if kind in WHOLE_NUMBERS or kind in UNSIGNED:
        # A date has a sign, whatever the .frm says of it.
        return NUMBER, column.maximum_bytes, kind in UNSIGNED or (column.unsigned and kind not in DATES)
    if kind in TEXTS:
        return BYTES if column.collation == BINARY_COLLATION else (TEXT, column.collation)
    if kind in (types.FLOAT, types.DOUBLE):
        return (kind,)
    return BYTES if kind in ALWAYS_BYTES or kind == types.FIXED_BINARY else None


def with_foreign(errors: Sequence[Refusal], found: Sequence[Refusal], here: ServerKind) -> list[Refusal]:
    """All errors in the server's order: old ones meet the constraints at the end, when the copy gets the table's name."""
    if not here.keeps_dictionary:
        return [*errors, *found]
    place = next((number for number, one in enumerate(errors) if one.code in OF_ENGINE), len(errors))
    return [*errors[:place], *found, *errors[place:]]


def foreign_refusals(structure: Structure, keys: Sequence[ForeignKey], here: ServerKind) -> list[Refusal]:
    """Of each constraint that does not fit, what is wrong with it first."""
    if here.is_mariadb and not here.foreign_checks:
        return []
    return [one for key in keys for one in _of_key(structure, key, here)]


def _of_key(structure: Structure, key: ForeignKey, here: ServerKind) -> Iterator[Refusal]:
    new = here.keeps_dictionary
    named = {column.name.lower(): column for column in structure.columns}
    gone = [name for name in key.refers_to if name.lower() not in named]
    mend = f"Mend it, or drop the constraint: {_dropped(key)}"
    if gone:
        yield Refusal(
            3734 if new else 1025, f"{key.label} refers to the column {gone[0]}, which it does not have", mend
        )
        return
    for name, other, like in zip(key.columns, key.refers_to, key.compared, strict=True):
        if not _are_equal(like, compared(named[other.lower()]), checked=here.foreign_checks or new):
            why = f"{key.label} refers to its column {other} by {name}, which is of another type, sign or collation"
            yield Refusal(3780 if new else 1025, why, mend)
            return
    if not any(_leads(index, key, structure, here) for index in trees_of(structure, here)):
        what = (
            "no unique index is over these columns alone"
            if here.standard_keys
            else "no index begins with these columns"
        )
        why = f"{key.label} refers to {', '.join(key.refers_to)}, and {what}"
        yield Refusal((6125 if here.standard_keys else 1822) if new else 1025, why, mend)


def _are_equal(one: Compared, other: Compared, *, checked: bool) -> bool:
    """Whether they fit; where one is not known, they may. Without foreign_key_checks texts of any collation do."""
    if one is None or other is None or one == other:
        return True
    return not checked and one[0] == other[0] == TEXT


def _leads(index: Index, key: ForeignKey, structure: Structure, here: ServerKind) -> bool:
    """Whether the index can be asked by the columns. The primary key's stand behind those of each other index."""
    parts = index.parts
    if here.standard_keys:
        if not index.unique or len(parts) != len(key.refers_to):
            return False
    elif structure.primary is not None:
        within = {part.column for part in parts}
        parts = (*parts, *(part for part in structure.primary.parts if part.column not in within))
    names = [None if part.prefix else structure.columns[part.column].name.lower() for part in parts]
    return names[: len(key.refers_to)] == [name.lower() for name in key.refers_to]


def _dropped(key: ForeignKey) -> Sql:
    """The statement that drops the constraint."""
    return statement("ALTER TABLE {} DROP FOREIGN KEY {};", quote_table(*key.child), quote_identifier(key.name))


def foreign_changes(subject: Subject, keys: Sequence[ForeignKey]) -> Iterator[Change]:
    """Constraints that come alive. A partitioned table is none that InnoDB lets one refer to: they stay dead."""
    if subject.structure.partitioned or not subject.kind.foreign_checks:
        return
    by_server = not subject.kind.is_mariadb and subject.kind.version >= SERVERS_OWN_SINCE
    dead = "is passed over by DELETE and UPDATE here" if by_server else "refuses each new row there (error 1452)"
    for key in keys:
        rows = ", and change or delete rows there" if key.changes_rows else ""
        yield Change(
            "foreign-key-alive",
            f"The {key.label} refers to this table, and {dead} while that is MyISAM: it comes alive. New rows there must have theirs here, "
            f"DELETE and UPDATE here are held to rows there (error 1451){rows}, TRUNCATE and DROP TABLE here are refused (errors 1701, 1451, 1217 or 3730). "
            f"Rows there that have none here stay, untold. The way back is refused (error 1217 or 3776) until the constraint is dropped: {_dropped(key)}",
            _without_parent(subject.table, key),
        )


def _without_parent(table: Sql, key: ForeignKey) -> Sql:
    """The statement that counts rows that refer to none."""
    pairs = list(zip(map(quote_identifier, key.columns), map(quote_identifier, key.refers_to), strict=True))
    joined = sql_list((statement("there.{} = here.{}", one, other) for one, other in pairs), " AND ")
    wanted = sql_list((statement("there.{} IS NOT NULL", one) for one, _ in pairs), " AND ")
    return statement(
        "SELECT COUNT(*) FROM {} AS there LEFT JOIN {} AS here ON {} WHERE {} AND here.{} IS NULL;",
        quote_table(*key.child), table, joined, wanted, pairs[0][1],
    )  # fmt: skip
