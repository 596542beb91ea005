"""What a statement of a remedy does to the server: whether it rewrites a table, what disk it needs, whether it goes to the binary log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from myisam_advisor.remedies import statement_texts as statements
from myisam_advisor.remedies.planners.base import PlanFacts, TableName
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.remedies.table_sizes import grown_index_bytes, innodb_size
from myisam_exporter.facts.columns import Row

FIXED, UNPACKED, INNODB = "ROW_FORMAT=FIXED", "PACK_KEYS=0", "ENGINE=InnoDB"
# Statements of a site's own rules that change data or definitions.
_CHANGES = re.compile(r"(?:CREATE|DROP|TRUNCATE|RENAME|INSERT|REPLACE|UPDATE|DELETE|LOAD DATA)\b", re.IGNORECASE)
ONLY_READ = frozenset({"CHECK TABLE", "ANALYZE TABLE"})


class Logged(Enum):
    """Whether a statement is written to the binary log, and so runs on the replicas too."""

    NEVER = "never"
    UNLESS_TOLD = "NO_WRITE_TO_BINLOG keeps it out"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Effects:
    """What one statement does.

    `verb` is ALTER TABLE, REPAIR TABLE, ..., empty for other statements; `rewrites` says that it changes a table or its files;
    `needed_bytes` is disk space beside the table while it is
    rewritten, None when that is not known.
    """

    verb: str
    table: TableName | None
    rewrites: bool
    logged: Logged
    needed_bytes: int | None = 0


def effects_of(command: str, tables: Mapping[TableName, Row], known: PlanFacts) -> Effects:
    """What the command does, as far as it can be read off it. A statement that is not known may do anything."""
    if isinstance(command, ShellLine) or statements.is_remark(command):
        return Effects("", None, False, Logged.NEVER)
    verb, name = statements.verb(command), statements.table_of(command)
    if not verb:
        phase = statements.phase(command)
        logged = {statements.FLUSH: Logged.UNLESS_TOLD, statements.OFFLINE: Logged.ALWAYS}.get(phase, Logged.NEVER)
        if statements.is_unlogged(command):
            logged = Logged.NEVER
        return Effects("", name, _CHANGES.match(command) is not None, logged)
    # CHECK TABLE is not logged; ALTER TABLE has no NO_WRITE_TO_BINLOG.
    logged = {"CHECK TABLE": Logged.NEVER, "ALTER TABLE": Logged.ALWAYS}.get(verb, Logged.UNLESS_TOLD)
    row = tables.get(name, {}) if name else {}
    return Effects(
        verb,
        name,
        verb not in ONLY_READ,
        Logged.NEVER if statements.is_unlogged(command) else logged,
        needed_bytes(verb, command, row, known),
    )


def needed_bytes(verb: str, command: str, row: Row, known: PlanFacts) -> int | None:
    """Disk space beside the table while it is rewritten; None when that is not known."""
    if verb in ONLY_READ or "DISABLE KEYS" in command:
        return 0
    if "ENABLE KEYS" in command:
        return sum_of(row, "index_bytes")
    if INNODB in command:
        return innodb_size(row)
    data, index, rows, fixed = (
        sum_of(row, "data_bytes"),
        sum_of(row, "index_bytes"),
        row.get("rows"),
        row.get("fixed_row_bytes"),
    )
    if verb == "OPTIMIZE TABLE" and data is not None:
        data -= sum_of(row, "free_bytes") or 0
    if FIXED in command and isinstance(fixed, int | float) and isinstance(rows, int | float):
        data = int(fixed * rows)
    if UNPACKED in command and row:
        grown = grown_index_bytes(rows, known.indexes_of(row["schema_name"], row["table_name"]))
        index = index if grown is None else grown
    return None if data is None or index is None else data + index


def sum_of(row: Row, *columns: str) -> int | None:
    """The sum of these columns; None while one of them is not known."""
    values = [row.get(column) for column in columns]
    known = [int(value) for value in values if isinstance(value, int | float)]
    return sum(known) if len(known) == len(columns) else None
