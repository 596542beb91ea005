"""Closing tables once, so that a setting which holds from their next opening takes effect.

Measured: on MySQL 5.6 FLUSH TABLES waits until every table is closed. On MariaDB 10.11 and 11.8 it leaves alone what statements are
using, with READ LOCK too; FLUSH TABLES that names them closes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.closing import FlushTables
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.server.sql import quote_table

MAXIMUM_NAMED_TABLES = 200
MAXIMUM_SHOWN_LENGTH = 200
RATES = ("rows_read_per_second", "rows_changed_per_second", "write_statements_per_second", "rows_added_per_second")
EVERY_TABLE = FlushTables()
IN_USE = "Tables that are in use stay open: give FLUSH TABLES their names, as above."


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """One statement or two, also as `reopening` for what undoes it; none where the rule says that nothing is set, has an effect, or is proved."""
    if row.get("dead") or row.get("proved") == 0 or row.get("reopens") == 0:
        return Plan({"reopening": ""})
    busiest = sorted(
        (-_activity(table), quote_table(*_name(table)), _name(table))
        for table in context.known.tables
        if _activity(table) > 0
    )
    if not context.is_mariadb or not busiest:
        return Plan({"reopening": EVERY_TABLE.sql}, (EVERY_TABLE,))
    # What nobody uses at this moment, FLUSH TABLES without names closes too.
    named = FlushTables(tuple(name for *_, name in busiest[:MAXIMUM_NAMED_TABLES]))
    shown = f"{named.sql} {EVERY_TABLE.sql}" if len(named.sql) < MAXIMUM_SHOWN_LENGTH else f"{EVERY_TABLE.sql} {IN_USE}"
    return Plan({"reopening": shown}, (named, EVERY_TABLE))


def _activity(table: Row) -> float:
    return sum(float(rate) for name in RATES if isinstance(rate := table[name], int | float) and rate > 0)


def _name(table: Row) -> tuple[str, str]:
    return str(table["schema_name"]), str(table["table_name"])
