"""Statements that lock or copy a whole table: how long, how much disk, and whether there is so much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from myisam_advisor.changes import statements
from myisam_advisor.changes.effects import INNODB, needed_bytes, sum_of
from myisam_advisor.findings import Finding
from myisam_advisor.measured import RebuildRates
from myisam_advisor.planners.engine_migration import COPY_BYTES_PER_SECOND
from myisam_advisor.planning import PlanFacts, TableName
from myisam_advisor.texts import duration, size
from myisam_exporter.columns import Row
from myisam_exporter.sql import Sql, quote_table, sql_list, statement

RATE_NAMES = {"ALTER TABLE": "ALTER", "OPTIMIZE TABLE": "OPTIMIZE", "REPAIR TABLE": "REPAIR", "CHECK TABLE": "CHECK", "ANALYZE TABLE": "CHECK"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offline:
    """One statement (with remarks around it) for a quiet hour, and the findings that want it.

    `needed_bytes` is disk space while it runs, None when unknown; `fits` says whether that is free, None when that is unknown.
    """

    findings: tuple[Finding, ...]
    statements: tuple[Sql, ...]
    lock: str
    lasts: str
    needed_bytes: int | None
    free_bytes: int | None
    afterwards: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether the disk has room."""
        if self.needed_bytes is None or self.free_bytes is None:
            return None
        return self.needed_bytes <= self.free_bytes

    @property
    def disk(self) -> str:
        """The disk space in words."""
        if self.needed_bytes == 0:
            return "no disk space needed"
        needed = "an unknown amount" if self.needed_bytes is None else f"about {size(self.needed_bytes)}"
        if self.free_bytes is None:
            return f"{needed} of disk needed; how much is free is not known here (df)"
        return f"{needed} of disk needed, {size(self.free_bytes)} free"


def in_one_copy(wanted: Sequence[tuple[Finding, tuple[Sql, ...]]]) -> list[tuple[tuple[Finding, ...], tuple[Sql, ...]]]:
    """Options of the same table changed by one ALTER: it is copied once instead of twice."""
    merged: dict[object, tuple[tuple[Finding, ...], tuple[Sql, ...]]] = {}
    options: dict[object, list[Sql]] = {}
    for place, (finding, group) in enumerate(wanted):
        option = statements.table_option(group[0]) if len(group) == 1 else None
        key = place if option is None else option[0]
        if option is not None:
            options.setdefault(key, []).append(option[1])
        if key in merged and option is not None:
            altered = statement("ALTER TABLE {} {};", quote_table(*option[0]), sql_list(options[key]))
            merged[key] = ((*merged[key][0], finding), (altered,))
        else:
            merged[key] = ((finding,), group)
    return list(merged.values())


def describe_offline(
    findings: tuple[Finding, ...],
    group: Sequence[Sql],
    tables: Mapping[TableName, Row],
    known: PlanFacts,
    rates: RebuildRates,
) -> Offline:
    """What the statement does to its table."""
    command = next(one for one in group if not statements.is_remark(one))
    kind, name = statements.verb(command), statements.table_of(command)
    if not kind:
        return Offline(findings, tuple(group), statements.LOCKS[kind], "an unknown time", None, None)
    row = tables.get(name, {}) if name else {}
    present = sum_of(row, "data_bytes", "index_bytes")
    host = known.all.single("host")
    free, memory = host.get("data_directory_free_bytes"), host.get("memory_available_bytes")
    return Offline(
        findings,
        tuple(group),
        statements.LOCKS[kind],
        _lasts(kind, command, present, rates, memory if isinstance(memory, int | float) else None),
        needed_bytes(kind, command, row, known),
        int(free) if isinstance(free, int | float) else None,
        "its index blocks leave the key cache: LOAD INDEX INTO CACHE again where it was loaded"
        if kind != "CHECK TABLE"
        else "",
    )


def _lasts(kind: str, command: str, present: int | None, rates: RebuildRates, memory: float | None) -> str:
    """A time only where it was measured: with everything in memory."""
    if "DISABLE KEYS" in command:
        return "at once"
    if present is None:
        return "for a time that depends on its size, which is not known here"
    if INNODB in command:
        return f"about {duration(max(present / COPY_BYTES_PER_SECOND, 0.1))} ({size(present)} at {size(COPY_BYTES_PER_SECOND)}/s, assumed: it depends on the buffer pool)"
    if memory is not None and present > memory:
        return f"for a time that was not measured: {size(present)} do not fit into {size(memory)} of available memory (reported: 3 days for 4 GB)"
    rate = rates.bytes_per_second.get(RATE_NAMES[kind])
    if not rate:
        return f"for as long as {size(present)} take to be read and written"
    measured = f"measured on {rates.measured_on} with everything in the page cache; a slow disk takes longer"
    return f"about {duration(max(present / rate, 0.1))} ({size(present)} at {size(rate)}/s, {measured})"
