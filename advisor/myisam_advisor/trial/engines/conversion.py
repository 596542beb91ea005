"""One table to another engine: how long the ALTER takes, what it says, how large the files become, and whether the rows are the same."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace

from myisam_advisor.catalogue.copy_work import copy_work
from myisam_advisor.errors import TrialError
from myisam_advisor.remedies.engine_change import INNODB, engine_change
from myisam_advisor.trial.engines.result import Conversion, Refusal
from myisam_advisor.trial.engines.settings import MYISAM
from myisam_advisor.trial.engines.stage import EngineServer, Rows, error_words, named, server_error, text_of
from myisam_advisor.trial.private.full_disks import full, says_full
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source, header_of
from myisam_exporter.files.fulltext_pages import sample_open_words

MOST_WARNINGS = 5
# CR_SERVER_GONE_ERROR, CR_SERVER_LOST: the server died of it.
GONE = (2006, 2013)
# ER_RECORD_FILE_FULL: of InnoDB the disk is, of MyISAM and Aria the table's pointers may be.
FULL = 1114


def as_it_is(table: Source, to: str, rows: Rows) -> Conversion:
    """What is known of the table before it is converted."""
    index = table.file(INDEX)
    header = header_of(table.label, index.descriptor)
    data_bytes, index_bytes = table.file(DATA).counted_bytes, index.counted_bytes
    held_bytes = max(data_bytes - header.free_bytes, 0)
    words = sample_open_words(index.descriptor, index_bytes)
    work = copy_work(
        header.definition, rows.count, held_bytes, index_bytes, never_sorted=header.not_analyzed, words=words
    )
    return Conversion(
        table.schema, table.table, MYISAM, to, rows.count, header.row_format, len(header.definition.keys or ()), data_bytes + index_bytes,
        data_bytes, index_bytes, work=work,
    )  # fmt: skip


def converted(one: EngineServer, table: Source, before: Rows) -> Conversion:
    """Convert it there, and measure. An ALTER that fails is told, with the server's own words."""
    known = as_it_is(table, one.engine, before)
    others = one.folder_bytes(table) - known.bytes_before
    try:
        seconds, warnings = _altered(one, table)
    except server_error() as error:
        number, message = error_words(error)
        if says_full(message) or (one.engine == INNODB and number == FULL):
            # Of the trial's own disk: it says nothing of the table.
            raise TrialError(full(tempfile.gettempdir())) from error
        if number in GONE:
            one.start_again()
            message = f"{message}; the server died, and was started again"
        return replace(known, error=Refusal(number, message))
    after = one.rows(table)
    return replace(
        known,
        seconds=seconds,
        warnings=warnings,
        bytes_after=max(one.folder_bytes(table) - others, 0),
        checksum_equal=after == before,
    )


def _altered(one: EngineServer, table: Source) -> tuple[float, tuple[str, ...]]:
    with one.server.session() as connection:
        cursor = connection.cursor()
        began = time.monotonic()
        cursor.execute(str(engine_change(named(table), one.engine)))
        seconds = time.monotonic() - began
        cursor.execute(f"SHOW WARNINGS LIMIT {MOST_WARNINGS}")
        return seconds, tuple(f"{text_of(row[2])} ({text_of(row[1])})" for row in cursor.fetchall())
