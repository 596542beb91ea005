"""What AUTO_INCREMENT means otherwise in InnoDB: which numbers come, what becomes of a counter that is full, and which numbers no copy takes.

Sources: MySQL manual, "AUTO_INCREMENT Handling in InnoDB"; sql/handler.cc (handler::update_auto_increment: MySQL stores the number that the engine
gives, MariaDB refuses one beyond the column), ha_innobase::get_auto_increment (no further than the column's largest), ha_myisam::get_auto_increment.
All are shown on real servers in tests/servers/test_migrate_traps.py and test_migrate_meanings.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column
from myisam_exporter.server.sql import quote_identifier, statement

BIGINT_BYTES = 8
FRACTIONS = frozenset({types.FLOAT, types.DOUBLE})
# A number of DOUBLE is made a BIGINT of to count on behind it: MariaDB 10.5 to 11.8 refuse those above the one, MySQL 5.5 to 8.0 those from the other on
# (8.0 all of them, 5.5 and 5.6 from 2 ** 63 on). MySQL 9.7 has no such column.
MARIADB_LIMIT, MYSQL_LIMIT = 2**63, 2**63 - 1024


def counter_limits(subject: Subject) -> Iterator[Change]:
    """Numbers of a DOUBLE that stop any copy, to Aria and to MyISAM too, where sql_mode is strict."""
    kind = subject.kind
    names = [one.name for one in subject.structure.columns if one.auto_increment and one.type == types.DOUBLE]
    if not names or not kind.strict:
        return
    name = quote_identifier(names[0])
    beyond = statement("> {}", MARIADB_LIMIT) if kind.is_mariadb else statement(">= {}", MYSQL_LIMIT)
    yield Change(
        "counter-beyond",
        f"Error {1916 if kind.is_mariadb else 1292}: a number in {names[0]} that no BIGINT holds stops the copy, as AUTO_INCREMENT continues after it. "
        "Without a strict sql_mode the copy keeps such rows as they are.",
        statement("SELECT COUNT(*) FROM {} WHERE ABS({}) {};", subject.table, name, beyond),
    )


def counter_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that goes to InnoDB."""
    counter = next((column for column in subject.structure.columns if column.auto_increment), None)
    if counter is None:
        return
    shown = statement("SHOW CREATE TABLE {};", subject.table)
    if not subject.kind.since((8, 0), (10, 2)):
        yield Change(
            "counter-after-restart",
            "After a restart AUTO_INCREMENT continues after the highest number that is left: numbers of deleted rows are given out again.",
            shown,
        )
        yield Change(
            "counter-update",
            "An UPDATE that sets a number above the counter does not move the counter: a later INSERT ends with error 1062, once the counter gets there.",
            shown,
        )
    yield Change(
        "counter-gaps",
        "INSERT IGNORE, ON DUPLICATE KEY UPDATE, INSERT ... SELECT, a failed INSERT and ROLLBACK use up numbers of AUTO_INCREMENT: gaps appear, "
        "and a small column reaches its end sooner.",
        shown,
    )
    if _gives_the_last_again(subject, counter):
        yield Change(
            "counter-full",
            "A counter at its end gives its last number again; MyISAM refuses every INSERT then (error 1264). INSERT ends with error 1062, ON DUPLICATE KEY UPDATE "
            "changes the row that has the number, and without a unique index on the column several rows get it. A counter at its end before the ALTER gives none (error 1467). "
            "Make the column wider in time.",
            statement("SELECT MAX({}) FROM {};", quote_identifier(counter.name), subject.table),
        )


def _gives_the_last_again(subject: Subject, counter: Column) -> bool:
    """MySQL alone (5.5, 5.6, 8.0 and 9.7 tried), where sql_mode is strict: else MyISAM does so, too. Of BIGINT UNSIGNED both refuse it (1467); fractions have no end."""
    is_widest = counter.unsigned and counter.maximum_bytes == BIGINT_BYTES
    return not subject.kind.is_mariadb and subject.kind.strict and not is_widest and counter.type not in FRACTIONS
