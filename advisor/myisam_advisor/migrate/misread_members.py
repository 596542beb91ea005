"""ENUM and SET columns of ucs2, utf16 and utf32 with the same members: MySQL before 8.0 reads them cut in half, and any ALTER writes them so for good.

What is read stands in frm_members.py. On MySQL 5.5 and 5.6 ALTER TABLE ... ENGINE=InnoDB of such a table succeeds and leaves enum('',''), or ends with error 1265
or 1291 under a strict sql_mode. CONVERT TO and MODIFY to the same words in utf8 lose the values too, as they go by the words that are read; two ALTERs by way
of numbers keep them all, strict or not (tests/servers/test_migrate_misread.py). MySQL 8.0 and MariaDB 10.5 read and keep them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myisam_advisor.migrate.change import Change, Subject
from myisam_advisor.migrate.server_kind import ServerKind
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Structure
from myisam_exporter.server.sql import Sql, plain_words, quote_comment, quote_identifier, sql_list, statement

MISREAD = "members-misread"
CODECS = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
NUMBERS = {types.ENUM: "SMALLINT UNSIGNED", types.SET: "BIGINT UNSIGNED"}
WORDS = {types.ENUM: "ENUM", types.SET: "SET"}


def members_read(column: Column, kind: ServerKind) -> tuple[bytes, ...]:
    """What the server takes for the members, of a list that it could take two of for one, or misreads; else ()."""
    return (misreads(kind) and column.misread_members) or column.members


def misreads(kind: ServerKind) -> bool:
    """Whether it is MySQL before 8.0."""
    return not (kind.is_mariadb or kind.keeps_dictionary)


def misread_columns(structure: Structure, kind: ServerKind) -> list[Column]:
    """The columns whose list the server misreads, with those that share it."""
    return [column for column in structure.columns if column.misread_members] if misreads(kind) else []


def misread_changes(subject: Subject) -> Iterator[Change]:
    """What an ALTER would lose, and how it is kept."""
    columns = misread_columns(subject.structure, subject.kind)
    if columns:
        quoted = (quote_identifier(column.name) for column in columns)
        names = sql_list(statement("{}, {} + 0", name, name) for name in quoted)
        yield Change(
            MISREAD,
            f"{listed([column.name for column in columns])} share a list, of which {subject.kind.label} reads each member cut in half, now already. "
            f"Any ALTER writes it so for good, and values are lost, or ends with error 1265 or 1291. {way_out(columns, subject.table)}",
            statement("SELECT DISTINCT {} FROM {};", names, subject.table),
        )


def way_out(columns: Sequence[Column], table: Sql) -> str:
    """The two ALTERs that write the lists as they were meant."""
    to_numbers = sql_list(_modified(column, plain_words(NUMBERS[column.type])) for column in columns)
    try:
        to_lists = sql_list(_modified(column, _list(column)) for column in columns)
    except ValueError:
        last = "then MODIFY each with its list as it was made, in utf8mb4."
    else:
        last = statement("ALTER TABLE {} {};", table, to_lists)
    first = statement("ALTER TABLE {} {};", table, to_numbers)
    return f"Go by the numbers, and give each column its DEFAULT and COLLATE again: {first} {last}"


def _modified(column: Column, made: Sql) -> Sql:
    nullable = statement("NULL") if column.nullable else statement("NOT NULL")
    return statement("MODIFY {} {} {}", quote_identifier(column.name), made, nullable)


def _list(column: Column) -> Sql:
    """The list as it was meant, in a character set that shares none. Raises ValueError where a member has no literal."""
    codec = CODECS.get(character_set(column.collation)[0], "ascii")
    members = sql_list(quote_comment(member.decode(codec)) for member in column.members)
    return statement("{}({}) CHARACTER SET utf8mb4", plain_words(WORDS[column.type]), members)
