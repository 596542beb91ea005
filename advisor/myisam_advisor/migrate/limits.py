"""What a copy runs into on this machine, however the table is made: the disk is full, or the time for a statement is over."""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.migrate.change import Change
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.sizes import Range
from myisam_advisor.migrate.sort_files import sort_files
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Lasting, Machine
from myisam_advisor.texts.templates import duration, size
from myisam_exporter.server.sql import statement

DISK_FULL = "disk-full"
IN_ONE_FILE = (
    "With innodb_file_per_table=OFF it goes into ibdata1, which never shrinks: the way back gives no room back."
)


def limits(
    table: FoundTable, to: str, here: ServerKind, machine: Machine, after: Range | None, lasts: Lasting | None
) -> Iterator[Change]:
    """All of them; `after` is between which sizes the table will be."""
    free = machine.own_disks.get(table.name[0], machine.disk_free_bytes)
    if after is not None and free is not None and after[0] > free:
        yield Change(
            DISK_FULL,
            f"The copy takes {size(after[0])} or more beside the old files, and the disk has {size(free)} free: the ALTER stops there, or waits for room.",
            statement("SELECT @@global.datadir;"),
        )
    yield from sort_files(table.structure, to, here, machine, after)
    if to == INNODB and not here.file_per_table:
        yield Change("shared-file", IN_ONE_FILE, statement("SELECT @@global.innodb_file_per_table;"))
    seconds = here.statement_seconds
    if here.is_mariadb and seconds and (lasts is None or lasts.most is None or lasts.most > seconds):
        yield Change(
            "statement-time",
            f"max_statement_time is {duration(seconds)}: an ALTER that lasts longer ends with error 1969. The script sets it to 0 for itself.",
            statement("SELECT @@global.max_statement_time;"),
        )
