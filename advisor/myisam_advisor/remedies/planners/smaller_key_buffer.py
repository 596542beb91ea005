"""How far a key cache can shrink: to what its indexes need; where that is not known, to a quarter of memory. Never below the need.

Several that are right by themselves may be too much together, and one that holds a part of its indexes and hardly misses may do with less: that is said in words.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.key_caches import STEP_BYTES, named_cache, spoken_prefix
from myisam_advisor.remedies.memory_budget import LARGEST_SHARE
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.texts.templates import size
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of

SMALLEST_BYTES = 8 << 20  # the default of MySQL
# Published: 8 GB instead of 12 of 24, for 22 GB of indexes, halved what was read from the disk.
TRIED_SHARE = 2 / 3


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """A smaller size in bytes and how to set it; where the indexes need about what they have, and that is much, what else could be smaller."""
    present, need, memory = (number_of(row.get(name)) for name in ("size_bytes", "need_bytes", "memory_bytes"))
    quarter = None if memory is None else memory * LARGEST_SHARE
    wanted = quarter if need is None else need
    if present is None or wanted is None:
        return NotWorth("how much it needs is not known")
    target = -(-int(max(wanted, SMALLEST_BYTES)) // STEP_BYTES) * STEP_BYTES
    needs_much = need is not None and quarter is not None and need > quarter
    if needs_much and target > present - context.parameter("minimum_excess_bytes"):
        return _tried_smaller(row, present) or _left_as_it_is(row)
    if target >= present:
        return _smaller_together(row) if row.get("is_largest_of_dangerous") else NotWorth("its size is right")
    cache = named_cache(row)
    prefix, smaller = spoken_prefix(cache), set_global("key_buffer_size", target, cache)
    basis = "a quarter of the memory" if need is None else f"{size(need)} for its indexes, with bookkeeping and growth"
    return Plan(
        {
            "advice": f"Lower {prefix}key_buffer_size to {target} ({size(target)}: {basis}).",
            "setting": smaller.target,
            "lowers": True,
            "tries": False,
            "together": False,
        },
        commands=(smaller,),
        undo_commands=(set_global("key_buffer_size", int(present), cache),),
        my_cnf=(option_line("key_buffer_size", target, cache),),
    )


def _tried_smaller(row: Mapping[str, Value], present: float) -> Plan | None:
    """In words a size to try: a cache that holds a part of the indexes and hardly misses shows that the rest is hardly asked for. None where it does not."""
    misses, indexes = number_of(row.get("reads_per_second")), number_of(row.get("index_bytes"))
    if not row.get("rows_starve") or misses is None or indexes is None or indexes <= present:
        return None
    cache = named_cache(row)
    prefix, target = spoken_prefix(cache), int(present * TRIED_SHARE) // STEP_BYTES * STEP_BYTES
    return Plan(
        {
            "advice": (
                f"Try {prefix}key_buffer_size = {target} ({size(target)}, two thirds). It holds a part of {size(indexes)} of indexes and hardly misses, so the rest is "
                "hardly asked for: less may do, and rows need the memory. Put it back if it misses more once it is warm, and disk reads do not fall."
            ),
            "setting": set_global("key_buffer_size", target, cache).target,
            "lowers": False,
            "tries": True,
            "together": False,
        }
    )


def _left_as_it_is(row: Mapping[str, Value]) -> Plan:
    """In words what is promised in all: a smaller key cache would only move the shortage."""
    need, memory, caches, pool = (
        number_of(row.get(name)) for name in ("need_bytes", "memory_bytes", "all_caches_bytes", "pool_bytes")
    )
    prefix = spoken_prefix(named_cache(row))
    kept = (
        f"Leave {prefix}key_buffer_size as it is: its indexes need {size(need)}, with bookkeeping and growth. A smaller key cache gives memory back, "
        "but then it misses, and each miss is a read from the index file."
    )
    promised = f"{size(caches)} for key caches" + (f" and {size(pool)} for innodb_buffer_pool_size" if pool else "")
    instead = (
        "Lower innodb_buffer_pool_size where InnoDB's tables need less, or give the machine more memory."
        if pool
        else "Give the machine more memory, or drop indexes that no statement uses."
    )
    return Plan(
        {
            "advice": f"{kept} {promised} are promised, of {size(memory)} of memory. {instead}",
            "lowers": False,
            "tries": False,
            "together": False,
        }
    )


def _smaller_together(row: Mapping[str, Value]) -> Plan:
    """In words, once for all caches: none is too large by itself, and how much each of them needs is not known."""
    caches, memory = (number_of(row.get(name)) for name in ("all_caches_bytes", "memory_bytes"))
    return Plan(
        {
            "advice": (
                f"No key cache is too large by itself, but {size(caches)} are promised to all of them, of {size(memory)} of memory. Lower those whose tables' "
                "indexes are smaller than they are (the sum of Index_length of the tables that CACHE INDEX assigned), or give the machine more memory."
            ),
            "lowers": False,
            "tries": False,
            "together": True,
        }
    )
