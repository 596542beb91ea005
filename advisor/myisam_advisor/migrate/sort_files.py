"""MariaDB's copy to InnoDB in files of tmpdir: with innodb_alter_copy_bulk it sorts rows and indexes there before it writes a page.

Measured on MariaDB 10.11.19, 11.4.5 and 11.8.9 with eight tables of 4 to 54 MiB: from 0.7 to 1.8 times what the table becomes (SORT_FILES), and nothing where its rows and indexes
fit innodb_sort_buffer_size, or an index is kept by a hash. 10.5 and MySQL take none. innodb_tmpdir is not asked. Where there is no room 10.11 and 11.8 end
the ALTER with error 1296, and the whole of 11.4.5 by SIGABRT.
"""

from __future__ import annotations

from collections.abc import Iterator

from myisam_advisor.catalogue.innodb_pages import sort_file_bytes
from myisam_advisor.migrate.change import Change
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.sizes import Range
from myisam_advisor.migrate.times import Machine
from myisam_advisor.remedies.engine_change import UNSORTED_COPIES
from myisam_advisor.texts.templates import size
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Structure
from myisam_exporter.server.sql import statement

TEMPORARY_FULL = "tmpdir-full"
ENDS_SO = "error 1296 (Temp file write failure); the whole of MariaDB 11.4.5 ended by it"


def sort_files(
    structure: Structure, to: str, here: ServerKind, machine: Machine, after: Range | None
) -> Iterator[Change]:
    """That tmpdir may have no room for them; `after` is between which sizes the table will be."""
    free = machine.temporary_free_bytes
    if to != INNODB or not here.sorts_copies or after is None or free is None or structure.of_kind(types.LONG_UNIQUE):
        return
    most = sort_file_bytes(after[1])
    if most > free:
        yield Change(
            TEMPORARY_FULL,
            f"The copy is sorted in files of tmpdir, which take up to {size(most)}, and {size(free)} are free there: it ends with {ENDS_SO}. "
            f"{UNSORTED_COPIES} needs no such files.",
            statement("SELECT @@global.tmpdir, @@global.innodb_alter_copy_bulk;"),
        )
