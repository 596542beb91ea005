"""What transactions, and statements that end half done, mean otherwise in InnoDB: what stays, what others see and wait for.

Sources: MySQL manual, "Converting Tables from MyISAM to InnoDB", "InnoDB Locking and Transaction Model", "Server SQL Modes" (STRICT_TRANS_TABLES). All are
shown on real servers in tests/servers/test_migrate_traps.py and test_migrate_meanings.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change, Subject, filled, on_copy
from myisam_exporter.server.sql import statement


def transaction_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that goes to InnoDB."""
    yield Change(
        "rollback",
        "Changes in a transaction are not final at once: ROLLBACK, or a connection that ends without COMMIT, undoes them.",
        on_copy(
            subject,
            statement(
                "START TRANSACTION; {} LIMIT 1; ROLLBACK; SELECT COUNT(*) FROM {};", filled(subject), subject.shown
            ),
        ),
    )
    yield from _of_several_rows(subject)
    yield from _of_others(subject)


def _of_several_rows(subject: Subject) -> Iterator[Change]:
    shown = on_copy(
        subject,
        statement(
            "{} JOIN (SELECT 1 UNION SELECT 2) AS n LIMIT 2; SELECT COUNT(*) FROM {};",
            filled(subject),
            subject.shown,
        ),
    )
    fails = any(index.unique for index in subject.structure.indexes)
    yield Change(
        "half-done",
        "An INSERT, UPDATE or DELETE of several rows that fails at one of them (also in a trigger), or is killed, changes no row; MyISAM kept the changes before it.",
        # The copy of a table with words has no unique key either.
        shown if fails and not subject.has_words else statement(""),
    )
    if subject.kind.strict_at_first_row:
        yield Change(
            "strict-rows",
            "With STRICT_TRANS_TABLES a wrong value in any row ends an INSERT of several rows (errors 1048, 1264, 1265, 1292, 1366, 1406), and no row is stored. "
            "MyISAM refuses it in the first row only; in later rows it stores an adjusted value, with a warning.",
            statement("SELECT @@global.sql_mode;"),
        )


def _of_others(subject: Subject) -> Iterator[Change]:
    """What other connections see and wait for."""
    table = subject.table
    yield Change(
        "repeatable-read",
        "A transaction keeps reading what was there at its first SELECT (REPEATABLE READ); MyISAM showed others' rows at once. "
        "With autocommit off, COMMIT before you look for new rows.",
        statement(
            "START TRANSACTION; SELECT COUNT(*) FROM {}; DO SLEEP(10); SELECT COUNT(*) FROM {}; COMMIT;", table, table
        ),
    )
    yield Change(
        "lock-waits",
        "Rows that a transaction changed, or read by SELECT ... FOR UPDATE or INSERT ... SELECT, stay locked until its COMMIT; without a fitting index, every row of the table. "
        "Others wait (innodb_lock_wait_timeout, 50 seconds by default), then get error 1205, which undoes only that statement, or at once error 1213 (deadlock), which undoes "
        "the whole transaction. Programs must then ROLLBACK and repeat the transaction.",
        statement("SELECT @@global.innodb_lock_wait_timeout;"),
    )
    yield Change(
        "gap-locks",
        "Under REPEATABLE READ and SERIALIZABLE a transaction also locks the gaps between rows where its UPDATE, DELETE or SELECT ... FOR UPDATE looked: "
        "an INSERT there waits (error 1205). Two that look for a missing row and then insert it end with error 1213: use INSERT ... ON DUPLICATE KEY UPDATE, or READ COMMITTED.",
        statement("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation');"),
    )
    yield Change(
        "lock-tables",
        "LOCK TABLES ... READ LOCAL stops inserts, too (mysqldump: --single-transaction). LOCK TABLES commits the open transaction, and START TRANSACTION releases the locks.",
        on_copy(
            subject,
            statement(
                "START TRANSACTION; {} LIMIT 1; LOCK TABLES {} WRITE; ROLLBACK; SELECT COUNT(*) FROM {}; UNLOCK TABLES;",
                filled(subject),
                subject.shown,
                subject.shown,
            ),
        ),
    )
