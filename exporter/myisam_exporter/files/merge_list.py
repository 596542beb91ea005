"""The tables that a MERGE table is made of, as its .MRG file lists them: one a line, `./database/table` where it is of another database.

Source: storage/myisammrg/ha_myisammrg.cc (create_mrg), tried on MySQL 5.6 and 9.7 and MariaDB 10.11 and 11.8. The names are those of files.
"""

from __future__ import annotations

import os

from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.file_names import decode_schema, decode_table

MAXIMUM_BYTES = 65_536
REMARK = b"#INSERT_METHOD="


def parse_merge_list(data: bytes, schema: str) -> tuple[TableName, ...]:
    """The tables listed in the file of a MERGE table of this database; what is behind the first 64 KiB is not."""
    whole = data if len(data) < MAXIMUM_BYTES else data[:MAXIMUM_BYTES].rpartition(b"\n")[0]
    found = (_table(line, schema) for line in whole.split(b"\n") if line and not line.startswith(REMARK))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _table(line: bytes, schema: str) -> TableName | None:
    *directory, stem = os.fsdecode(line).split("/")
    table = decode_table(stem) if stem else None
    if table is None:
        return None
    return (decode_schema(directory[-1]) if directory and directory[-1] not in ("", ".") else schema), table[0]
