"""How large the key cache should be: the indexes with their bookkeeping, within what the page cache can spare. Where memory is not known, in words alone."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.factbase.hosting import AMAZON, IN_PARAMETER_GROUP, IN_PARAMETER_GROUP_BACK
from myisam_advisor.remedies.key_caches import SAFE_ONLINE_RESIZE_FROM, STEP_BYTES, named_cache, spared, spoken_prefix
from myisam_advisor.remedies.memory_budget import addressable_bytes
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import NoRoom, NotWorth, Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.variables import LEAST_KEY_BUFFER_BYTES, set_global
from myisam_advisor.texts.templates import size
from myisam_exporter.collectors.key_caches import DEFAULT_BLOCK_SIZE_BYTES, DEFAULT_CACHE, OVERHEAD_BYTES_PER_BLOCK
from myisam_exporter.facts.columns import Value

HEADROOM = 1.1
# A cache that holds a part all the same is emptied for no less than this.
SMALLEST_GROWTH = 1.1
# The manual, "MyISAM Index": above half of the memory a key cache is likely to do harm. Each look may take a quarter of it: two do, and the third is silent.
LARGEST_WHOLE_SHARE = 0.5
# Bug 43932, reported on 5.1.32: key caches above 4 GiB corrupted indexes. Which release mended it is not known here, so all before 5.5 are spared.
LARGE_CACHES_SAFE_FROM = 50500
LARGEST_SAFE_BYTES = (4 << 30) - STEP_BYTES
# Of what a server of 32 bits can still address connections need the rest, and a key cache is one piece.
ADDRESSABLE_SHARE = 0.5
# A cache where there is none, which readers beside each other may be slower with.
SEGMENTS = " and key_cache_segments = 16"
IN_WORDS = (
    "Try a key cache at a quiet time: in my.cnf, key_buffer_size for the indexes that are in use{segments}, with a restart; "
    "then compare (myisam-advisor verify). Connections that read at the same time wait for the lock of a cache, and without a cache for none: "
    "measured with an index in the page cache, a cache without segments had 0.84 to 0.87 of the speed of none."
)


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """A size in bytes and how to set it; twice the present size where the indexes' size is not known, and words where the row's `pays` is 0."""
    if row.get("pays", 1) == 0:
        advice = IN_WORDS.format(segments=SEGMENTS if row.get("has_segments", 1) else "")
        return Plan({"advice": advice, "way_back": "Set key_buffer_size to its former value in my.cnf, and restart."})
    return _larger(row, context)


def _larger(row: Mapping[str, Value], context: PlanContext) -> Planned:
    present = row.get("size_bytes")
    known_size = present if isinstance(present, int | float) and present else None
    need = _need(row, known_size, context)
    if need is None:
        return _of_unknown_size("neither its present size nor that of the indexes can be seen", context)
    wanted, basis = need
    if known_size and wanted <= known_size:
        return NotWorth(f"the key cache holds {basis} already")
    spare, giver = _spare(context)
    room = None if spare is None else _below_half((known_size or 0) + spare, known_size or 0, context)
    is_whole = room is None or wanted <= room
    if not is_whole and known_size is None:
        # What memory can spare comes on top of it: without it, a size would be a guess, and may be a smaller one.
        return _of_unknown_size(f"its present size cannot be seen; memory has room for {size(room or 0)} more", context)
    if room is not None and wanted > room:
        wanted, basis = room, f"all that {giver} can spare; {basis} would be more"
    if (context.version_number or LARGE_CACHES_SAFE_FROM) < LARGE_CACHES_SAFE_FROM and wanted > LARGEST_SAFE_BYTES:
        if known_size and known_size >= LARGEST_SAFE_BYTES:
            return NoRoom(
                "key caches above 4 GiB could corrupt indexes in this version: further ones with names, in my.cnf and by CACHE INDEX, or a newer server hold more"
            )
        wanted, basis = LARGEST_SAFE_BYTES, "this version could corrupt indexes with more than 4 GiB"
    target = spared(wanted) if wanted == room else _in_steps(wanted, known_size or 0, is_whole)
    if known_size and not is_whole and (wanted < SMALLEST_GROWTH * known_size or target <= known_size):
        return NoRoom(
            f"{giver} has no room for a larger key cache: row data, other caches and headroom leave {size(room or 0)} for it"
        )
    return _raised(target, basis, known_size, row, context)


def _spare(context: PlanContext) -> tuple[float | None, str]:
    """Bytes that the key cache may take on top of what it has, and what gives them; None where nothing tells."""
    addressable = addressable_bytes(context.facts)
    if addressable is None:
        return context.room_bytes, "memory"
    share = ADDRESSABLE_SHARE * addressable
    spare = share if context.room_bytes is None else min(share, context.room_bytes)
    memory = context.number("host", "memory_available_bytes") or context.number("host", "memory_bytes")
    is_narrower = memory is None or addressable < memory
    return spare, "a server of 32 bits" if is_narrower else "memory"


def _below_half(room: float, present: float, context: PlanContext) -> float:
    """What of this size is no more than half of the memory; what is there already stays."""
    limit = context.known.budget.limit_bytes
    # What 32 bits can address is another limit, of which it has its share.
    return (
        room
        if limit is None or addressable_bytes(context.facts) is not None
        else min(room, max(LARGEST_WHOLE_SHARE * limit, present))
    )


def _raised(target: int, basis: str, known_size: float | None, row: Mapping[str, Value], context: PlanContext) -> Plan:
    """How to set it; in words alone where the machine's memory is not known."""
    cache = named_cache(row)
    prefix = spoken_prefix(cache)
    # The default cache refuses 0, and is off with the least that it takes, too.
    former = LEAST_KEY_BUFFER_BYTES if row.get("size_bytes") == 0 and not cache else known_size
    back = set_global("key_buffer_size", former, cache) if former else None
    values = {
        "advice": f"Raise {prefix}key_buffer_size to {target} ({size(target)}: {basis}).",
        "way_back": back.sql if back else "Set key_buffer_size to its former value.",
    }
    if context.room_bytes is None:
        return Plan({**values, **_of_unseen_memory(values["advice"], target, known_size or 0, context)})
    return Plan(
        values=values,
        commands=(set_global("key_buffer_size", target, cache),),
        undo_commands=(back,) if back else (),
        my_cnf=(option_line("key_buffer_size", target, cache),),
        memory_bytes=target - (known_size or 0),
    )


def _need(row: Mapping[str, Value], known_size: float | None, context: PlanContext) -> tuple[float, str] | None:
    """Bytes that are wanted, and what tells that; None where nothing does."""
    index_bytes, of_all_bytes = (
        _with_bookkeeping(row, row.get(name), context) for name in ("index_bytes", "all_index_bytes")
    )
    if index_bytes is not None:
        return index_bytes
    if not known_size:
        return None
    if of_all_bytes is None:
        return 2 * known_size, "twice the present size, as the size of the indexes is not known"
    # Caches with names hold a part of them: of which tables, no server tells.
    own = (
        2 * known_size,
        "twice the present size, as other key caches hold a part of the indexes, and which is not known",
    )
    return min(own, of_all_bytes)


def _with_bookkeeping(row: Mapping[str, Value], index_bytes: Value, context: PlanContext) -> tuple[float, str] | None:
    """What so many bytes of indexes take in a key cache, with room to grow."""
    block_size = row.get("block_size_bytes") or DEFAULT_BLOCK_SIZE_BYTES
    if not isinstance(index_bytes, int | float) or not isinstance(block_size, int | float):
        return None
    if row.get("name") == DEFAULT_CACHE:
        index_bytes = max(index_bytes + context.known.index_bytes_change, 0)
    wanted = index_bytes * (1 + OVERHEAD_BYTES_PER_BLOCK / block_size) * HEADROOM
    return wanted, f"{size(index_bytes)} of indexes and their bookkeeping"


def _of_unknown_size(why: str, context: PlanContext) -> Planned:
    """In words; nothing where memory has no room, whatever the sizes are."""
    spare, giver = _spare(context)
    if spare is not None and spare < STEP_BYTES:
        return NoRoom(f"{giver} has no room for a larger key cache")
    return Plan(
        {
            "advice": f"Raise key_buffer_size. How far is not known: {why}.",
            "way_back": "Set key_buffer_size to its former value.",
        }
    )


def _in_steps(wanted: float, present: float, is_whole: bool) -> int:
    """Whole steps. What all indexes need is one step more than there is at least; what memory can spare is not overstepped."""
    target = int(wanted) // STEP_BYTES * STEP_BYTES
    return target + STEP_BYTES if is_whole and target <= present else target


def _of_unseen_memory(advice: str, target: int, present: float, context: PlanContext) -> Mapping[str, str]:
    """The advice where the machine's memory is not known, with what to look at first; how to set it where that wants a restart."""
    told = (
        f"{advice} The machine's memory is not seen from here: {size(target - present)} must be available there, beside what the page cache keeps of the "
        "rows, or it swaps."
    )
    if context.known.hosting == AMAZON:
        # Nobody else is let onto that machine.
        return {
            "advice": f"{told} FreeableMemory in CloudWatch shows it. {IN_PARAMETER_GROUP}",
            "way_back": IN_PARAMETER_GROUP_BACK,
        }
    told += " myisam-advisor check beside the server sees it." if context.known.hosting.on_linux else ""
    if (context.version_number or SAFE_ONLINE_RESIZE_FROM) >= SAFE_ONLINE_RESIZE_FROM:
        return {"advice": told}
    return {
        "advice": f"{told} Set it in my.cnf and restart: resizing a key cache under load can crash this version.",
        "way_back": "Set key_buffer_size to its former value in my.cnf, and restart.",
    }
