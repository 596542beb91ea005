"""A size for the table cache. Whether the server may open so many files is checked of each remedy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import NoRoom, Plan, PlanContext, Planned, PlanNeeds
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.texts.templates import count, percent
from myisam_exporter.facts.columns import Value

SMALLEST = 400
MOST_TABLES = 1 << 32  # more than any server takes; what says more is no server's setting
# MySQL takes no more; in strict mode it refuses what is larger (tried on 5.5, 5.6, 8.0 and 9.7; MariaDB takes twice as many).
LARGEST_CACHE = 1 << 19
RENAMED_IN = 50103  # table_cache became table_open_cache
# Room above what is in use, and the largest step. Measured with 600 tables in use and a cache of 100: 400 is 1.4 times as fast, 800 and more 3 to 4.
ROOM, LARGEST_STEP = 4 / 3, 16
# What an open table of three indexes takes (measured: 14 kB on MySQL 9.7, 16 on 5.6, 29 on MariaDB 10.11), and what may be taken where
# the machine's memory is not known.
TABLE_BYTES, MODEST_BYTES = 32 << 10, 64 << 20
# So much more needs no room in the account of memory; on a machine that is nearly out of it, a part of what is left.
MODEST_SHARE = 0.25
# Where so many uses find a table closed, and there are no more than this, all may stay open: a few megabytes.
MANY_CLOSED, FEW_TABLES = 0.25, 2000
# Before MySQL 5.7.9 MyISAM looks for an open table in a list of all: see table-cache-too-large.
HASHED_IN, LARGEST_LISTED = 50709, 2000
# MySQL's manual recommends 8 or 16 parts "on systems that routinely use 16 or more cores" (table_open_cache_instances); measured on 2 only.
CORES_FOR_PARTS = 8


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Twice the present size, at least 400; more where many uses of a table find it closed: for those in use, were all used alike, or for all."""
    present = row.get("cache_size")
    if not isinstance(present, int | float) or not 0 <= present <= MOST_TABLES:
        return PlanNeeds("variable.table_open_cache")
    variable = "table_cache" if (context.version_number or RENAMED_IN) < RENAMED_IN else "table_open_cache"
    wanted, why = max(_sizes(int(present), row, context), key=lambda one: one[0])
    wanted = min(wanted, LARGEST_CACHE)
    if wanted <= present:
        return _no_larger_one(int(present), context)
    parts = _needless_parts(wanted, row, context)
    lines = [option_line(variable, wanted)]
    if parts:
        lines.append(option_line("table_open_cache_instances", 1))
    more_bytes = (wanted - present) * TABLE_BYTES
    return Plan(
        values={
            "advice": f"Raise {variable} to {wanted}.{why} Raise it again if tables are still closed to make room for others.{_undivided(parts, context)}",
            "needless_parts": parts,
            "open_bytes": more_bytes,
        },
        commands=(set_global(variable, wanted),),
        undo_commands=(set_global(variable, int(present)),),
        my_cnf=tuple(lines),
        memory_bytes=more_bytes,
    )


def _no_larger_one(present: int, context: PlanContext) -> Planned:
    if present >= LARGEST_CACHE:
        return NoRoom("it is as large as the server allows")
    if _has_list(context):
        return NoRoom(
            f"before MySQL 5.7.9 MyISAM searches a list of all open tables: more than {LARGEST_LISTED:,} make it slower"
        )
    return NoRoom("memory has no room for a larger table cache")


def _needless_parts(wanted: int, row: Mapping[str, Value], context: PlanContext) -> int:
    """The parts that the table cache has, where one of them does not hold what is in use, and the server has few processors; 0 where that is not known."""
    parts, cores = row.get("parts"), context.cores
    if context.is_mariadb or not isinstance(parts, int) or parts <= 1 or cores is None or cores >= CORES_FOR_PARTS:
        return 0
    in_use = _in_use_by_connection(parts, row)
    return parts if in_use is not None and wanted / parts < in_use else 0


def _in_use_by_connection(parts: int, row: Mapping[str, Value]) -> float | None:
    """About how many tables a connection uses in turn: all MyISAM tables where they are few, else as its part misses them; None where neither is known."""
    all_tables, present, closed = row.get("tables"), row.get("cache_size"), _closed_share(row)
    if isinstance(all_tables, int | float) and all_tables <= FEW_TABLES:
        return float(all_tables)
    if closed is None or not isinstance(present, int | float):
        return None
    return present / parts / max(1 - closed, 1 / LARGEST_STEP)


def _undivided(parts: int, context: PlanContext) -> str:
    if not parts:
        return ""
    return (
        f" In my.cnf, set table_open_cache_instances = 1 too, for the next restart: of {parts} parts a connection has one, and what it uses "
        f"is opened in each. The manual recommends parts for 16 cores and more; this server may use {context.cores or 1:g}. Measured on 2 cores, with 600 tables "
        "and a cache of 100 in 16 parts: 1.6 times the statements with a cache of 800, and 9 times where it is not divided."
    )


def _sizes(present: int, row: Mapping[str, Value], context: PlanContext) -> Iterator[tuple[int, str]]:
    """Sizes that come into question, each with why, the usual one first."""
    room_bytes = MODEST_BYTES if context.room_bytes is None else context.room_bytes
    affordable = (present + int(room_bytes // TABLE_BYTES)) // 100 * 100
    largest = min(LARGEST_LISTED if _has_list(context) else LARGEST_STEP * present, affordable)
    usual = max(2 * present, SMALLEST)
    if _has_list(context):
        usual = min(usual, LARGEST_LISTED)
    modest = (present + int(_modest_bytes(context) // TABLE_BYTES)) // 100 * 100
    yield usual if context.room_bytes is None else min(usual, max(modest, affordable)), ""
    closed, all_tables = _closed_share(row), row.get("tables")
    if closed is None:
        return
    in_use = present / max(1 - closed, 1 / LARGEST_STEP)
    told = f" {percent(closed)} of the times that a table is used it is not open,"
    yield min(_with_room(in_use), largest), f"{told} so about {count(round(in_use))} are used in turn."
    # MariaDB counts its tables of statistics among what was found open, so that what is used in turn seems less than it is.
    known = all_tables if isinstance(all_tables, int | float) else FEW_TABLES + 1
    if closed >= MANY_CLOSED and known <= FEW_TABLES and _with_room(known) <= largest:
        yield _with_room(known), f"{told} and all {count(known)} MyISAM tables have room then."


def _modest_bytes(context: PlanContext) -> float:
    """What may be taken where the account of memory has no room: of what is left after the remedies before, a part."""
    left_bytes = context.known.budget.left_bytes
    return MODEST_BYTES if left_bytes is None else min(MODEST_BYTES, MODEST_SHARE * left_bytes)


def _closed_share(row: Mapping[str, Value]) -> float | None:
    """Of all uses of a table those that find it closed; None where they are not counted."""
    hits, misses = row.get("hits_per_second"), row.get("misses_per_second")
    if not isinstance(hits, int | float) or not isinstance(misses, int | float) or hits + misses <= 0:
        return None
    return misses / (hits + misses)


def _with_room(tables: float) -> int:
    """A size for so many."""
    return math.ceil(round(tables * ROOM) / 100) * 100


def _has_list(context: PlanContext) -> bool:
    return not context.is_mariadb and (context.version_number or 0) < HASHED_IN
