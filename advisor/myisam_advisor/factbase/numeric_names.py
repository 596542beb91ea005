"""Variables and counters that are numbers, by their names: where a server or a facts file says a text of one, its value is unknown.

Rules reckon with them, and SQLite holds every text to be larger than any number. No server that was tried says a text of such a name
(tests/servers/test_faults.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.outside.numbers import finite_number

NUMERIC: Mapping[str, re.Pattern[str]] = {
    "variable": re.compile(
        r"(?:\w+_(?:buffer|cache|sort_file|mmap|heap_table|tmp_table|block|pool|pointer|stack)_size|tmp_table_size|max_(?:connections|heap_table_size|allowed_packet)"
        r"|table_(?:open_)?cache(?:_instances)?|open_files_limit|flush_time|long_query_time|myisam_repair_threads|sync_binlog"
        r"|innodb_flush_log_at_trx_commit|myisam_data_pointer_size)"
    ),
    "status": re.compile(
        r"(?:Aborted|Com|Connections|Count|Created|Flush|Handler|Innodb_row|Innodb_rows|Key|Open|Opened|Qcache|Questions|Select|Slow|Sort"
        r"|Table|Threads|Uptime)(?:_\w+)?|Max_used_connections|wsrep_cluster_size"
    ),
}


def is_numeric(table: str, name: object) -> bool:
    """Whether the variable, or counter, is a number."""
    return NUMERIC[table].fullmatch(str(name)) is not None


def numeric_rows(table: str, rows: FactRows) -> FactRows:
    """The same rows where no number is told as a text; else with the number that the text is, or unknown."""
    name, value = rows.columns.index("name"), rows.columns.index("value")
    if not any(isinstance(row[value], str) and is_numeric(table, row[name]) for row in rows.rows):
        return rows
    return FactRows(
        rows.columns, [[*row[:value], _told(table, row[name], row[value]), *row[value + 1 :]] for row in rows.rows]
    )


def _told(table: str, name: Value, value: Value) -> Value:
    return finite_number(value) if isinstance(value, str) and is_numeric(table, name) else value
