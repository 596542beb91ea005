"""What statements mean otherwise once the table is of another engine: each change with a statement that shows it.

Sources: MySQL manual, "Converting Tables from MyISAM to InnoDB", "InnoDB Full-Text Indexes", "LOCK TABLES", "SHOW TABLE STATUS"; MariaDB's
"INSERT DELAYED"; Galera's "Differences from a Standalone MariaDB Server". What is of FULLTEXT stands in fulltext_meaning.py, what is of
AUTO_INCREMENT in counter_meaning.py, what is of Aria in aria_meaning.py. Most are shown on real servers in tests/servers/test_migrate_traps.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.aria_meaning import IGNORED_OPTIONS, aria_changes
from myisam_advisor.migrate.change import Change, Subject, loses_member, on_copy
from myisam_advisor.migrate.counter_meaning import counter_changes, counter_limits
from myisam_advisor.migrate.float_limits import rows_at_limit
from myisam_advisor.migrate.fulltext_meaning import fulltext_changes
from myisam_advisor.migrate.generated_meaning import generated_changes
from myisam_advisor.migrate.hash_prefixes import hash_prefixes
from myisam_advisor.migrate.innodb_formats import words_of_no_use
from myisam_advisor.migrate.kept_texts import kept_changes
from myisam_advisor.migrate.key_lengths import CUT_CHARACTERS, OLD_PART_BYTES, whole_texts
from myisam_advisor.migrate.misread_members import misread_changes
from myisam_advisor.migrate.odd_dates import lost_dates, rows_of
from myisam_advisor.migrate.places import moved_places
from myisam_advisor.migrate.refusals import refusals, shortened_indexes
from myisam_advisor.migrate.row_size import has_row_identity
from myisam_advisor.migrate.server_kind import INNODB
from myisam_advisor.migrate.table_spaces import tablespace_changes
from myisam_advisor.migrate.transaction_meaning import transaction_changes
from myisam_advisor.texts.lists import listed
from myisam_exporter.files import structure as types
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, quote_text, sql_list, statement

# What InnoDB makes something else of, or nobody anything.
KEPT_OPTIONS = frozenset({"KEY_BLOCK_SIZE", "AVG_ROW_LENGTH"})
# Any ALTER makes a YEAR(4) of a YEAR(2): MySQL 5.6, not 5.5, and no MariaDB (10.5 to 11.8).
WIDENS_YEARS_SINCE = ((5, 6), (100, 0))
REPAIR_FORCE_SINCE = (11, 5)
# 8.0.33 leaves empty collections out of an index and counts them all the same; 9.7 and MariaDB 10.5 to 11.8 do not. Between them nothing was tried.
MISCOUNTS_EMPTY_SHAPES = ((8, 0), (8, 4))
# What an ALTER of a table that InnoDB has already ends with, for a format that it does not have; MySQL 5.5 fails to create the copy.
INNODB_REFUSES, CANNOT_CREATE, INNODB_REFUSES_SINCE = 1478, 1005, (5, 6)
KEEPS_CONNECTIONS_SINCE = (5, 6)  # of MySQL; MariaDB 10.5 to 11.8 does, but for a table in partitions
# NEXTVAL is no part of any transaction, whichever engine keeps the row of a SEQUENCE; nothing else may change it, it has no index and takes none (error 4086).
OF_SEQUENCES = frozenset({"options-ignored", "galera-copies", "statement-log", "table-status"})


def changes(subject: Subject) -> tuple[Change, ...]:
    """All of them, those that lose something first."""
    of_engine = _TO_INNODB if subject.to == INNODB else (aria_changes,)
    found = (
        misread_changes,
        _of_rows,
        lost_dates,
        generated_changes,
        counter_limits,
        hash_prefixes,
        _short_years,
        _of_any,
        *of_engine,
    )
    told = (change for some in found for change in some(subject))
    return tuple(one for one in told if not subject.structure.sequence or one.id in OF_SEQUENCES)


def _repair(subject: Subject) -> Sql:
    """What InnoDB says of it: from MariaDB 11.5 on OK to a bare REPAIR TABLE, too, whatever the table is (11.4 does not, 11.8 does)."""
    says_so = subject.kind.is_mariadb and subject.kind.version >= REPAIR_FORCE_SINCE
    return statement("REPAIR TABLE {} FORCE;" if says_so else "REPAIR TABLE {};", subject.shown)


def _of_rows(subject: Subject) -> Iterator[Change]:
    """What fails only with certain rows: at the ALTER, or long afterwards."""
    for one in refusals(subject.structure, subject.to, subject.kind):
        if not one.may:
            continue
        if one.code == 1118:
            yield Change("full-row", f"Error 1118: {one.why}.", statement("SHOW CREATE TABLE {};", subject.table))
        elif one.code == 1292:
            shown = rows_of(subject.structure, subject.kind, subject.table)
            yield Change("zero-dates", f"Error 1292: {one.why}. {one.mend}", shown)
        elif one.code == 1264:
            shown = rows_at_limit(subject.structure, subject.table)
            yield Change("float-limit", f"Error 1264: {one.why}. {one.mend}", shown)
        elif one.code == 4025:
            yield Change("check-refused", f"Error 4025: {one.why}.", statement("SHOW CREATE TABLE {};", subject.table))
        else:
            yield Change(
                "read-only", f"Error {one.code}: {one.why}. {one.mend}", statement("SELECT @@global.read_only;")
            )


def _short_years(subject: Subject) -> Iterator[Change]:
    names = [column.name for column in subject.structure.columns if column.short_year]
    if names and subject.kind.since(*WIDENS_YEARS_SINCE):
        columns = sql_list(map(quote_identifier, names))
        yield Change(
            "short-year",
            f"YEAR(2) becomes YEAR(4), as with any ALTER: {listed(names)} shows 1970 where it showed 70, also in programs that print it. No ALTER brings YEAR(2) back.",
            statement("SELECT {} FROM {} LIMIT 10;", columns, subject.table),
        )


def _of_any(subject: Subject) -> Iterator[Change]:
    structure, present, table = subject.structure, subject.present, subject.table
    for merged in subject.merged_in:
        yield Change(
            "merge-members",
            loses_member([merged]),
            statement("SELECT COUNT(*) FROM {};", quote_table(*merged)),
            merged,
        )
    if subject.packed:
        yield Change(
            "unpacked",
            "myisampack has packed it, and it is read-only. Converted, it can be written and takes more room. The way back gives an unpacked table: run myisampack again.",
            _status(subject),
        )
    if present.galera:
        yield Change(
            "galera-copies",
            "REPLICATE_MYISAM sends statements to the other nodes, not rows: rows may differ between nodes, and the ALTER runs on each of them. Compare the nodes first."
            if present.sends_myisam
            else "Galera does not replicate MyISAM's rows: other nodes may hold empty copies, and the ALTER runs on all of them.",
            statement("CHECKSUM TABLE {};" if present.sends_myisam else "SELECT COUNT(*) FROM {};", table),
        )
    if present.group:
        yield Change(
            "group-members",
            "Members of the group may hold other rows of a MyISAM table, and the ALTER runs on all of them.",
            statement("SELECT COUNT(*) FROM {};", table),
        )
    names = [name for name, _ in structure.options]
    ignored = [
        name for name in names if (name not in KEPT_OPTIONS if subject.to == INNODB else name in IGNORED_OPTIONS)
    ]
    if ignored:
        shown = statement("CHECKSUM TABLE {} QUICK;" if "CHECKSUM" in ignored else "SHOW CREATE TABLE {};", table)
        yield Change(
            "options-ignored",
            f"The table's definition still shows {', '.join(ignored)}, without any effect.",
            shown,
        )
    if structure.connection and _drops_connection(subject):
        yield Change(
            "connection-word",
            "Its CONNECTION, which MyISAM ignores, disappears from the definition, as with any ALTER, and the way back does not restore it. "
            "Write it down if somebody reads it there.",
            statement("SHOW CREATE TABLE {};", table),
        )
    # LOAD INDEX INTO CACHE fills Aria's own cache.
    idle = "CACHE INDEX and LOAD INDEX INTO CACHE have" if subject.to == INNODB else "CACHE INDEX has"
    yield Change("key-cache", f"{idle} no effect any more: the table's index blocks leave the key cache.")


def _drops_connection(subject: Subject) -> bool:
    kind = subject.kind
    return subject.structure.partitioned if kind.is_mariadb else kind.version < KEEPS_CONNECTIONS_SINCE


def _of_reading(subject: Subject) -> Iterator[Change]:
    yield Change(
        "count-cost",
        "COUNT(*) without WHERE reads a whole index: InnoDB keeps no number of rows, as MyISAM does in the header.",
        statement("EXPLAIN SELECT COUNT(*) FROM {};", subject.table),
    )
    yield Change(
        "order",
        "Without ORDER BY, rows come in the order of the primary key or of the index in use, no longer in the order in which they were inserted. "
        "So UPDATE and DELETE with LIMIT change other rows. ALTER TABLE ... ORDER BY has no effect where there is a primary key.",
        statement("SELECT * FROM {} LIMIT 10;", subject.table),
    )
    if subject.structure.indexes:
        yield Change(
            "statistics",
            "The number of values in an index (Cardinality) is an estimate from a few pages. "
            "The server renews it by itself, not only at ANALYZE TABLE, and may choose other indexes than before.",
            statement("SHOW INDEX FROM {};", subject.table),
        )


def _of_upkeep(subject: Subject) -> Iterator[Change]:
    yield Change(
        "repair",
        "REPAIR TABLE, myisamchk and copies of the files no longer bring a table back: only backups and the server's own recovery do.",
        on_copy(subject, _repair(subject)),
    )
    yield Change(
        "maintenance",
        "OPTIMIZE TABLE copies the whole table each time, and CHECK TABLE ... FAST and CHANGED read all of it; MyISAM skips a table that has not changed. "
        "Take mysqlcheck with --optimize, --fast and --check-only-changed out of cron jobs.",
        on_copy(subject, statement("CHECK TABLE {}; CHECK TABLE {} FAST;", subject.shown, subject.shown)),
    )
    yield Change(
        "disable-keys",
        "DISABLE KEYS has no effect (a note says so): loads update every index row by row.",
        on_copy(subject, statement("ALTER TABLE {} DISABLE KEYS; SHOW WARNINGS;", subject.shown)),
    )


def _of_refused_statements(subject: Subject) -> Iterator[Change]:
    yield Change(
        "foreign-key-clauses",
        "FOREIGN KEY clauses, which MyISAM ignores without a word, take effect: the upgrade of an application that adds one may end with error 1005, 1215, 1452 or 1824, "
        "and the foreign key refuses rows that do not fit.",
    )
    if subject.kind.is_mariadb or subject.kind.version < (5, 7):
        yield Change("insert-delayed", "INSERT DELAYED and REPLACE DELAYED are refused with error 1616.")


def _of_blocks(subject: Subject) -> Iterator[Change]:
    """What becomes of long parts of indexes, and of the size of their blocks."""
    structure = subject.structure
    for index in shortened_indexes(structure, subject.to, subject.kind):
        yield Change(
            "prefix-shortened",
            f"Index {index.name} is shortened to {OLD_PART_BYTES} bytes of a column; the server only warns.",
            statement("SHOW INDEX FROM {};", subject.table),
        )
    for index, column in whole_texts(structure, subject.kind):
        if not (index.unique or subject.kind.refuses_long_parts):
            yield Change(
                "prefix-shortened",
                f"Index {index.name} is shortened to {CUT_CHARACTERS} characters of {column.name}; the server only warns. Any ALTER does so, also the way back.",
                statement("SHOW INDEX FROM {};", subject.table),
            )
    if (
        structure.option("KEY_BLOCK_SIZE")
        and structure.row_format in ("", "COMPRESSED")
        and subject.kind.takes_compressed
    ):
        yield Change(
            "compressed",
            f"KEY_BLOCK_SIZE={structure.option('KEY_BLOCK_SIZE')} set the size of MyISAM's index blocks; to InnoDB it means compressed pages.",
            _status(subject),
        )


def _of_formats(subject: Subject) -> Iterator[Change]:
    """Words that InnoDB passes over, and that the definition keeps: MySQL 8.0 and later take them out of it (tried on 5.5 to 9.7, MariaDB 10.5 and 11.8)."""
    kind, structure = subject.kind, subject.structure
    words = () if kind.strict_innodb or kind.keeps_dictionary else words_of_no_use(structure, kind)
    if not words:
        return
    code = INNODB_REFUSES if kind.is_mariadb or kind.version >= INNODB_REFUSES_SINCE else CANNOT_CREATE
    yield Change(
        "format-ignored",
        f"InnoDB ignores {listed(words)} with only a warning, as innodb_strict_mode is off, and the definition still shows it. "
        f"With innodb_strict_mode=ON, the default since MySQL 5.7 and MariaDB 10.2, a later ALTER that copies the table ends with error {code}, and OPTIMIZE TABLE may. "
        "The script resets it: ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0.",
        statement("SHOW CREATE TABLE {}; SELECT @@global.innodb_strict_mode;", subject.table),
    )


def _of_shapes(subject: Subject) -> Iterator[Change]:
    first, end = MISCOUNTS_EMPTY_SHAPES
    kind, structure = subject.kind, subject.structure
    if kind.is_mariadb or not first <= kind.version < end:
        return
    places = {part.column for index in structure.of_kind(types.SPATIAL) for part in index.parts}
    names = [quote_identifier(structure.columns[place].name) for place in sorted(places)]
    if names:
        empty = sql_list((statement("ST_IsEmpty({})", name) for name in names), " OR ")
        yield Change(
            "spatial-empty",
            "Where a row has an empty GEOMETRYCOLLECTION, CHECK TABLE says Corrupt, also after the ALTER in the script, and marks the SPATIAL index so: it has no entry "
            "for such a row. No row is lost, and what the index finds is right. MySQL 9.7 says OK.",
            statement("SELECT COUNT(*) FROM {} WHERE {};", subject.table, empty),
        )


def _of_logs(subject: Subject) -> Iterator[Change]:
    if subject.kind.refuses_logging:
        yield Change(
            "statement-log",
            "Error 1665: with binlog_format=STATEMENT every change under READ COMMITTED or READ UNCOMMITTED is refused. Set binlog_format=MIXED or ROW before the ALTER.",
            statement(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format', 'tx_isolation', 'transaction_isolation');"
            ),
        )
    if subject.present.gtid:
        yield Change(
            "gtid",
            "With enforce_gtid_consistency a transaction may now change this table together with InnoDB tables (error 1785 before). "
            "Once it has written this table, it may no longer change tables that stay MyISAM, and no statement may change both: "
            "convert tables that are written together at the same time.",
            statement("SELECT @@global.enforce_gtid_consistency;"),
        )


def _of_measures(subject: Subject) -> Iterator[Change]:
    yield Change(
        "table-status",
        f"Rows in SHOW TABLE STATUS and information_schema.TABLES is an estimate, {_update_time(subject)}, and Check_time is NULL. Monitoring and backups that rely on them "
        "need COUNT(*), or a column with the time.",
        _status(subject),
    )
    yield Change(
        "memory",
        "Its pages need room in the buffer pool; until now the key cache and the system's page cache held them.",
        statement("SELECT @@global.innodb_buffer_pool_size, @@global.key_buffer_size;"),
    )


def _of_identity(subject: Subject) -> Iterator[Change]:
    """A table whose rows nothing tells apart."""
    if has_row_identity(subject.structure):
        return
    present = subject.present
    cluster = " Group replication refuses every write to it (error 3098)." if present.group else ""
    if present.galera:
        cluster += " Galera does not support DELETE from it, as each node may have its rows in another order; with wsrep_certify_nonPK=OFF every write ends with error 1213."
    yield Change(
        "no-primary-key",
        "No primary key: InnoDB orders its rows by a hidden number that no statement can use; all such tables draw it from one counter. "
        "Replicas scan the table for each changed row."
        f"{cluster} Add a primary key before the ALTER.",
        statement("SHOW INDEX FROM {};", subject.table),
    )


def _of_defaults(subject: Subject) -> Iterator[Change]:
    """MySQL has no defaults of TEXT and BLOB but expressions, and these since 8.0.13."""
    kind = subject.kind
    if kind.is_mariadb or not any(column.text_default for column in subject.structure.columns):
        return
    mend = " Write DEFAULT ('...')." if kind.version >= (8, 0) else ""
    yield Change(
        "text-default",
        f"{kind.label} accepts no plain default of a TEXT or BLOB column (error 1101); where sql_mode is not strict, '' disappears with a warning.{mend}",
        statement("SHOW CREATE TABLE {};", subject.table),
    )


def _update_time(subject: Subject) -> str:
    """What becomes of the time of the last change."""
    return "Update_time is lost at a restart" if subject.kind.since((5, 7), (10, 2)) else "Update_time is NULL"


def _status(subject: Subject) -> Sql:
    schema, table = subject.name
    return statement("SHOW TABLE STATUS FROM {} WHERE Name = {};", quote_identifier(schema), quote_text(table))


# In the order in which they are told.
_TO_INNODB = (
    _of_identity,
    _of_reading,
    transaction_changes,
    _of_upkeep,
    counter_changes,
    _of_refused_statements,
    fulltext_changes,
    kept_changes,
    moved_places,
    tablespace_changes,
    _of_blocks,
    _of_formats,
    _of_shapes,
    _of_logs,
    _of_defaults,
    _of_measures,
)
