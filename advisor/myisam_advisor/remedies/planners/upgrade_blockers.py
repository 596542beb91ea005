"""What takes partitions and columns of old formats out of the way of an upgrade.

Tried on MySQL 5.6: ALTER TABLE ... FORCE writes columns in the newer format unless avoid_temporal_upgrade is ON; REMOVE PARTITIONING by itself keeps
them as they are, so a table with both has both in one statement, and is copied once.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.rebuild_times import lasts
from myisam_advisor.remedies.setting_places import place_of
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.remedies.statements.tables import MakeAnew, RemovePartitioning
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of, numbers_in
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.sql import plain_words, quote_table

MAXIMUM_TABLES = 50
AVOIDS = "avoid_temporal_upgrade"
# By what the rule's query calls them. Servers that have a query cache tell of no value where it comes from.
REMOVED = {
    "repair_threads_set": ("myisam_repair_threads",),
    "temporary_myisam": ("internal_tmp_disk_storage_engine",),
}
DISABLED = "disabled_storage_engines"


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The statements, `planned_tables` of all that need one, and `lasts` for all of them together.

    Of a damaged table an ALTER is refused (error 145): it is repaired first, which is another finding's.
    """
    # A file at Amazon's is nobody's to change.
    places = _places(row, context.facts) if context.known.hosting.takes_set_global else dict.fromkeys(PLACES, "")
    if not row.get("blocked_tables"):
        return Plan({"lasts": "", "planned_tables": 0, "damaged_tables": 0, **places})
    writes_newer_format = bool(row.get("writes_newer_format"))
    found = sorted(
        (
            (quote_table(*_name(table)), table)
            for table in context.known.tables
            if _is_partitioned(table) or _has_old_columns(table, writes_newer_format)
        ),
        key=lambda one: one[0],
    )
    whole = [table for _, table in found if not table.get("crashed")]
    planned = whole[:MAXIMUM_TABLES]
    commands: tuple[Statement, ...] = tuple(_remedy(table, writes_newer_format) for table in planned)
    if row.get("avoids_newer_format"):
        commands = (SetGlobal(AVOIDS, plain_words("OFF")), *commands)
    copied = [command.table for command in commands if command.table]
    sizes = [
        context.known.tables_by_name[name].get(column) for name in copied for column in ("data_bytes", "index_bytes")
    ]
    known = numbers_in(sizes)
    total = sum(known) if len(known) == len(sizes) else None
    memory = context.number("host", "memory_available_bytes")
    words = lasts("ALTER TABLE", total, memory, rebuild_rates_for(context.facts, context.known.rates))
    said = {"lasts": words, "planned_tables": len(planned), "damaged_tables": len(found) - len(whole), **places}
    return Plan(said, commands if planned else ())


PLACES = ("removed_places", "disabled_place")


def _places(row: Mapping[str, Value], facts: FactSet) -> Mapping[str, Value]:
    """Where the settings stand that are in the way: `removed_places` of those that a later version does not know, `disabled_place` of the engines that are off."""
    removed = [place_of(name, facts) for flag, names in REMOVED.items() if row.get(flag) for name in names]
    disabled = place_of(DISABLED, facts) if row.get("disabled") else ""
    return dict(zip(PLACES, (". ".join(filter(None, removed)), disabled), strict=True))


def _remedy(table: Row, writes_newer_format: bool) -> Statement:
    if _is_partitioned(table):
        return RemovePartitioning(_name(table), is_made_anew=_has_old_columns(table, writes_newer_format))
    return MakeAnew(_name(table))


def _is_partitioned(table: Row) -> bool:
    return table.get("partitions") is not None


def _has_old_columns(table: Row, writes_newer_format: bool) -> bool:
    counts = (number_of(table.get(column)) for column in ("old_temporal_columns", "obsolete_columns"))
    return writes_newer_format and any(counts)


def _name(table: Row) -> tuple[str, str]:
    return str(table["schema_name"]), str(table["table_name"])
