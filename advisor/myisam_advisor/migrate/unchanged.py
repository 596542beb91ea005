"""What the script asks before an ALTER: is this still the table that it was made for? Where it is not, the session stays one that may not write.

A word that a variable does not take ends SET with error 1231, which repeats it: a client stops and says why, without a routine. One that goes on
(SOURCE, --force) meets an ALTER in a session that reads only, and error 1792. What the table was is worked out of its files, as information_schema
would have opened it; the names of types, columns and indexes are the same on MySQL 5.6 to 9.7 and MariaDB 10.5 to 11.8.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from myisam_advisor.migrate.change import TableName
from myisam_advisor.migrate.innodb_formats import BLOCK_SIZE
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, plain_words, quote_text, sql_list, statement

CHANGED = "changed since this script was made - make it again: "
NOT_COUNTED = "rows not counted - see the error above and make this script again: "
NEW_MERGE = "a MERGE table that came since this script was made - make it again: "
LOST_NAME = "a server was killed in an ALTER and a table may have lost its name - see the head of this script"
LOST_MEMBER = "a MERGE table got this member since the script was made and opens no more - run the statement at Back: "
DIFFERED = "rows or values of a table above are not as they were before its ALTER - look there first"
NOW_READ_ONLY = "the server became read-only since this script was made - run it on the source of this replica"
# More are not asked before and behind each ALTER: each is a line there, and opens all of its members.
MOST_MERGES = 20
# Numbers that are not there are not alike: a client that lost its connection between two pasted batches has none, nor has a count that failed.
ALIKE = statement("(@rows_after = @rows_before AND @values_after <=> @values_before) IS TRUE")
BINARY = 63
# What information_schema calls them: the same type of bytes, and of texts. What has several names there stands in none: GEOMETRY, and MariaDB's
# VARBINARY, which a VECTOR is in its .frm.
TYPES = {
    types.DECIMAL: "decimal", types.NEWDECIMAL: "decimal", types.TINY: "tinyint", types.SHORT: "smallint", types.INT24: "mediumint",
    types.LONG: "int", types.LONGLONG: "bigint", types.FLOAT: "float", types.DOUBLE: "double", types.BIT: "bit", types.YEAR: "year",
    types.DATE: "date", types.NEWDATE: "date", types.TIME: "time", types.TIME2: "time", types.DATETIME: "datetime", types.DATETIME2: "datetime",
    types.TIMESTAMP: "timestamp", types.TIMESTAMP2: "timestamp", types.ENUM: "enum", types.SET: "set",
}  # fmt: skip
OF_TEXTS = {
    types.STRING: "char", types.VARCHAR: "varchar", types.TINY_BLOB: "tinytext", types.BLOB: "text", types.MEDIUM_BLOB: "mediumtext",
    types.LONG_BLOB: "longtext",
}  # fmt: skip
OF_BYTES = {
    types.STRING: "binary", types.TINY_BLOB: "tinyblob", types.BLOB: "blob", types.MEDIUM_BLOB: "mediumblob", types.LONG_BLOB: "longblob",
}  # fmt: skip


def reads_only(here: ServerKind) -> Sql:
    """The variable that keeps a session from writing. Before MySQL 5.6 and MariaDB 10.0 there is none: of one that can be set to itself there remains the error.

    MariaDB 11 has both names: with the older one, a script that is made on a replica runs on an older source, too.
    """
    if here.since((8, 0), (12, 0)):
        return statement("transaction_read_only")
    return statement("tx_read_only") if here.since((5, 6), (10, 0)) else statement("sql_mode")


def forgets(here: ServerKind) -> Sql:
    """Nothing is known of a table, and it may not be changed yet. A client that goes on behind an error would compare the numbers of the table before.

    It remembers where those differed: SOURCE and --force go on behind error 1242, and would have the next table changed by what changed that one.
    """
    variable = reads_only(here)
    shut = statement("") if variable == "sql_mode" else statement(", SESSION {} = ON", variable)
    return statement(
        "SET @differed = IF(@rows_before IS NULL OR {}, @differed, {}), @rows_before = NULL, @rows_after = NULL{};",
        ALIKE, quote_text(DIFFERED), shut,
    )  # fmt: skip


def writes_again(here: ServerKind) -> Sql | None:
    """A client that went on behind an error keeps no session that may not write."""
    variable = reads_only(here)
    return None if variable == "sql_mode" else statement("SET SESSION {} = OFF;", variable)


def still_the_same(name: TableName, structure: Structure, here: ServerKind) -> Sql:
    """Lets the session write. Ends with error 1231 where the table is gone, of another engine, partitioned, or has other columns or indexes than it had.

    So it does where its rows could not be counted: a client that goes on would convert a damaged table that the server repairs meanwhile, without rows.
    Of options those count that the way there takes and the way back names; the rest stays as it is at the ALTER.
    """
    table = statement("TABLE_SCHEMA = {} AND TABLE_NAME = {}", *map(quote_text, name))
    kind = statement("DATA_TYPE") if has_named_types(structure) else statement("NULL")
    parts = statement(
        "\nUNION ALL SELECT CONCAT_WS(' ', ORDINAL_POSITION, COLUMN_NAME, IS_NULLABLE, {}) FROM information_schema.COLUMNS WHERE {}"
        "\nUNION ALL SELECT CONCAT_WS(' ', INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE) FROM information_schema.STATISTICS WHERE {}",
        kind, table, table,
    )  # fmt: skip
    variable = reads_only(here)
    return statement(
        "SET SESSION {} = IF(COALESCE(@differed, @moved_on) IS NULL AND @rows_before IS NOT NULL AND (SELECT SUM(CRC32(part)) FROM (\n"
        "SELECT CONCAT_WS(' ', ENGINE, {}) AS part FROM information_schema.TABLES WHERE {}{}\n"
        ") AS parts) = {}, {}, COALESCE(@differed, @moved_on, IF(@rows_before IS NULL, {}, {})));",
        variable, sql_list(asked for asked, _ in _options(structure)), table, statement("") if structure.system_versioned else parts, structure_sum(structure),
        statement("@@sql_mode") if variable == "sql_mode" else quote_text("OFF"),
        *(quote_text(why + ".".join(name)) for why in (NOT_COUNTED, CHANGED)),
    )  # fmt: skip


def structure_sum(structure: Structure) -> int:
    """The sum that the server finds while nothing of that changes."""
    return sum(zlib.crc32(part.encode("utf-8", "replace")) for part in _parts(structure))


def _options(structure: Structure) -> Iterator[tuple[Sql, bool]]:
    """What is asked of CREATE_OPTIONS, and the answer."""
    row_format, block_size = structure.row_format, structure.option(BLOCK_SIZE)
    nothing = statement("")
    yield statement("CREATE_OPTIONS LIKE '%partitioned%'"), structure.partitioned
    yield (
        statement("CREATE_OPTIONS LIKE '%row_format={}%'", plain_words(row_format) if row_format else nothing),
        bool(row_format),
    )
    size = statement("{} ", block_size) if block_size else nothing
    yield statement("CONCAT(CREATE_OPTIONS, ' ') LIKE '%key_block_size={}%'", size), bool(block_size)


def _parts(structure: Structure) -> Iterator[str]:
    yield " ".join([structure.engine, *(str(int(answer)) for _, answer in _options(structure))])
    if structure.system_versioned:
        # Which of its columns nobody sees no file tells here.
        return
    is_named = has_named_types(structure)
    for number, column in enumerate(structure.columns, 1):
        kind = f" {_type_name(column)}" if is_named else ""
        yield f"{number} {column.name} {'YES' if column.nullable else 'NO'}{kind}"
    for index in structure.indexes:
        for place, part in enumerate(index.parts, 1):
            yield f"{index.name} {place} {structure.columns[part.column].name} {int(not index.unique)}"


def has_named_types(structure: Structure) -> bool:
    """Whether it is known what information_schema calls the type of each column."""
    return all(map(_type_name, structure.columns))


def _type_name(column: Column) -> str | None:
    return TYPES.get(column.type) or (OF_BYTES if column.collation == BINARY else OF_TEXTS).get(column.type)


def stops_as_lost(here: ServerKind) -> Sql:
    """Ends with error 1231, which says that a table may have lost its name, whether there is anything to convert or not."""
    return statement("SET SESSION {} = {};", reads_only(here), quote_text(LOST_NAME))


def lost_its_name() -> Sql:
    """What holds for all tables where one may have lost its name. Which one is the last that an ALTER ran on, as long as no other runs; and comments are read by no client."""
    return statement("SET @moved_on = {};", quote_text(LOST_NAME))


def moved_on(known: Sequence[TableName], here: ServerKind) -> Sql:
    """What holds for all tables: the server became read-only, or has a MERGE table besides these, of which no table tells that it became a part."""
    # No table is called so; and '' is NULL where sql_mode has EMPTY_STRING_IS_NULL, which no name would differ from.
    nobody = quote_text(".")
    named = sql_list(quote_text(".".join(name)) for name in sorted(known)) if known else nobody
    merge = statement(
        "(SELECT CONCAT({}, TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES\n"
        "WHERE ENGINE = 'MRG_MyISAM' AND CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) NOT IN ({}) LIMIT 1)",
        quote_text(NEW_MERGE), named,
    )  # fmt: skip
    if here.read_only:
        # Who takes the marks away before an ALTER knows of it.
        return statement("SET @moved_on = {};", merge)
    return statement("SET @moved_on = IF(@@GLOBAL.read_only, {}, {});", quote_text(NOW_READ_ONLY), merge)


def open_merges(known: Sequence[TableName]) -> Sql | None:
    """Before an ALTER: how many MERGE tables do not open. None where there are none, or more than are asked. One that opens has a length of its rows, without rows, too.

    No table tells the members; but one that lost a member opens no more, and the way back gives it that again. One that is gone,
    or is a view or another engine's by now, is not counted: nobody misses it.
    """
    return statement("SET @merges = ({});", _closed(known)) if 0 < len(known) <= MOST_MERGES else None


def no_merge_lost(name: TableName, known: Sequence[TableName], here: ServerKind) -> tuple[Sql, Sql]:
    """Behind it: ends with error 1231 where more do not open, as the table was added to one after the script was made; for a client that goes on, too."""
    variable = reads_only(here)
    return (
        statement("SET @differed = IF(({}) > @merges, {}, @differed);", _closed(known), quote_text(LOST_MEMBER + ".".join(name))),
        statement(
            "SET SESSION {} = COALESCE(@differed, {});",
            variable, statement("@@sql_mode") if variable == "sql_mode" else quote_text("OFF"),
        ),
    )  # fmt: skip


def _closed(known: Sequence[TableName]) -> Sql:
    """Each by its name: MySQL 5.x and MariaDB would open every table of the server for a list."""
    return statement(
        "SELECT COUNT(*) FROM (\n{}\n) AS merges",
        sql_list(
            (
                statement(
                    "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND TABLE_TYPE = 'BASE TABLE' "
                    "AND COALESCE(ENGINE, 'MRG_MYISAM') = 'MRG_MYISAM' AND COALESCE(AVG_ROW_LENGTH, 0) = 0",
                    *map(quote_text, name),
                )
                for name in sorted(known)
            ),
            "\nUNION ALL ",
        ),
    )
