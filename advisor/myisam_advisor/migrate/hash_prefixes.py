"""A UNIQUE index that MariaDB keeps by a hash of a part of a value, and that lets in values which are alike in this part: the ALTER refuses them.

Tried on MariaDB 10.5.23 and 11.4.5, which let none in, and on 10.11.19 and 11.8.9, which do: of VARCHAR and TEXT in character sets of several bytes, and of
shapes, of which all but a POINT have 8 bytes in the index. Each ALTER that makes an index over the values ends with error 1062 then.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.key_lengths import trees_of
from myisam_advisor.migrate.server_kind import ARIA
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Index, Part, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, sql_list, statement

POINT_BYTES = 25  # all of it


def hash_prefixes(subject: Subject) -> Iterator[Change]:
    """Of an index that the ALTER makes over the values. What Aria cannot hold so is refused in any case."""
    structure = subject.structure
    for index in structure.of_kind(types.LONG_UNIQUE):
        is_made = subject.to == ARIA or index in trees_of(structure, subject.kind)
        names = [structure.columns[part.column].name for part in index.parts if _lets_in(structure, part)]
        if names and is_made:
            yield Change(
                "hash-prefix",
                f"Error 1062: UNIQUE index {index.name} is kept by a hash, which on some releases (10.11.19 and 11.8.9, not 11.4.5) lets in rows that are alike in the part "
                f"of {listed(names)} that it is over; the ALTER stops at them. Change such rows first, or take the index away.",
                _alike(structure, index, subject.table),
            )


def _lets_in(structure: Structure, part: Part) -> bool:
    column = structure.columns[part.column]
    if column.type == types.GEOMETRY:
        return part.length != POINT_BYTES
    return part.prefix and (column.is_blob or column.type in types.VARIABLE) and character_set(column.collation)[2] > 1


def _alike(structure: Structure, index: Index, table: Sql) -> Sql:
    """The statement that shows some of them."""
    names = [quote_identifier(structure.columns[part.column].name) for part in index.parts]
    shown = [_beginning(structure, part) for part in index.parts]
    return statement(
        "SELECT {}, COUNT(*) FROM {} WHERE {} GROUP BY {} HAVING COUNT(*) > 1 LIMIT 10;",
        sql_list(shown), table, sql_list((statement("{} IS NOT NULL", name) for name in names), " AND "),
        sql_list(shown),
    )  # fmt: skip


def _beginning(structure: Structure, part: Part) -> Sql:
    column = structure.columns[part.column]
    name = quote_identifier(column.name)
    if not part.prefix:
        return name
    cut = statement("LEFT({}, {})", name, part.length // character_set(column.collation)[2])
    return statement("HEX({})", cut) if column.type == types.GEOMETRY else cut
