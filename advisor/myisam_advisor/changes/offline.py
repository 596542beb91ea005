"""Statements that lock or copy a whole table: how long, how much disk, and whether there is so much."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.catalogue.measured import RebuildRates
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.effects import copies_online, needed_bytes, row_of, schema_of, sum_of
from myisam_advisor.remedies.planners.base import PlanFacts, is_felt_unsorted
from myisam_advisor.remedies.rebuild_times import lasts, lasts_into_innodb
from myisam_advisor.remedies.statements.base import Change, Command, Remark, Statement
from myisam_advisor.remedies.statements.tables import AlterTable, OptimizeTable, together
from myisam_advisor.texts.templates import size
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.values import number_of

ONLINE = "UPDATE, DELETE, INSERT into holes and readers behind them wait until it is done; other inserts go on"


@dataclass(frozen=True, slots=True)
class Offline:
    """One statement (with remarks around it) for a quiet hour, and the findings that want it.

    `before` is what must be done first: the copy of a crashed table's files.
    `needed_bytes` is disk space while it runs, None when unknown; `fits` says whether that is free, None when that is unknown.
    """

    findings: tuple[Finding, ...]
    statements: tuple[Statement, ...]
    lock: str
    lasts: str
    needed_bytes: int | None
    free_bytes: int | None
    afterwards: str = ""
    before: tuple[Command, ...] = ()

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


def in_one_copy(
    wanted: Sequence[tuple[Finding, tuple[Statement, ...]]],
) -> list[tuple[tuple[Finding, ...], tuple[Statement, ...]]]:
    """Options of the same table changed by one ALTER: it is copied once instead of twice. Such a copy has no holes, and needs no OPTIMIZE TABLE besides."""
    merged: dict[object, tuple[tuple[Finding, ...], tuple[Statement, ...]]] = {}
    alterations: dict[object, list[AlterTable]] = {}
    for _, group in wanted:
        alone = group[0] if len(group) == 1 else None
        if isinstance(alone, AlterTable) and alone.only_option is not None:
            alterations.setdefault(alone.name, []).append(alone)
    for place, (finding, group) in enumerate(wanted):
        alone = group[0] if len(group) == 1 else None
        of_table = alterations.get(alone.name, []) if isinstance(alone, AlterTable | OptimizeTable) else []
        if not (any(map(_copies, of_table)) if isinstance(alone, OptimizeTable) else alone in of_table):
            merged[place] = ((finding,), group)
            continue
        name = of_table[0].name
        findings = merged[name][0] if name in merged else ()
        merged[name] = ((*findings, finding), (together(of_table) if len(of_table) > 1 else of_table[0],))
    return list(merged.values())


def _copies(alteration: AlterTable) -> bool:
    """Whether it writes all rows anew: each option does, but a ROW_FORMAT that the table has already (tried on eight servers)."""
    names = {name.upper() for one in alteration.options for name, _ in one.pairs}
    return names != {"ROW_FORMAT"} or Change.FIXED_ROWS in alteration.changes


def describe_offline(
    findings: tuple[Finding, ...], group: tuple[Statement, ...], known: PlanFacts, rates: RebuildRates
) -> Offline:
    """What the statement does to its table."""
    # DISABLE KEYS takes a moment; ENABLE KEYS behind it is what its group costs, and so is REPAIR behind CHECK, or behind FLUSH TABLES.
    command = min(
        (one for one in group if not isinstance(one, Remark)),
        key=lambda one: (one.is_done_at_once, not one.rewrites),
    )
    if not command.verb:
        return Offline(findings, group, command.lock, "an unknown time", None, None)
    host = known.all.single("host")
    free = known.disk_of(schema_of(command)).get("data_directory_free_bytes")
    memory = host.get("memory_available_bytes")
    return Offline(
        findings,
        group,
        ONLINE if copies_online(command, known) else command.lock,
        _lasts(command, known, rates, number_of(memory)),
        needed_bytes(command, known),
        int(free) if isinstance(free, int | float) else None,
        "its index blocks leave the key cache: LOAD INDEX INTO CACHE again where it was loaded"
        if command.verb != "CHECK TABLE"
        else "",
    )


def _lasts(command: Statement, known: PlanFacts, rates: RebuildRates, memory: float | None) -> str:
    if command.is_done_at_once:
        return "at once"
    row = row_of(command, known)
    data, index = sum_of(row, "data_bytes"), sum_of(row, "index_bytes")
    if Change.INTO_INNODB in command.changes:
        return lasts_into_innodb(data, index, memory, number_of(known.variables.get("innodb_buffer_pool_size")), rates)
    present = None if data is None or index is None else data + index
    return lasts(command.verb, present, memory, rates, index, command.rewrites and is_felt_unsorted(row, known))
