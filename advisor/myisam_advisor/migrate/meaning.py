"""What statements mean otherwise once the table is of another engine: each change with a statement that shows it.

Sources: MySQL manual, "Converting Tables from MyISAM to InnoDB", "InnoDB Full-Text Indexes", "AUTO_INCREMENT Handling in InnoDB", "LOCK
TABLES"; MariaDB's "Aria Storage Engine", "INSERT DELAYED". Twelve of them are shown on real servers in tests/servers/test_migrate_traps.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from myisam_advisor.migrate.innodb_formats import effective_row_format
from myisam_advisor.migrate.key_lengths import OLD_PART_BYTES
from myisam_advisor.migrate.refusals import date_columns, refusals
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, quote_text, sql_list, statement

TableName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that succeeds, and means another thing. Without a statement ("") it shows in no single one."""

    id: str
    what: str
    statement: Sql


@dataclass(frozen=True, slots=True)
class Subject:
    """The table, where it is, what it goes to, the MERGE tables that it is a member of, and whether myisampack packed it."""

    name: TableName
    structure: Structure
    to: str
    kind: ServerKind
    merged_in: Sequence[TableName] = ()
    packed: bool = False

    @property
    def table(self) -> Sql:
        """Its name as a statement has it."""
        return quote_table(*self.name)

    @property
    def shown(self) -> Sql:
        """The name of its temporary copy, with the database: none may be selected."""
        return quote_table(self.name[0], "shown" if self.name[1] != "shown" else "shown_copy")


def changes(subject: Subject) -> tuple[Change, ...]:
    """All of them, those that lose something first."""
    found = _to_innodb if subject.to == INNODB else _to_aria
    return (*_of_rows(subject), *_of_any(subject), *found(subject))


def _of_rows(subject: Subject) -> Iterator[Change]:
    """What fails only with certain rows: at the ALTER, or long afterwards."""
    for one in refusals(subject.structure, subject.to, subject.kind):
        if not one.may:
            continue
        if one.code == 1118:
            yield Change("full-row", f"Error 1118: {one.why}.", statement("SHOW CREATE TABLE {};", subject.table))
        elif one.code == 1292:
            shown = statement("SELECT COUNT(*) FROM {} WHERE {};", subject.table, _has_zero(subject.structure))
            yield Change("zero-dates", f"Error 1292: {one.why}.", shown)
        elif one.code == 4025:
            yield Change("check-refused", f"Error 4025: {one.why}.", statement("SHOW CREATE TABLE {};", subject.table))
        else:
            yield Change("read-only", f"Error {one.code}: {one.why}.", statement("SELECT @@global.read_only;"))


def _has_zero(structure: Structure) -> Sql:
    """The condition that a date has a part that is zero: also 2010-00-00 stops the copy."""
    names = map(quote_identifier, date_columns(structure))
    return statement(
        "0 IN ({})", sql_list(statement("MONTH({}), DAYOFMONTH({}), {} + 0", *[name] * 3) for name in names)
    )


def _of_any(subject: Subject) -> Iterator[Change]:
    structure, kind, table = subject.structure, subject.kind, subject.table
    for merged in subject.merged_in:
        yield Change(
            "merge-members",
            f"The MERGE table {'.'.join(merged)} loses this member: every statement on it fails with error 1168 from then on.",
            statement("SELECT COUNT(*) FROM {};", quote_table(*merged)),
        )
    if subject.packed:
        yield Change(
            "unpacked",
            "It is packed, and read-only: converted, it can be written and takes more room, and the way back gives an unpacked one (myisampack it again).",
            statement("SHOW TABLE STATUS LIKE {};", _pattern(subject)),
        )
    if kind.galera:
        yield Change(
            "galera-copies",
            "Galera does not replicate MyISAM's rows: other nodes may hold empty copies, and the ALTER runs on all of them.",
            statement("SELECT COUNT(*) FROM {};", table),
        )
    if kind.group:
        yield Change(
            "group-members",
            "Members of the group may hold other rows of a MyISAM table, and the ALTER runs on all of them.",
            statement("SELECT COUNT(*) FROM {};", table),
        )
    ignored = [name for name, _ in structure.options if name not in ("KEY_BLOCK_SIZE", "AVG_ROW_LENGTH")]
    if ignored:
        shown = statement("CHECKSUM TABLE {} QUICK;" if "CHECKSUM" in ignored else "SHOW CREATE TABLE {};", table)
        yield Change(
            "options-ignored", f"{', '.join(ignored)} stand in SHOW CREATE TABLE and do nothing any more.", shown
        )
    yield Change(
        "key-cache",
        "CACHE INDEX and LOAD INDEX INTO CACHE do nothing any more: its index blocks leave the key cache.",
        statement(""),
    )


def _to_innodb(subject: Subject) -> Iterator[Change]:
    structure, table = subject.structure, subject.table
    yield Change(
        "count-cost",
        "COUNT(*) without WHERE is no number kept in the header any more: a whole index is read.",
        statement("EXPLAIN SELECT COUNT(*) FROM {};", table),
    )
    yield Change(
        "order",
        "Without ORDER BY, rows come by the primary key, or as the index in use has them; no more as they were inserted.",
        statement("SELECT * FROM {} LIMIT 10;", table),
    )
    yield Change(
        "rollback",
        "In a transaction changes are no more there at once and for ever: ROLLBACK, or a connection that ends without COMMIT, undoes them.",
        _on_copy(
            subject,
            statement(
                "START TRANSACTION; {} LIMIT 1; ROLLBACK; SELECT COUNT(*) FROM {};", _filled(subject), subject.shown
            ),
        ),
    )
    yield Change(
        "lock-tables",
        "LOCK TABLES commits the transaction that is open, START TRANSACTION releases the locks; and a lock is waited for 50 seconds, then error 1205, or 1213 (deadlock).",
        _on_copy(subject, statement("LOCK TABLES {} WRITE; START TRANSACTION; UNLOCK TABLES;", subject.shown)),
    )
    yield Change(
        "repair",
        "REPAIR TABLE, myisamchk and copies of the files are no way back any more: only backups and the server's own recovery are.",
        _on_copy(subject, statement("REPAIR TABLE {};", subject.shown)),
    )
    yield Change(
        "disable-keys",
        "DISABLE KEYS does nothing (a note): loads build every index row by row.",
        _on_copy(subject, statement("ALTER TABLE {} DISABLE KEYS; SHOW WARNINGS;", subject.shown)),
    )
    yield from _of_unique_keys(subject)
    yield from _of_counter(subject)
    yield from _of_words(subject)
    if subject.kind.is_mariadb or subject.kind.version < (5, 7):
        yield Change(
            "insert-delayed",
            "INSERT DELAYED and REPLACE DELAYED are refused with error 1616.",
            statement(""),
        )
    for index in structure.of_kind(types.BTREE):
        yield from _shortened(subject, index)
    if structure.option("KEY_BLOCK_SIZE") and structure.row_format in ("", "COMPRESSED") and subject.kind.barracuda:
        yield Change(
            "compressed",
            f"KEY_BLOCK_SIZE={structure.option('KEY_BLOCK_SIZE')} was the size of MyISAM's index blocks; for InnoDB it means compressed pages.",
            statement("SHOW TABLE STATUS LIKE {};", _pattern(subject)),
        )
    if subject.kind.gtid:
        yield Change(
            "gtid",
            "With enforce_gtid_consistency a transaction may change this table beside others now (error 1785 before).",
            statement("SELECT @@global.enforce_gtid_consistency;"),
        )
    if (
        any(column.text_default for column in structure.columns)
        and not subject.kind.is_mariadb
        and subject.kind.version < (8, 0)
    ):
        yield Change(
            "text-default",
            f"{subject.kind.label} has no defaults of TEXT and BLOB columns: they vanish.",
            statement("SHOW CREATE TABLE {};", table),
        )
    yield Change(
        "memory",
        "Its pages want room in the buffer pool, where the key cache and the page cache of the system held them before.",
        statement("SELECT @@global.innodb_buffer_pool_size, @@global.key_buffer_size;"),
    )


def _of_unique_keys(subject: Subject) -> Iterator[Change]:
    if any(index.unique for index in subject.structure.indexes):
        yield Change(
            "half-done",
            "An INSERT or UPDATE of several rows that fails at one of them leaves none; MyISAM kept those before it.",
            _on_copy(
                subject,
                statement(
                    "{} AS one JOIN (SELECT 1 UNION SELECT 2) AS n LIMIT 2; SELECT COUNT(*) FROM {};",
                    _filled(subject),
                    subject.shown,
                ),
            ),
        )


def _of_counter(subject: Subject) -> Iterator[Change]:
    if not any(column.auto_increment for column in subject.structure.columns):
        return
    table = subject.table
    if not subject.kind.since((8, 0), (10, 2)):
        yield Change(
            "counter-after-restart",
            "After a restart AUTO_INCREMENT goes on behind the highest row that is left: numbers of deleted rows are given out again.",
            statement("SHOW CREATE TABLE {};", table),
        )
    yield Change(
        "counter-gaps",
        "INSERT IGNORE, a failed INSERT and ROLLBACK use up numbers of AUTO_INCREMENT: holes appear.",
        statement("SHOW CREATE TABLE {};", table),
    )


def _of_words(subject: Subject) -> Iterator[Change]:
    for index in subject.structure.of_kind(types.FULLTEXT)[:1]:
        columns = sql_list(quote_identifier(subject.structure.columns[part.column].name) for part in index.parts)
        table = subject.table
        yield Change(
            "fulltext-length",
            "FULLTEXT finds words of 3 characters and more (innodb_ft_min_token_size), no more of 4 (ft_min_word_len).",
            statement("SELECT COUNT(*) FROM {} WHERE MATCH ({}) AGAINST ('cat' IN BOOLEAN MODE);", table, columns),
        )
        yield Change(
            "fulltext-stopwords",
            "FULLTEXT leaves out 36 stopwords instead of 543: words such as 'after' and 'because' are found.",
            statement("SELECT COUNT(*) FROM {} WHERE MATCH ({}) AGAINST ('because' IN BOOLEAN MODE);", table, columns),
        )
        yield Change(
            "fulltext-ranking",
            "Words in more than half of the rows are found too, and relevance has other figures.",
            statement("SELECT COUNT(*) FROM {} WHERE MATCH ({}) AGAINST ('word');", table, columns),
        )


def _shortened(subject: Subject, index: Index) -> Iterator[Change]:
    """MySQL shortens a prefix with a warning only, where sql_mode is not strict."""
    kind = subject.kind
    old = not kind.large_prefix or effective_row_format(subject.structure, kind) in ("COMPACT", "REDUNDANT")
    fails = any(not one.may and one.code in (1071, 1709) for one in refusals(subject.structure, subject.to, kind))
    if old and not fails and any(part.length > OLD_PART_BYTES for part in index.parts):
        yield Change(
            "prefix-shortened",
            f"Index {index.name} is shortened to {OLD_PART_BYTES} bytes of a column, with a warning only.",
            statement("SHOW INDEX FROM {};", subject.table),
        )


def _to_aria(subject: Subject) -> Iterator[Change]:
    if subject.structure.row_format in ("FIXED", "DYNAMIC"):
        yield Change(
            "aria-not-crash-safe",
            f"ROW_FORMAT={subject.structure.row_format} goes along: the table is not safe against crashes until ROW_FORMAT=PAGE.",
            statement("SHOW CREATE TABLE {};", subject.table),
        )
    yield Change(
        "aria-rollback",
        "ROLLBACK and SAVEPOINT undo nothing in Aria, as in MyISAM; crash-safe means that a statement is whole after a crash.",
        _on_copy(
            subject,
            statement(
                "START TRANSACTION; {} LIMIT 1; ROLLBACK; SELECT COUNT(*) FROM {};", _filled(subject), subject.shown
            ),
        ),
    )
    yield Change(
        "aria-memory",
        "Its pages want room in aria_pagecache_buffer_size, rows included: the key cache keeps nothing of them.",
        statement("SELECT @@global.aria_pagecache_buffer_size, @@global.key_buffer_size;"),
    )


def _on_copy(subject: Subject, then: Sql) -> Sql:
    """A statement that may change rows, on an empty table of the same kind that only its connection sees.

    A partitioned one has no such copy, and that of a MERGE table could have its members.
    """
    if subject.structure.partitioned or subject.structure.engine == "MRG_MyISAM":
        return statement("")
    return statement("CREATE TEMPORARY TABLE {} LIKE {}; {}", subject.shown, subject.table, then)


def _filled(subject: Subject) -> Sql:
    """The beginning of what takes rows over: into all columns but those that the server computes."""
    columns = sql_list(quote_identifier(column.name) for column in subject.structure.columns if not column.generated)
    return statement("INSERT INTO {} ({}) SELECT {} FROM {}", subject.shown, columns, columns, subject.table)


def _pattern(subject: Subject) -> Sql:
    return quote_text(subject.name[1])
