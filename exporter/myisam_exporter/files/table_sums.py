"""Sums over the tables of a scan, which follow what changed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, islice

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import ROWS_AT_ONCE, Value
from myisam_exporter.files.myi_header import COMPRESSED, CRASHED
from myisam_exporter.files.schema_reader import SYSTEM_SCHEMA
from myisam_exporter.files.table_file import TableFile, counts_of
from myisam_exporter.files.table_groups import Files
from myisam_exporter.outside.numbers import bounded_sum


@dataclass(slots=True)
class Sums:
    """Sums over the user's tables, unbounded, so that a table can be taken out of them again.

    Damaged tables of the server's own database are there to be told of: they count among those that are crashed, and in no other sum.
    """

    myisam_tables: int = 0
    myisam_rows: int = 0
    myisam_data_bytes: int = 0
    myisam_index_bytes: int = 0
    compressed_tables: int = 0
    compressed_data_bytes: int = 0
    crashed_tables: int = 0

    def add(self, tables: Iterable[Files], sign: int = 1) -> None:
        """More tables; with -1 fewer."""
        given = iter(tables)
        some = list(islice(given, ROWS_AT_ONCE))
        while some:
            users = [files for files in some if files[0].schema_name != SYSTEM_SCHEMA]
            self.myisam_tables += sign * len(users)
            self.crashed_tables += sign * (len(some) - len(users))
            if users:
                self._add_files([file for files in users for file in files], sign)
            some = list(islice(given, ROWS_AT_ONCE))

    def _add_files(self, files: list[TableFile], sign: int) -> None:
        counts = counts_of(files)
        self.myisam_rows += sign * sum(counts.rows)
        self.myisam_data_bytes += sign * sum(counts.data_bytes)
        self.myisam_index_bytes += sign * sum(counts.index_bytes)
        is_compressed = [
            one == COMPRESSED and file.has_header for one, file in zip(counts.row_format, files, strict=True)
        ]
        self.compressed_tables += sign * sum(is_compressed)
        self.compressed_data_bytes += sign * sum(compress(counts.data_bytes, is_compressed))
        crashed = [
            file for flags, file in zip(counts.flags, files, strict=True) if flags & CRASHED or not file.has_header
        ]
        self.crashed_tables += sign * len({(file.schema_name, file.table_name) for file in crashed})

    def facts(self, other_engine_data_bytes: int) -> dict[str, Value]:
        """The facts of the table `totals`: what files say of themselves may be made up, and is bounded."""
        return {
            "myisam_tables": self.myisam_tables,
            "myisam_rows": bounded_sum((self.myisam_rows,)),
            "myisam_data_bytes": bounded_sum((self.myisam_data_bytes,)),
            "myisam_index_bytes": bounded_sum((self.myisam_index_bytes,)),
            "compressed_tables": self.compressed_tables,
            "compressed_data_bytes": bounded_sum((self.compressed_data_bytes,)),
            "crashed_tables": self.crashed_tables,
            "other_engine_data_bytes": other_engine_data_bytes,
        }
