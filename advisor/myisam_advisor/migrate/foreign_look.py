"""The one look at information_schema: which InnoDB tables refer to tables of MyISAM. It opens no table.

MySQL 8.0 and later answer from their dictionary, of the columns too. MySQL 5.6 and MariaDB read InnoDB's own dictionary (INNODB_SYS_FOREIGN); what the columns
are like stands in the other table's .frm. MySQL 5.5, and 5.6 without the privilege PROCESS, can be asked nothing of the kind.

Sources: manuals, "INFORMATION_SCHEMA INNODB_SYS_FOREIGN Table", "KEY_COLUMN_USAGE Table"; storage/innobase/include/dict0mem.h (DICT_FOREIGN_ON_...).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from myisam_advisor.migrate.change import TableName
from myisam_advisor.migrate.foreign_keys import BYTES, NUMBER, TEXT, Compared, ForeignKey, compared
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.migrate.tables import MYISAM, FoundTable
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files import structure as types
from myisam_exporter.files.data_directory import read_root
from myisam_exporter.files.file_names import decode_schema, decode_table
from myisam_exporter.files.file_state import refuse_exhaustion
from myisam_exporter.files.frm_column_bytes import bytes_of_list
from myisam_exporter.files.structure import Column
from myisam_exporter.files.structure_reader import read_structures
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.driver import Row
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import statement

MOST_ROWS = 5_000
OF_DICTIONARY = statement(
    "SELECT k.CONSTRAINT_NAME, k.TABLE_SCHEMA, k.TABLE_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.COLUMN_NAME, k.REFERENCED_COLUMN_NAME,"
    " CONCAT(r.DELETE_RULE, r.UPDATE_RULE), c.DATA_TYPE, c.COLUMN_TYPE, l.ID"
    " FROM information_schema.KEY_COLUMN_USAGE AS k"
    " JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME"
    " JOIN information_schema.COLUMNS AS c ON c.TABLE_SCHEMA = k.TABLE_SCHEMA AND c.TABLE_NAME = k.TABLE_NAME AND c.COLUMN_NAME = k.COLUMN_NAME"
    " LEFT JOIN information_schema.COLLATIONS AS l ON l.COLLATION_NAME = c.COLLATION_NAME"
    " WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY k.CONSTRAINT_SCHEMA, k.CONSTRAINT_NAME, k.ORDINAL_POSITION LIMIT {}",
    MOST_ROWS,
)
OF_INNODB = statement(
    "SELECT f.ID, f.FOR_NAME, f.REF_NAME, c.FOR_COL_NAME, c.REF_COL_NAME, f.TYPE FROM information_schema.INNODB_SYS_FOREIGN AS f"
    " JOIN information_schema.INNODB_SYS_FOREIGN_COLS AS c ON c.ID = f.ID ORDER BY f.ID, c.POS LIMIT {}",
    MOST_ROWS,
)
# DICT_FOREIGN_ON_DELETE_CASCADE, ..._SET_NULL, ..._UPDATE_CASCADE, ..._SET_NULL.
CHANGES_ROWS = 1 | 2 | 4 | 8
NUMBER_BYTES = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "year": 1, "date": 3}
LISTS = {"enum": types.ENUM, "set": types.SET}
PLAIN_BYTES = frozenset({
    "bit", "decimal", "time", "datetime", "timestamp", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
})  # fmt: skip
OF_FLOATS = {"float": types.FLOAT, "double": types.DOUBLE}
_MEMBER = re.compile(r"'(?:[^']|'')*'")


def with_foreign_keys(
    tables: Sequence[FoundTable], session: Session, here: ServerKind, directory: Path, owner: int | None
) -> tuple[list[FoundTable], str]:
    """The tables with the constraints that refer to each; and why these are not known, where they are not."""
    names = {one.name for one in tables if one.structure.engine == MYISAM}
    if not names:
        return list(tables), ""
    if here.keeps_dictionary:
        rows = session.rows_or_unknown(OF_DICTIONARY, 11)
        found = [] if isinstance(rows, Unknown) else _of_dictionary(rows, names)
    else:
        rows = session.rows_or_unknown(OF_INNODB, 6, "PROCESS ON *.*")
        found = [] if isinstance(rows, Unknown) else _of_innodb(rows, names, directory, owner)
    unknown = ""
    if isinstance(rows, Unknown):
        unknown = f"{rows.reason}{f'; {rows.remedy}' if rows.remedy else ''}"
    elif len(rows) == MOST_ROWS:
        unknown = f"there are more than {MOST_ROWS} columns in foreign keys, and no more were asked for"
    referred: dict[TableName, list[ForeignKey]] = {}
    for parent, key in found:
        referred.setdefault(parent, []).append(key)
    return [replace(one, referred_by=tuple(referred.get(one.name, ()))) for one in tables], unknown


def _of_dictionary(rows: Sequence[Row], names: set[TableName]) -> list[tuple[TableName, ForeignKey]]:
    """MySQL 8.0 and later."""
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        grouped.setdefault(tuple(value or "" for value in row[:5]), []).append(row)
    found = []
    for (name, schema, table, *parent), of in grouped.items():
        if (parent[0], parent[1]) in names:
            like = tuple(_compared(row[8] or "", row[9] or "", whole_number(row[10])) for row in of)
            changes = any(word in (of[0][7] or "") for word in ("CASCADE", "SET NULL"))
            columns, others = (tuple(row[place] or "" for row in of) for place in (5, 6))
            found.append(((parent[0], parent[1]), ForeignKey(name, (schema, table), columns, others, like, changes)))
    return found


def _compared(kind: str, described: str, collation: int | None) -> Compared:
    """What information_schema.COLUMNS tells of it."""
    if kind in NUMBER_BYTES:
        return NUMBER, NUMBER_BYTES[kind], kind == "year" or "unsigned" in described
    if kind in LISTS:
        return NUMBER, bytes_of_list(LISTS[kind], len(_MEMBER.findall(described))), True
    if kind in OF_FLOATS:
        return (OF_FLOATS[kind],)
    if collation is not None:
        return TEXT, collation
    return BYTES if kind in PLAIN_BYTES else None


def _of_innodb(
    rows: Sequence[Row], names: set[TableName], directory: Path, owner: int | None
) -> list[tuple[TableName, ForeignKey]]:
    """MySQL 5.6 and MariaDB: names are those of files."""
    grouped: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row[0] or "", row[1] or "", row[2] or ""), []).append(row)
    wanted = []
    for (identity, child, parent), of in grouped.items():
        here, there = _decoded(parent), _decoded(child)
        if here in names and here is not None and there is not None:
            wanted.append((here, there, identity.partition("/")[2] or identity, of))
    described = _columns_of({there for _, there, _, _ in wanted}, directory, owner)
    found = []
    for here, there, name, of in wanted:
        columns, others = (tuple(row[place] or "" for row in of) for place in (3, 4))
        known = described.get(there, {})
        like = tuple(compared(known[one.lower()]) if one.lower() in known else None for one in columns)
        changes = bool((whole_number(of[0][5]) or 0) & CHANGES_ROWS)
        found.append((here, ForeignKey(name, there, columns, others, like, changes)))
    return found


def _decoded(name: str) -> TableName | None:
    schema, slash, table = name.partition("/")
    decoded = decode_table(table)
    return (decode_schema(schema), decoded[0]) if slash and decoded is not None else None


def _columns_of(tables: set[TableName], directory: Path, owner: int | None) -> Mapping[TableName, Mapping[str, Column]]:
    """The columns of these tables by name in small letters, as far as their definitions can be read. Folders are those that are there, whatever the server says."""
    found: dict[TableName, dict[str, Column]] = {}
    if not tables:
        return found
    for folder in read_root(directory, owner if owner is not None else -1).schemas:
        schema = decode_schema(folder)
        wanted = {table for of, table in tables if of == schema}
        if not wanted:
            continue
        try:
            structures = read_structures(str(directory / folder), owner, wanted.__contains__)
        except OSError as error:
            refuse_exhaustion(error)
            continue
        for one in structures:
            if one.structure is not None:
                found[schema, one.table_name] = {column.name.lower(): column for column in one.structure.columns}
    return found
