"""Statements that lock or copy a whole table: how long, how much disk, and whether there is so much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from myisam_advisor.catalogue.measured import RebuildRates
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies import statement_texts as statements
from myisam_advisor.remedies.effects import INNODB, needed_bytes, sum_of
from myisam_advisor.remedies.planners.base import PlanFacts, TableName
from myisam_advisor.remedies.rebuild_times import INTO_INNODB, lasts
from myisam_advisor.texts.templates import size
from myisam_exporter.facts.columns import Row
from myisam_exporter.server.sql import Sql, quote_table, sql_list, statement


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
    if "DISABLE KEYS" in command:
        return "at once"
    return INTO_INNODB if INNODB in command else lasts(kind, present, memory, rates)
