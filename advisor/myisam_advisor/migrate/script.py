"""The migration as a script that a person reviews: batches with checks before and after each, the way back, how to go on after a stop.

It applies nothing by itself. A statement that not every client reads alike stands in comments (remedies/script.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from myisam_advisor.migrate.change import Change, told_together
from myisam_advisor.migrate.cluster import beside_the_cluster, of_the_cluster
from myisam_advisor.migrate.limits import DISK_FULL
from myisam_advisor.migrate.misread_members import MISREAD
from myisam_advisor.migrate.online import beside_writers
from myisam_advisor.migrate.places import NOT_GIVEN_BACK
from myisam_advisor.migrate.prediction import Migration, Prediction
from myisam_advisor.migrate.replication import of_replication
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.sort_files import ENDS_SO, TEMPORARY_FULL
from myisam_advisor.migrate.unchanged import (
    ALIKE,
    forgets,
    lost_its_name,
    moved_on,
    no_merge_lost,
    open_merges,
    stops_as_lost,
    writes_again,
)
from myisam_advisor.migrate.way_back import back, without_comment
from myisam_advisor.remedies.engine_change import UNSORTED_COPIES, SummedColumn, engine_change, sum_of_values
from myisam_advisor.remedies.script import NOT_RUN, in_comments, in_prose, is_plain, offered, offered_in_prose
from myisam_advisor.texts.templates import count, duration, object_name, sentence, size
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, statement

# What a killed server left of a copy it takes away when it starts, or comes to the end of it: MariaDB 10.11 and 11.8. MySQL 8.0 and 9.7 keep one that was whole.
CLEARS_COPIES_SINCE = ((100, 0), (10, 6))
BATCH_TABLES, BATCH_BYTES = 20, 10 << 30
LARGE_BYTES = 1 << 30
# What is to be looked at before the ALTER: it may stop it, or an INSERT long afterwards.
TO_LOOK_AT = frozenset({
    "zero-dates", "full-row", "check-refused", "prefix-shortened", "dates-lost", "generated-refused", "document-numbers", "row-beyond-log",
    "foreign-key-alive", "float-limit", "counter-beyond", "hash-prefix", "default-lost",
})  # fmt: skip
# Why an ALTER stands in comments, and what is to be done first.
HELD = {
    "merge-members": "Make a view of the members first, with UNION ALL.",
    DISK_FULL: "Make room first.",
    TEMPORARY_FULL: "Make room there, or set that, and make this script again.",
    MISREAD: "Make this script again then.",
    "read-only": "Run here, it would leave a transaction that the source does not have.",
}
# Two rows for one value where they differ: error 1242, at which a client stops. No server needs a routine for that. In brackets, as HIGH_NOT_PRECEDENCE
# has NOT before IS: numbers that are not there would be alike.
STOPS = statement("SELECT (SELECT 1 UNION ALL SELECT 2 FROM DUAL WHERE NOT ({})) AS same_rows_and_values;", ALIKE)
# MyISAM's writes do so, whatever the server; a KILL of them ended MySQL 8.0 and 9.7 by SIGSEGV each time (docs/decisions/037-migrations-from-files.md).
WAITS_FOR_ROOM = "On a full disk the way back ends with no error, and waits: make room."
ENDS_THE_SERVER = "Until there is room end it neither by KILL nor by Ctrl-C: the whole server ends by that (MySQL 8.0 and 9.7). The table stays as it was."
SORTS_IN_FILES = f"The copy is sorted in files of tmpdir, not of innodb_tmpdir: where that has no room it ends with {ENDS_SO}. {UNSORTED_COPIES} needs none."
# MySQL 5.6 and MariaDB 10.5, killed while an ALTER made them; MySQL 5.6 also where the disk was full then (error 1114). The next ALTER's table has the number
# of the one that is gone.
KEPT_WORDS = """\
Of a table with FULLTEXT indexes files FTS_...ibd may be left there, too, by a server that was killed, and by an ALTER that failed. What SELECT NAME FROM \
information_schema.INNODB_SYS_TABLES; does not name, as DATABASE/FTS_..., is no table's: remove it before anything else. As long as it is there the next ALTER \
of such a table may end with error 1005 (MariaDB 10.5), or the whole server with it (MySQL 5.6); DROP DATABASE ends with error 1010.
Where MySQL 5.6 does not start behind that (could not open single-table tablespace file ./DATABASE/FTS_...), start it once with innodb_force_recovery=1, \
stop it, start it without, and remove them then."""
# information_schema has no members, and LOAD_FILE no file that is not everybody's to read.
OF_MERGES = """\
ALTER TABLE ... UNION of a MERGE table that is there by now is seen behind the ALTER of its new member alone (error 1231): until the statement at Back \
has run, the MERGE table opens for nobody. Where one got further members, make this script again."""
OF_MANY_MERGES = "ALTER TABLE ... UNION of a MERGE table that is there by now is not seen, as there are many: where one got further members, make this script again."
# MySQL 8.0 and later would answer from yesterday.
ASKS_AGAIN = statement("SET SESSION information_schema_stats_expiry = 0;")
# By the error, which is what somebody has who looks here.
HOW_IT_STOPS = """\
Each ALTER locks its table against writes until it is done; nothing of it shows before, and one that is stopped leaves the old table whole. \
CHECK TABLE and the counts read the whole table, and keep writers waiting before the ALTER, too: the times below are those of the ALTERs alone.

Where it stops, and why:
  145   The first CHECK TABLE of the table said Corrupt. Repair it. What a repair drops is not among the rows that are compared.
  1205  A statement or transaction had the table for a minute. Whoever comes to the table waits behind it: see that none runs for long (SHOW PROCESSLIST).
  1231  The table has not the engine, columns, indexes, ROW_FORMAT and KEY_BLOCK_SIZE that it had when this was made, its rows could not be counted, or those \
of a table above differed: the error says which. Until then the session may not write: a client that goes on gets error 1792 for the ALTER.
  1242  Rows or values behind the ALTER are not those before. If nobody wrote meanwhile, the ALTER changed them: the statement at Back gives the engine \
back, and only the backup the values.
To go on, make the script again, and keep this one: the new one holds only what is still MyISAM, and the ways back of the rest stand here. Run a second \
time, this one stops at the first table that it converted.

A client that is killed leaves its ALTER running on the server: wait until SHOW PROCESSLIST has it no more. What it did then, nobody compared. \
Ctrl-C between two statements, or in a CHECK TABLE, stops nothing: see that the client is gone."""
# An ALTER that waits for a long transaction has all who come to the table after it wait, by default for a day (MariaDB) or a year (MySQL). What
# `mysql --safe-updates` and a server's max_join_size end (error 1104) is the counting, of a table that is converted already too.
# Where InnoDB was switched off or forbidden since, the ALTER ended without an error, and the table stayed as it was (MySQL 8.0).
OF_THE_SESSION = statement(
    "SET @differed = NULL, @rows_before = NULL, SESSION lock_wait_timeout = 60, SESSION sql_big_selects = ON, SESSION sql_mode = CONCAT(@@sql_mode, ',NO_ENGINE_SUBSTITUTION');"
)
# What not every server gives a CRC32 of as it stands: it is taken of the hexadecimal digits. 242 is VECTOR in MySQL 9.
NEEDS_HEX = frozenset({types.GEOMETRY, types.BIT, 242})


def alter(one: Prediction) -> Sql:
    """The statement that converts the table."""
    return engine_change(quote_table(*one.name), one.to)


def values_sum(columns: Iterable[Column]) -> Sql:
    """A number that both engines compute alike from the rows. Generated columns follow from others."""
    return sum_of_values(
        SummedColumn(column.name, column.nullable, column.type in NEEDS_HEX, column.short_year)
        for column in columns
        if not column.generated
    )


def runs(one: Prediction) -> bool:
    """Whether the script's own statement succeeds: it leaves out options that the bare one is refused for."""
    return not one.script_errors


def tables_of(number: int) -> str:
    """So many tables, in words."""
    return "1 table" if number == 1 else f"{count(number)} tables"


def as_script(migration: Migration) -> str:
    """The whole script."""
    by_name = {one.name: one for one in migration.predictions}
    ordered = [by_name[name] for name in migration.order]
    ready = [one for one in ordered if runs(one)]
    return "\n".join(
        [
            *_head(migration, ready),
            *_batches(ready, migration),
            *_end(ready, migration),
            *_not_run(one for one in ordered if not runs(one)),
            *_left_out(migration),
            "",
        ]
    )


def _head(migration: Migration, ready: Sequence[Prediction]) -> Iterator[str]:
    # Names are written in UTF-8, whatever the client takes for granted.
    yield "SET NAMES utf8mb4;"
    yield from _without_an_end(migration.here)
    yield OF_THE_SESSION
    yield in_prose(
        f"{tables_of(len(ready))} of MyISAM to {migration.to} on {migration.here.label}. Review it, take a backup, and run it batch by batch:\n"
        "mysql < FILE, without --force; SOURCE goes on behind errors. The settings above are of the session: run them first in each one.\n"
        f"{HOW_IT_STOPS}"
    )
    yield from _of_merges(migration)
    yield in_prose(WAITS_FOR_ROOM)
    if migration.here.keeps_dictionary:
        yield in_prose(ENDS_THE_SERVER)
    if migration.to == INNODB and migration.here.sorts_copies:
        yield in_prose(SORTS_IN_FILES)
    if migration.to == INNODB:
        yield from map(in_prose, _kept_copies(migration.here, ready))
    for name, why in migration.killed:
        yield offered_in_prose(f"{name}: {why}")
    if migration.killed:
        yield in_prose("As long as such a file is there, this script stops here: make it again then.")
        yield stops_as_lost(migration.here)
    if migration.dump_needed:
        yield in_prose(migration.dump_needed)
    if migration.foreign_keys_unknown:
        yield in_prose(foreign_keys_unknown(migration))
    if migration.here.clustered:
        yield in_prose(of_the_cluster(migration.here, migration.to))
    yield from map(in_prose, of_replication(migration.here, is_replica=migration.is_replica))
    if any(one.changes for one in ready):
        yield in_prose("Which statements behave differently afterwards: myisam-advisor migrate, without --format sql.")


def _of_merges(migration: Migration) -> Iterator[str]:
    """What is said and set where there are MERGE tables."""
    if migration.merges:
        asked = open_merges(migration.merges)
        yield in_prose(OF_MERGES if asked else OF_MANY_MERGES)
        if asked and migration.here.keeps_dictionary:
            yield ASKS_AGAIN


def _kept_copies(here: ServerKind, ready: Sequence[Prediction]) -> Iterator[str]:
    """What is said of the copy that a killed server keeps when it starts again."""
    if here.since(*CLEARS_COPIES_SINCE):
        return
    which = "A server that is killed within an ALTER may keep its copy when it starts again: "
    if here.keeps_dictionary:
        kept = (
            "a file #sql-...ibd in the database's directory, on "
            "the way back #sql-...MYD and .MYI. DROP TABLE `DATABASE`.`#sql-...` takes it away, with the name as it stands there, without its ending. "
            "Where a table whose file .ibd is there ends with error 1812 then, start the server once more, and drop nothing before."
        )
    else:
        kept = (
            "files #sql-...frm and .ibd in the database's directory. "
            "DROP TABLE `DATABASE`.`#mysql50##sql-...` takes away what the server knows of them, with the name as it stands there, without its ending. "
            "What is still there behind it, with error 1051 or without, it knows nothing of: remove that."
        )
    beside = "#sql2-... or #sql-backup-..."
    yield (
        f"{which}{kept} Not where a file {beside} lies there: that is a table which has lost its name, and may be all that is left of it. Make the script again "
        "before anything else: it says how the table gets its name back."
    )
    if not here.keeps_dictionary and any(one.structure.of_kind(types.FULLTEXT) for one in ready):
        yield KEPT_WORDS


def foreign_keys_unknown(migration: Migration) -> str:
    """What is said where nobody knows which InnoDB tables refer to these."""
    return f"Whether foreign keys of InnoDB tables refer to these is not known: {migration.foreign_keys_unknown}. One that does not fit stops the ALTER."


def _without_an_end(here: ServerKind) -> Iterator[str]:
    """What keeps the server from ending long statements: all of MariaDB's (error 1969), SELECTs of MySQL's (3024); those that copy (1845); and questions (1114)."""
    if here.is_mariadb and here.version >= (10, 1):
        yield "SET SESSION max_statement_time = 0;"
    elif not here.is_mariadb and here.statement_seconds:
        yield "SET SESSION max_execution_time = 0;"
    if here.refused_algorithm:
        # = DEFAULT would be the global one again.
        yield "SET SESSION alter_algorithm = COPY;"
    if here.limits_questions:
        yield "SET SESSION tmp_disk_table_size = 18446744073709551615;"


def _batches(ready: Sequence[Prediction], migration: Migration) -> Iterator[str]:
    batches = list(batched(ready))
    for number, batch in enumerate(batches, 1):
        room = sum(one.bytes_after[1] for one in batch if one.bytes_after)
        yield ""
        yield in_prose(
            f"Batch {number} of {len(batches)}: {tables_of(len(batch))}, {_lasting(batch)}; up to {size(room)} of disk while it runs."
        )
        if migration.here.logs_changes and not migration.here.clustered:
            yield from _in_use(batch[0].name[0])
        asked = lost_its_name() if migration.killed else moved_on(migration.merges, migration.here)
        yield asked if any(_stands(one, migration) for one in batch) else offered(asked)
        for one in batch:
            yield from _table(one, migration)


def _in_use(schema: str) -> Iterator[str]:
    """The batch's database as that in use: filters of replication go by it, and not by the table's.

    Tried with binlog_do_db: MariaDB 10.11 and 11.8 log no ALTER of a client that uses none, MySQL 5.6, 8.0 and 9.7 do.
    """
    line = statement("USE {};", quote_identifier(schema))
    yield line if is_plain(line) else offered(line)


def _end(ready: Sequence[Prediction], migration: Migration) -> Iterator[str]:
    again = writes_again(migration.here)
    if again and any(_stands(one, migration) for one in ready):
        yield ""
        yield again


def _lasting(batch: Sequence[Prediction]) -> str:
    """How long a batch lasts; of some tables only the least time is known."""
    known = [one.lasting for one in batch if one.lasting]
    if not known:
        return "for how long is not known"
    least = duration(sum(one.least for one in known))
    most = [one.most for one in known if one.most is not None]
    if len(most) < len(batch):
        return f"at least {least}: of some the most is not known"
    return f"{least} to {duration(sum(most))}"


def batched(ready: Sequence[Prediction]) -> Iterator[list[Prediction]]:
    """Tables of one database, not too many and not too large together."""
    batch: list[Prediction] = []
    total = 0.0
    for one in ready:
        bytes_here = one.bytes_after[1] if one.bytes_after else 0.0
        if batch and (
            len(batch) >= BATCH_TABLES or total + bytes_here > BATCH_BYTES or batch[-1].name[0] != one.name[0]
        ):
            yield batch
            batch, total = [], 0.0
        batch.append(one)
        total += bytes_here
    if batch:
        yield batch


def _stands(one: Prediction, migration: Migration) -> bool:
    """Whether its statements run as they stand, and are no comments."""
    return not (migration.here.clustered or _held(one)) and all(map(is_plain, _statements(one, migration)))


def _held(one: Prediction) -> list[Change]:
    return [change for change in one.changes if change.id in HELD]


def _statements(one: Prediction, migration: Migration) -> list[Sql]:
    table = quote_table(*one.name)
    total = values_sum(one.structure.columns)
    asked = open_merges(migration.merges)
    lost = no_merge_lost(one.name, migration.merges, migration.here) if asked else ()
    return [
        forgets(migration.here),
        statement("CHECK TABLE {};", table),
        statement("SELECT COUNT(*), {} INTO @rows_before, @values_before FROM {};", total, table),
        one.unchanged,
        *([asked] if asked else ()),
        alter(one),
        *lost,
        statement("SELECT COUNT(*), {} INTO @rows_after, @values_after FROM {};", total, table),
        STOPS,
        statement("CHECK TABLE {};", table),
    ]


def _table(one: Prediction, migration: Migration) -> Iterator[str]:
    yield ""
    yield in_comments(object_name(*one.name))
    lines = _statements(one, migration)
    for change in one.changes:
        if change.id in TO_LOOK_AT:
            yield offered_in_prose(f"{change.what} Look first:")
            yield offered(change.statement)
    for error in one.target_script_errors:
        yield offered_in_prose(f"{migration.on_target(error)} {error.mend}")
    if not _stands(one, migration):
        clustered = migration.here.clustered
        # Of a secondary the cluster's words say where: never on it.
        for change in (held for held in told_together(_held(one)) if not (clustered and held.id == "read-only")):
            yield in_prose(f"Not run as it stands: {change.what} {HELD[change.id]}")
        if clustered:
            yield in_prose("Not run as it stands: each node would run it on its own rows.")
            if migration.here.sends_myisam:
                yield offered(statement("CHECKSUM TABLE {};", quote_table(*one.name)))
        if not all(map(is_plain, lines)):
            yield in_prose(NOT_RUN)
        yield offered("\n".join(lines))
    else:
        yield "\n".join(lines)
    yield from _beside(one, migration)


def _beside(one: Prediction, migration: Migration) -> Iterator[str]:
    """What stands below the ALTER: another way where it must not run, the way back, and what copies beside writers."""
    if migration.here.clustered:
        if beside := "\n".join(beside_the_cluster(one.name, one.to, migration.here)):
            yield offered(beside)
        return
    yield offered(f"Back: {' '.join(back(one))}")
    for change in one.changes:
        if change.id in NOT_GIVEN_BACK:
            yield in_prose(f"Not given back by it: {change.what}")
    for index in without_comment(one):
        yield in_prose(f"Not given back by it: the comment of index {index.name}.")
    if any(change.id == "unpacked" for change in one.changes):
        yield in_prose("It was packed: that gives it unpacked; then FLUSH TABLES, myisampack and myisamchk -rq.")
    if one.to == INNODB and one.contents and one.contents.total_bytes >= LARGE_BYTES:
        yield in_comments("\n".join(beside_writers(one, migration.here)))


def _not_run(failing: Iterable[Prediction]) -> Iterator[str]:
    for one in failing:
        errors = "\n".join(f"{error.label}: {error.why}. {error.mend}" for error in one.script_errors)
        yield ""
        yield offered_in_prose(f"{object_name(*one.name)} would fail, and is left out:\n{errors}")


def _left_out(migration: Migration) -> Iterator[str]:
    for name, why in migration.left_out:
        yield ""
        yield offered_in_prose(f"Nothing is done to {sentence(f'{name}: {why}')}")
