"""What to do about a crashed table: a copy of its files first, then the check and the repair.

While the server runs: FLUSH TABLES closes the table without opening it, and a table with the mark cannot be opened (error 144 or 145),
so its files stay as they are while they are copied. Where automatic recovery is on, the next statement would repair it; that keeps a
copy of its own only with BACKUP.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.factbase.hosting import AMAZON
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned, is_felt_unsorted
from myisam_advisor.remedies.rebuild_times import check_and_repair_last
from myisam_advisor.remedies.shell_lines import ShellLine, shell_line
from myisam_advisor.remedies.statements.base import Command, remark
from myisam_advisor.remedies.statements.closing import FlushTables
from myisam_advisor.remedies.statements.tables import CheckPartitions, CheckTable, RepairPartitions, RepairTable
from myisam_advisor.texts.templates import object_name, printable, size
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import numbers_in

# Other characters stand in file names as codes.
_PLAIN = re.compile(r"[0-9A-Za-z_]+")
COPY_WHEN = "between FLUSH TABLES and CHECK TABLE"
NO_RECOVERY = ("", "0", "OFF", "NONE")
# There on every system, and kept over a restart of the machine; mktemp makes a directory in it for its owner alone. How much room it has is not known:
# it may be on the disk of the system, so only a small copy goes there.
BACKUPS = "/var/tmp"
# Of the table's name in that of its .sdi file; the files of others that begin so are small, and are copied with it.
SERIALISED_NAME_CHARACTERS = 16
SMALL_BYTES = 1 << 30
PARTITIONS_REPAIRED_FROM = 50127  # MySQL; MariaDB always
DATA_DICTIONARY_FROM = 80000  # MySQL keeps no .frm from then on, but a .sdi beside the table


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The copy, CHECK and REPAIR; nothing where only the number of crashed tables is known."""
    by_snapshot = context.known.hosting == AMAZON
    if row.get("table_name") is None:
        return Plan(
            {
                "files": _files(context),
                "backup_bytes": None,
                "lasts": "",
                "recovery": "",
                "copied_to": "",
                "partitions_alone": False,
                "by_snapshot": by_snapshot,
            }
        )
    schema, table = str(row["schema_name"]), str(row["table_name"])
    name = (schema, table)
    partitions = _damaged_partitions(row, context)
    sizes = [row.get(column) for column in ("data_bytes", "index_bytes")]
    known = numbers_in(sizes)
    backup_bytes = sum(known) if len(known) == len(sizes) else None
    if partitions and backup_bytes is not None and backup_bytes > SMALL_BYTES:
        backup_bytes = None  # not all of it has to be copied, and how large one partition is, is not known
    by_table = (CheckTable(name), RepairTable(name, by_definition=row.get("header_problem") is not None))
    by_partition = (CheckPartitions(name, partitions), RepairPartitions(name, partitions=partitions))
    closed = FlushTables((name,))
    backup = _snapshot(schema, table) if by_snapshot else _backup(schema, table, backup_bytes, context)
    # A remark belongs to the statement behind it, a line for a shell stands alone.
    copied: tuple[Command, ...] = (closed, backup) if isinstance(backup, ShellLine) else (backup, closed)
    commands = (*copied, *(by_partition if partitions else by_table))
    recovery = str(context.variable("myisam_recover_options") or "")
    rates, index_bytes = rebuild_rates_for(context.facts, context.known.rates), known[1] if backup_bytes else None
    memory = context.number("host", "memory_available_bytes")
    values = {
        "files": _files(context),
        "backup_bytes": backup_bytes,
        "lasts": check_and_repair_last(
            backup_bytes, memory, rates, index_bytes, is_unsorted=is_felt_unsorted(row, context.known)
        ),
        "recovery": "" if recovery in NO_RECOVERY else printable(recovery),
        "copied_to": BACKUPS if isinstance(backup, ShellLine) else "",
        "partitions_alone": bool(partitions),
        "by_snapshot": by_snapshot,
    }
    return Plan(values, commands)


def _damaged_partitions(row: Mapping[str, Value], context: PlanContext) -> tuple[str, ...]:
    """Those to repair by name; none where the whole table has to be: an old server, a header that cannot be read, parts of partitions, names that may be two."""
    names = tuple(str(row.get("crashed_partitions") or "").split(", "))
    knows_them = context.is_mariadb or (context.version_number or 0) >= PARTITIONS_REPAIRED_FROM
    by_name = knows_them and row.get("header_problem") is None and all(map(_PLAIN.fullmatch, names))
    return names if by_name else ()


def _files(context: PlanContext) -> str:
    """Which files a table has."""
    if context.is_mariadb or (context.version_number or DATA_DICTIONARY_FROM) < DATA_DICTIONARY_FROM:
        return ".MYI, .MYD and .frm"
    return ".MYI, .MYD and .sdi" if context.version_number else ".MYI, .MYD and .frm or .sdi"


def _snapshot(schema: str, table: str) -> Command:
    """What Amazon offers in the place of a copy."""
    label = printable(object_name(schema, table))
    return remark(f"{COPY_WHEN}, take a snapshot of the instance: nobody can copy the files of {label} there")


def _backup(schema: str, table: str, backup_bytes: float | None, context: PlanContext) -> Command:
    """The line for a shell on the server's machine, which shows the room, then where the copy will be; a remark where no line can be written, or one that could fill a disk."""
    directory = context.facts.single("server").get("data_directory")
    free = context.number("host", "data_directory_free_bytes")
    label, files = printable(object_name(schema, table)), _files(context)
    by_hand = f"copy the files of {label} ({files}) from the data directory to a disk with room for them, outside of it"
    if backup_bytes is not None and free is not None and backup_bytes > free:
        room = f"this one has {size(free)} free"
        return remark(f"{COPY_WHEN}, copy the files of {label} ({files}, {size(backup_bytes)}) to another disk: {room}")
    if backup_bytes is None or backup_bytes > SMALL_BYTES:
        return remark(f"{COPY_WHEN}, {by_hand}" + ("" if backup_bytes is None else f": {size(backup_bytes)}"))
    is_path = isinstance(directory, str) and directory.startswith("/") and directory.isprintable()
    if not is_path or not all(_PLAIN.fullmatch(part) for part in (schema, table)):
        return remark(f"{COPY_WHEN}, {by_hand}")
    stem = str(PurePosixPath(str(directory), schema, table))
    place = f"{BACKUPS}/{schema}.{table}.XXXXXX"
    if files.endswith(".sdi"):
        return shell_line(
            'df -h /var/tmp && copied="$(mktemp -d {})" && echo "$copied" && cp -p {}.MY[ID] {}_*.sdi "$copied"',
            place,
            stem,
            str(PurePosixPath(str(directory), schema, table[:SERIALISED_NAME_CHARACTERS])),
            meant=by_hand,
        )
    # Partitions have files of their own: table#P#name.MYD.
    if _is_partitioned(schema, table, context):
        return shell_line(
            'df -h /var/tmp && copied="$(mktemp -d {})" && echo "$copied" && cp -p {}.* {}#* "$copied"',
            place,
            stem,
            stem,
            meant=by_hand,
        )
    return shell_line(
        'df -h /var/tmp && copied="$(mktemp -d {})" && echo "$copied" && cp -p {}.* "$copied"',
        place,
        stem,
        meant=by_hand,
    )


def _is_partitioned(schema: str, table: str, context: PlanContext) -> bool:
    return context.known.tables_by_name.get((schema, table), {}).get("partitions") is not None
