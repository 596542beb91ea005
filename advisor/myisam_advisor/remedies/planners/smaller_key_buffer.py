"""How far a key cache can shrink: what its indexes need, and no more than a quarter of memory where that is more."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.key_caches import STEP_BYTES, named_cache, spoken_prefix
from myisam_advisor.remedies.memory_budget import LARGEST_SHARE
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.texts.templates import size
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import numbers_in

SMALLEST_BYTES = 8 << 20  # the default of MySQL


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """A smaller size in bytes and how to set it."""
    present, need, memory = (row.get(name) for name in ("size_bytes", "need_bytes", "memory_bytes"))
    wanted = numbers_in([need])
    if isinstance(memory, int | float):
        wanted.append(memory * LARGEST_SHARE)
    target = -(-int(max(min(wanted), SMALLEST_BYTES)) // STEP_BYTES) * STEP_BYTES
    if not isinstance(present, int | float) or target >= present:
        return NotWorth("its size is right")
    cache = named_cache(row)
    prefix, smaller = spoken_prefix(cache), set_global("key_buffer_size", target, cache)
    basis = (
        f"{size(need)} for its indexes, with bookkeeping and growth"
        if isinstance(need, int | float) and need <= target
        else "a quarter of the memory"
    )
    return Plan(
        {
            "advice": f"Lower {prefix}key_buffer_size to {target} ({size(target)}: {basis}).",
            "setting": smaller.target,
        },
        commands=(smaller,),
        undo_commands=(set_global("key_buffer_size", int(present), cache),),
        my_cnf=(option_line("key_buffer_size", target, cache),),
    )
