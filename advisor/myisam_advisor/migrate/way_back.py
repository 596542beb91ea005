"""The statements that make a table of MyISAM again, as it was: what the way to the other engine took from its definition is written anew.

What it takes was found by comparing SHOW CREATE TABLE before and after, on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11, 11.4 and 11.8: the script's
KEY_BLOCK_SIZE=0 takes that of an index on MySQL 8.0 and later, Aria gives each index that has one its own of 8 kB, ROW_FORMAT is reset. Not given back are
directories (places.py), PAGE_CHECKSUM, which MyISAM knows nothing of, and the comment of a remade index that has no literal for every sql_mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from myisam_advisor.migrate.innodb_formats import BLOCK_SIZE
from myisam_advisor.migrate.prediction import Prediction
from myisam_advisor.migrate.server_kind import ARIA
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Index, Part, Structure
from myisam_exporter.server.sql import (
    Sql,
    plain_words,
    quote_comment,
    quote_identifier,
    quote_table,
    sql_list,
    statement,
)

# The end of a row's period: MariaDB puts it behind the columns of each UNIQUE index by itself (SYSTEM VERSIONING), and knows no such column in a statement.
ROW_END = "row_end"
KINDS = {types.FULLTEXT: "FULLTEXT", types.SPATIAL: "SPATIAL"}


def back(one: Prediction) -> tuple[Sql, ...]:
    """The way back. A table gets the row format that it was made with only where it is named."""
    table = quote_table(*one.name)
    options = [plain_words(f"ROW_FORMAT={one.structure.row_format or 'DEFAULT'}")]
    if block_size := one.structure.option(BLOCK_SIZE):
        options.append(statement("KEY_BLOCK_SIZE={}", block_size))
    indexes = [_without_period(index, one.structure) for index in one.remade]
    made = [_as_before(index, one.structure.columns) for index in indexes]
    # Else an index of a table with history is not dropped (error 4119); the rows and their periods stay as they are.
    kept = one.structure.system_versioned and indexes
    before = (statement("SET SESSION system_versioning_alter_history = KEEP;"),) if kept else ()
    if one.to != ARIA:
        return (*before, statement("ALTER TABLE {} ENGINE=MyISAM, {};", table, sql_list([*options, *made])))
    # Aria's PAGE_CHECKSUM=1 stays in the definition, and MySQL reads no dump of that; in the same ALTER it is not taken away (MariaDB 10.5 to 11.8).
    # Indexes come with the last one: an ALTER that copies makes a UNIQUE one over the values of what USING HASH asked to keep by a hash.
    return (
        *before,
        statement("ALTER TABLE {} ENGINE=MyISAM, {};", table, sql_list(options)),
        statement("ALTER TABLE {} {};", table, sql_list([statement("PAGE_CHECKSUM=DEFAULT"), *made])),
    )


def without_comment(one: Prediction) -> Iterator[Index]:
    """The indexes that the way back makes again without the comment that they had."""
    return (index for index in one.remade if index.comment and not _comment(index.comment))


def _without_period(index: Index, structure: Structure) -> Index:
    """An index as its user made it."""
    *parts, last = index.parts
    is_added = structure.system_versioned and index.unique and structure.columns[last.column].name == ROW_END
    return replace(index, parts=tuple(parts)) if is_added and parts else index


def _as_before(index: Index, columns: Sequence[Column]) -> Sql:
    """What drops an index and makes it again as it was."""
    name = quote_identifier(index.name)
    dropped = statement("DROP PRIMARY KEY") if index.primary else statement("DROP INDEX {}", name)
    return statement("{}, ADD {}", dropped, _definition(index, columns))


def _definition(index: Index, columns: Sequence[Column]) -> Sql:
    kind = plain_words(f"{KINDS.get(index.kind, 'UNIQUE' if index.unique else '')} INDEX".strip())
    made = statement("PRIMARY KEY") if index.primary else statement("{} {}", kind, quote_identifier(index.name))
    if index.algorithm:
        made = statement("{} {}", made, plain_words(f"USING {index.algorithm}"))
    made = statement("{} ({})", made, sql_list(_part(part, columns) for part in index.parts))
    if index.block_bytes:
        made = statement("{} KEY_BLOCK_SIZE={}", made, index.block_bytes)
    if index.parser:
        made = statement("{} WITH PARSER {}", made, quote_identifier(index.parser))
    if index.comment:
        made = statement("{}{}", made, _comment(index.comment))
    # MariaDB passes over what is for MySQL 5.7 and later, and MySQL over what is for MariaDB.
    return statement("{} /*!80000 INVISIBLE */ /*M!100600 IGNORED */", made) if index.ignored else made


def _comment(text: str) -> Sql:
    """Nothing of one that cannot be written for every sql_mode."""
    try:
        return statement(" COMMENT {}", quote_comment(text))
    except ValueError:
        return statement("")


def _part(part: Part, columns: Sequence[Column]) -> Sql:
    column = columns[part.column]
    name = quote_identifier(column.name)
    if part.prefix:
        name = statement("{}({})", name, part.length // character_set(column.collation)[2])
    return statement("{} DESC", name) if part.descending else name
