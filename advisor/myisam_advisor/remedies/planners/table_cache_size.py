"""A size for the table cache. Whether the server may have files for so many is the gate's concern."""

from __future__ import annotations

import math
from collections.abc import Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned, PlanNeeds
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.facts.columns import Value

SMALLEST = 400
RENAMED_IN = 50103  # table_cache became table_open_cache
# Where the cache is far too small: room above what is in use, and the largest step. Measured with 600 tables in use and a cache of 100:
# 400 is 1.4 times as fast, 800 and more 3 times.
ROOM, LARGEST_STEP = 4 / 3, 16
# Before MySQL 5.7.9 MyISAM looks for an open table in a list of all: see table-cache-too-large.
HASHED_IN, LARGEST_LISTED = 50709, 2000


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Twice the present size, at least 400; more where most uses of a table find it closed, as that tells how many are in use."""
    present = row.get("cache_size")
    if not isinstance(present, int | float):
        return PlanNeeds("variable.table_open_cache")
    variable = "table_cache" if (context.version_number or RENAMED_IN) < RENAMED_IN else "table_open_cache"
    wanted, why = max(2 * int(present), SMALLEST), ""
    closed = _closed_share(row)
    in_use = _in_use(int(present), closed)
    largest = LARGEST_LISTED if _has_list(context) else LARGEST_STEP * int(present)
    estimate = min(math.ceil(round(in_use * ROOM) / 100) * 100, largest)
    if closed is not None and estimate > wanted:
        wanted = estimate
        why = (
            f" {closed:.0%} of the times that a table is used it is not open, so about {in_use:,.0f} are used in turn."
        )
    return Plan(
        values={
            "advice": f"Raise {variable} to {wanted}.{why} Raise it again if tables are still closed to make room for others."
        },
        commands=(set_global(variable, wanted),),
        undo_commands=(set_global(variable, int(present)),),
        my_cnf=(option_line(variable, wanted),),
    )


def _closed_share(row: Mapping[str, Value]) -> float | None:
    """Of all uses of a table those that find it closed; None where they are not counted."""
    hits, misses = row.get("hits_per_second"), row.get("misses_per_second")
    if not isinstance(hits, int | float) or not isinstance(misses, int | float) or hits + misses <= 0:
        return None
    return misses / (hits + misses)


def _in_use(present: int, closed_share: float | None) -> float:
    """Tables in use, were all used alike: so many as have this share of their uses served by a cache of the present size."""
    return present / max(1 - (closed_share or 0.0), 1 / LARGEST_STEP)


def _has_list(context: PlanContext) -> bool:
    return not context.is_mariadb and (context.version_number or 0) < HASHED_IN
