"""A limit of open files with room: half as much again as is in use or planned for, as a power of two; no less than other findings ask for."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners.base import FILE_LIMIT, NotWorth, Plan, PlanContext, Planned
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import numbers_in

SMALLEST, LARGEST = 4096, 1 << 20  # fs.nr_open, above which no process may go


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The limit to set; None where the largest possible one is set already and nearly used up, nothing where it is not."""
    needs = [row.get(name) for name in ("open_files", "wanted_files", "full_cache_files", "servers_formula")]
    most = max(numbers_in(needs), default=0.0)
    wanted = SMALLEST
    present = row.get("limit_files")
    while wanted < LARGEST and (wanted < 1.5 * most or (isinstance(present, int | float) and wanted <= present)):
        wanted *= 2
    others = numbers_in([row.get("least_limit"), context.known.planned_variables.get(FILE_LIMIT)])
    wanted = max([wanted, *map(int, others)])
    if isinstance(present, int | float) and wanted <= present:
        if row.get("near"):
            return Plan({"wanted_limit": None})
        return NotWorth("the limit is as high as the kernel's usual one")
    return Plan({"wanted_limit": wanted})
