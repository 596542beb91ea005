"""How much disk a statement needs beside the table that it rewrites, and whether inserts go on meanwhile."""

from __future__ import annotations

from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.statements.base import Change, Statement
from myisam_advisor.remedies.statements.tables import AlterTable, MakeAnew, RepairPartitions
from myisam_advisor.remedies.table_sizes import grown_index_bytes, innodb_size
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of, numbers_in

# MariaDB copies with LOCK=NONE from then on, MyISAM tables too (manual, "ALTER TABLE"): the copy has the table's read lock, beside which only concurrent
# inserts are let in. Measured on 11.4 and 11.8: UPDATE, DELETE and INSERT into a hole wait until the end, and so does a SELECT behind an UPDATE.
COPIES_ONLINE_FROM = 110200


def copies_online(command: Statement, known: PlanFacts) -> bool:
    """Whether inserts at its end go on while the statement copies its table: not on a node of a cluster, where all wait for it."""
    server = known.all.single("server")
    if str(known.variables.get("wsrep_on") or "OFF").upper() in ("ON", "1"):
        return False
    is_recent = (number_of(server.get("version_number")) or 0) >= COPIES_ONLINE_FROM
    return is_recent and server.get("flavour") == "mariadb" and isinstance(command, AlterTable | MakeAnew)


def needed_bytes(command: Statement, known: PlanFacts) -> int | None:
    """Disk space while it runs; None when that is not known."""
    row = row_of(command, known)
    if not command.verb or not command.rewrites or command.is_done_at_once:
        return 0
    if isinstance(command, RepairPartitions):
        return None  # how large each partition is, is not known
    if Change.KEYS_ON in command.changes:
        return sum_of(row, "index_bytes")
    if unpacks(command, row):
        return None  # how much its rows take unpacked, no header says
    if Change.INTO_INNODB in command.changes:
        indexes = known.indexes_of(row["schema_name"], row["table_name"]) if row else ()
        return innodb_size(row, indexes, sorts_copies=known.sorts_copies)
    data, index, rows, fixed = (
        sum_of(row, "data_bytes"),
        sum_of(row, "index_bytes"),
        row.get("rows"),
        row.get("fixed_row_bytes"),
    )
    if command.verb == "OPTIMIZE TABLE" and data is not None:
        data -= sum_of(row, "free_bytes") or 0
    if Change.FIXED_ROWS in command.changes and isinstance(fixed, int | float) and isinstance(rows, int | float):
        data = int(fixed * rows)
    if Change.UNPACKED_KEYS in command.changes and row:
        grown = grown_index_bytes(rows, known.indexes_of(row["schema_name"], row["table_name"]))
        index = index if grown is None else grown
    return None if data is None or index is None else data + index


def unpacks(command: Statement, row: Row) -> bool:
    """Whether the table is compressed (myisampack) and its copy will not be: tried on MySQL 5.6 and MariaDB 10.11, whatever the ALTER changes."""
    return command.writes_definition and row.get("row_format") == "compressed"


def row_of(command: Statement, known: PlanFacts) -> Row:
    """What is known of the statement's table."""
    return known.tables_by_name.get(command.table, {}) if command.table else {}


def schema_of(command: Statement) -> Value:
    """The database of the statement's table; None where it has none."""
    return command.table[0] if command.table else None


def sum_of(row: Row, *columns: str) -> int | None:
    """The sum of these columns; None while one of them is not known."""
    values = [row.get(column) for column in columns]
    known = [int(value) for value in numbers_in(values)]
    return sum(known) if len(known) == len(columns) else None
