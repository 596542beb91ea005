"""What statements mean otherwise once the table is of Aria, as the script makes it: ROW_FORMAT=PAGE, TRANSACTIONAL=1.

Sources: MariaDB's "Aria Storage Engine", "INSERT DELAYED"; storage/maria/ha_maria.cc (ha_maria::open: what a transactional table can do;
ha_maria_init: no savepoint_set; external_lock: a statement's end is its commit), ma_locking.c (DELAY_KEY_WRITE). Shown on real servers in
tests/servers/test_migrate_traps.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.aria_pages import HEAD_FREE
from myisam_advisor.migrate.change import Change, Subject, filled, on_copy
from myisam_advisor.migrate.row_size import stored
from myisam_exporter.server.sql import quote_identifier, quote_text, statement

# What Aria makes nothing of where it keeps a log. PACK_KEYS, CHECKSUM, MAX_ROWS and MIN_ROWS count as in MyISAM (ha_maria::create).
IGNORED_OPTIONS = frozenset({"DELAY_KEY_WRITE"})
# Rows no longer than that fill one page after the other (tried with 780 and 900).
ANY_PAGE_BYTES = HEAD_FREE[-1]


def aria_changes(subject: Subject) -> Iterator[Change]:
    """Of a table that goes to Aria."""
    table = subject.table
    yield from _unsafe(subject)
    if sum(column.maximum_bytes for column in subject.structure.columns) > ANY_PAGE_BYTES:
        yield Change(
            "aria-order",
            f"Without ORDER BY a row of more than {ANY_PAGE_BYTES} bytes may come after later ones: each row goes to the fullest page that has room for it.",
            statement("SELECT * FROM {} LIMIT 10;", table),
        )
    yield Change(
        "aria-rollback",
        "ROLLBACK undoes nothing in Aria, as in MyISAM. Crash-safe means only that no statement is half done after a crash.",
        on_copy(
            subject,
            statement(
                "START TRANSACTION; {} LIMIT 1; ROLLBACK; SELECT COUNT(*) FROM {};", filled(subject), subject.shown
            ),
        ),
    )
    yield Change(
        "aria-savepoint",
        "In a transaction that has used the table, SAVEPOINT ends with error 1178; MyISAM ignores it. With TRANSACTIONAL=0 Aria ignores it, too, and is not safe against crashes.",
        statement("START TRANSACTION; SELECT 1 FROM {} LIMIT 1; SAVEPOINT shown; ROLLBACK;", table),
    )
    yield Change(
        "aria-commit",
        "Each statement that writes waits until Aria's log is on disk (TRANSACTIONAL=1), also within a transaction: write many rows with one statement, or under LOCK TABLES. "
        "TRANSACTIONAL=0 does not wait, and is not safe against crashes.",
        statement("SHOW GLOBAL STATUS LIKE 'Aria_transaction_log_syncs';"),
    )
    yield Change("insert-delayed", "INSERT DELAYED and REPLACE DELAYED are refused with error 1616.")
    yield Change(
        "aria-memory",
        "Its pages, rows included, need room in aria_pagecache_buffer_size; the key cache holds none of them.",
        statement("SELECT @@global.aria_pagecache_buffer_size, @@global.key_buffer_size;"),
    )


def _unsafe(subject: Subject) -> Iterator[Change]:
    """Of a format of MyISAM's. maria_create makes PAGE of FIXED where a value is a BLOB, after ha_maria::create has decided that there is no log (tried on 10.5 to 11.8)."""
    asked = subject.structure.row_format
    if asked not in ("FIXED", "DYNAMIC"):
        return
    shown_as_page = asked == "FIXED" and any(column.is_blob for column in stored(subject.structure))
    so_shown = " SHOW CREATE TABLE says PAGE already, as rows with TEXT or BLOB have no other." if shown_as_page else ""
    schema, name = subject.name
    yield Change(
        "aria-not-crash-safe",
        f"The table keeps ROW_FORMAT={asked}: it is not safe against crashes (transactional=0) until an ALTER sets ROW_FORMAT=PAGE.{so_shown}",
        statement("SHOW TABLE STATUS FROM {} WHERE Name = {};", quote_identifier(schema), quote_text(name)),
    )
